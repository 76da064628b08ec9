//! Ranks candidates. The formula and its numbers were measured (docs/benchmarks.md): the sum of keyword and meaning
//! scores, each as a share of its maximum, plus a small bonus for recent entries and for the same work.
//!
//! Invariant: no candidate is dropped, and the order is the same for the same candidates.

use std::collections::HashMap;

use weir_core::{EntryKind, Timestamp};

use super::candidates::Candidate;
use crate::quantised::{Quantised, cosine};

/// Number of chunks up to which meaning counts half. It counts less in a larger index, where something is always close.
const SMALL_INDEX_CHUNKS: i64 = 10_000;
const SMALL_INDEX_MEANING_SHARE: f64 = 0.5;
const LARGE_INDEX_MEANING_SHARE: f64 = 0.3;
/// Bonus of a new entry, as a share of the best score, and the number of days in which it halves.
const RECENCY_BONUS: f64 = 0.1;
const HALF_LIFE_DAYS: f64 = 30.0;
/// Bonus of the same work, as a share of the best score.
const SAME_WORK_BONUS: f64 = 0.05;
/// Minimum similarity of two texts on the same subject, where the newer one goes first. A lower value would treat
/// related texts as the same.
const MIN_SUBJECT_SIMILARITY: f32 = 0.60;
/// Number of the best candidates that are compared with each other.
const MAX_COMPARED: usize = 5;

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
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
}

/// Returns 1 for a new entry, and half of that for every 30 days of age.
fn recency(at: Timestamp, now: Timestamp) -> f64 {
    const DAY: f64 = 24.0 * 60.0 * 60.0 * 1_000.0;
    let days = (now.0 - at.0).max(0) as f64 / DAY;
    (-days / HALF_LIFE_DAYS).exp2()
}

/// Returns the ids of the chunks that are compared for something newer on the same subject.
pub(super) fn looked_at(candidates: &[Candidate]) -> Vec<i64> {
    candidates.iter().take(MAX_COMPARED).map(|candidate| candidate.id).collect()
}

/// Moves a newer text on the same subject just above an older one, among the best candidates. Returns the newer entry
/// for each chunk that was moved below it.
pub(super) fn put_newer_first(candidates: &mut [Candidate], vectors: &HashMap<i64, Quantised>) -> HashMap<i64, i64> {
    let mut newer = HashMap::new();
    let most = candidates.len().min(MAX_COMPARED);
    for at in 0..most {
        // The newest candidate below this one that is on the same subject.
        let below = (at + 1..most).filter(|&other| is_newer(&candidates[other], &candidates[at], vectors));
        if let Some(other) = below.max_by_key(|&other| candidates[other].entry_id) {
            candidates[at..=other].rotate_right(1);
        }
    }
    for at in 1..most {
        let above = candidates[..at].iter().find(|other| is_newer(other, &candidates[at], vectors));
        if let Some(above) = above {
            newer.insert(candidates[at].id, above.entry_id);
        }
    }
    newer
}

/// Returns whether one text is newer than another on the same subject. The order of the log decides, as it does for
/// revisions, since a clock may have been set back in between.
fn is_newer(one: &Candidate, other: &Candidate, vectors: &HashMap<i64, Quantised>) -> bool {
    let tells_of_its_time = |candidate: &Candidate| {
        matches!(candidate.kind, Some(EntryKind::Note | EntryKind::Run | EntryKind::Import | EntryKind::Said))
    };
    if one.entry_id <= other.entry_id || !tells_of_its_time(one) || !tells_of_its_time(other) {
        return false;
    }
    match (vectors.get(&one.id), vectors.get(&other.id)) {
        (Some(one), Some(other)) => cosine(one, other) > MIN_SUBJECT_SIMILARITY,
        _ => false,
    }
}
