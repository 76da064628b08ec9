//! Tests what only the backend on SQLite and files has: files that stay, and nothing in them that was forgotten.

use std::path::{Path, PathBuf};

use weir_core::{EntryKind, ProjectKey, Scope, TenantId, Timestamp, UserId, WhyGone};
use weir_records::moving::{Export as _, MoveSource, contents};
use weir_records::{
    Accounts as _, Audience, Body, ErrorKind, NewRecord, Position, Record, RecordId, SearchQuery, Shelf, Writer, sqlite,
};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn ana() -> Scope {
    Scope { tenant: TenantId("acme".into()), user: UserId("ana".into()), ..Scope::project(ProjectKey("api".into())) }
}

fn open(folder: &Path) -> Shelf {
    Shelf::new(sqlite::open(folder).unwrap(), Writer::new().unwrap())
}

fn note(text: &str) -> NewRecord {
    NewRecord::new(EntryKind::Note, Audience::Team, "a note", text)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.append(&mut files(&path)) } else { found.push(path) }
    }
    found
}

fn hits(shelf: &Shelf, words: &str) -> usize {
    shelf.search(&ana(), &SearchQuery::new(words, 10)).unwrap().hits.len()
}

#[test]
fn records_survive_and_a_lost_index_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let kept = open(folder.path()).keep(&ana(), note("enduring"), NOW).unwrap();
    assert_eq!(hits(&open(folder.path()), "enduring"), 1);
    std::fs::remove_dir_all(folder.path().join("index")).unwrap();
    let again = open(folder.path());
    assert_eq!(hits(&again, "enduring"), 1);
    assert_eq!(again.text(&ana(), kept.id).unwrap().unwrap(), b"enduring");
}

#[test]
fn no_file_has_a_word_of_a_forgotten_record() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = open(folder.path());
    for number in 0..50 {
        shelf.keep(&ana(), note(&format!("ordinary number {number}")), NOW).unwrap();
    }
    let words = ["zanzibarian", "quixotical", "labyrinthine"];
    let given = NewRecord { title: words[1].into(), source: Some(words[2].into()), ..note(words[0]) };
    let kept = shelf.keep(&ana(), given, NOW).unwrap();
    assert_eq!(hits(&shelf, words[0]), 1);
    shelf.forget(&ana(), kept.id, WhyGone::Forgotten, NOW).unwrap();
    // The stem is what the index has.
    let traces = ["zanzibar", "quixot", "labyrinthin", kept.body.kept().unwrap().reference.as_str()];
    let hash = kept.body.kept().unwrap().text.to_string();
    for path in files(folder.path()) {
        let bytes = std::fs::read(&path).unwrap();
        let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        for trace in traces {
            assert!(!has(trace.as_bytes()), "{trace} in {}", path.display());
        }
        assert!(!has(hash.as_bytes()) && !has(kept.body.kept().unwrap().text.as_bytes()), "in {}", path.display());
        assert!(!path.to_string_lossy().contains(&hash));
    }
}

#[test]
fn a_damaged_text_is_named_and_everything_else_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = open(folder.path());
    let damaged = shelf.keep(&ana(), note(&"first text ".repeat(50)), NOW).unwrap();
    let missing = shelf.keep(&ana(), note("second text"), NOW).unwrap();
    shelf.keep(&ana(), note("third text"), NOW).unwrap();
    let file_of = |key: String| files(folder.path()).into_iter().find(|path| path.to_string_lossy().contains(&key));
    let key = |record: &Record| record.body.kept().unwrap().text.to_string();
    let path = file_of(key(&damaged)).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&path, bytes).unwrap();
    std::fs::remove_file(file_of(key(&missing)).unwrap()).unwrap();
    for record in [&damaged, &missing] {
        assert_eq!(shelf.text(&ana(), record.id).unwrap_err().kind, ErrorKind::Damaged);
    }
    assert_eq!(hits(&shelf, "third"), 1);
    // By its title.
    assert_eq!(hits(&shelf, "note"), 3);
}

#[test]
fn the_host_of_a_server_is_bound_again_in_a_tenant_that_was_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, accounts) = (open(folder.path()), sqlite::open_accounts(folder.path()).unwrap());
    let host = shelf.writer().host();
    for _ in 0..2 {
        shelf.keep(&ana(), note("x"), NOW).unwrap();
        assert_eq!(shelf.ports().log.bind_hosts(&ana(), &[host]).unwrap(), [host]);
        accounts.delete_tenant(&ana().tenant).unwrap();
    }
}

#[test]
fn a_move_reads_few_large_records_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = open(folder.path());
    let mut large = shelf.keep(&ana(), note("x"), NOW).unwrap();
    let first = large.id;
    if let Body::Kept(kept) = &mut large.body {
        kept.title = "word ".repeat(40 << 10);
    }
    let with_index = |index| Record { id: RecordId { index, ..first }, ..large.clone() };
    let records: Vec<Record> = (1..=60).map(|number| with_index(first.index + number)).collect();
    shelf.ports().log.append(&ana(), &records).unwrap();
    let (log, ..) = sqlite::open_for_move(folder.path()).unwrap();
    let (mut batches, mut after) = (Vec::new(), Position(0));
    loop {
        let batch = log.moved_records(&ana().tenant, &ana().project, after, 500).unwrap();
        let Some(last) = batch.last() else { break };
        after = last.position;
        batches.push(batch.len());
    }
    assert_eq!(after, Position(61));
    assert!(batches.len() > 1 && batches.iter().all(|batch| *batch < 50), "{batches:?}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("data");
    let shelf = open(&inner);
    shelf.keep(&ana(), note("private"), NOW).unwrap();
    hits(&shelf, "private");
    for path in files(&inner) {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn a_newer_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).keep(&ana(), note("x"), NOW).unwrap();
    let path = folder.path().join("records.db");
    let newer = "INSERT INTO migrations VALUES (6, '0007_later', '', ''); PRAGMA user_version = 7;";
    #[expect(clippy::disallowed_methods, reason = "plays the part of a newer version")]
    rusqlite::Connection::open(&path).unwrap().execute_batch(newer).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = sqlite::open(folder.path()).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Newer);
    assert_eq!(
        error.to_string(),
        "cannot open the database: a newer version of Weir wrote it (it has migration `0007_later`)"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_record_whose_id_an_earlier_version_erased_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = open(folder.path());
    let kept = shelf.keep(&ana(), note("x"), NOW).unwrap();
    shelf.forget(&ana(), kept.id, WhyGone::Forgotten, NOW).unwrap();
    let log = &shelf.ports().log;
    assert_eq!(log.append(&ana(), std::slice::from_ref(&kept)).unwrap(), [Position(1)]);
    #[expect(clippy::disallowed_methods, reason = "plays the part of an earlier version")]
    let database = rusqlite::Connection::open(folder.path().join("records.db")).unwrap();
    assert_eq!(database.execute("UPDATE records SET imprint = NULL WHERE json IS NULL", []).unwrap(), 1);
    assert_eq!(log.append(&ana(), &[kept]).unwrap_err().kind, ErrorKind::Erased);
}

#[test]
fn a_folder_is_prepared_once_and_says_what_ran() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(sqlite::prepare(folder.path()).unwrap().len(), sqlite::SCHEMA);
    assert_eq!(sqlite::prepare(folder.path()).unwrap(), [""; 0]);
    open(folder.path()).keep(&ana(), note("x"), NOW).unwrap();
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    // The second one has the number of our schema by chance.
    for version in [0, sqlite::SCHEMA] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.db");
        let theirs = format!("CREATE TABLE theirs (x); PRAGMA user_version = {version};");
        #[expect(clippy::disallowed_methods, reason = "plays the part of another program")]
        rusqlite::Connection::open(&path).unwrap().execute_batch(&theirs).unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = sqlite::prepare(folder.path()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot open the database: the backend cannot be used (it has tables of another program)"
        );
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_deleted_tenant_is_none_that_would_be_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (log, accounts, blobs) = sqlite::open_for_move(folder.path()).unwrap();
    for name in ["acme", "old"] {
        accounts.create_tenant(&TenantId(name.into())).unwrap();
    }
    open(folder.path()).keep(&ana(), note("enduring"), NOW).unwrap();
    let source = MoveSource { log: &log, accounts: &accounts, blobs: &blobs };
    let figures = contents(&source).unwrap();
    assert_eq!((figures.tenants, figures.deleted_tenants, figures.left_audit_rows), (2, 0, 0));
    assert!(accounts.delete_tenant(&TenantId("old".into())).unwrap().existed);
    let figures = contents(&source).unwrap();
    assert_eq!((figures.tenants, figures.deleted_tenants, figures.left_audit_rows), (1, 1, 2));
}
