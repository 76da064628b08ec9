//! A conversation: one chunk for each turn, which is a paragraph.
//!
//! Invariant: two turns never share a chunk. A long turn is cut as plain text.

use super::lines::{LineEnd, is_blank, line};
use super::pack::{Joint, TextBlock};
use super::{MAX_CHUNK_BYTES, plain};

/// Returns the turn that `rest` begins with, including the blank lines after it.
pub(super) fn next(rest: &[u8], is_last: bool) -> Option<TextBlock> {
    let mut end = 0;
    let (mut has_words, mut has_ended) = (false, false);
    loop {
        let next = match line(rest, end, is_last) {
            LineEnd::Ends(next) => next,
            LineEnd::Open => return None,
            LineEnd::Nothing => break,
            // The long line has words, so it is another turn if this one has ended.
            LineEnd::Long if has_ended => break,
            LineEnd::Long => return block(plain::cut(rest)),
        };
        let is_blank = is_blank(&rest[end..next]);
        if has_ended && !is_blank {
            break;
        }
        if next > MAX_CHUNK_BYTES {
            return block(if has_ended { end } else { plain::cut(rest) });
        }
        has_ended = has_words && is_blank;
        has_words |= !is_blank;
        end = next;
    }
    block(end)
}

fn block(length: usize) -> Option<TextBlock> {
    (length > 0).then_some(TextBlock { length, joint: Joint::Apart, heading: None })
}
