//! Renders as many facts as fit a budget.
//!
//! Invariants: the text never exceeds its budget, which is counted in tokens; every part states how many facts there
//! are and how many are shown; text of the output is enclosed in marks that carry the reference, which the output
//! cannot predict, and no line of it can be mistaken for one of our headings; the text contains nothing that a terminal
//! would act on. The facts of a part are chosen by importance and shown in the order of the output.

use weir_core::wording::{counted, fence, size};
use weir_core::{Reference, terminal};

use crate::page::{Item, Page, Part, Weight};
use crate::text::{count, shorten};

/// The beginning of our headings between the marks. A line of the output that begins with it is indented by a space.
const HEADING: &str = "== ";
/// The maximum number of tokens for what matches an intent.
const MAX_MATCHES_BUDGET: usize = 800;
/// Of a short output, matches get one token for this many bytes, which is about a quarter of it.
const BYTES_PER_MATCHES_TOKEN: usize = 16;
/// The share of the remaining budget, in percent, that one weight may take while others are waiting.
const MAX_SHARE_PERCENT: usize = 60;
/// How many facts of a part that do not fit are skipped in favour of later ones.
const MAX_SKIPPED_FACTS: usize = 12;
/// The maximum number of bytes shown of a line where a whole fact does not fit.
const MAX_CUT_LINE_BYTES: usize = 160;

/// The text around the facts.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// How the command ended. It begins the first line.
    pub head: &'a str,
    /// Further remarks, one line each.
    pub remarks: &'a [String],
    pub reference: Reference,
    pub lines: u64,
    pub bytes: u64,
    /// How to read the rest. It is the last line.
    pub read_on: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// How the command ended, what its output is and where that is held, in our words.
    pub head: String,
    /// The facts, between the marks.
    pub body: String,
    /// How to read the rest; may be empty.
    pub foot: String,
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { head, body, foot } = self;
        write!(f, "{head}\n{body}")?;
        if foot.is_empty() { Ok(()) } else { write!(f, "\n{foot}") }
    }
}

impl Page {
    /// Renders the digest in at most `budget` tokens. The frame is rendered in any case.
    pub fn render(&self, frame: &Frame<'_>, budget: usize) -> Digest {
        self.choose(frame, budget).1
    }

    /// Renders the digest as [`Page::render`] does, after what matches an intent. The matches take tokens of their own,
    /// so an intent never displaces a fact.
    pub fn render_after(&self, matches: Vec<Part>, frame: &Frame<'_>, budget: usize) -> Digest {
        let (chosen, digest) = self.choose(frame, budget);
        if matches.is_empty() {
            return digest;
        }
        let mut page = Self { parts: matches, ..Self::default() };
        let bare = Frame { head: "", remarks: &[], read_on: "", ..*frame };
        let room = MAX_MATCHES_BUDGET.min(frame.bytes as usize / BYTES_PER_MATCHES_TOKEN);
        let chosen = page.choose(&bare, room).0.followed_by(chosen);
        page.parts.extend_from_slice(&self.parts);
        page.what.clone_from(&self.what);
        write(&page, &chosen, frame)
    }

    /// Chooses the facts of a digest of at most `budget` tokens. Returns them with the digest.
    fn choose(&self, frame: &Frame<'_>, budget: usize) -> (ShownFacts, Digest) {
        let mut chosen = ShownFacts::all_headings(self);
        let around = weir_tokens::count(&write(self, &chosen, frame).to_string());
        chosen.fill(self, budget.saturating_sub(around));
        let mut digest = write(self, &chosen, frame);
        while weir_tokens::count(&digest.to_string()) > budget && chosen.drop_least(self) {
            digest = write(self, &chosen, frame);
        }
        (chosen, digest)
    }
}

/// The facts that are shown of each part, as text.
struct ShownFacts {
    parts: Vec<Vec<Fact>>,
    /// The index of the next candidate in each part.
    next: Vec<usize>,
    /// The parts of which not even the heading is shown.
    hidden: Vec<bool>,
}

/// A fact as it is shown, with the line number by which facts are sorted.
#[derive(Clone)]
struct Fact {
    line: Option<u64>,
    text: String,
}

impl ShownFacts {
    fn all_headings(page: &Page) -> Self {
        let count = page.parts.len();
        Self { parts: vec![Vec::new(); count], next: vec![0; count], hidden: vec![false; count] }
    }

    fn followed_by(mut self, others: Self) -> Self {
        self.parts.extend(others.parts);
        self.next.extend(others.next);
        self.hidden.extend(others.hidden);
        self
    }

    fn fill(&mut self, page: &Page, budget: usize) {
        let mut left = budget;
        for weight in Weight::ALL {
            let alone = page.parts.iter().all(|part| part.weight == weight);
            let share = if alone || weight == Weight::Record { left } else { left * MAX_SHARE_PERCENT / 100 };
            left -= share - self.fill_weight(page, weight, share, 0);
        }
        // What a weight did not use goes to those that had too little, the most important first. A fact that is too
        // long for the remaining budget gives way to shorter ones after it.
        for weight in Weight::ALL {
            left = self.fill_weight(page, weight, left, MAX_SKIPPED_FACTS);
        }
    }

    /// Takes one fact at a time from each part of this weight in turn, and skips at most `skip` facts of a part that do
    /// not fit. Returns the remaining budget.
    fn fill_weight(&mut self, page: &Page, weight: Weight, mut left: usize, skip: usize) -> usize {
        let mut open: Vec<(usize, usize)> = (0..page.parts.len())
            .filter(|&place| page.parts[place].weight == weight)
            .map(|place| (place, skip))
            .collect();
        while !open.is_empty() {
            open.retain_mut(|(place, skip)| {
                let Some(item) = page.parts[*place].items.get(self.next[*place]) else { return false };
                if let Some((text, cost)) = fitting(item, left) {
                    left -= cost;
                    self.parts[*place].push(Fact { line: item.line, text });
                } else if *skip == 0 {
                    return false;
                } else {
                    *skip -= 1;
                }
                self.next[*place] += 1;
                true
            });
        }
        left
    }

    /// Removes the last fact of the least important part that shows one, or else the heading of the least important
    /// part. Returns whether there was something to remove.
    fn drop_least(&mut self, page: &Page) -> bool {
        let by_weight = |place: &usize| (page.parts[*place].weight, *place);
        let showing = (0..page.parts.len()).filter(|&place| !self.parts[place].is_empty()).max_by_key(by_weight);
        if let Some(place) = showing {
            self.parts[place].pop();
            return true;
        }
        let heading = (0..page.parts.len()).filter(|&place| !self.hidden[place]).max_by_key(by_weight);
        heading.inspect(|&place| self.hidden[place] = true).is_some()
    }
}

/// Returns a fact in at most `left` tokens, with its cost: whole, in brief, or the beginning of its first line.
fn fitting(item: &Item, left: usize) -> Option<(String, usize)> {
    let number = match (item.line, item.until) {
        (Some(line), Some(until)) => format!("{line}–{until}: "),
        (Some(line), None) => format!("{line}: "),
        (None, _) => String::new(),
    };
    let first = item.brief.as_deref().unwrap_or(&item.text).lines().next().unwrap_or_default();
    let cut = shorten(first, MAX_CUT_LINE_BYTES);
    [item.text.as_str(), item.brief.as_deref().unwrap_or_default(), &cut].into_iter().find_map(|text| {
        // A token is at least a byte and rarely more than a dozen, so most texts that cannot fit need not be counted.
        if text.is_empty() || text.len() > left * 16 {
            return None;
        }
        // Values may contain terminal codes, raw or as escapes that a kind has decoded.
        let text = set_off(&format!("{number}{}", terminal::shown(text.as_bytes())));
        let cost = weir_tokens::count(&text) + 1;
        (cost <= left).then_some((text, cost))
    })
}

/// Indents lines of the output that look like our headings by a space.
fn set_off(text: &str) -> String {
    if !text.contains(HEADING) {
        return text.to_owned();
    }
    let lines =
        text.split('\n').map(|line| if line.starts_with(HEADING) { format!(" {line}") } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

fn write(page: &Page, chosen: &ShownFacts, frame: &Frame<'_>) -> Digest {
    let what = if page.what.is_empty() { String::new() } else { format!("; {}", page.what) };
    let lines = counted(frame.lines as usize, "line", "lines");
    let mut head = format!("{}{what}; {lines}, {} held as {}", frame.head, size(frame.bytes), frame.reference);
    for remark in frame.remarks {
        head.push('\n');
        head.push_str(remark);
    }
    let mut body = String::new();
    let is_shown = |place: &usize| !chosen.hidden[*place];
    let (folded, others): (Vec<usize>, Vec<usize>) =
        (0..page.parts.len()).filter(is_shown).partition(|&place| page.parts[place].folded);
    for place in others {
        put(&mut body, &heading(&page.parts[place], chosen.parts[place].len()), &[&chosen.parts[place]]);
    }
    if !folded.is_empty() {
        let counts = folded.iter().map(|&place| tally(&page.parts[place], chosen.parts[place].len()));
        let counts: Vec<String> = counts.filter(|count| !count.is_empty()).collect();
        let heading = format!("{HEADING}lines in order: {}", counts.join(", "));
        let facts: Vec<&[Fact]> = folded.iter().map(|&place| chosen.parts[place].as_slice()).collect();
        put(&mut body, &heading, &facts);
    }
    let foot = match chosen.hidden.iter().filter(|&&hidden| hidden).count() {
        0 => frame.read_on.to_owned(),
        hidden => format!("{}; {}", count(hidden as u64, "more part", "more parts"), frame.read_on),
    };
    Digest { head, body: fence(frame.reference, &body), foot }
}

/// Appends facts under a heading, sorted by line number if all of them have one.
fn put(body: &mut String, heading: &str, facts: &[&[Fact]]) {
    if heading.is_empty() {
        return;
    }
    body.push_str(heading);
    body.push('\n');
    let mut all: Vec<&Fact> = facts.iter().copied().flatten().collect();
    if all.iter().all(|fact| fact.line.is_some()) {
        all.sort_by_key(|fact| fact.line);
    }
    for fact in all {
        body.push_str(fact.text.trim_end_matches('\n'));
        body.push('\n');
    }
}

fn heading(part: &Part, shown: usize) -> String {
    let Part { name, total, .. } = part;
    match shown as u64 {
        0 if *total == 0 => String::new(),
        _ if *total == 0 => format!("{HEADING}{name}"),
        shown if shown == *total => format!("{HEADING}{name}: {total}"),
        0 => format!("{HEADING}{name}: {total}, none shown"),
        shown => format!("{HEADING}{name}: {total}, {shown} shown"),
    }
}

/// Returns the counts of a part of a fold: `errors 12 (4 shown)`.
fn tally(part: &Part, shown: usize) -> String {
    let Part { name, total, .. } = part;
    match shown as u64 {
        0 if *total == 0 => String::new(),
        shown if shown == *total || *total == 0 => format!("{name} {shown}"),
        shown => format!("{name} {total} ({shown} shown)"),
    }
}
