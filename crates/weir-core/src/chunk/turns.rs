//! A conversation: one chunk for each turn, which is a paragraph.
//!
//! Invariant: two turns never share a chunk. A long turn is cut as plain text.

use super::lines::{Line, is_blank, line};
use super::pack::{Block, Joint};
use super::{LIMIT, plain};

/// Returns the turn that `rest` begins with, including the blank lines after it.
pub(super) fn next(rest: &[u8], is_last: bool) -> Option<Block> {
    let mut end = 0;
    let (mut has_words, mut has_ended) = (false, false);
    loop {
        let next = match line(rest, end, is_last) {
            Line::Ends(next) => next,
            Line::Open => return None,
            Line::Nothing => break,
            // The long line has words, so it is another turn if this one has ended.
            Line::Long if has_ended => break,
            Line::Long => return block(plain::cut(rest)),
        };
        let is_blank = is_blank(&rest[end..next]);
        if has_ended && !is_blank {
            break;
        }
        if next > LIMIT {
            return block(if has_ended { end } else { plain::cut(rest) });
        }
        has_ended = has_words && is_blank;
        has_words |= !is_blank;
        end = next;
    }
    block(end)
}

fn block(length: usize) -> Option<Block> {
    (length > 0).then_some(Block { length, joint: Joint::Apart, heading: None })
}
