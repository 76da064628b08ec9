//! Tests texts and records that cannot be read at the moment: nothing is concluded from that, and once they can be read
//! the store is as if nothing had happened.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use weir_core::{NewEntry, Query, Reference};
use weir_store::{Depth, Findings, LockPolicy, Loss, NewFile, Stamp, Store, StoreError, Unreadable};

use crate::dump;
use crate::support::{
    NOW, assert_healthy, day, entry, here, keep, new_store, noise, note, open, references, run, search, state, text,
};

/// A file that the system refuses to open, until this is dropped. Its name leads to itself, which is neither absent nor
/// damaged.
struct Withdrawn(PathBuf);

impl Withdrawn {
    fn new(path: &Path) -> Self {
        fs::rename(path, path.with_extension("away")).unwrap();
        symlink(path, path).unwrap();
        Self(path.to_owned())
    }
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
        fs::rename(self.0.with_extension("away"), &self.0).unwrap();
    }
}

fn large(word: &str) -> Vec<u8> {
    let filler: String = (0..4_000).map(|n| format!("{}{n:x} ", crate::support::noisy_word(n, 7))).collect();
    format!("{word} {filler}").into_bytes()
}

fn file_of(folder: &Path, text: &[u8]) -> PathBuf {
    folder.join("blobs").join(format!("{}.zst", blake3::hash(text).to_hex()))
}

/// Keeps a text without indexing it.
fn keep_unindexed(store: &mut Store, title: &str, text: &[u8]) -> Reference {
    let mut writer = store.writer().unwrap();
    writer.write(text).unwrap();
    store.keep_written(&here(), NewEntry { title: title.into(), ..run("") }, writer, NOW).unwrap().reference
}

fn find(store: &mut Store, words: &str) -> Findings {
    store.search(&here(), &Query::new(words, 20)).unwrap()
}

#[test]
fn a_text_that_could_not_be_read_while_indexing_is_found_once_it_can() {
    let (folder, mut store) = new_store();
    let one = keep_unindexed(&mut store, "first output", &large("albatross"));
    let withdrawn = Withdrawn::new(&file_of(folder.path(), &large("albatross")));
    let after = keep(&mut store, note("a note on penguins")).reference;
    // Everything else is indexed and found, and the answer says what is not.
    assert_eq!(references(&search(&mut store, "penguins")), [after]);
    let found = find(&mut store, "albatross");
    assert_eq!((found.hits.len(), found.unavailable, found.lost), (0, vec![one], vec![]));
    assert_eq!(references(&search(&mut store, "first output")), [one]);
    drop(withdrawn);
    let found = find(&mut store, "albatross");
    assert_eq!((references(&found.hits), found.unavailable, found.lost), (vec![one], vec![], vec![]));
    // The vocabulary has its words too.
    assert_eq!(references(&search(&mut store, "albatros")), [one]);
    let before = ["albatross", "albat", "penguin"].map(|words| references(&search(&mut store, words)));
    store.rebuild_index(|_| ()).unwrap();
    assert_eq!(before, ["albatross", "albat", "penguin"].map(|words| references(&search(&mut store, words))));
    assert_healthy(&mut store);
}

#[test]
fn marks_of_an_earlier_version_are_tried_again() {
    let (folder, mut store) = new_store();
    let one = keep(&mut store, run(large("albatross"))).reference;
    drop(store);
    let index = dump::meddle_with(&folder.path().join("index.db"));
    index.execute_batch("DELETE FROM words; DELETE FROM vocabulary; UPDATE documents SET unreadable = 2").unwrap();
    drop(index);
    assert_eq!(references(&search(&mut open(folder.path()), "albatross")), [one]);
}

#[test]
fn a_lost_text_that_came_back_is_indexed_within_a_day() {
    let (folder, mut store) = new_store();
    let one = keep_unindexed(&mut store, "output", &large("albatross"));
    let (file, aside) = (file_of(folder.path(), &large("albatross")), folder.path().join("aside"));
    fs::rename(&file, &aside).unwrap();
    assert_eq!(find(&mut store, "albatross").lost, [one]);
    fs::rename(&aside, &file).unwrap();
    store.tidy(day(2)).unwrap();
    let found = find(&mut store, "albatross");
    assert_eq!((references(&found.hits), found.lost), (vec![one], vec![]));
}

#[test]
fn only_what_is_lost_is_dropped() {
    let (folder, mut store) = new_store();
    let [lost, kept] = ["albatross", "penguin"].map(|word| keep(&mut store, run(large(word))).reference);
    fs::remove_file(file_of(folder.path(), &large("albatross"))).unwrap();
    let withdrawn = Withdrawn::new(&file_of(folder.path(), &large("penguin")));
    for depth in [Depth::Quick, Depth::Deep] {
        let unread = store.unread_texts(depth).unwrap();
        assert_eq!(
            unread.lost.iter().map(|text| (text.reference, &text.why)).collect::<Vec<_>>(),
            [(lost, &Loss::Absent)]
        );
        assert_eq!(unread.unavailable.iter().map(|text| text.reference).collect::<Vec<_>>(), [kept]);
    }
    let unread = store.unread_texts(Depth::Deep).unwrap();
    assert_eq!(store.drop_lost(&unread.lost, NOW).unwrap(), 1);
    drop(withdrawn);
    assert_eq!((state(&mut store, lost), text(&store, kept)), ("lost", large("penguin")));
    assert!(store.check_to(Depth::Deep).unwrap().unread.unavailable.is_empty());
}

#[test]
fn what_was_stored_again_since_the_check_is_not_dropped() {
    let (folder, mut store) = new_store();
    let one = keep(&mut store, run(large("albatross"))).reference;
    fs::write(file_of(folder.path(), &large("albatross")), b"").unwrap();
    let unread = store.unread_texts(Depth::Quick).unwrap();
    keep(&mut store, run(large("albatross")));
    assert_eq!(store.drop_lost(&unread.lost, NOW).unwrap(), 0);
    assert_eq!(text(&store, one), large("albatross"));
}

#[test]
fn a_folder_of_texts_on_a_disk_that_is_not_mounted_loses_nothing() {
    let (folder, mut store) = new_store();
    let one = keep(&mut store, run(large("albatross"))).reference;
    let (blobs, elsewhere) = (folder.path().join("blobs"), folder.path().join("disk"));
    fs::rename(&blobs, &elsewhere).unwrap();
    symlink(folder.path().join("mount"), &blobs).unwrap();
    let unread = store.unread_texts(Depth::Quick).unwrap();
    assert_eq!((unread.lost.len(), unread.unavailable.len()), (0, 1));
    fs::rename(&elsewhere, folder.path().join("mount")).unwrap();
    assert_eq!(text(&store, one), large("albatross"));
}

#[test]
fn a_hit_whose_text_cannot_be_read_says_why() {
    let (folder, mut store) = new_store();
    let one = keep(&mut store, run(large("albatross"))).reference;
    let file = file_of(folder.path(), &large("albatross"));
    let check = |store: &mut Store, expected: Option<Unreadable>| {
        let hits = search(store, "albatross");
        assert_eq!(references(&hits), [one]);
        assert_eq!((hits[0].unreadable, hits[0].excerpt.is_empty()), (expected, expected.is_some()));
    };
    check(&mut store, None);
    let withdrawn = Withdrawn::new(&file);
    check(&mut store, Some(Unreadable::Now));
    drop(withdrawn);
    check(&mut store, None);
    fs::remove_file(&file).unwrap();
    check(&mut store, Some(Unreadable::Lost));
}

#[test]
fn a_chunk_that_could_not_be_embedded_gets_its_vector_later() {
    let (folder, mut store) = new_store();
    keep(&mut store, run(large("albatross")));
    let withdrawn = Withdrawn::new(&file_of(folder.path(), &large("albatross")));
    let some = store.without_vectors("m", 1_000, LockPolicy::Wait).unwrap().unwrap();
    assert!(some.texts().is_empty(), "a title alone is not what the chunk says");
    store.keep_vectors(&some, &[], LockPolicy::Wait).unwrap();
    drop(withdrawn);
    search(&mut store, "albatross");
    let again = store.without_vectors("m", 1_000, LockPolicy::Wait).unwrap().unwrap();
    assert!(again.texts().iter().any(|chunk| chunk.text.contains("albatross")));
}

#[test]
fn words_of_a_text_that_could_not_be_read_while_another_was_forgotten_come_back() {
    let (folder, mut store) = new_store();
    let one = keep(&mut store, run(large("albatross"))).reference;
    let other = keep(&mut store, note("the penguin")).reference;
    let withdrawn = Withdrawn::new(&file_of(folder.path(), &large("albatross")));
    let everything_else = crate::support::these(&[other]);
    crate::support::forget(&mut store, &everything_else);
    // As if the process had been killed before it could forget the words one by one.
    dump::meddle_with(&folder.path().join("index.db")).execute("UPDATE progress SET residue = 2", []).unwrap();
    store.catch_up().unwrap();
    drop(withdrawn);
    search(&mut store, "anything");
    assert_eq!(references(&search(&mut store, "albatros")), [one], "a misspelt word is looked up in the vocabulary");
}

#[test]
fn an_indexed_file_whose_text_cannot_be_read_now_is_not_replaced() {
    let (folder, mut store) = new_store();
    let text = large("albatross");
    let document = NewEntry { source: Some("a.md".into()), ..entry(weir_core::EntryKind::Document, &text) };
    let stamp = Stamp { bytes: text.len() as u64, modified: 7, hash: "h".to_owned() };
    store.keep_files(&here(), vec![NewFile { entry: document, stamp: stamp.clone() }], NOW).unwrap();
    let _withdrawn = Withdrawn::new(&file_of(folder.path(), &text));
    assert_eq!(store.known_files(&here(), "a.md").unwrap()[0].stamp, stamp);
}

#[test]
fn reading_such_a_text_is_an_error_that_may_pass() {
    let (folder, mut store) = new_store();
    let one = keep(&mut store, run(noise(1, 50_000))).reference;
    let _withdrawn = Withdrawn::new(&file_of(folder.path(), &noise(1, 50_000)));
    let error = store.text(&here(), one).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }) && error.may_pass(), "{error:?}");
}

#[test]
fn a_copy_leaves_out_what_cannot_be_read_and_names_it() {
    let (folder, mut store) = new_store();
    let words = ["albatross", "penguin", "heron", "gull"];
    let kept = words.map(|word| keep(&mut store, run(large(word))).reference);
    let small = keep(&mut store, note("a note that is in the log")).reference;
    let name = |word: &str| format!("{}.zst", blake3::hash(&large(word)).to_hex());
    let file = |word: &str| file_of(folder.path(), &large(word));
    let mut bytes = fs::read(file("albatross")).unwrap();
    bytes[9_000] ^= 1;
    fs::write(file("albatross"), bytes).unwrap();
    fs::remove_file(file("penguin")).unwrap();
    let withdrawn = Withdrawn::new(&file("heron"));
    let to = folder.path().join("copy");
    let copied = store.copy_to(&to).unwrap();
    drop(withdrawn);
    assert_eq!((copied.damaged, copied.missing), (vec![name("albatross")], vec![name("penguin")]));
    assert_eq!(copied.unavailable.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), [name("heron")]);
    for left_out in ["albatross", "heron"] {
        let _ = fs::remove_file(to.join("blobs").join(name(left_out)));
    }
    let checked = Store::take_over_copy(&to, &weir_store::Owner::Project(crate::support::project()), |_| ()).unwrap();
    assert_eq!((checked.entries, checked.lost), (5, 3));
    let copy = open(&to);
    assert_eq!((text(&copy, kept[3]), text(&copy, small)), (large("gull"), b"a note that is in the log".to_vec()));
}

#[test]
fn texts_of_a_log_that_is_gone_stay_and_are_counted() {
    let (folder, mut store) = new_store();
    keep(&mut store, run(large("albatross")));
    drop(store);
    let file = file_of(folder.path(), &large("albatross"));
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(30 * 3600);
    fs::File::options().write(true).open(&file).unwrap().set_modified(long_ago).unwrap();
    for name in ["log.db", "log.db-wal", "log.db-shm"] {
        let _ = fs::remove_file(folder.path().join(name));
    }
    assert!(!Store::exists(folder.path()).unwrap());
    fs::write(folder.path().join("log.db"), b"").unwrap();
    assert!(!Store::exists(folder.path()).unwrap(), "an empty file is no log");
    assert_eq!(Store::text_files(folder.path()).unwrap(), 1);
    let mut store = open(folder.path());
    store.tidy(NOW).unwrap();
    store.sweep(day(1)).unwrap();
    assert!(file.exists());
    assert_eq!(store.check().unwrap().stray_texts, 1);
}
