//! Cuts a text into chunks, the unit of ranking, by what the text is.
//!
//! Invariant: the pieces follow one another without gap or overlap, none is longer than `LIMIT`, and where they lie
//! does not depend on the parts in which the text came. The time is linear in the text, whatever it is.

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
use pack::{Block, Packer};

/// The size a chunk grows to, in bytes: 300 to 500 tokens of ordinary text.
const TARGET: usize = 1_600;
/// The size a chunk never passes.
const LIMIT: usize = 2_400;

/// A chunk of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it lies.
    pub span: Range<usize>,
    /// The path of headings, symbols or keys that it stands under; empty where there is none.
    pub heading: String,
}

/// Cuts a text that comes in parts.
#[derive(Debug)]
pub struct Cutter {
    scanner: Scanner,
    packer: Packer,
}

/// What finds the blocks of a text: one for each form, with what is open at the place it has come to.
#[derive(Debug)]
enum Scanner {
    Plain,
    Markdown(markdown::Scanner),
    Source(source::Scanner),
    Json(json::Scanner),
    Turns,
}

impl Cutter {
    /// One for a text of this form.
    pub fn new(form: Form) -> Self {
        let scanner = match form {
            Form::Plain => Scanner::Plain,
            Form::Markdown => Scanner::Markdown(markdown::Scanner::default()),
            Form::Source => Scanner::Source(source::Scanner::default()),
            Form::Json => Scanner::Json(json::Scanner::default()),
            Form::Turns => Scanner::Turns,
        };
        Self { scanner, packer: Packer::default() }
    }

    /// Cuts a beginning of `text`, which is what was not taken before and what came since; all of it if `is_last`.
    ///
    /// What waits for more text is never more than a few chunks.
    pub fn cut(&mut self, text: &[u8], is_last: bool) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(text.len() / TARGET + 1);
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
    /// The block that `rest` begins with; none at its end, or where more text is needed to say.
    fn next(&mut self, rest: &[u8], is_last: bool) -> Option<Block> {
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
