//! Notes: revisions of a topic, supersession, files, and the pins of what they cite.

use weir_core::note::BoundFile;
use weir_core::{Level, NewEntry, Note, NoteKind, Reference};
use weir_store::{Kept, Store, StoreError};

use crate::support::{
    NOW, day, forget, get, here, keep, new_store, note, note_on, note_with, open, plain_note, run, scope_in, search,
    state, sweep, text, these,
};

fn keep_in(store: &mut Store, level: Level, work: &str, session: &str) -> Kept {
    let entry = NewEntry { level, ..note_on("pool", format!("{level} {work} {session}")) };
    store.keep(&scope_in(Some(work), Some(session)), entry, NOW).unwrap()
}

#[test]
fn a_second_note_on_a_topic_is_a_new_revision_and_the_old_one_is_kept() {
    let (folder, mut store) = new_store();
    let kept: Vec<Kept> = (1..=4).map(|n| keep(&mut store, note_on("pool", format!("the pool has {n}")))).collect();
    let mut store = {
        drop(store);
        open(folder.path())
    };
    for (n, this) in kept.iter().enumerate() {
        let entry = get(&mut store, this.reference);
        let older: Vec<Reference> = n.checked_sub(1).map(|before| kept[before].reference).into_iter().collect();
        let note = entry.note.unwrap();
        assert_eq!((this.revision, note.revision), (n as u32 + 1, n as u32 + 1));
        assert_eq!((&this.superseded, &note.supersedes), (&older, &older));
        assert_eq!(entry.superseded_by, kept.get(n + 1).map(|next| next.reference));
        assert_eq!(text(&store, this.reference), format!("the pool has {}", n + 1).into_bytes());
    }
    assert_eq!(search(&mut store, "pool").len(), 4);
}

#[test]
fn of_notes_that_are_kept_together_a_wrong_one_fails_alone() {
    let (_folder, mut store) = new_store();
    let missing = Reference::from_bits(7);
    let entries = [
        note_on("pool", "the pool has 1"),
        note_with(Note { supersedes: vec![missing], ..plain_note() }, "the pool replaces nothing"),
        NewEntry { level: Level::User, ..note("the pool of another store") },
        note_on("pool", "the pool has 2"),
    ];
    let kept = store.keep_together(entries.into_iter().map(|entry| (here(), entry)).collect(), NOW);
    let [
        Ok(first),
        Err(StoreError::NoSuchNote { reference }),
        Err(StoreError::NoSuchLevel { level: Level::User }),
        Ok(second),
    ] = kept.as_slice()
    else {
        panic!("{kept:?}")
    };
    assert_eq!(*reference, missing);
    assert_eq!((first.revision, second.revision), (1, 2));
    assert_eq!(second.superseded, [first.reference]);
    assert!(!second.behind && second.unfinished.is_none());
    assert_eq!(search(&mut store, "pool").len(), 2);
}

#[test]
fn a_topic_in_another_place_is_another_topic() {
    let (_folder, mut store) = new_store();
    let places = [
        (Level::Project, "main", "s1"),
        (Level::Work, "main", "s1"),
        (Level::Work, "side", "s1"),
        (Level::Session, "main", "s1"),
        (Level::Session, "main", "s2"),
    ];
    for round in 1..=2 {
        for (level, work, session) in places {
            let kept = keep_in(&mut store, level, work, session);
            assert_eq!(kept.revision, round, "{level} {work} {session}");
            assert_eq!(kept.superseded.len() as u32, round - 1, "{level} {work} {session}");
        }
    }
    // All sessions share the topics of a work, and those of the project.
    assert_eq!(keep_in(&mut store, Level::Work, "main", "s9").revision, 3);
    assert_eq!(keep_in(&mut store, Level::Project, "other", "s9").revision, 3);
    assert_eq!(keep(&mut store, note_on("pools", "another word")).revision, 1);
}

#[test]
fn a_note_supersedes_those_it_names() {
    let (_folder, mut store) = new_store();
    let old: Vec<Reference> = (0..3).map(|n| keep(&mut store, note(format!("old {n}"))).reference).collect();
    let named = Note { supersedes: vec![old[2], old[0], old[2]], ..plain_note() };
    let new = keep(&mut store, note_with(named, "new"));
    assert_eq!(new.superseded, [old[0], old[2]]);
    assert_eq!(get(&mut store, new.reference).note.unwrap().supersedes, new.superseded);
    let successors: Vec<_> = old.iter().map(|reference| get(&mut store, *reference).superseded_by).collect();
    assert_eq!(successors, [Some(new.reference), None, Some(new.reference)]);
}

#[test]
fn what_a_note_says_it_superseded_is_what_is_stored() {
    let (_folder, mut store) = new_store();
    let old = keep(&mut store, note("old")).reference;
    let naming_it = || note_with(Note { supersedes: vec![old], ..plain_note() }, "new");
    let first = keep(&mut store, naming_it());
    let second = keep(&mut store, naming_it());
    assert_eq!(get(&mut store, old).superseded_by, Some(first.reference), "the first successor stays");
    for kept in [first, second] {
        assert_eq!(kept.superseded, get(&mut store, kept.reference).note.unwrap().supersedes);
    }
}

#[test]
fn a_note_that_names_no_note_is_refused_and_leaves_nothing() {
    let (_folder, mut store) = new_store();
    let elsewhere = scope_in(Some("side"), Some("s2"));
    let hidden = NewEntry { level: Level::Session, ..note("of another session") };
    let hidden = store.keep(&elsewhere, hidden, NOW).unwrap().reference;
    let not_a_note = keep(&mut store, run("a run")).reference;
    let good = keep(&mut store, note("good")).reference;
    let before = store.check().unwrap();
    for bad in [Reference::from_bits(42), not_a_note, hidden] {
        let entry = note_with(Note { supersedes: vec![good, bad], ..plain_note() }, "a new text");
        let refused = store.keep(&here(), entry, NOW);
        assert!(matches!(refused, Err(StoreError::NoSuchNote { reference }) if reference == bad), "{refused:?}");
        assert_eq!(get(&mut store, good).superseded_by, None);
        assert!(search(&mut store, "new text").is_empty());
        assert_eq!(store.check().unwrap(), before);
    }
}

#[test]
fn a_note_comes_back_with_all_it_has() {
    let (_folder, mut store) = new_store();
    let file = |path: &str| BoundFile { path: path.into(), hash: blake3::hash(path.as_bytes()).to_hex().to_string() };
    for kind in NoteKind::ALL {
        let note = Note {
            kind: *kind,
            topic: Some(format!("topic of a {kind}")),
            files: vec![file("a/b.rs"), file("c.rs")],
            commit: Some("0123abcd".into()),
            branch: Some("main".into()),
            ..plain_note()
        };
        let kept = keep(&mut store, note_with(note.clone(), "text")).reference;
        assert_eq!(get(&mut store, kept).note, Some(note));
    }
}

#[test]
fn a_citation_pins_a_run_until_no_note_cites_it() {
    let (_folder, mut store) = new_store();
    let cited = keep(&mut store, run("the measurement")).reference;
    let other = keep(&mut store, run("another")).reference;
    let mut notes = Vec::new();
    for n in 0..2 {
        let kept = keep(&mut store, note(format!("{n}: see {cited} and [ctx:0000000000]")));
        assert_eq!(kept.pinned, [cited]);
        notes.push(kept.reference);
    }
    let entry = get(&mut store, cited);
    assert_eq!((entry.pinned, entry.expires_at), (true, None));
    assert_eq!(sweep(&mut store, day(400)).expired, 1);
    assert_eq!((state(&mut store, cited), state(&mut store, other)), ("here", "expired"));
    forget(&mut store, &these(&notes[..1]));
    assert!(get(&mut store, cited).pinned, "the second note still cites it");
    forget(&mut store, &these(&notes[1..]));
    let entry = get(&mut store, cited);
    assert_eq!((entry.pinned, entry.expires_at), (false, Some(day(30))));
    assert_eq!(sweep(&mut store, day(400)).expired, 1);
    assert_eq!(state(&mut store, cited), "expired");
}

#[test]
fn a_note_cannot_pin_what_it_does_not_see() {
    let (_folder, mut store) = new_store();
    let elsewhere = scope_in(Some("side"), Some("s2"));
    let hidden = NewEntry { level: Level::Session, ..run("of another session") };
    let hidden = store.keep(&elsewhere, hidden, NOW).unwrap().reference;
    assert!(keep(&mut store, note(format!("see {hidden}"))).pinned.is_empty());
    assert_eq!(sweep(&mut store, day(400)).expired, 1);
}

#[test]
fn notes_never_supersede_each_other() {
    let (_folder, mut store) = new_store();
    let notes = [("pool", 8), ("size", 16), ("limit", 32)]
        .map(|(topic, size)| keep(&mut store, note_on(topic, format!("the pool has {size}"))).reference);
    assert!(store.supersede(&here(), notes[0], notes[1]).unwrap());
    assert!(store.supersede(&here(), notes[1], notes[2]).unwrap());
    assert!(!store.supersede(&here(), notes[2], notes[0]).unwrap());
    assert!(get(&mut store, notes[2]).superseded_by.is_none());
    assert_eq!(search(&mut store, "pool").len(), 3);
}

#[test]
fn a_note_is_found_by_its_text_as_long_as_it_counts() {
    let (_folder, mut store) = new_store();
    let secret = format!("the token is ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).split_at(36).0);
    keep(&mut store, run("the pool has 8"));
    assert_eq!(store.note_with_text(&here(), "the pool has 8").unwrap(), None, "it is the text of a run");
    let old = keep(&mut store, note_on("pool", "the pool has 8")).reference;
    assert_eq!(store.note_with_text(&here(), "the pool has 8").unwrap(), Some(old));
    let hidden = keep(&mut store, note(&secret)).reference;
    assert_eq!(store.note_with_text(&here(), &secret).unwrap(), Some(hidden), "what was redacted is the same text");
    keep(&mut store, note_on("pool", "the pool has 16"));
    assert_eq!(store.note_with_text(&here(), "the pool has 8").unwrap(), None, "it is superseded");
}
