//! Counts o200k tokens, and cuts text to a number of them.
//!
//! It counts exactly what OpenAI's `tiktoken` counts with `encode_ordinary`: special tokens such as `<|endoftext|>` are
//! text like any other.
//!
//! Invariant: there is nothing to load, since the table of tokens is in the read-only data of the program, and nothing to
//! keep, since a call frees what little memory it takes. The first count in a process costs only the pages it touches.

mod class;
mod fit;
mod layout;
mod lowest;
mod merge;
mod split;
mod table;
mod window;

pub use fit::fit;

use layout::NO_RANK;
use merge::Merger;
use window::{Reach, WINDOWS};

/// How many o200k tokens `text` is.
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

/// The first tokens of one piece: all of them, or the first `limit` if there are more.
fn walk(piece: &[u8], limit: usize, merger: &mut Merger) -> Reach {
    let bytes = piece.len();
    if limit > 0 && table::rank(piece) != NO_RANK {
        return Reach { tokens: 1, bytes };
    }
    WINDOWS.walk(piece, limit, merger)
}
