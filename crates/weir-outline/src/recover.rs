//! Recovers items from a file with syntax errors: parses each part separately, split where the layout suggests it.
//!
//! One missing brace makes everything after it part of the block it belonged to. But code is laid out: a line at the
//! left margin after a blank line or a closing line starts a new part, and inside a part, so does a line at the first
//! indentation level. Invariant: the recovered items are used only if there are more of them.

use tree_sitter::{Point, Range};

use crate::languages::Table;
use crate::model::Item;
use crate::parse::Parsing;
use crate::spec::Spec;
use crate::walk::{self, Source, WalkedItems};

/// Maximum number of members of one part to parse. Code written by people has fewer.
const MAX_MEMBERS: usize = 1_000;

/// Returns the items of a broken file, parsed part by part if that finds more than parsing it as a whole.
pub(crate) fn recover_items(
    spec: &Spec,
    table: &Table,
    parsing: &mut Parsing,
    (whole, source): (WalkedItems, Source<'_>),
) -> WalkedItems {
    let mut recovery = Recovery { spec, table, parsing, source };
    let lines = lines(source.parsed);
    let mut recovered = WalkedItems { items: Vec::new(), broken: 0 };
    for part in parts(&lines) {
        let Some(of_part) = recovery.part(part) else { return whole };
        recovered.broken += of_part.broken;
        recovered.items.extend(of_part.items);
    }
    if worth(&recovered.items) > worth(&whole.items) { recovered } else { whole }
}

struct Recovery<'a> {
    spec: &'a Spec,
    table: &'a Table,
    parsing: &'a mut Parsing,
    source: Source<'a>,
}

impl Recovery<'_> {
    /// Parses a part, or its members one by one if that finds more. Returns `None` when time is up.
    fn part(&mut self, part: &[SourceLine<'_>]) -> Option<WalkedItems> {
        let whole = self.parse_ranges(&[range(part)])?;
        let members = members(part);
        if whole.broken == 0 || members.is_empty() {
            return Some(whole);
        }
        let mut items: Vec<Item> = Vec::new();
        for member in members.iter().take(MAX_MEMBERS) {
            let ranges: Vec<Range> =
                member.iter().filter(|lines| !lines.is_empty()).map(|lines| range(lines)).collect();
            for item in self.parse_ranges(&ranges)?.items {
                // The head is parsed again with each member.
                match items.iter_mut().find(|other| other.bytes.start == item.bytes.start) {
                    Some(same) => same.children.extend(item.children),
                    None => items.push(item),
                }
            }
        }
        Some(if worth(&items) > worth(&whole.items) { WalkedItems { items, broken: whole.broken } } else { whole })
    }

    fn parse_ranges(&mut self, ranges: &[Range]) -> Option<WalkedItems> {
        let tree = self.parsing.parts(self.source.parsed, ranges)?;
        Some(walk::items(self.spec, self.table, self.parsing, (&tree, self.source)))
    }
}

/// Counts items, offered ones first, since fragments of a broken body may look like items.
fn worth(items: &[Item]) -> (usize, usize) {
    let of = |item: &Item| {
        let (offered, all) = worth(&item.children);
        if item.is_offered() { (offered + 1, all + 1) } else { (0, all + 1) }
    };
    items.iter().map(of).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[derive(Clone, Copy)]
struct SourceLine<'t> {
    text: &'t str,
    start: usize,
    row: usize,
}

impl SourceLine<'_> {
    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    fn closes(&self) -> bool {
        self.text.trim_start().starts_with(['}', ']', ')']) || self.text.trim() == "end"
    }

    /// Returns whether it belongs to what follows, like a comment or an attribute.
    fn introduces(&self) -> bool {
        self.text.trim_start().starts_with(['/', '#', '@', '*', '['])
    }
}

fn lines(text: &str) -> Vec<SourceLine<'_>> {
    let mut start = 0;
    let line = |(row, text): (usize, _)| {
        let line = SourceLine { text, start, row };
        start += text.len();
        line
    };
    text.split_inclusive('\n').enumerate().map(line).collect()
}

/// Converts lines to a range of the file. `lines` must not be empty.
fn range(lines: &[SourceLine<'_>]) -> Range {
    let (first, last) = (lines[0], lines[lines.len() - 1]);
    Range {
        start_byte: first.start,
        end_byte: last.start + last.text.len(),
        start_point: Point { row: first.row, column: 0 },
        end_point: Point { row: last.row + 1, column: 0 },
    }
}

/// Splits a file into parts: each starts at the left margin, after a blank line or the end of another.
fn parts<'l, 't>(lines: &'l [SourceLine<'t>]) -> Vec<&'l [SourceLine<'t>]> {
    let begins = |at: usize| {
        let (line, above) = (lines[at], lines[at - 1]);
        line.indent() == 0
            && !line.is_blank()
            && !line.closes()
            && (above.is_blank() || above.indent() == 0 && above.closes())
    };
    cut(lines, begins)
}

/// Splits a part into its members, each with the head and the end of the part around it.
fn members<'l, 't>(part: &'l [SourceLine<'t>]) -> Vec<[&'l [SourceLine<'t>]; 3]> {
    let inside = |line: &SourceLine<'_>| !line.is_blank() && line.indent() > 0;
    let Some(first) = part.iter().position(inside) else { return Vec::new() };
    let end = part.iter().rposition(inside).map_or(first, |at| at + 1);
    let body = &part[first..end];
    let step = body.iter().filter(|line| !line.is_blank()).map(SourceLine::indent).min().unwrap_or_default();
    let begins = |at: usize| {
        let (line, above) = (body[at], body[at - 1]);
        let introduced = above.indent() == step && above.introduces() && !above.is_blank();
        line.indent() == step && !line.is_blank() && !line.closes() && !introduced
    };
    let closing = part.iter().rposition(|line| line.indent() == 0 && line.closes()).filter(|at| *at >= end);
    let tail = closing.map_or(&part[..0], |at| &part[at..=at]);
    cut(body, begins).into_iter().map(|member| [&part[..first], member, tail]).collect()
}

/// Splits before every line at which something begins.
fn cut<'l, 't>(lines: &'l [SourceLine<'t>], begins: impl Fn(usize) -> bool) -> Vec<&'l [SourceLine<'t>]> {
    let mut starts: Vec<usize> = (1..lines.len()).filter(|at| begins(*at)).collect();
    starts.insert(0, 0);
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().zip(ends).map(|(start, end)| &lines[*start..end]).filter(|lines| !lines.is_empty()).collect()
}
