//! Merges the bytes of a piece into tokens: always the leftmost of the pairs whose token has the lowest rank.
//!
//! Invariant: [`Merger::merge`] takes O(n log n) time in the length of the piece.

use crate::layout::NO_RANK;
use crate::min_tree::MinTree;
use crate::table::rank;

/// The maximum length of a piece for which scanning all pairs before each merge is faster than tracking the lowest one.
const MAX_LINEAR_SCAN_BYTES: usize = 64;

/// Merges pieces, one after another, reusing its memory.
#[derive(Default)]
pub(crate) struct Merger {
    /// The start of each token, and finally the end of the piece.
    bounds: Vec<usize>,
    /// For a short piece: the rank of the token that each token would make with the next.
    ranks: Vec<u32>,
    /// For a long piece: the token that begins at each byte.
    spans: Vec<TokenSpan>,
    /// For a long piece: the rank of the token that the one beginning at each byte would make with the next.
    pairs: MinTree,
}

/// A token of a long piece during merging, indexed by its start.
struct TokenSpan {
    /// The start of the token before it.
    previous: usize,
    /// The start of the token after it.
    end: usize,
}

impl Merger {
    /// Returns the start of each token of `piece`, and finally its end.
    pub(crate) fn merge(&mut self, piece: &[u8]) -> &[usize] {
        if piece.len() <= MAX_LINEAR_SCAN_BYTES {
            self.merge_short(piece);
        } else {
            self.merge_long(piece);
        }
        &self.bounds
    }

    fn merge_short(&mut self, piece: &[u8]) {
        let Self { bounds, ranks, .. } = self;
        bounds.clear();
        bounds.extend(0..=piece.len());
        ranks.clear();
        ranks.extend(piece.windows(2).map(rank));
        while let Some(left) = leftmost_lowest(ranks) {
            bounds.remove(left + 1);
            ranks.remove(left);
            if let Some(&end) = bounds.get(left + 2) {
                ranks[left] = rank(&piece[bounds[left]..end]);
            }
            if let Some(before) = left.checked_sub(1) {
                ranks[before] = rank(&piece[bounds[before]..bounds[left + 1]]);
            }
        }
    }

    fn merge_long(&mut self, piece: &[u8]) {
        self.spans.clear();
        self.spans
            .extend((0..piece.len()).map(|start| TokenSpan { previous: start.saturating_sub(1), end: start + 1 }));
        self.pairs.fill(piece.windows(2).map(rank));
        while let Some(left) = self.pairs.leftmost() {
            let right = self.spans[left].end;
            let end = self.spans[right].end;
            self.spans[left].end = end;
            self.pairs.set(right, NO_RANK);
            let together = match self.spans.get_mut(end) {
                Some(next) => {
                    next.previous = left;
                    rank(&piece[left..next.end])
                }
                None => NO_RANK,
            };
            self.pairs.set(left, together);
            if left > 0 {
                let before = self.spans[left].previous;
                self.pairs.set(before, rank(&piece[before..end]));
            }
        }
        self.bounds.clear();
        self.bounds.push(0);
        let mut end = 0;
        while let Some(span) = self.spans.get(end) {
            end = span.end;
            self.bounds.push(end);
        }
    }
}

#[inline]
fn leftmost_lowest(ranks: &[u32]) -> Option<usize> {
    let mut best = (0, NO_RANK);
    for (place, &rank) in ranks.iter().enumerate() {
        if rank < best.1 {
            best = (place, rank);
        }
    }
    (best.1 != NO_RANK).then_some(best.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(piece: &[u8]) {
        let (mut short, mut long) = (Merger::default(), Merger::default());
        short.merge_short(piece);
        long.merge_long(piece);
        assert_eq!(short.bounds, long.bounds, "{piece:?}");
    }

    #[test]
    fn short_and_long_pieces_merge_alike_at_every_length() {
        for length in 1..=300 {
            check(&vec![b' '; length]);
            check(&b"mississippi".repeat(28)[..length]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn short_and_long_pieces_merge_alike(piece in "[a-zA-Z]{1,300}|[a-b]{1,300}|\\PC{1,100}") {
            check(piece.as_bytes());
        }
    }
}
