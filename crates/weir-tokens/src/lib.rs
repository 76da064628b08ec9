//! Counts o200k tokens, and cuts text to a number of them.
//!
//! The count is exactly that of OpenAI's `tiktoken` with `encode_ordinary`: special tokens such as `<|endoftext|>` are
//! ordinary text. What a budget is, and what becomes of the rest of a text, others decide.
//!
//! # Invariants
//!
//! - There is nothing to load, since the table of tokens is in the read-only data of the program. The first count in a
//!   process costs only the pages it touches.
//! - Nothing is cached, and a call frees the little memory it takes.
//! - A text that was cut never has more tokens than its budget.

mod class;
mod fit;
mod layout;
mod merge;
mod min_tree;
mod split;
mod table;
mod window;

pub use fit::fit;

use layout::NO_RANK;
use merge::Merger;
use window::{TokenExtent, WINDOWS};

/// Returns the number of o200k tokens in `text`.
pub fn count(text: &str) -> usize {
    let mut merger = Merger::default();
    let mut tokens = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(split::first(rest));
        tokens += walk(piece.as_bytes(), usize::MAX, &mut merger).tokens;
        rest = tail;
    }
    tokens
}

/// Returns how far the tokens of one piece reach: all of them, or the first `limit` if there are more.
fn walk(piece: &[u8], limit: usize, merger: &mut Merger) -> TokenExtent {
    let bytes = piece.len();
    if limit > 0 && table::rank(piece) != NO_RANK {
        return TokenExtent { tokens: 1, bytes };
    }
    WINDOWS.walk(piece, limit, merger)
}
