//! Tests what only the index on tantivy has: files that many tenants share, commits, merges and a rebuild.

mod buckets;
mod copies;
mod large;
mod traces;
mod vectors;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tantivy::{IndexWriter, TantivyDocument};
use weir_core::WhyGone::Forgotten;
use weir_records::sqlite::SqliteIndex;
use weir_records::{ErrorKind, Index as _, Ports, Position, RecordId, SearchQuery, Shelf};
use weir_team::{Started, TantivyIndex};

use crate::support::{ana, files, hits, keep, open, scope, shelf_of, with_index};

/// Returns the records that a search finds with their exact scores, best first.
fn ranked(shelf: &Shelf, words: &str, limit: usize) -> Vec<(RecordId, u64)> {
    let found = shelf.search(&ana(), &SearchQuery::new(words, limit)).unwrap();
    assert_eq!(found.behind, 0);
    found.hits.iter().map(|hit| (hit.kept.record.id, hit.score.to_bits())).collect()
}

/// Returns a text of a few out of many words; a number gives the same text each time.
fn text(number: u64) -> String {
    let words = ["pool", "size", "connection", "timeout", "retry", "queue", "worker", "lock", "index", "search"];
    let word = |at: u64| words[((number * 7 + at * at * 3 + number / 10) % 10) as usize];
    (0..3 + number % 4).map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn records_survive_and_a_lost_index_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let ports = with_index(open(folder.path()));
    let shelf = shelf_of(ports.clone());
    keep(&shelf, &ana(), "enduring");
    assert_eq!(hits(&shelf, &ana(), "enduring"), 1);
    let without_index = Ports { index: Arc::new(weir_records::memory::MemoryIndex::default()), ..ports.clone() };
    drop((shelf, ports));
    let index = open(folder.path());
    assert_eq!((index.started(), index.position(&ana()).unwrap()), (&Started::Found, Position(1)));
    drop(index);
    std::fs::remove_dir_all(folder.path()).unwrap();
    let index = open(folder.path());
    assert_eq!((index.started(), index.position(&ana()).unwrap()), (&Started::Empty, Position(0)));
    assert_eq!(hits(&shelf_of(Ports { index, ..without_index }), &ana(), "enduring"), 1);
}

#[test]
fn an_index_that_cannot_be_read_is_made_again_and_says_so() {
    let damage: [fn(&Path); 3] = [
        |folder| std::fs::write(folder.join("meta.json"), "{").unwrap(),
        |folder| {
            let meta = std::fs::read_to_string(folder.join("meta.json")).unwrap();
            std::fs::write(folder.join("meta.json"), meta.replace("\\\"format\\\":3", "\\\"format\\\":0")).unwrap();
        },
        |folder| {
            let postings = files(folder).into_iter().find(|path| path.extension().is_some_and(|ext| ext == "idx"));
            std::fs::remove_file(postings.unwrap()).unwrap();
        },
    ];
    for damage in damage {
        let folder = tempfile::tempdir().unwrap();
        let ports = with_index(open(folder.path()));
        let kept = keep(&shelf_of(ports.clone()), &ana(), "enduring");
        assert_eq!(hits(&shelf_of(ports.clone()), &ana(), "enduring"), 1);
        let others = Ports { index: Arc::new(weir_records::memory::MemoryIndex::default()), ..ports.clone() };
        drop(ports);
        damage(folder.path());
        let index = open(folder.path());
        let Started::MadeAgain { reason } = index.started() else { panic!("{:?}", index.started()) };
        assert!(reason.starts_with("cannot open the index: the stored data is damaged ("), "{reason}");
        assert_eq!(index.position(&ana()).unwrap(), Position(0));
        let shelf = shelf_of(Ports { index, ..others });
        assert_eq!(ranked(&shelf, "enduring", 5)[0].0, kept.id);
    }
}

#[test]
fn positions_of_another_time_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("progress.db");
    let ports = with_index(open(folder.path()));
    let shelf = shelf_of(ports.clone());
    let empty = std::fs::read(&file).unwrap();
    let places: Vec<_> = (0..600).map(|number| scope("acme", "ana", &format!("p{number}"))).collect();
    places.iter().for_each(|place| drop(keep(&shelf, place, "enduring")));
    for group in places.chunks(200) {
        assert!(shelf.follow_all(group, 1_000).into_iter().all(|followed| followed.is_ok()));
    }
    assert!(std::fs::read(&file).unwrap().len() > 2 * empty.len(), "the positions are in the database");
    // From this commit on, they are nowhere else.
    assert_eq!((keep(&shelf, &places[0], "more").id.index, hits(&shelf, &places[0], "more")), (600, 1));
    let others = Ports { index: Arc::new(weir_records::memory::MemoryIndex::default()), ..ports.clone() };
    drop((shelf, ports));
    let index = open(folder.path());
    assert_eq!((index.started(), index.figures().projects), (&Started::Found, 600));
    let position = |number: usize| index.position(&places[number]).unwrap();
    assert!(position(0) == Position(2) && (1..600).all(|number| position(number) == Position(1)));
    drop(index);
    std::fs::write(&file, empty).unwrap();
    let index = open(folder.path());
    let Started::MadeAgain { reason } = index.started() else { panic!("{:?}", index.started()) };
    assert!(reason.contains("cannot open the index: the stored data is damaged"), "{reason}");
    assert_eq!((index.figures().projects, index.figures().documents), (0, 0));
    assert_eq!(hits(&shelf_of(Ports { index, ..others }), &places[7], "enduring"), 1);
}

#[test]
fn only_one_process_writes_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let _first = open(folder.path());
    let error = TantivyIndex::open(folder.path()).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Busy);
    assert_eq!(error.to_string(), "cannot open the index: it is in use (another process writes to it)");
}

#[test]
fn a_crash_before_the_commit_leaves_the_index_where_it_was_and_it_catches_up() {
    let folder = tempfile::tempdir().unwrap();
    let ports = with_index(open(folder.path()));
    let shelf = shelf_of(ports.clone());
    for number in 0..3 {
        keep(&shelf, &ana(), &format!("before {number}"));
    }
    assert_eq!(hits(&shelf, &ana(), "before"), 3);
    let others = Ports { index: Arc::new(weir_records::memory::MemoryIndex::default()), ..ports.clone() };
    drop((shelf, ports));
    // The log goes on, and the index has taken in a document but not committed it.
    let later = shelf_of(others.clone());
    for number in 0..2 {
        keep(&later, &ana(), &format!("after {number}"));
    }
    let engine = tantivy::Index::open_in_dir(folder.path()).unwrap();
    engine.tokenizers().register("weir", tantivy::tokenizer::SimpleTokenizer::default());
    let writer: IndexWriter = engine.writer_with_num_threads(1, 20_000_000).unwrap();
    let mut document = TantivyDocument::new();
    document.add_u64(engine.schema().get_field("number").unwrap(), 7);
    writer.add_document(document).unwrap();
    drop((writer, engine));

    let index = open(folder.path());
    assert_eq!((index.started(), index.position(&ana()).unwrap()), (&Started::Found, Position(3)));
    assert_eq!(index.figures().documents, 3);
    let shelf = shelf_of(Ports { index: index.clone(), ..others });
    assert_eq!((hits(&shelf, &ana(), "after"), hits(&shelf, &ana(), "before")), (2, 3));
    assert_eq!((index.position(&ana()).unwrap(), index.figures().documents), (Position(5), 5));
}

#[test]
fn a_score_depends_on_no_other_project() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf_of(with_index(open(folder.path())));
    for number in 0..20 {
        keep(&shelf, &ana(), &text(number));
    }
    let words = ["pool size", "connection", "\"retry queue\" lock", "time*"];
    let before = words.map(|words| ranked(&shelf, words, 50));
    assert!(before.iter().all(|hits| !hits.is_empty()));
    for other in [scope("umbrella", "ana", "api"), scope("acme", "ana", "web")] {
        for number in 0..200 {
            keep(&shelf, &other, &format!("pool pool timeout {}", text(number * 3)));
        }
        assert_eq!(hits(&shelf, &other, "pool"), 200);
    }
    assert_eq!(words.map(|words| ranked(&shelf, words, 50)), before);
}

#[test]
fn an_index_made_again_gives_the_same_answers_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let shelf = shelf_of(with_index(index.clone()));
    let queries = ["pool", "pool size", "lock retry worker index", "\"connection timeout\"", "sea* queue"];
    for number in 0..300 {
        let kept = keep(&shelf, &ana(), &text(number));
        if number % 7 == 0 {
            shelf.forget(&ana(), kept.id, Forgotten, crate::support::NOW).unwrap();
        }
        if number % 3 == 0 {
            hits(&shelf, &ana(), "pool");
        }
    }
    // Short answers out of many equally good records: which of them are shown must not depend on the files.
    let answers = |limit: usize| queries.map(|words| ranked(&shelf, words, limit));
    let live = [answers(3), answers(40), answers(1_000)];
    assert!(live[2].iter().all(|hits| hits.len() > 5));
    let segments = index.figures().segments;
    shelf.rebuild_index(&ana()).unwrap();
    assert!(index.figures().segments <= segments.max(8));
    assert_eq!([answers(3), answers(40), answers(1_000)], live);
}

#[test]
fn an_index_whose_folder_was_destroyed_gives_the_same_answers_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let ports = with_index(open(&place));
    let shelf = shelf_of(ports.clone());
    for number in 0..120 {
        let kept = keep(&shelf, &ana(), &text(number));
        if number % 5 == 0 {
            shelf.forget(&ana(), kept.id, Forgotten, crate::support::NOW).unwrap();
        }
    }
    let answers =
        |shelf: &Shelf| ["pool size", "lock retry", "\"connection timeout\""].map(|words| ranked(shelf, words, 20));
    let live = answers(&shelf);
    assert!(live.iter().any(|hits| hits.len() > 5));
    let others = Ports { index: Arc::new(weir_records::memory::MemoryIndex::default()), ..ports.clone() };
    drop((shelf, ports));
    // A merge that was under way may still write to the old folder.
    std::fs::rename(&place, place.with_extension("gone")).unwrap();
    let index = open(&place);
    assert_eq!(index.started(), &Started::Empty);
    let shelf = shelf_of(Ports { index, ..others });
    shelf.follow(&ana(), usize::MAX).unwrap();
    assert_eq!(answers(&shelf), live);
}

#[test]
fn the_same_records_are_found_as_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let ports = with_index(open(&folder.path().join("tantivy")));
    let sqlite = Arc::new(SqliteIndex::open(&folder.path().join("sqlite")).unwrap());
    let ours = shelf_of(ports.clone());
    let theirs = shelf_of(Ports { index: sqlite, ..ports });
    let texts = [
        "The connections of the pool are retried after a timeout.",
        "fn parseHTTPRequest(url: &str) -> Result<Request, ParseError>",
        "max_retry_count = 5; see src/net/retry.rs:42",
        "Größe der Straße: naïve café",
        "数据库连接池的大小",
        "データベース接続のプール",
        "размер пула соединений",
        "deployed the deployment; deploying again was relational",
        "x86_64-unknown-linux-gnu, utf8, sha256:3f2a9c",
    ];
    for text in texts {
        keep(&ours, &ana(), text);
    }
    let queries = [
        "connection", "pools", "retry", "parseHTTPRequest", "http request", "\"parse error\"", "src/net/retry.rs",
        "naive", "strasse", "straße", "连接", "池", "プール", "пула", "ПУЛ", "deploy*", "relate", "deployments",
        "max_retry_count", "linux gnu", "sha256", "3f2a9c", "nothing of this kind", "\"connections of the pool\"",
    ];
    let found = |shelf: &Shelf, words: &str| -> BTreeSet<RecordId> {
        shelf.search(&ana(), &SearchQuery::new(words, 50)).unwrap().hits.iter().map(|hit| hit.kept.record.id).collect()
    };
    for words in queries {
        assert_eq!(found(&ours, words), found(&theirs, words), "{words}");
    }
}

#[test]
fn many_projects_share_commits() {
    const PROJECTS: usize = 12;
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let ports = with_index(index.clone());
    std::thread::scope(|threads| {
        for project in 0..PROJECTS {
            let shelf = shelf_of(ports.clone());
            threads.spawn(move || {
                let place = scope("acme", "ana", &format!("project {project}"));
                for number in 0..10 {
                    keep(&shelf, &place, &format!("shared own{project} number{number}"));
                    assert_eq!(hits(&shelf, &place, "shared"), number + 1);
                }
            });
        }
    });
    let figures = index.figures();
    assert_eq!((figures.projects, figures.documents), (PROJECTS as u64, 10 * PROJECTS as u64));
    assert_eq!(figures.failed_merges, 0);
    let shelf = shelf_of(ports);
    assert_eq!(hits(&shelf, &scope("acme", "ana", "project 3"), "own3 own4"), 10);
}

#[test]
fn segments_of_many_small_commits_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let shelf = shelf_of(with_index(index.clone()));
    for number in 0..150 {
        keep(&shelf, &ana(), &text(number));
        assert_eq!(hits(&shelf, &ana(), "note"), number as usize + 1);
    }
    let figures = index.figures();
    assert!(figures.segments < 75, "{figures:?}");
    assert_eq!((figures.documents, figures.failed_merges), (150, 0));
}
