//! Stack traces of any language: the messages, the places, the causes, and the counts.
//!
//! Invariant: traces are counted one by one; those whose errors have the same types and the same own frames are shown
//! as one, with their messages.

use std::collections::{BTreeMap, HashMap, VecDeque};

use weir_core::wording::counted;

use crate::kinds::shared::counts::Tally;
use crate::template::text_hash;
use crate::text::{clip, count, shorten};
use crate::{Item, Page, Part, Weight};

const MAX_GROUPS: usize = 200;
const MAX_FRAMES: usize = 4;
const MAX_LINKS: usize = 8;
/// The maximum number of different messages kept of one kind, and shown.
const MAX_MESSAGES: usize = 40;
const MAX_MESSAGES_SHOWN: usize = 5;
/// The relation of a member of an exception group to the group.
pub(super) const MEMBER: &str = "member";
const MAX_TYPES: usize = 200;
/// The maximum number of bytes kept of a message and of a frame.
const MAX_TEXT_BYTES: usize = 400;

#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub line: u64,
    /// The line before it, which often says what was being done.
    pub context: Option<(u64, String)>,
    /// The errors of the chain, the last one thrown first.
    pub links: VecDeque<Link>,
}

/// One error of a chain.
#[derive(Debug, Clone, Default)]
pub(super) struct Link {
    /// Its relation to the previous one: `caused by`.
    pub label: &'static str,
    /// Its message, as printed.
    pub says: String,
    own: VecDeque<(String, u64)>,
    own_count: u64,
    library: VecDeque<(String, u64)>,
    library_count: u64,
}

/// The order in which a language prints its frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameOrder {
    InnermostFirst,
    InnermostLast,
}

impl Link {
    pub(super) fn new(label: &'static str, says: &str) -> Self {
        Self { label, says: clip(says.trim(), MAX_TEXT_BYTES), ..Self::default() }
    }

    /// Adds a frame of the user's own code, or of a library.
    pub(super) fn frame(&mut self, text: &str, own: bool, order: FrameOrder) {
        let (kept, count) = match own {
            true => (&mut self.own, &mut self.own_count),
            false => (&mut self.library, &mut self.library_count),
        };
        *count += 1;
        let text = text.trim();
        // A recursion is one frame with a count.
        let inner_first = order == FrameOrder::InnermostFirst;
        let last = if inner_first { kept.back_mut() } else { kept.front_mut() };
        if let Some((same, times)) = last
            && same == text
        {
            *times += 1;
        } else if !inner_first {
            kept.push_front((clip(text, MAX_TEXT_BYTES), 1));
            kept.truncate(MAX_FRAMES);
        } else if kept.len() < MAX_FRAMES {
            kept.push_back((clip(text, MAX_TEXT_BYTES), 1));
        }
    }

    /// Returns the error with another label and message.
    pub(super) fn saying(self, label: &'static str, says: &str) -> Self {
        Self { label, says: clip(says, MAX_TEXT_BYTES), ..self }
    }

    pub(super) fn frames(&self) -> u64 {
        self.own_count + self.library_count
    }

    /// Returns the innermost frame of the user's own code, or else of all frames.
    pub(super) fn top(&self) -> Option<&str> {
        self.own.front().or_else(|| self.library.front()).map(|frame| frame.0.as_str())
    }

    /// Returns the type of the error: the text before the colon.
    fn kind(&self) -> &str {
        let says = self.says.strip_prefix("Uncaught ").unwrap_or(&self.says);
        let says = match says.strip_prefix("Exception in thread \"") {
            Some(rest) => rest.split_once("\" ").map_or(rest, |(_, says)| says),
            None => says,
        };
        let end = says.find([':', ' ', '(']).unwrap_or(says.len());
        &says[..end]
    }

    fn write(&self, text: &mut String, indent: &str, most: usize) {
        let mut said: u64 = 0;
        // If no frame is the user's own, the innermost one is used.
        let (frames, most) = if self.own.is_empty() { (&self.library, 1) } else { (&self.own, most) };
        for (frame, times) in frames.iter().take(most) {
            said += times;
            let again = if *times > 1 { format!(" (×{times})") } else { String::new() };
            text.push_str(&format!("\n{indent}{frame}{again}"));
        }
        let left = self.frames().saturating_sub(said);
        if left > 0 {
            let of_libraries = self.library_count.min(left);
            let libraries = if of_libraries > 0 { format!(", {of_libraries} of libraries") } else { String::new() };
            text.push_str(&format!("\n{indent}({}{libraries})", count(left, "more frame", "more frames")));
        }
    }
}

impl Trace {
    pub(super) fn at(line: u64) -> Self {
        Self { line, ..Self::default() }
    }

    pub(super) fn push(&mut self, link: Link) {
        if self.links.len() < MAX_LINKS {
            self.links.push_back(link);
        }
    }

    fn key(&self) -> u64 {
        let mut key = self.links.len() as u64;
        for (place, link) in self.links.iter().enumerate() {
            // Messages of the first error are counted separately; messages of the causes distinguish different
            // problems.
            let says = if place == 0 { text_hash(link.kind()) } else { text_hash(&without_values(&link.says)) };
            let here = link.own.iter().fold(says, |key, frame| key.rotate_left(9) ^ text_hash(&frame.0));
            key = key.rotate_left(17) ^ here;
        }
        key
    }
}

/// Returns a message without its quotations and numbers.
fn without_values(says: &str) -> String {
    let mut quote = None;
    let mut kept = String::new();
    for c in says.chars() {
        match quote {
            Some(open) if open == c => quote = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
            None if c.is_ascii_digit() => {}
            None => kept.push(c),
        }
    }
    kept
}

struct TraceGroup {
    trace: Trace,
    count: u64,
    last: u64,
    /// The messages of its first errors, with counts.
    messages: BTreeMap<String, u64>,
    more_messages: bool,
    /// Whether the causes of all of them had the same messages.
    same: bool,
}

#[derive(Default)]
pub(super) struct Traces {
    groups: Vec<TraceGroup>,
    by_key: HashMap<u64, usize>,
    total: u64,
    beyond: u64,
    types: Tally<MAX_TYPES>,
    last: u64,
}

impl Traces {
    pub(super) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Counts a finished trace. One without an error is ignored.
    pub(super) fn add(&mut self, mut trace: Trace) {
        let Some(head) = trace.links.front_mut() else { return };
        if head.says.is_empty() {
            head.says.push_str("(no message)");
        }
        let says = head.says.clone();
        self.total += 1;
        self.types.add(head.kind());
        self.last = trace.line;
        let key = trace.key();
        let place = match self.by_key.get(&key) {
            Some(&place) => place,
            None if self.groups.len() < MAX_GROUPS => {
                self.by_key.insert(key, self.groups.len());
                self.groups.push(TraceGroup::of(trace.clone()));
                self.groups.len() - 1
            }
            None => {
                self.beyond += 1;
                return;
            }
        };
        let Some(group) = self.groups.get_mut(place) else { return };
        group.count += 1;
        group.last = trace.line;
        let said = |trace: &Trace| trace.links.iter().skip(1).map(|link| text_hash(&link.says)).collect::<Vec<_>>();
        group.same = group.same && said(&group.trace) == said(&trace);
        if let Some(count) = group.messages.get_mut(&says) {
            *count += 1;
        } else if group.messages.len() < MAX_MESSAGES {
            group.messages.insert(says, 1);
        } else {
            group.more_messages = true;
        }
    }

    /// Returns the facts, under the name of the language and its word for them.
    pub(super) fn page(mut self, language: &str, (one, many): (&str, &str)) -> Page {
        let kinds = self.groups.len() as u64;
        let more = if self.beyond > 0 { "more than " } else { "" };
        let different = || format!(" of {more}{}", counted(kinds as usize, "kind", "kinds"));
        let different = (kinds < self.total).then(different).unwrap_or_default();
        let named = if self.total == 1 { one } else { many };
        let mut page = Page::new(format!("{language}: {} {named}{different}", self.total));
        let last = self.last;
        // What ended the program comes first, then the most frequent, then the rest in order.
        self.groups.sort_by_key(|group| (group.last != last, u64::MAX - group.count, group.trace.line));
        if let Some(rest) = self.groups.get_mut(4..) {
            rest.sort_by_key(|group| group.trace.line);
        }
        let items = self.groups.iter().map(TraceGroup::item).collect();
        let beyond = if self.beyond > 0 { format!(", and {} more of other kinds", self.beyond) } else { String::new() };
        page.push(Part::new(format!("{language} {many}, by kind{beyond}"), Weight::Failure, items));
        let types = self.types.sorted();
        let named = |(name, _): &(&str, u64)| name.contains(|c: char| c.is_ascii_uppercase());
        if types.len() > 1 && self.total > types.len() as u64 && types.iter().all(named) {
            page.push(Part::new("types", Weight::Fact, vec![Item::plain(shorten(&self.types.listed(), 800))]));
        }
        page
    }
}

impl TraceGroup {
    fn of(trace: Trace) -> Self {
        Self { trace, count: 0, last: 0, messages: BTreeMap::new(), more_messages: false, same: true }
    }

    fn item(&self) -> Item {
        let Some(head) = self.trace.links.front() else { return Item::default() };
        let mut text = head.says.clone();
        if self.count > 1 {
            text.push_str(&format!(" (×{}, last at line {})", self.count, self.last));
        }
        let mut brief = text.clone();
        let again = if self.count > 1 && self.same { format!(" (×{})", self.count) } else { String::new() };
        if let Some(frame) = head.own.front() {
            brief.push_str(&format!("\n  {}", frame.0));
        }
        if let Some(root) = self.trace.links.iter().skip(1).rev().find(|link| link.label != MEMBER) {
            brief.push_str(&format!("\n  {}: {}{again}", root.label, root.says));
        }
        if let Some((number, context)) = self.trace.context.as_ref().filter(|_| self.count <= 3) {
            text.push_str(&format!("\n  after {number}: {context}"));
        }
        self.write_messages(&mut text);
        head.write(&mut text, "  ", MAX_FRAMES);
        self.write_members(&mut text);
        for link in self.trace.links.iter().skip(1).filter(|link| link.label != MEMBER) {
            text.push_str(&format!("\n  {}: {}{again}", link.label, link.says));
            link.write(&mut text, "    ", 2);
        }
        Item::at(self.trace.line, text).or(brief)
    }

    /// Writes the messages of the members of an exception group, each once.
    fn write_members(&self, text: &mut String) {
        let mut said: Vec<(&str, u64)> = Vec::new();
        for link in self.trace.links.iter().filter(|link| link.label == MEMBER) {
            match said.iter_mut().find(|(says, _)| *says == link.says) {
                Some((_, count)) => *count += 1,
                None => said.push((&link.says, 1)),
            }
        }
        for (says, count) in said {
            let again = if count > 1 { format!(" (×{count})") } else { String::new() };
            text.push_str(&format!("\n  {MEMBER}: {says}{again}"));
        }
    }

    fn write_messages(&self, text: &mut String) {
        if self.messages.len() < 2 {
            return;
        }
        let mut messages: Vec<(&String, &u64)> = self.messages.iter().collect();
        messages.sort_by_key(|(says, count)| (u64::MAX - **count, *says));
        // Messages that do not repeat are only examples; the first one is already shown above.
        let again = messages.first().is_some_and(|(_, count)| **count > 1);
        let first = self.trace.links.front().map(|head| head.says.as_str());
        let most = if again || messages.len() <= MAX_MESSAGES_SHOWN { MAX_MESSAGES_SHOWN } else { 2 };
        let mut shown = 0;
        for (says, count) in messages.iter().take(most) {
            shown += 1;
            if again {
                text.push_str(&format!("\n  ×{count} {says}"));
            } else if Some(says.as_str()) != first {
                text.push_str(&format!("\n  {says}"));
            }
        }
        if messages.len() > shown || self.more_messages {
            let left = messages.len().saturating_sub(shown) as u64;
            let others = count(left, "other message", "other messages");
            text.push_str(&format!("\n  ({}{others})", if self.more_messages { "more than " } else { "" }));
        }
    }
}
