//! Cuts text to a budget of tokens.
//!
//! Invariant: the remaining text never has more tokens than the budget, although a cut can change how the text before
//! it is split into pieces and merged into tokens. The parts that a cut can change are known, and are counted again:
//!
//! - Pieces that end before the cut stay as they are, since the only look-ahead of the pattern is `\s+(?!\S)`. Its
//!   result changes only if the cut removes the text after a run of spaces. Then the last space, which was alone or led
//!   the next piece, joins the spaces before it; that affects the last two pieces and no earlier one.
//! - The piece that the cut goes through may be split differently, for instance if it loses one half of `'re`.

use crate::layout::MAX_TOKEN_BYTES;
use crate::merge::Merger;
use crate::window::TokenExtent;
use crate::{count, split, walk};

/// Returns the length in bytes of a long prefix of `text` that ends on a character boundary and has at most `budget`
/// tokens.
///
/// The cut is between pieces, which usually are words, if that leaves few tokens of the budget unused, and inside a
/// piece otherwise. The time it takes is that of counting the prefix, however long the text is.
pub fn fit(text: &str, budget: usize) -> usize {
    // No longer text can fit, and a single piece may be much longer than this.
    let text = &text[..text.floor_char_boundary(budget.saturating_mul(MAX_TOKEN_BYTES))];
    let mut cutter = Cutter { text, budget, marks: [TokenExtent::default(); 3], merger: Merger::default() };
    loop {
        let at = cutter.marks[2];
        let rest = &text[at.bytes..];
        if rest.is_empty() {
            return text.len();
        }
        let piece = &rest[..split::first(rest)];
        let extent = walk(piece.as_bytes(), budget - at.tokens, &mut cutter.merger);
        if extent.bytes < piece.len() {
            return cutter.cut(piece);
        }
        cutter.marks =
            [cutter.marks[1], at, TokenExtent { tokens: at.tokens + extent.tokens, bytes: at.bytes + extent.bytes }];
    }
}

/// The text, read as far as whole pieces fit.
struct Cutter<'a> {
    text: &'a str,
    budget: usize,
    /// The bounds of the last pieces that fit; the last one is where the next piece begins.
    marks: [TokenExtent; 3],
    merger: Merger,
}

impl Cutter<'_> {
    /// Returns where to cut if `piece` is the next piece and does not fit.
    fn cut(&mut self, piece: &str) -> usize {
        let [_, before, at] = self.marks;
        let unused = self.budget - at.tokens;
        if (at.bytes == 0 || unused > self.dispensable())
            && let Some(cut) = self.cut_inside(piece, unused)
        {
            return cut;
        }
        if self.fits(at.bytes) {
            return at.bytes;
        }
        // The cut joined a last space to the spaces before it. Before that space the look-ahead sees a space with or
        // without a cut, so nothing changes there.
        before.bytes
    }

    /// Returns the number of tokens of the budget that a cut between pieces may leave unused.
    fn dispensable(&self) -> usize {
        (self.budget / 16).max(4)
    }

    /// Returns where to cut inside `piece`, of which at most `limit` tokens fit.
    fn cut_inside(&mut self, piece: &str, limit: usize) -> Option<usize> {
        let start = self.marks[2].bytes;
        let mut spare = 0;
        while spare < limit {
            let extent = walk(piece.as_bytes(), limit - spare, &mut self.merger);
            let cut = piece.floor_char_boundary(extent.bytes);
            if cut > 0 && self.fits(start + cut) {
                return Some(start + cut);
            }
            spare = (2 * spare).max(1);
        }
        None
    }

    /// Returns whether a cut here, after the last mark, stays within the budget.
    fn fits(&self, cut: usize) -> bool {
        let [safe, ..] = self.marks;
        safe.tokens + count(&self.text[safe.bytes..cut]) <= self.budget
    }
}
