//! Cuts a text into chunks, the unit of ranking, according to its form.
//!
//! Invariant: the pieces follow one another without gap or overlap, none is longer than `MAX_CHUNK_BYTES`, and their
//! boundaries do not depend on the parts in which the text arrived. The time is linear in the text, whatever it is.

mod form;
mod heading;
mod json;
mod lines;
mod markdown;
mod pack;
mod plain;
mod source;
mod turns;

use std::ops::Range;

pub use form::Form;
use pack::{Packer, TextBlock};

/// Size that a chunk grows to, in bytes: 300 to 500 tokens of ordinary text.
const TARGET_CHUNK_BYTES: usize = 1_600;
const MAX_CHUNK_BYTES: usize = 2_400;

/// A chunk of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub span: Range<usize>,
    /// The path of headings, symbols or keys above the chunk; empty if there is none.
    pub heading: String,
}

/// Cuts a text that arrives in parts.
#[derive(Debug)]
pub struct Cutter {
    scanner: Scanner,
    packer: Packer,
}

/// The scanner for each form, with its state at the current position. It finds the blocks of a text.
#[derive(Debug)]
enum Scanner {
    Plain,
    Markdown(markdown::MarkdownScanner),
    Source(source::SourceScanner),
    Json(json::JsonScanner),
    Turns,
}

impl Cutter {
    pub fn new(form: Form) -> Self {
        let scanner = match form {
            Form::Plain => Scanner::Plain,
            Form::Markdown => Scanner::Markdown(markdown::MarkdownScanner::default()),
            Form::Source => Scanner::Source(source::SourceScanner::default()),
            Form::Json => Scanner::Json(json::JsonScanner::default()),
            Form::Turns => Scanner::Turns,
        };
        Self { scanner, packer: Packer::default() }
    }

    /// Cuts off chunks from the beginning of `text`, which consists of what was not taken before and what arrived
    /// since. Cuts all of it if `is_last`.
    ///
    /// What waits for more text is never more than a few chunks.
    pub fn cut(&mut self, text: &[u8], is_last: bool) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(text.len() / TARGET_CHUNK_BYTES + 1);
        let mut at = self.packer.waiting();
        while let Some(block) = text.get(at..).and_then(|rest| self.scanner.next(rest, is_last)) {
            at += block.length;
            self.packer.push(block, &mut pieces);
        }
        if is_last {
            self.packer.finish(&mut pieces);
        }
        pieces
    }
}

impl Scanner {
    /// Returns the block that `rest` begins with. Returns `None` at the end, or if more text is needed to decide.
    fn next(&mut self, rest: &[u8], is_last: bool) -> Option<TextBlock> {
        match self {
            Self::Plain => plain::next(rest, is_last),
            Self::Markdown(scanner) => scanner.next(rest, is_last),
            Self::Source(scanner) => scanner.next(rest, is_last),
            Self::Json(scanner) => scanner.next(rest, is_last),
            Self::Turns => turns::next(rest, is_last),
        }
    }
}

#[cfg(test)]
mod tests;
