//! Tests lost texts: everything else still works, they are reported, and they can be dropped.

use std::fs;
use std::path::{Path, PathBuf};

use weir_core::{EntryKind, NewEntry, Query, Reference};
use weir_store::{Depth, NewFile, Stamp, Store, StoreError};

use crate::dump;
use crate::support::{
    NOW, assert_healthy, entry, forget, here, keep, new_store, noise, noisy_word, note, open, run, search, state, text,
    these,
};

/// Returns words that are too many for the log's own pages, so that they are stored in a file.
fn large(seed: u64) -> Vec<u8> {
    (0..4_000).map(|n| noisy_word(seed * 10_000 + n, 8) + " ").collect::<String>().into_bytes()
}

fn file_of(folder: &Path, text: &[u8]) -> PathBuf {
    folder.join("blobs").join(format!("{}.zst", blake3::hash(text).to_hex()))
}

type Damage = fn(&Path);

/// What a power cut, a failing disk or a person does to a file.
const DAMAGES: [(&str, Damage); 4] = [
    ("emptied", |path| fs::write(path, b"").unwrap()),
    ("missing", |path| fs::remove_file(path).unwrap()),
    ("cut short", |path| fs::write(path, &fs::read(path).unwrap()[..100]).unwrap()),
    ("overwritten", |path| fs::write(path, noise(1, fs::metadata(path).unwrap().len() as usize)).unwrap()),
];

fn titled(title: &str, text: &[u8]) -> NewEntry {
    NewEntry { title: title.into(), ..run(text) }
}

#[test]
fn one_lost_text_takes_nothing_else_down() {
    for (how, damage) in DAMAGES {
        let (folder, mut store) = new_store();
        let lost = keep(&mut store, titled("the lost output", &large(1))).reference;
        let whole = keep(&mut store, note("the whole note")).reference;
        damage(&file_of(folder.path(), &large(1)));
        // What was already indexed is still found; the text itself is reported as unreadable.
        let read = store.text(&here(), lost).and_then(|reader| reader.unwrap().all());
        assert!(matches!(read, Err(StoreError::Lost { .. })), "{how}: {read:?}");
        store.rebuild_index(|_| ()).unwrap();
        let found = store.search(&here(), &Query::new("whole", 9)).unwrap();
        assert_eq!(found.hits.iter().map(|hit| hit.entry.reference).collect::<Vec<_>>(), [whole], "{how}");
        assert_eq!(found.lost, [lost], "{how}");
        assert_eq!(search(&mut store, "lost output").first().map(|hit| hit.entry.reference), Some(lost), "{how}");
        let after = keep(&mut store, note("kept afterwards")).reference;
        assert_eq!(search(&mut store, "afterwards")[0].entry.reference, after, "{how}");
    }
}

#[test]
fn lost_texts_are_named_dropped_and_said_to_be_lost() {
    for (how, damage) in DAMAGES {
        let (folder, mut store) = new_store();
        let lost = keep(&mut store, titled("the lost output", &large(1))).reference;
        let whole = keep(&mut store, titled("another", &large(2))).reference;
        damage(&file_of(folder.path(), &large(1)));
        let quick = store.unread_texts(Depth::Quick).unwrap().lost;
        assert_eq!(quick.len(), usize::from(how != "overwritten"), "{how}: {quick:?}");
        let deep = store.check_to(Depth::Deep).unwrap().unread.lost;
        assert_eq!(deep.iter().map(|text| text.reference).collect::<Vec<_>>(), [lost], "{how}: {deep:?}");
        assert_eq!(store.drop_lost(&deep, NOW).unwrap(), 1);
        assert_eq!((state(&mut store, lost), text(&store, whole)), ("lost", large(2)));
        assert!(store.check_to(Depth::Deep).unwrap().unread.lost.is_empty());
        store.rebuild_index(|_| ()).unwrap();
        assert!(store.search(&here(), &Query::new("lost", 9)).unwrap().lost.is_empty());
        assert_healthy(&mut store);
    }
}

#[test]
fn a_text_that_another_compressor_stored_stays_readable_when_it_is_kept_again() {
    let (folder, mut store) = new_store();
    let first = keep(&mut store, run(large(1))).reference;
    // What an earlier version of the compressor would have made of the same text.
    let file = file_of(folder.path(), &large(1));
    let other = zstd::bulk::compress(&large(1), 19).unwrap();
    assert_ne!(other.len() as u64, fs::metadata(&file).unwrap().len());
    fs::write(&file, &other).unwrap();
    let length = u32::try_from(other.len()).unwrap();
    let log = dump::meddle_with(&folder.path().join("log.db"));
    let sql = "UPDATE blobs SET stored = ?1, frames = ?2 WHERE data IS NULL";
    log.execute(sql, rusqlite::params![length, length.to_le_bytes()]).unwrap();
    log.execute("UPDATE totals SET stored = ?1, filed = ?1, runs = ?1", [length]).unwrap();
    let again = keep(&mut store, run(large(1))).reference;
    assert_eq!((text(&store, first), text(&store, again)), (large(1), large(1)));
    // A file that is lost is stored by this compressor, and its row says so.
    fs::remove_file(&file).unwrap();
    let last = keep(&mut store, run(large(1))).reference;
    assert_eq!((text(&store, first), text(&store, last)), (large(1), large(1)));
    let wrong = "SELECT count(*) FROM totals, blobs WHERE totals.stored <> blobs.stored OR runs <> 3 * blobs.stored";
    assert_eq!(dump::number(&log, wrong), 0);
    assert!(store.check_to(Depth::Deep).unwrap().unread.lost.is_empty());
}

#[test]
fn what_is_lost_can_be_forgotten() {
    for (how, damage) in DAMAGES {
        let (folder, mut store) = new_store();
        let lost = keep(&mut store, run(large(1))).reference;
        damage(&file_of(folder.path(), &large(1)));
        let forgotten = forget(&mut store, &these(&[lost]));
        assert_eq!(
            (forgotten.entries, forgotten.remaining.iter().map(|(_, left)| left).sum::<usize>()),
            (1, 0),
            "{how}"
        );
        assert_eq!(state(&mut store, lost), "forgotten");
        // The words were learnt while the text could be read.
        let index = dump::index(folder.path());
        assert!(!index.iter().any(|line| line.starts_with("spelling")), "{how}: {index:?}");
    }
}

#[test]
fn what_is_lost_before_it_was_indexed_can_be_forgotten() {
    let (folder, mut store) = new_store();
    let writer = {
        let mut writer = store.writer().unwrap();
        writer.write(&large(1)).unwrap();
        writer
    };
    let lost = store.keep_written(&here(), run(""), writer, NOW).unwrap().reference;
    fs::write(file_of(folder.path(), &large(1)), b"").unwrap();
    assert_eq!(forget(&mut store, &these(&[lost])).entries, 1);
}

#[test]
fn a_damaged_index_does_not_keep_anything_from_being_forgotten() {
    let (folder, mut store) = new_store();
    let secret = keep(&mut store, note("the secret word")).reference;
    let other = keep(&mut store, note("another word")).reference;
    drop(store);
    fs::write(folder.path().join("index.db"), noise(1, 60_000)).unwrap();
    let mut store = open(folder.path());
    let forgotten = forget(&mut store, &these(&[secret]));
    assert!(forgotten.index_removed && forgotten.entries == 1, "{forgotten:?}");
    assert_eq!(search(&mut store, "word").iter().map(|hit| hit.entry.reference).collect::<Vec<_>>(), [other]);
    assert_healthy(&mut store);
}

fn index_file(store: &mut Store, text: &[u8]) -> Reference {
    let entry = NewEntry { source: Some("docs/a.md".into()), ..entry(EntryKind::Document, text) };
    let stamp = Stamp { bytes: text.len() as u64, modified: 7, hash: blake3::hash(text).to_hex().to_string() };
    let kept = store.keep_files(&here(), vec![NewFile { entry, stamp }], NOW).unwrap();
    store.catch_up().unwrap();
    kept[0].reference
}

#[test]
fn an_indexed_file_whose_text_is_lost_is_read_again() {
    let (folder, mut store) = new_store();
    index_file(&mut store, &large(1));
    let known = |store: &Store| store.known_files(&here(), "docs").unwrap()[0].stamp.clone();
    assert_eq!(known(&store).modified, 7);
    for (how, damage) in &DAMAGES[..3] {
        damage(&file_of(folder.path(), &large(1)));
        assert_eq!((known(&store).modified, known(&store).hash.as_str()), (0, ""), "{how}");
        let again = index_file(&mut store, &large(1));
        assert_eq!((known(&store).modified, text(&store, again)), (7, large(1)), "{how}");
        assert!(store.check_to(Depth::Deep).unwrap().unread.lost.is_empty(), "{how}");
    }
}

#[test]
fn keeping_a_lost_text_again_brings_it_back() {
    let (folder, mut store) = new_store();
    let first = keep(&mut store, run(large(1))).reference;
    for (how, damage) in &DAMAGES {
        damage(&file_of(folder.path(), &large(1)));
        keep(&mut store, run(large(1)));
        assert_eq!(text(&store, first), large(1), "{how}");
    }
}

#[test]
fn keeping_a_text_again_that_is_damaged_in_the_log_brings_it_back() {
    let (folder, mut store) = new_store();
    let first = keep(&mut store, note("a small text")).reference;
    let log = dump::meddle_with(&folder.path().join("log.db"));
    log.execute("UPDATE blobs SET data = CAST('A small text' AS BLOB)", []).unwrap();
    keep(&mut store, note("a small text"));
    assert_eq!(text(&store, first), b"a small text");
}

#[test]
fn a_text_can_be_read_to_its_end_whatever_becomes_of_its_entry() {
    let (_folder, mut store) = new_store();
    let mut writer = store.writer().unwrap();
    writer.write(&large(3)).unwrap();
    let (kept, reader) = store.keep_and_open(&here(), run(""), writer, NOW).unwrap();
    forget(&mut store, &these(&[kept.reference]));
    assert_eq!(reader.all().unwrap(), large(3));
}
