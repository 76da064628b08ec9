//! Properties of an index that follows the log.

use weir_core::WhyGone::Forgotten;

use super::*;
use crate::{IndexChange, IndexedRecord, Position, Step};

const WORDS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "alpha gamma", "note"];

fn answers(shelf: &Shelf) -> Vec<Vec<Record>> {
    let readers = [ana(), ben()];
    readers.iter().flat_map(|reader| WORDS.map(|word| found(shelf, reader, word))).collect()
}

/// An index made again from the log gives the same answers as one that followed it live, in the same order.
pub fn an_index_rebuilt_from_zero_equals_the_live_one(new: NewShelf<'_>) {
    let shelf = new();
    for number in 0..40usize {
        let who = if number % 3 == 0 { ben() } else { ana() };
        let audience = if number % 4 == 0 { Audience::Author } else { Audience::Team };
        let text = format!("{} {} number {number}", WORDS[number % 4], WORDS[number * 7 % 4]);
        let kept = shelf.keep(&who, note(audience, &text), Timestamp(NOW.0 + number as i64)).unwrap();
        if number % 5 == 0 {
            shelf.forget(&who, kept.id, Forgotten, NOW).unwrap();
        }
        if number % 2 == 0 {
            found(&shelf, &ana(), "alpha");
        }
    }
    let live = answers(&shelf);
    assert!(live.iter().any(|hits| hits.len() > 5));
    let position = shelf.ports().index.position(&ana()).unwrap();
    shelf.rebuild_index(&ana()).unwrap();
    assert_eq!(shelf.ports().index.position(&ana()).unwrap(), position);
    assert_eq!(answers(&shelf), live);
    shelf.ports().index.clear(&ana()).unwrap();
    assert_eq!(shelf.ports().index.position(&ana()).unwrap(), Position(0));
    assert_eq!(answers(&shelf), live);
}

/// Changes that are applied after others have gone on change nothing: a removed record stays removed.
pub fn a_slow_follower_brings_nothing_back(new: NewShelf<'_>) {
    let shelf = new();
    let index = &shelf.ports().index;
    let kept = keep(&shelf, &ana(), "fleeting");
    let late = IndexChange::Put(Box::new(IndexedRecord {
        id: kept.id,
        kind: EntryKind::Note,
        audience: Audience::Team,
        author: ana().user,
        source: None,
        at: NOW,
        title: "late".into(),
        text: "fleeting".into(),
    }));
    shelf.forget(&ana(), kept.id, Forgotten, NOW).unwrap();
    let head = index.position(&ana()).unwrap();
    for (from, to) in [(Position(0), Position(1)), (Position(head.0 + 1), Position(head.0 + 2))] {
        assert!(!index.apply(&ana(), std::slice::from_ref(&late), Step { from, to }).unwrap());
    }
    assert_eq!((index.position(&ana()).unwrap(), index.holds(&ana(), &[kept.id]).unwrap()), (head, 0));
    assert_eq!(index.search(&ana(), &SearchQuery::new("fleeting", 5)).unwrap().hits, []);
    // Applying the same change twice in order is the same as once.
    for step in 0..2 {
        let (from, to) = (Position(head.0 + step), Position(head.0 + step + 1));
        assert!(index.apply(&ana(), std::slice::from_ref(&late), Step { from, to }).unwrap());
        assert_eq!(index.search(&ana(), &SearchQuery::new("fleeting", 5)).unwrap().hits.len(), 1);
    }
}

/// An index that is ahead of its log, because the log was put back to an older state, is made again.
pub fn an_index_of_a_log_that_was_put_back_starts_again(new: NewShelf<'_>) {
    let (shelf, older) = (new(), new());
    for number in 0..5 {
        keep(&shelf, &ana(), &format!("gone {number}"));
    }
    assert_eq!(found(&shelf, &ana(), "gone").len(), 5);
    let kept = keep(&older, &ana(), "present");
    let ports = crate::Ports { index: shelf.ports().index.clone(), ..older.ports().clone() };
    let put_back = Shelf::new(ports, Writer::new().unwrap());
    assert_eq!(found(&put_back, &ana(), "gone present"), [kept]);
    assert_eq!(put_back.ports().index.position(&ana()).unwrap(), Position(1));
}
