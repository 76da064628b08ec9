//! Tokenises a piece of any length from the left, window by window.
//!
//! Two properties of byte pair merging make this exact. Call a sequence of tokens *valid* if merging its bytes alone
//! gives that sequence.
//!
//! 1. Any part of a valid sequence is valid: no merge crossed its ends, so none is missed without the text beyond them.
//! 2. If one valid sequence ends with a token and another begins with the same token, the two joined over it are valid:
//!    a merge that crossed a boundary of the joined sequence would cross it in one of the two.
//!
//! So a window can be merged alone, and so can the next one if it overlaps the first, as soon as both have a token in
//! common in the overlap. They usually do, since merging mostly depends on nearby bytes; there is a fallback if not.
//!
//! Invariant: the tokens of a piece are those that merging the whole piece at once gives.

use crate::layout::MAX_TOKEN_BYTES;
use crate::merge::Merger;

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct TokenExtent {
    pub(crate) tokens: usize,
    pub(crate) bytes: usize,
}

/// The size of the windows in which a piece is merged.
#[derive(Clone, Copy)]
pub(crate) struct Windows {
    /// The distance by which a window reaches further than the one before it.
    pub(crate) step: usize,
    /// The approximate length of the window before it that a window merges again.
    pub(crate) overlap: usize,
}

/// A window small enough to stay in the processor's cache, and an overlap of twice the longest token.
pub(crate) const WINDOWS: Windows = Windows { step: 1024, overlap: 2 * MAX_TOKEN_BYTES };

impl Windows {
    /// Returns the extent of all tokens of `piece`, or of the first `limit` if there are more.
    ///
    /// It reads little more of the piece than the result covers. The first `limit` tokens are therefore those of a
    /// prefix that itself has exactly `limit` tokens, and are not necessarily the first ones of the whole piece.
    pub(crate) fn walk(self, piece: &[u8], limit: usize, merger: &mut Merger) -> TokenExtent {
        if piece.len() <= self.step {
            return extent(merger.merge(piece), 0, limit);
        }
        let mut before = 0;
        let mut known = merge(piece, 0, self.step, merger);
        while let Some(&end) = known.last()
            && end < piece.len()
        {
            let from = known.partition_point(|&bound| bound + self.overlap < end).min(known.len().saturating_sub(2));
            let next = merge(piece, known[from], end + self.step, merger);
            let Some((old, new)) = common_token(&known[from..], &next) else {
                return extent(merger.merge(piece), 0, limit);
            };
            if before + from + old >= limit {
                break;
            }
            before += from + old;
            known = next[new..].to_vec();
        }
        extent(&known, before, limit)
    }
}

/// Returns the bounds of the tokens in the window from `start` to `end`, or to the end of the piece.
fn merge(piece: &[u8], start: usize, end: usize, merger: &mut Merger) -> Vec<usize> {
    let bounds = merger.merge(&piece[start..end.min(piece.len())]);
    bounds.iter().map(|bound| start + bound).collect()
}

/// Returns the extent of the first `limit` tokens, if `before` tokens precede those within `bounds`.
fn extent(bounds: &[usize], before: usize, limit: usize) -> TokenExtent {
    let last = (bounds.len() - 1).min(limit - before);
    TokenExtent { tokens: before + last, bytes: bounds[last] }
}

/// Returns the positions, in each sequence, of the first token that both have.
fn common_token(a: &[usize], b: &[usize]) -> Option<(usize, usize)> {
    let (mut i, mut j) = (0, 0);
    while i + 1 < a.len() && j + 1 < b.len() {
        if a[i..i + 2] == b[j..j + 2] {
            return Some((i, j));
        }
        if a[i] <= b[j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Windows so small that overlaps without a common token do occur.
    const TINY: Windows = Windows { step: 5, overlap: 4 };

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn windows_do_not_show(piece in "[a-c ]{1,300}|[a-zA-Z0-9+/]{1,300}|[ \t\n]{1,300}|\\PC{1,80}", limit in 0usize..300) {
            let (piece, mut merger) = (piece.as_bytes(), Merger::default());
            let whole = TokenExtent { tokens: merger.merge(piece).len() - 1, bytes: piece.len() };
            prop_assert_eq!(TINY.walk(piece, usize::MAX, &mut merger), whole);

            let part = TINY.walk(piece, limit, &mut merger);
            prop_assert_eq!(merger.merge(&piece[..part.bytes]).len() - 1, part.tokens);
            prop_assert!(part.tokens == limit || part == whole);
        }
    }
}
