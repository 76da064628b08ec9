//! Tests searches of a server: they find what is new and small, and wait for nothing else.

use std::time::{Duration, Instant};

use weir_core::{Event, EventKind, Priority, Query};
use weir_store::{Freshness, Store};

use crate::dump;
use crate::support::{at, here, keep, new_store, note, open, run};

/// Opens the same store once more, for a caller among many.
fn prompt(folder: &std::path::Path) -> Store {
    let mut store = open(folder);
    store.set_freshness(Freshness::Prompt);
    store
}

fn prompt_of(text: &str) -> Event {
    Event { kind: EventKind::Prompt, priority: Priority::P1, text: text.to_owned(), data: None, whole: None }
}

/// Keeps the output of a run, which only the next search indexes.
fn keep_run(store: &mut Store, text: &str) {
    let mut writer = store.writer().unwrap();
    writer.write(text.as_bytes()).unwrap();
    store.keep_written(&here(), run(""), writer, at(1)).unwrap();
}

fn found(store: &mut Store, word: &str) -> (bool, bool) {
    let findings = store.search(&here(), &Query::new(word, 5)).unwrap();
    (!findings.hits.is_empty(), findings.behind)
}

#[test]
fn what_is_new_and_small_is_found_at_once() {
    let (folder, mut store) = new_store();
    keep_run(&mut store, "a rare walrus");
    store.append(&here(), &prompt_of("feed the narwhal"), at(2)).unwrap();
    let mut server = prompt(folder.path());
    assert!(found(&mut server, "walrus").0 && found(&mut server, "narwhal").0);
}

#[test]
fn what_is_large_is_left_to_others_and_the_answer_says_so() {
    let (folder, mut store) = new_store();
    keep(&mut store, note("an ocelot was here first"));
    keep_run(&mut store, &"a walrus among many words\n".repeat(100_000));
    keep_run(&mut store, "a narwhal after it");
    let mut server = prompt(folder.path());
    assert_eq!(found(&mut server, "ocelot"), (true, true));
    assert_eq!(found(&mut server, "narwhal"), (false, true));
    store.catch_up().unwrap();
    assert_eq!(found(&mut server, "walrus"), (true, false));
    assert_eq!(found(&mut server, "narwhal"), (true, false));
}

#[test]
fn a_search_does_not_wait_for_a_writer() {
    let (folder, mut store) = new_store();
    keep(&mut store, note("an ocelot was here first"));
    let mut server = prompt(folder.path());
    assert_eq!(found(&mut server, "ocelot"), (true, false));
    keep_run(&mut store, "a walrus that is not indexed yet");
    store.append(&here(), &prompt_of("feed the narwhal"), at(2)).unwrap();
    let locked = ["log.db", "index.db"].map(|name| dump::meddle_with(&folder.path().join(name)));
    locked.iter().for_each(|database| database.execute_batch("BEGIN IMMEDIATE").unwrap());
    let begun = Instant::now();
    assert_eq!(found(&mut server, "ocelot"), (true, true));
    assert_eq!(found(&mut server, "walrus"), (false, true));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    locked.iter().for_each(|database| database.execute_batch("COMMIT").unwrap());
    assert!(found(&mut server, "walrus").0 && found(&mut server, "narwhal").0);
}
