//! Tests search by meaning: what it finds, what it must not find, and that an index made again has the same vectors.

use std::path::Path;
use std::sync::{Arc, Mutex};

use weir_core::WhyGone::Forgotten;
use weir_core::{EntryKind, Scope};
use weir_records::memory::MemoryIndex;
use weir_records::{Audience, Index as _, NewRecord, Ports, RecordId, SearchQuery, Shelf};
use weir_team::{CopyPlace, IndexCopier, Meaning, ObjectBlobs, Started, TantivyIndex, Vectors};

use crate::support::{NOW, ana, keep, scope, shelf_of, with_index};

/// Words that mean the same, for a model that knows nothing else.
const MEANINGS: [&[&str]; 4] = [
    &["delete", "remove", "erase"],
    &["folders", "directory", "tree"],
    &["pool", "connections", "sockets"],
    &["date", "calendar", "parse"],
];

/// Returns a model with one dimension for each meaning, and one for the length of the text.
fn model(name: &str) -> Meaning {
    Meaning::new(name, MEANINGS.len() + 1, |text| {
        let count = |meaning: &[&str]| text.split_whitespace().filter(|word| meaning.contains(word)).count() as f32;
        let mut vector: Vec<f32> = MEANINGS.map(count).into();
        if vector.iter().all(|number| *number == 0.0) {
            return None;
        }
        vector.push(text.len() as f32 / 1_000.0);
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        Some(vector.into_iter().map(|number| number / length).collect())
    })
}

fn semantic() -> Vectors {
    Vectors::Of(model("toy"))
}

fn open(folder: &Path, vectors: &Vectors) -> Arc<TantivyIndex> {
    Arc::new(TantivyIndex::open_with(folder, vectors).unwrap())
}

/// Searches by words and by meaning.
fn query(words: &str) -> SearchQuery {
    SearchQuery { vector: model("toy").embed(words), ..SearchQuery::new(words, 30) }
}

/// Returns what a search finds with its exact scores, best first.
fn ranked(shelf: &Shelf, scope: &Scope, query: &SearchQuery) -> Vec<(RecordId, u64)> {
    let found = shelf.search(scope, query).unwrap();
    assert_eq!((found.behind, found.used_vector), (0, query.vector.is_some()));
    found.hits.iter().map(|hit| (hit.kept.record.id, hit.score.to_bits())).collect()
}

fn found(shelf: &Shelf, scope: &Scope, query: &SearchQuery) -> Vec<RecordId> {
    ranked(shelf, scope, query).into_iter().map(|(id, _)| id).collect()
}

#[test]
fn a_text_that_says_the_same_in_other_words_is_found_after_one_that_also_has_the_words() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf_of(with_index(open(folder.path(), &semantic())));
    let same_meaning = keep(&shelf, &ana(), "remove a directory").id;
    let other = keep(&shelf, &ana(), "parse a calendar").id;
    let same_words = keep(&shelf, &ana(), "delete many folders").id;
    assert_eq!(found(&shelf, &ana(), &query("delete folders")), [same_words, same_meaning]);
    assert_eq!(found(&shelf, &ana(), &SearchQuery::new("delete folders", 30)), [same_words]);
    assert_eq!(found(&shelf, &ana(), &query("date")), [other]);
    assert_eq!(found(&shelf, &ana(), &query("unknown")), []);
    let narrow = SearchQuery { vector: Some(vec![1.0; 2]), ..SearchQuery::new("delete folders", 30) };
    let answer = shelf.search(&ana(), &narrow).unwrap();
    assert_eq!((answer.used_vector, answer.hits.len()), (false, 1), "another model's vector is not used");
}

#[test]
fn meaning_crosses_no_project_no_user_and_no_filter() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf_of(with_index(open(folder.path(), &semantic())));
    let (ben, web, umbrella) =
        (scope("acme", "ben", "api"), scope("acme", "ana", "web"), scope("umbrella", "ana", "api"));
    let private = NewRecord::new(EntryKind::Note, Audience::Author, "a note", "remove a directory");
    let private = shelf.keep(&ana(), private, NOW).unwrap().id;
    let theirs = keep(&shelf, &web, "erase the tree").id;
    assert_eq!(found(&shelf, &ana(), &query("delete folders")), [private]);
    assert_eq!(found(&shelf, &web, &query("delete folders")), [theirs]);
    for nobody in [&ben, &umbrella] {
        assert_eq!(found(&shelf, nobody, &query("delete folders")), []);
    }
    for filtered in [
        SearchQuery { kind: Some(EntryKind::Run), ..query("delete folders") },
        SearchQuery { author: Some(ben.user.clone()), ..query("delete folders") },
        SearchQuery { source: Some("src".into()), ..query("delete folders") },
        SearchQuery { since: Some(weir_core::Timestamp(NOW.0 + 60_000)), ..query("delete folders") },
    ] {
        assert_eq!(found(&shelf, &ana(), &filtered), []);
    }
    shelf.forget(&ana(), private, Forgotten, NOW).unwrap();
    assert_eq!(found(&shelf, &ana(), &query("delete folders")), []);
}

#[test]
fn an_index_made_again_or_restored_has_the_same_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let ports = with_index(open(&folder.path().join("live"), &semantic()));
    let shelf = shelf_of(ports.clone());
    for number in 0..200_usize {
        let words = [0, 1, 2].map(|at| MEANINGS[(number / 3 + at) % 4][(number * 7 + at) % 3]);
        let kept = keep(&shelf, &ana(), &format!("{} number{}", words.join(" "), number % 20));
        if number % 9 == 0 {
            shelf.forget(&ana(), kept.id, Forgotten, NOW).unwrap();
        }
        if number % 4 == 0 {
            shelf.follow(&ana(), usize::MAX).unwrap();
        }
    }
    let queries = ["delete folders", "pool", "calendar number3", "erase sockets tree"].map(query);
    let answers = |shelf: &Shelf| queries.each_ref().map(|query| ranked(shelf, &ana(), query));
    let live = answers(&shelf);
    assert!(live.iter().all(|hits| hits.len() == 30));
    shelf.rebuild_index(&ana()).unwrap();
    assert_eq!(answers(&shelf), live);
    let again = open(&folder.path().join("again"), &semantic());
    let others = Ports { index: Arc::new(MemoryIndex::default()), ..ports };
    let shelf = shelf_of(Ports { index: again.clone(), ..others.clone() });
    shelf.follow(&ana(), usize::MAX).unwrap();
    assert_eq!(answers(&shelf), live);

    let objects = Arc::new(ObjectBlobs::in_folder(&folder.path().join("store")).unwrap());
    let place = |name: &str| CopyPlace::open(Arc::clone(&objects), &folder.path().join(name)).unwrap();
    IndexCopier::new(place("one"), again).copy().unwrap();
    let restored = TantivyIndex::open_or_restore(&folder.path().join("restored"), &semantic(), &place("two")).unwrap();
    assert_eq!(restored.started(), &Started::Restored { refused: Vec::new() });
    assert_eq!(answers(&shelf_of(Ports { index: Arc::new(restored), ..others })), live);
    let other = Vectors::Of(model("other"));
    let refused = TantivyIndex::open_or_restore(&folder.path().join("refused"), &other, &place("three")).unwrap();
    assert!(matches!(refused.started(), Started::MadeAgain { .. }), "{:?}", refused.started());
}

#[test]
fn an_index_with_vectors_of_another_model_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let ports = with_index(open(folder.path(), &Vectors::Off));
    let kept = keep(&shelf_of(ports.clone()), &ana(), "remove a directory").id;
    let others = Ports { index: Arc::new(MemoryIndex::default()), ..ports.clone() };
    shelf_of(ports).follow(&ana(), usize::MAX).unwrap();
    for (vectors, is_kept) in [
        (Vectors::Off, true),
        (semantic(), false),
        (semantic(), true),
        (Vectors::AsTheyAre, true),
        (semantic(), true),
        (Vectors::Of(model("other")), false),
        (Vectors::Off, false),
    ] {
        let index = open(folder.path(), &vectors);
        assert_eq!(index.started() == &Started::Found, is_kept, "{:?}", index.started());
        let shelf = shelf_of(Ports { index: index.clone(), ..others.clone() });
        shelf.follow(&ana(), usize::MAX).unwrap();
        assert_eq!(index.holds(&ana(), &[kept]).unwrap(), 1);
        if matches!(vectors, Vectors::Of(_)) {
            assert_eq!(found(&shelf, &ana(), &query("delete folders")), [kept]);
        }
    }
}

#[test]
fn the_contract_holds_with_vectors() {
    let folders: Mutex<Vec<tempfile::TempDir>> = Mutex::default();
    weir_records::contract::all(|| {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path(), &semantic());
        folders.lock().unwrap().push(folder);
        shelf_of(with_index(index))
    });
}
