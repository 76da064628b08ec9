//! Properties of an index that follows the log.

use weir_core::WhyGone::Forgotten;

use super::*;
use crate::{Followed, Head, HeadWalk, IndexChange, IndexedRecord, Position, Step};

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

/// Goes on with a walk to its end, in small pages. Returns what it finds, in order, and where the next one begins.
fn walk_to_end(shelf: &Shelf, mut walk: HeadWalk) -> (Vec<Head>, HeadWalk) {
    let mut found = Vec::new();
    loop {
        let page = shelf.ports().log.moved_heads(walk, 2).unwrap();
        found.extend(page.heads);
        walk = page.next;
        if page.is_last {
            found.sort_by(|a, b| (&a.tenant, &a.project).cmp(&(&b.tenant, &b.project)));
            return (found, walk);
        }
    }
}

/// A walk over the heads finds those of all tenants, and the next one at least those that have moved since.
pub fn a_walk_finds_every_head_that_has_moved(new: NewShelf<'_>) {
    let shelf = new();
    let (none, walk) = walk_to_end(&shelf, HeadWalk::default());
    assert_eq!(none, []);
    let places = [ana(), scope("acme", "ana", "web"), scope("umbrella", "eve", "api"), scope("zeta", "eve", "api")];
    for place in &places {
        keep(&shelf, place, "first");
    }
    let head = |place: &Scope, position| Head {
        tenant: place.tenant.clone(),
        project: place.project.clone(),
        position: Position(position),
    };
    let all: Vec<Head> = places.iter().map(|place| head(place, 1)).collect();
    for begun in [walk, HeadWalk::default()] {
        assert_eq!(walk_to_end(&shelf, begun).0, all);
    }
    let mut walk = walk_to_end(&shelf, walk).1;
    for (count, place) in (2..).zip([&places[0], &places[2]].repeat(2)) {
        keep(&shelf, place, "more");
        let (found, next) = walk_to_end(&shelf, walk);
        let expected = head(place, 1 + count / 2);
        assert!(found.contains(&expected), "{found:?} {expected:?}");
        walk = next;
    }
    // A mark that the log has not given yet, as another log may have.
    let stale = HeadWalk { since: 1 << 60, ..HeadWalk::default() };
    assert_eq!(walk_to_end(&shelf, stale).0.len(), places.len());
}

/// The index follows several projects in one go, with the same result as one after the other.
pub fn several_projects_are_followed_at_once(new: NewShelf<'_>) {
    let shelf = new();
    let places: Vec<Scope> = (0..9).map(|number| scope("acme", "ana", &format!("p{number}"))).collect();
    for (count, place) in places.iter().enumerate() {
        for number in 0..count {
            keep(&shelf, place, &format!("amber {number}"));
        }
    }
    let gone = keep(&shelf, &places[3], "fleeting");
    let followed: Vec<Followed> = shelf.follow_all(&places, 10_000).into_iter().map(Result::unwrap).collect();
    assert!(followed.iter().all(|followed| !followed.is_behind), "{followed:?}");
    for (count, place) in places.iter().enumerate() {
        let position = shelf.ports().index.position(place).unwrap();
        assert_eq!(position, shelf.ports().log.head(place).unwrap());
        let hits = shelf.ports().index.search(place, &SearchQuery::new("amber", 100)).unwrap().hits;
        assert_eq!(hits.len(), count);
    }
    let removed = shelf.forget(&places[3], gone.id, Forgotten, NOW).unwrap();
    assert_eq!(removed.left.in_index, 0);
    assert!(shelf.follow_all(&places, 10_000).into_iter().all(|followed| followed.unwrap().positions == 0));
}
