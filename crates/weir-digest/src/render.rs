//! Puts as many facts as fit a budget into text.
//!
//! Invariants: the text is never longer than its budget, counted; every part says how many there are and how many are
//! shown; what the output says stands between marks that carry the reference, which it could not know, and no line of
//! it can be taken for a heading of ours; nothing in it is for a terminal to act on. What is shown of a part is chosen by
//! its importance and stands in the order of the output.

use weir_core::wording::{counted, fence, size};
use weir_core::{Reference, terminal};

use crate::page::{Item, Page, Part, Weight};
use crate::text::clip;

/// What begins a heading of ours between the marks. A line of the output that begins so is set off by a space.
const HEADING: &str = "== ";
/// Of what is left when a weight has its turn, so much may go to it, in hundredths, as long as others wait.
const SHARE: usize = 60;
/// How many facts of a part that do not fit are passed over for later ones.
const SKIPPED: usize = 12;
/// How many bytes of a line are shown where a whole fact does not fit.
const CUT: usize = 160;

/// What stands around the facts.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// How the command ended, for the first line.
    pub head: &'a str,
    /// What else is to be known, a line each.
    pub remarks: &'a [String],
    /// Where the whole output is.
    pub reference: Reference,
    /// How many lines it has.
    pub lines: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// How to get at the rest, for the last line.
    pub read_on: &'a str,
}

/// A digest as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// How it ended, what it is and where it is held: our words.
    pub head: String,
    /// The facts, between the marks.
    pub body: String,
    /// How to get at the rest; may be empty.
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
    /// The digest as text, in at most `budget` tokens. What stands around the facts is there in any case.
    pub fn render(&self, frame: &Frame<'_>, budget: usize) -> Digest {
        let mut chosen = Chosen::all_headings(self);
        let around = weir_tokens::count(&write(self, &chosen, frame).to_string());
        chosen.fill(self, budget.saturating_sub(around));
        loop {
            let digest = write(self, &chosen, frame);
            if weir_tokens::count(&digest.to_string()) <= budget || !chosen.drop_least(self) {
                return digest;
            }
        }
    }
}

/// What is shown: of each part, the first facts that fit, as text.
struct Chosen {
    parts: Vec<Vec<Fact>>,
    /// The next fact of each part that may be shown.
    next: Vec<usize>,
    /// Parts of which not even the heading is shown.
    hidden: Vec<bool>,
}

/// A fact as it is shown, with the number of its line, by which it is put in order.
#[derive(Clone)]
struct Fact {
    line: Option<u64>,
    text: String,
}

impl Chosen {
    fn all_headings(page: &Page) -> Self {
        let count = page.parts.len();
        Self { parts: vec![Vec::new(); count], next: vec![0; count], hidden: vec![false; count] }
    }

    fn fill(&mut self, page: &Page, budget: usize) {
        let mut left = budget;
        for weight in Weight::ALL {
            let alone = page.parts.iter().all(|part| part.weight == weight);
            let share = if alone { left } else { left * SHARE / 100 };
            left -= share - self.fill_weight(page, weight, share, 0);
        }
        // What a weight did not use is for those that had too little, the most important first. A fact that is too long
        // for what is left gives way to shorter ones after it.
        for weight in Weight::ALL {
            left = self.fill_weight(page, weight, left, SKIPPED);
        }
    }

    /// Takes one fact after the other from each part of this weight in turn, and passes over so many of a part that do not
    /// fit. Returns what is left.
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

    /// Takes away the last fact of the least important part that shows one, or else its heading.
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

/// A fact as it is shown in at most `left` tokens: whole, or in brief, or the beginning of its first line.
fn fitting(item: &Item, left: usize) -> Option<(String, usize)> {
    let number = match (item.line, item.until) {
        (Some(line), Some(until)) => format!("{line}–{until}: "),
        (Some(line), None) => format!("{line}: "),
        (None, _) => String::new(),
    };
    let first = item.brief.as_deref().unwrap_or(&item.text).lines().next().unwrap_or_default();
    let cut = clip(first, CUT);
    [item.text.as_str(), item.brief.as_deref().unwrap_or_default(), &cut].into_iter().find_map(|text| {
        // A token is at least a byte and rarely more than a dozen, so most of what does not fit is not counted.
        if text.is_empty() || text.len() > left * 16 {
            return None;
        }
        // Kinds that read values find codes of a terminal in them, written as escapes or as they are.
        let clean = terminal::clean(text.as_bytes());
        let text = set_off(&format!("{number}{}", String::from_utf8_lossy(&clean)));
        let cost = weir_tokens::count(&text) + 1;
        (cost <= left).then_some((text, cost))
    })
}

/// Lines of the output that look like our headings are set off by a space.
fn set_off(text: &str) -> String {
    if !text.contains(HEADING) {
        return text.to_owned();
    }
    let lines =
        text.split('\n').map(|line| if line.starts_with(HEADING) { format!(" {line}") } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

fn write(page: &Page, chosen: &Chosen, frame: &Frame<'_>) -> Digest {
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
        hidden => format!("{hidden} more parts; {}", frame.read_on),
    };
    Digest { head, body: fence(frame.reference, &body), foot }
}

/// Adds facts under a heading, by line number where every one has one.
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

/// The heading of a part, which is empty where there is nothing to say.
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

/// How many of a part of a fold there are, and how many are shown: `errors 12 (4 shown)`.
fn tally(part: &Part, shown: usize) -> String {
    let Part { name, total, .. } = part;
    match shown as u64 {
        0 if *total == 0 => String::new(),
        shown if shown == *total || *total == 0 => format!("{name} {shown}"),
        shown => format!("{name} {total} ({shown} shown)"),
    }
}
