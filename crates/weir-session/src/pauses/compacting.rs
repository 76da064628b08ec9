//! What compacting before pauses would change: while the cache is warm, the summary reads the window from it, and after
//! the pause only the short conversation is written.

use super::course::{CacheCourse, Change, Lifetime};

/// What a model writes to request a text again, in tokens.
pub(crate) const REQUEST_TOKENS: f64 = 150.0;
/// The share of a summary that the model writes. The client adds the rest.
pub(crate) const WRITTEN_SHARE: f64 = 0.8;
/// A shorter window is not worth compacting, in tokens.
const MIN_COMPACTED_TOKENS: f64 = 60_000.0;

/// What a compaction costs and leaves, in tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compacting {
    /// The length of the window afterwards.
    pub after: f64,
    pub summary: f64,
    /// What is read again, and the requests for it.
    pub again: f64,
    pub requests: f64,
}

impl CacheCourse {
    /// Returns what it costs if it is compacted before each pause that is longer than the cache lives.
    pub(super) fn compacted(&self, lifetime: Lifetime, each: &Compacting) -> f64 {
        let (read, output) = (self.rates.read, self.rates.output);
        let mut changes = vec![Change::default(); self.turns.len()];
        let mut freed = 0.0_f64;
        let pairs = self.turns.iter().zip(self.turns.iter().skip(1));
        for ((before, turn), change) in pairs.zip(changes.iter_mut().skip(1)) {
            let before = before.window() - freed;
            let left = each.after + each.again;
            if turn.is_compacted {
                freed = 0.0;
            } else if turn.pause > lifetime.seconds() && before >= MIN_COMPACTED_TOKENS.max(left) {
                freed += before - left;
                let summing_up = before * read + each.summary * WRITTEN_SHARE * output;
                change.extra = summing_up + each.requests * (left * read + REQUEST_TOKENS * output);
            }
            change.freed = freed;
        }
        self.cost(lifetime, &changes)
    }
}
