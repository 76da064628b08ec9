//! context-mode's method, reimplemented from the behaviour of its search: stems and trigrams, fused by rank, then
//! sorted again by the title and by the proximity of the words.

use std::collections::HashMap;

use rusqlite::Connection;

use super::Rankings;
use super::plain::{fill, match_all, quoted, ranked, words};
use super::set::{Piece, Set};

/// The usual constant of reciprocal rank fusion.
const RRF: f64 = 60.0;
/// The weight of the title in the engine's rank.
const TITLE_RANK: f64 = 2.0;
/// The boost of a title with all words when sorting again.
const TITLE_BOOST: f64 = 0.3;
/// The number of results fused from each list, and of fused results sorted again: twice the number shown.
const POOL_HITS: usize = 20;
/// The minimum length of a word: a trigram needs three letters, and shorter words say little in a title.
const MIN_WORD_CHARS: usize = 3;

pub(crate) fn rank(set: &Set) -> Rankings {
    super::by_group(set, |documents, questions| {
        let pieces = set.pieces(documents);
        let mut db = Connection::open_in_memory().unwrap();
        fill(&mut db, "stems", "porter unicode61", &pieces);
        fill(&mut db, "letters", "trigram", &pieces);
        let answers = questions.iter().map(|&asked| ask(&db, &pieces, &set.questions[asked].text));
        answers.map(|found| found.into_iter().map(|(at, score)| ranked(&pieces[at], score)).collect()).collect()
    })
}

fn ask(db: &Connection, pieces: &[Piece<'_>], text: &str) -> Vec<(usize, f64)> {
    let stems = match_all(db, "stems", &quoted(text, 1).join(" OR "), TITLE_RANK);
    let letters = match_all(db, "letters", &quoted(text, MIN_WORD_CHARS).join(" OR "), TITLE_RANK);
    let mut fused: HashMap<usize, f64> = HashMap::new();
    for list in [stems, letters] {
        for (rank, (at, _)) in list.into_iter().take(POOL_HITS).enumerate() {
            *fused.entry(at).or_default() += 1.0 / (RRF + rank as f64 + 1.0);
        }
    }
    let mut fused: Vec<(usize, f64)> = fused.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused.truncate(POOL_HITS);
    let terms = words(text, MIN_WORD_CHARS);
    let boosted = fused.into_iter().map(|(at, score)| (at, boost(&pieces[at], &terms), score));
    let mut found: Vec<(usize, f64, f64)> = boosted.collect();
    // The sort is stable: results with the same boost stay in rank order.
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.into_iter().map(|(at, boost, score)| (at, boost + score)).collect()
}

/// Returns the boost for words in the title and for the proximity of all words.
fn boost(piece: &Piece<'_>, terms: &[String]) -> f64 {
    if terms.len() < 2 {
        return 0.0;
    }
    let title = words(piece.title, MIN_WORD_CHARS);
    let in_title = terms.iter().filter(|term| title.contains(term)).count();
    let text = piece.text.to_lowercase();
    let nearness = narrowest(&text, terms).map_or(0.0, |span| 1.0 / (1.0 + span as f64 / text.len().max(1) as f64));
    TITLE_BOOST * in_title as f64 / terms.len() as f64 + nearness
}

/// Returns the length of the shortest stretch that contains every term, or `None` if one is missing.
fn narrowest(text: &str, terms: &[String]) -> Option<usize> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (number, term) in terms.iter().enumerate() {
        let before = places.len();
        places.extend(text.match_indices(term.as_str()).map(|(at, _)| (at, number)));
        if places.len() == before {
            return None;
        }
    }
    places.sort_unstable();
    let mut counts = vec![0; terms.len()];
    let (mut covered, mut start, mut best) = (0, 0, usize::MAX);
    for &(at, number) in &places {
        covered += usize::from(counts[number] == 0);
        counts[number] += 1;
        while covered == terms.len() {
            best = best.min(at - places[start].0);
            counts[places[start].1] -= 1;
            covered -= usize::from(counts[places[start].1] == 0);
            start += 1;
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_stretch_with_every_word_counts() {
        let terms = ["pool".to_owned(), "size".to_owned()];
        assert_eq!(narrowest("pool a b c size x pool size", &terms), Some(5));
        assert_eq!(narrowest("pool only", &terms), None);
    }
}
