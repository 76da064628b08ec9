//! Tests that small texts are in the rows of their records and large ones in the store of texts, that both are read, and
//! what that saves.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use weir_core::{Scope, Timestamp, WhyGone};
use weir_records::{
    Audience, Blobs, Body, ErrorKind, Incoming, Kept, Log as _, NewRecord, Ports, Record, RequestKey, Result,
    SearchQuery, Sender, Shelf, TextKey, TextPart, Writer, memory,
};
use weir_team::{ObjectBlobs, PostgresLog, SCHEMA, end_update};

use super::support::{TestDatabase, bridge, ids, note, scope};
use crate::support::NOW;

/// A store of texts that counts what it is asked for, one by one, as a store far away bills it.
struct CountedBlobs {
    inner: ObjectBlobs,
    asked: AtomicUsize,
}

impl CountedBlobs {
    fn asked(&self) -> usize {
        self.asked.swap(0, Ordering::Relaxed)
    }

    fn count(&self, times: usize) {
        self.asked.fetch_add(times, Ordering::Relaxed);
    }
}

impl Blobs for CountedBlobs {
    fn put(&self, scope: &Scope, text: &[u8]) -> Result<TextKey> {
        self.count(1);
        self.inner.put(scope, text)
    }

    fn put_all(&self, scope: &Scope, texts: &[&[u8]]) -> Vec<Result<TextKey>> {
        self.count(texts.len());
        self.inner.put_all(scope, texts)
    }

    fn get(&self, scope: &Scope, key: &TextKey) -> Result<Option<Vec<u8>>> {
        self.count(1);
        self.inner.get(scope, key)
    }

    fn get_all(&self, scope: &Scope, keys: &[TextKey]) -> Vec<Result<Option<Vec<u8>>>> {
        self.count(keys.len());
        self.inner.get_all(scope, keys)
    }

    fn range(&self, scope: &Scope, key: &TextKey, range: Range<u64>) -> Result<Option<Vec<u8>>> {
        self.count(1);
        self.inner.range(scope, key, range)
    }

    fn range_all(&self, scope: &Scope, parts: &[TextPart]) -> Vec<Result<Option<Vec<u8>>>> {
        self.count(parts.len());
        self.inner.range_all(scope, parts)
    }

    fn delete(&self, scope: &Scope, key: &TextKey) -> Result<bool> {
        self.count(1);
        self.inner.delete(scope, key)
    }
}

struct World {
    database: TestDatabase,
    blobs: Arc<CountedBlobs>,
    ana: Scope,
    _folder: tempfile::TempDir,
}

impl World {
    /// Creates a database whose servers keep small texts in rows, or one that may still have older servers.
    fn new(keeps_texts: bool) -> Self {
        let (database, folder) = (TestDatabase::new(), tempfile::tempdir().unwrap());
        if !keeps_texts {
            database.session("owner").run("UPDATE weir.migrations SET oldest_server = 1").unwrap();
        }
        let inner = ObjectBlobs::in_folder(folder.path()).unwrap();
        let blobs = Arc::new(CountedBlobs { inner, asked: AtomicUsize::new(0) });
        Self { database, blobs, ana: scope("acme", "ana", "api"), _folder: folder }
    }

    /// Starts a server.
    fn shelf(&self) -> Shelf {
        let log = Arc::new(self.database.log());
        let ports = Ports { log, index: memory::ports().index, blobs: Arc::clone(&self.blobs) as Arc<dyn Blobs> };
        Shelf::new(ports, Writer::new().unwrap())
    }

    fn keep(&self, shelf: &Shelf, text: &[u8]) -> Record {
        let new = NewRecord::new(weir_core::EntryKind::Note, Audience::Team, "a note", text);
        shelf.keep(&self.ana, new, NOW).unwrap()
    }

    fn text(&self, shelf: &Shelf, record: &Record) -> Vec<u8> {
        shelf.text(&self.ana, record.id).unwrap().unwrap()
    }

    /// Returns how many texts are in rows.
    fn in_rows(&self) -> usize {
        let count = "SELECT count(content) FROM weir.records";
        self.database.session("owner").run(count).unwrap().concat().parse().unwrap()
    }

    fn is_in_blobs(&self, record: &Record) -> bool {
        let key = record.body.kept().unwrap().text;
        self.blobs.inner.get(&self.ana, &key).unwrap().is_some()
    }
}

#[test]
fn a_small_text_is_in_the_row_and_a_large_one_in_the_store() {
    let world = World::new(true);
    let shelf = world.shelf();
    let most = world.database.log().max_kept_text();
    let texts = [b"small".to_vec(), vec![b'x'; most], vec![b'y'; most + 1], vec![b'z'; 4 * most]];
    let records: Vec<Record> = texts.iter().map(|text| world.keep(&shelf, text)).collect();
    assert_eq!((most, world.in_rows()), (8 << 10, 2));
    assert_eq!(records.iter().map(|record| world.is_in_blobs(record)).collect::<Vec<_>>(), [false, false, true, true]);
    let read: Vec<&Record> = records.iter().collect();
    let found: Vec<Vec<u8>> = shelf.texts(&world.ana, &read).into_iter().map(|text| text.unwrap().unwrap()).collect();
    assert_eq!(found, texts);
    let starts: Vec<Vec<u8>> =
        shelf.text_ranges(&world.ana, &read, 1..5).into_iter().map(|text| text.unwrap().unwrap()).collect();
    assert_eq!(starts, texts.map(|text| text[1..5].to_vec()));
    assert_eq!(shelf.text_range(&world.ana, records[0].id, 3..500).unwrap().unwrap(), b"ll");
    // Another tenant has nothing under the same key.
    let key = records[0].body.kept().unwrap().text;
    assert!(world.database.log().kept_texts(&scope("umbrella", "ana", "api"), &[key]).unwrap().is_empty());
}

#[test]
fn a_text_is_erased_with_its_record_whichever_version_erases_it() {
    let world = World::new(true);
    let shelf = world.shelf();
    let (one, other) = (world.keep(&shelf, b"the same"), world.keep(&shelf, b"the same"));
    assert_eq!(world.in_rows(), 2);
    let forgotten = shelf.forget(&world.ana, one.id, WhyGone::Forgotten, NOW).unwrap();
    assert_eq!((forgotten.left, world.in_rows()), (weir_records::Left::default(), 1));
    assert_eq!(world.text(&shelf, &other), b"the same");
    // As a server erases it that knows nothing of the column.
    let erase = "UPDATE weir.records SET author = '', reference = NULL, about_host = NULL, about_number = NULL,
                     text = NULL, json = NULL WHERE content IS NOT NULL RETURNING content";
    let session = world.database.session("app");
    assert_eq!(session.run_as("acme", erase).unwrap(), ["-"]);
    assert!(session.run_as("acme", "UPDATE weir.records SET content = 'x'").unwrap_err().starts_with("42501 "));
    shelf.forget(&world.ana, other.id, WhyGone::Forgotten, NOW).unwrap();
    assert_eq!(world.in_rows(), 0);
}

#[test]
fn texts_from_before_are_read_and_removed_wherever_they_are() {
    let world = World::new(false);
    let before = world.shelf();
    let old = world.keep(&before, b"the same");
    assert!(world.is_in_blobs(&old) && world.in_rows() == 0);
    end_update(&world.database.options("owner"), bridge()).unwrap();
    let oldest = "SELECT max(oldest_server) FROM weir.migrations";
    assert_eq!(world.database.session("owner").run(oldest).unwrap(), [SCHEMA.to_string()]);
    let after = world.shelf();
    let new = world.keep(&after, b"the same");
    assert_eq!(world.in_rows(), 1);
    // A server that has run all the while reads and writes as before.
    let third = world.keep(&before, b"the same");
    for (shelf, record) in [(&before, &new), (&after, &old), (&after, &third)] {
        assert_eq!(world.text(shelf, record), b"the same");
    }
    for (number, record) in [&new, &old, &third].into_iter().enumerate() {
        let forgotten = after.forget(&world.ana, record.id, WhyGone::Forgotten, NOW).unwrap();
        assert_eq!(forgotten.left, weir_records::Left::default());
        assert_eq!((world.in_rows(), world.is_in_blobs(&old)), (0, number < 2), "{number}");
    }
}

#[test]
fn an_upload_is_stored_once_and_brings_back_what_was_lost() {
    let world = World::new(false);
    let (id, before) = (ids(), world.shelf());
    let incoming = |number: u64| {
        let text = format!("uploaded {number}").into_bytes();
        let record = note(&world.ana, id(number));
        let kept = Kept { text: TextKey::of(&text), bytes: text.len() as u64, ..record.body.kept().unwrap().clone() };
        Incoming::new(Record { body: Body::Kept(Box::new(kept)), ..record }, Some(text))
    };
    let (one, both) = ([incoming(1)], [incoming(1), incoming(2)]);
    let upload = |shelf: &Shelf, incoming: &[Incoming]| {
        shelf
            .import(&world.ana, incoming, &Sender::Author, NOW)
            .into_iter()
            .for_each(|result| assert!(result.is_ok(), "{result:?}"));
    };
    upload(&before, &one);
    end_update(&world.database.options("owner"), bridge()).unwrap();
    let after = world.shelf();
    world.blobs.inner.delete(&world.ana, &TextKey::of(b"uploaded 1")).unwrap();
    assert_eq!(after.text(&world.ana, one[0].record.id).unwrap_err().kind, ErrorKind::Damaged);
    for _ in 0..2 {
        upload(&after, &both);
        assert_eq!((world.in_rows(), world.text(&after, &both[0].record)), (1, b"uploaded 1".to_vec()));
        assert_eq!(world.text(&after, &both[1].record), b"uploaded 2");
    }
}

#[test]
fn a_repeated_request_keeps_one_text() {
    let world = World::new(true);
    let shelf = world.shelf();
    let key = RequestKey::new(&world.ana.user, "one", "content", Timestamp(1));
    for _ in 0..2 {
        let new = NewRecord::new(weir_core::EntryKind::Note, Audience::Team, "a note", "repeated");
        shelf.keep_once(&world.ana, new, &key, NOW).unwrap();
        assert_eq!((world.in_rows(), world.blobs.asked()), (1, 0));
    }
}

/// Returns how many requests to the store of texts it takes to append 500 notes, to index them, to read them as a page,
/// and to show 10 hits.
fn requests(keeps_texts: bool) -> [usize; 4] {
    let world = World::new(keeps_texts);
    let (shelf, id) = (world.shelf(), ids());
    let incoming: Vec<Incoming> = (0..500)
        .map(|number| {
            let text = format!("common only{number} {}", "word ".repeat(100)).into_bytes();
            let record = note(&world.ana, id(number));
            let kept =
                Kept { text: TextKey::of(&text), bytes: text.len() as u64, ..record.body.kept().unwrap().clone() };
            Incoming::new(Record { body: Body::Kept(Box::new(kept)), ..record }, Some(text))
        })
        .collect();
    shelf
        .import(&world.ana, &incoming, &Sender::Author, NOW)
        .into_iter()
        .for_each(|result| assert!(result.is_ok(), "{result:?}"));
    let appended = world.blobs.asked();
    assert_eq!(shelf.follow(&world.ana, 1_000).unwrap(), 500);
    let indexed = world.blobs.asked();
    let records: Vec<&Record> = incoming.iter().map(|one| &one.record).collect();
    assert!(shelf.texts(&world.ana, &records).into_iter().all(|text| text.unwrap().is_some()));
    let read = world.blobs.asked();
    let found = shelf.search(&world.ana, &SearchQuery::new("common", 10)).unwrap();
    let hits: Vec<&Record> = found.hits.iter().map(|hit| &hit.kept.record).collect();
    assert_eq!(shelf.text_ranges(&world.ana, &hits, 0..500).len(), 10);
    [appended, indexed, read, world.blobs.asked()]
}

#[test]
fn small_texts_take_no_request_to_the_store() {
    assert_eq!(requests(true), [0; 4]);
    // A text is put, and looked for once more after the append.
    assert_eq!(requests(false), [1_000, 500, 500, 10]);
}

/// A log that was opened before the update ended goes on.
#[test]
fn an_update_is_not_ended_before_the_migrations_have_run() {
    let database = TestDatabase::empty();
    let error = end_update(&database.options("owner"), bridge()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    assert!(PostgresLog::open(&database.options("app"), bridge()).is_err());
}
