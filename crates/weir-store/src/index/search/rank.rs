//! Ranks candidates. The formula and its numbers were measured (docs/benchmarks.md): the sum of keyword and meaning
//! scores, each as a share of its maximum, plus a small bonus for recent entries and for the same work.
//!
//! Invariant: no candidate is dropped, and the order is the same for the same candidates.

use weir_core::Timestamp;

use super::candidates::{Candidate, Spoken};

/// Number of chunks up to which meaning counts half. It counts less in a larger index, where something is always close.
const SMALL_INDEX_CHUNKS: i64 = 10_000;
const SMALL_INDEX_MEANING_SHARE: f64 = 0.5;
const LARGE_INDEX_MEANING_SHARE: f64 = 0.3;
/// Bonus of a new entry, as a share of the best score, and the number of days in which it halves.
const RECENCY_BONUS: f64 = 0.1;
const HALF_LIFE_DAYS: f64 = 30.0;
/// Bonus of the same work, as a share of the best score.
const SAME_WORK_BONUS: f64 = 0.05;

/// The share of the score that an earlier request keeps: it repeats the question, and its turn has the answer.
const QUESTION_SHARE: f64 = 0.6;
/// Weight of a turn: it has the names that the other entries of the session lack. One in which much was done has a long
/// text, and counts up to twice as much.
const TURN_SHARE: f64 = 1.5;
const LONG_TURN_BYTES: f64 = 2_000.0;

/// Scores and sorts candidates. `chunks` is the number of chunks, or `None` without semantic search.
pub(super) fn sort(candidates: &mut [Candidate], chunks: Option<i64>, now: Option<Timestamp>) {
    let best_words = candidates.iter().map(|c| c.words).fold(f64::MIN_POSITIVE, f64::max);
    let share = match chunks {
        None => 0.0,
        Some(chunks) if chunks <= SMALL_INDEX_CHUNKS => SMALL_INDEX_MEANING_SHARE,
        Some(_) => LARGE_INDEX_MEANING_SHARE,
    };
    for candidate in candidates.iter_mut() {
        candidate.score = share * f64::from(candidate.near) + (1.0 - share) * candidate.words / best_words;
    }
    let best = candidates.iter().map(|c| c.score).fold(0.0, f64::max);
    for candidate in candidates.iter_mut() {
        let recent = now.map_or(0.0, |now| recency(candidate.at, now));
        candidate.score += best * (RECENCY_BONUS * recent + if candidate.same_work { SAME_WORK_BONUS } else { 0.0 });
    }
    for candidate in candidates.iter_mut() {
        candidate.score *= match candidate.spoken {
            Spoken::Question => QUESTION_SHARE,
            Spoken::Turn => TURN_SHARE * (1.0 + (candidate.turn_bytes as f64 / LONG_TURN_BYTES).min(1.0)),
            Spoken::Other => 1.0,
        };
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
}

/// Returns 1 for a new entry, and half of that for every 30 days of age.
fn recency(at: Timestamp, now: Timestamp) -> f64 {
    const DAY: f64 = 24.0 * 60.0 * 60.0 * 1_000.0;
    let days = (now.0 - at.0).max(0) as f64 / DAY;
    (-days / HALF_LIFE_DAYS).exp2()
}
