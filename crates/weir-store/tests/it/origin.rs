//! Tests that the index belongs to one log: if either is replaced, no answer comes from the other.

use std::path::Path;

use weir_store::Store;

use crate::support::{NOW, assert_healthy, event, here, keep, new_store, note, open, references, run, search};

fn remove_log(folder: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.join(format!("log.db{suffix}")));
    }
}

/// Keeps as many entries as the old log had, and more. Judged by numbers alone, the index would fit.
fn grow(store: &mut Store, entries: usize) {
    for n in 0..entries {
        let mut writer = store.writer().unwrap();
        writer.write(format!("new output {n}").as_bytes()).unwrap();
        store.keep_written(&here(), run(""), writer, NOW).unwrap();
    }
}

#[test]
fn an_index_of_another_log_is_made_again() {
    for entries in [1, 5, 6, 40] {
        let (folder, mut store) = new_store();
        for n in 0..5 {
            keep(&mut store, note(format!("old note {n}")));
        }
        drop(store);
        remove_log(folder.path());
        let mut store = open(folder.path());
        grow(&mut store, entries);
        assert!(search(&mut store, "old").is_empty(), "{entries}");
        assert_eq!(references(&search(&mut store, "output")).len(), entries);
        assert_healthy(&mut store);
    }
}

/// Copies a log while it is open: the state in a backup, or after a power cut that lost writes that did not wait for
/// the disk.
fn log_of(store: Store, folder: &Path) -> (Vec<u8>, Store) {
    drop(store);
    (std::fs::read(folder.join("log.db")).unwrap(), open(folder))
}

#[test]
fn an_older_state_of_the_same_log_is_noticed_after_it_has_grown() {
    for lost in [1, 3] {
        for grown in 0..8 {
            let (folder, mut store) = new_store();
            keep(&mut store, note("the first"));
            let (backup, mut store) = log_of(store, folder.path());
            for n in 0..lost {
                keep(&mut store, note(format!("vanished {n}")));
            }
            drop(store);
            remove_log(folder.path());
            std::fs::write(folder.path().join("log.db"), backup).unwrap();
            let mut store = open(folder.path());
            // Events without an entry take numbers too.
            for n in 0..grown {
                store.append(&here(), &event(format!("{n}")), NOW).unwrap();
            }
            grow(&mut store, 2);
            assert!(search(&mut store, "vanished").is_empty(), "{lost} lost, {grown} grown");
            assert_eq!(references(&search(&mut store, "output")).len(), 2, "{lost} lost, {grown} grown");
            assert_eq!(search(&mut store, "first").len(), 1);
            assert_healthy(&mut store);
        }
    }
}

#[test]
fn a_removal_that_was_rolled_back_is_noticed() {
    let (folder, mut store) = new_store();
    let kept = keep(&mut store, note("comes back")).reference;
    let (backup, mut store) = log_of(store, folder.path());
    crate::support::forget(&mut store, &crate::support::these(&[kept]));
    assert!(search(&mut store, "comes").is_empty());
    drop(store);
    remove_log(folder.path());
    std::fs::write(folder.path().join("log.db"), backup).unwrap();
    let mut store = open(folder.path());
    store.append(&here(), &event("one"), NOW).unwrap();
    store.append(&here(), &event("two"), NOW).unwrap();
    grow(&mut store, 1);
    assert_eq!(references(&search(&mut store, "comes")), [kept]);
}
