//! Source text: cut between symbols, based on how lines begin and how far they are indented.
//!
//! Invariant: it uses no grammar, so that a broken file, or one in an unknown language, can be cut too.

mod symbol;

use super::lines::{LineEnd, indented, is_blank, line};
use super::pack::{Joint, TextBlock};
use super::{MAX_CHUNK_BYTES, heading, plain};
use symbol::Symbol;

/// The symbols that are open at the current position.
#[derive(Debug, Default)]
pub(super) struct SourceScanner {
    open: Vec<OpenSymbol>,
    /// Whether a cut fell within a line, so that what follows does not begin a symbol.
    is_within_line: bool,
}

#[derive(Debug, Clone)]
struct OpenSymbol {
    indent: usize,
    name: String,
    is_container: bool,
}

/// Maximum nesting depth of open symbols.
const MAX_DEPTH: usize = 8;

impl SourceScanner {
    /// Returns the block that `rest` begins with, up to a blank line or the next symbol.
    pub(super) fn next(&mut self, rest: &[u8], is_last: bool) -> Option<TextBlock> {
        let mut open = self.open.clone();
        let mut joint = Joint::Follows;
        let mut heading = None;
        let mut end = 0;
        // Where the comments and attributes directly above begin.
        let mut above = 0;
        let (mut has_words, mut has_ended) = (false, false);
        loop {
            let next = match line(rest, end, is_last) {
                LineEnd::Ends(next) if next <= MAX_CHUNK_BYTES => next,
                LineEnd::Open => return None,
                LineEnd::Nothing => break,
                LineEnd::Ends(_) | LineEnd::Long => {
                    let cut = if has_ended { end } else { plain::cut(rest) };
                    self.is_within_line = rest[cut - 1] != b'\n';
                    let heading = heading.or_else(|| Some(path(&open)));
                    self.open = open;
                    return Some(TextBlock { length: cut, joint, heading });
                }
            };
            let text = &rest[end..next];
            if is_blank(text) {
                has_ended = has_words;
                end = next;
                continue;
            }
            if has_ended {
                break;
            }
            let (indent, text) = indented(text);
            let is_rest_of_line = end == 0 && self.is_within_line;
            if !is_rest_of_line
                && let Some(symbol) = symbol::read(indent, text)
                && may_begin(&open, indent)
            {
                if above > 0 {
                    end = above;
                    break;
                }
                enter(&mut open, indent, symbol);
                joint = Joint::Symbol(indent);
                heading = Some(path(&open));
                above = next;
            } else if !symbol::is_above(text) {
                leave(&mut open, indent, text);
                heading.get_or_insert_with(|| path(&open));
                above = next;
            }
            has_words = true;
            end = next;
        }
        if end == 0 {
            return None;
        }
        self.is_within_line = false;
        let heading = heading.or_else(|| Some(path(&open)));
        self.open = open;
        Some(TextBlock { length: end, joint, heading })
    }
}

fn path(open: &[OpenSymbol]) -> String {
    heading::path(open.iter().map(|symbol| symbol.name.as_str()))
}

/// Returns whether a symbol may begin here. A definition inside a function is part of that function.
fn may_begin(open: &[OpenSymbol], indent: usize) -> bool {
    open.iter().rev().find(|symbol| symbol.indent < indent).is_none_or(|symbol| symbol.is_container)
}

fn enter(open: &mut Vec<OpenSymbol>, indent: usize, symbol: Symbol<'_>) {
    open.retain(|outer| outer.indent < indent);
    if open.len() < MAX_DEPTH {
        open.push(OpenSymbol { indent, name: heading::part(symbol.name), is_container: symbol.is_container });
    }
}

/// Closes the symbols that a line is not within.
fn leave(open: &mut Vec<OpenSymbol>, indent: usize, text: &[u8]) {
    open.retain(|outer| outer.indent < indent || (outer.indent == indent && symbol::goes_on(text)));
}
