//! Tests how long entries stay: expiry by kind, pins, the quota, and what is reported about entries that are gone.

use std::time::{Duration, Instant, SystemTime};

use weir_core::{EntryKind, Gone, Level, Limits, NewEntry, Reference, Timestamp, WhyGone};
use weir_store::{Found, HistoryFilter, Owner, Store, Swept};

use crate::support::{
    HOUR, NOW, age_log, assert_healthy, at, day, entry, forget, get, here, keep, keep_at, new_store, noise, noisy_word,
    note, open_with, project, run, scope_in, search, state, sweep, text, these,
};

#[test]
fn entries_expire_by_kind_and_not_a_moment_early() {
    let limits = Limits { run_days: 3, page_days: 7, event_days: 20_000, ..Limits::default() };
    let folder = tempfile::tempdir().unwrap();
    let mut store = open_with(folder.path(), limits);
    let kept: Vec<(EntryKind, Reference)> =
        EntryKind::ALL.iter().map(|kind| (*kind, keep(&mut store, entry(*kind, kind.as_str())).reference)).collect();
    let days = |kind| match kind {
        EntryKind::Run => Some(3),
        EntryKind::Page | EntryKind::File | EntryKind::Import => Some(7),
        EntryKind::Said => Some(20_000),
        EntryKind::Note | EntryKind::Document => None,
    };
    for (kind, reference) in &kept {
        assert_eq!(get(&mut store, *reference).expires_at, days(*kind).map(day), "{kind}");
    }
    for (now, gone) in
        [(Timestamp(day(3).0 - 1), 0), (day(3), 1), (Timestamp(day(7).0 - 1), 0), (day(7), 3), (day(9_999), 0)]
    {
        assert_eq!(sweep(&mut store, now), Swept { expired: gone, ..Swept::default() }, "at {now:?}");
    }
    for (kind, reference) in &kept {
        let expected = if days(*kind).is_some_and(|days| days < 9_999) { "expired" } else { "here" };
        assert_eq!(state(&mut store, *reference), expected, "{kind}");
        assert_eq!(search(&mut store, kind.as_str()).len(), usize::from(expected == "here"), "{kind}");
    }
    assert_healthy(&mut store);
}

#[test]
fn a_clock_that_jumps_ahead_expires_nothing_until_another_day_confirms_it() {
    let (_folder, mut store) = new_store();
    let output = keep(&mut store, run("an output")).reference;
    store.append(&here(), &crate::support::event("a prompt"), NOW).unwrap();
    let events =
        |store: &Store| store.history(&here(), &HistoryFilter { limit: 9, ..HistoryFilter::default() }).unwrap().len();
    let before = events(&store);
    for far in [40, 400, 400, 73_000] {
        store.tidy(day(far)).unwrap();
        assert_eq!(store.sweep(day(far)).unwrap(), Swept::default(), "{far} days ahead");
        assert_eq!((state(&mut store, output), events(&store)), ("here", before), "{far} days ahead");
    }
    // The clock is right again, and time passes.
    store.tidy(day(1)).unwrap();
    assert_eq!(state(&mut store, output), "here");
    assert_eq!(sweep(&mut store, day(31)).expired, 1);
}

#[test]
fn an_entry_that_is_renewed_is_kept_as_long_as_a_new_one() {
    let (_folder, mut store) = new_store();
    let [renewed, other] = ["renewed", "other"].map(|text| keep(&mut store, run(text)).reference);
    store.renew(&here(), &[renewed, Reference::from_bits(7)], day(20)).unwrap();
    assert_eq!(sweep(&mut store, day(31)).expired, 1);
    assert_eq!((state(&mut store, renewed), state(&mut store, other)), ("here", "expired"));
    // A clock that was set back takes nothing away, and what is gone stays gone.
    store.renew(&here(), &[renewed, other], day(1)).unwrap();
    assert_eq!(get(&mut store, renewed).expires_at, Some(day(50)));
    assert_eq!(state(&mut store, other), "expired");
}

#[test]
fn more_than_one_batch_expires_at_once() {
    let (_folder, mut store) = new_store();
    for n in 0..450 {
        keep(&mut store, run(format!("run {n}")));
    }
    assert_eq!(sweep(&mut store, day(31)).expired, 450);
    let health = store.check().unwrap();
    assert_eq!((health.entries, health.stored_bytes), (0, 0));
}

#[test]
fn what_is_here_what_is_gone_and_what_never_was_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open_with(folder.path(), Limits { quota_bytes: 25_000, ..Limits::default() });
    let evicted = keep_at(&mut store, run(noise(1, 20_000)), at(1)).reference;
    let here_too = keep_at(&mut store, run(noise(2, 20_000)), at(2)).reference;
    let page = keep_at(&mut store, entry(EntryKind::Page, "page"), at(3)).reference;
    let forgotten = keep_at(&mut store, note("note"), at(4)).reference;
    forget(&mut store, &these(&[forgotten]));
    sweep(&mut store, day(91));
    let expired = here_too;
    for (reference, why, kind, since) in [
        (evicted, WhyGone::Evicted, EntryKind::Run, at(2)),
        (expired, WhyGone::Expired, EntryKind::Run, day(91)),
        (page, WhyGone::Expired, EntryKind::Page, day(91)),
        (forgotten, WhyGone::Forgotten, EntryKind::Note, NOW),
    ] {
        let found = store.get(&here(), reference, NOW).unwrap();
        assert!(matches!(found, Found::Gone(gone) if gone == Gone { why, at: since, kind }), "{found:?}");
        assert!(store.text(&here(), reference).unwrap().is_none());
    }
    let session = NewEntry { level: Level::Session, ..note("secret of a session") };
    let hidden = store.keep(&scope_in(None, Some("s9")), session, NOW).unwrap().reference;
    for never in [Reference::from_bits(7), hidden] {
        assert!(matches!(store.get(&here(), never, NOW).unwrap(), Found::Never));
        assert!(store.text(&here(), never).unwrap().is_none());
    }
}

/// Returns a store whose quota fits three runs of 20 kB, with three runs in it, kept an hour apart.
fn full_store(folder: &std::path::Path) -> (Store, Vec<Reference>) {
    let mut store = open_with(folder, Limits { quota_bytes: 65_000, ..Limits::default() });
    let kept = (0..3).map(|n| keep_at(&mut store, run(noise(n, 20_000)), at(n as i64 * HOUR)).reference).collect();
    (store, kept)
}

fn states(store: &mut Store, references: &[Reference]) -> Vec<&'static str> {
    references.iter().map(|reference| state(store, *reference)).collect()
}

#[test]
fn the_quota_evicts_the_run_used_longest_ago() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, mut kept) = full_store(folder.path());
    // Reading the first run makes the second one the least recently used.
    assert!(matches!(store.get(&here(), kept[0], at(5 * HOUR)).unwrap(), Found::Here(_)));
    let fourth = keep_at(&mut store, run(noise(3, 20_000)), at(6 * HOUR));
    assert_eq!(fourth.evicted, 1);
    kept.push(fourth.reference);
    assert_eq!(states(&mut store, &kept), ["here", "evicted", "here", "here"]);
    let health = store.check().unwrap();
    assert!(health.stored_bytes <= health.quota_bytes, "{health:?}");
}

#[test]
fn the_quota_spares_pinned_runs_notes_and_what_was_just_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, kept) = full_store(folder.path());
    keep_at(&mut store, note(format!("see {}", kept[0])), at(4 * HOUR));
    let large_note = keep_at(&mut store, note(noise(9, 30_000)), at(5 * HOUR));
    assert_eq!(large_note.evicted, 2);
    assert_eq!(states(&mut store, &kept), ["here", "evicted", "evicted"]);
    let huge = keep_at(&mut store, run(noise(10, 90_000)), at(6 * HOUR));
    assert_eq!((huge.evicted, state(&mut store, huge.reference)), (0, "here"));
    assert_eq!(text(&store, huge.reference), noise(10, 90_000));
    let document = keep_at(&mut store, entry(EntryKind::Document, noise(11, 30_000)), at(7 * HOUR));
    assert_eq!((document.evicted, state(&mut store, huge.reference)), (1, "evicted"));
    for reference in [kept[0], large_note.reference, document.reference] {
        assert_eq!(state(&mut store, reference), "here");
    }
}

#[test]
fn a_clock_that_goes_back_does_not_stop_the_quota() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, kept) = full_store(folder.path());
    // By its time, the new run is the least recently used one, but it was just kept.
    let new = keep_at(&mut store, run(noise(3, 20_000)), at(-HOUR));
    assert_eq!(new.evicted, 1);
    assert_eq!(states(&mut store, &kept), ["evicted", "here", "here"]);
    assert_eq!(state(&mut store, new.reference), "here");
}

#[test]
fn a_quota_without_end_evicts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open_with(folder.path(), Limits { quota_bytes: u64::MAX, ..Limits::default() });
    let first = keep(&mut store, run(noise(1, 20_000))).reference;
    assert_eq!(keep(&mut store, run(noise(2, 20_000))).evicted, 0);
    assert_eq!(state(&mut store, first), "here");
}

#[test]
fn a_smaller_quota_is_met_by_the_next_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let (store, kept) = full_store(folder.path());
    drop(store);
    let mut store = open_with(folder.path(), Limits { quota_bytes: 25_000, ..Limits::default() });
    assert_eq!(store.sweep(at(9 * HOUR)).unwrap(), Swept { evicted: 2, ..Swept::default() });
    assert_eq!(states(&mut store, &kept), ["evicted", "evicted", "here"]);
}

#[test]
fn entries_with_one_text_share_it_and_the_last_one_takes_it_along() {
    for text_kept in [b"small".to_vec(), noise(1, 300_000)] {
        let (folder, mut store) = new_store();
        let one = keep(&mut store, run(&text_kept)).reference;
        let stored = store.check().unwrap().stored_bytes;
        let two = keep(&mut store, entry(EntryKind::Document, &text_kept)).reference;
        assert_eq!(store.check().unwrap().stored_bytes, stored, "one blob for both");
        assert_eq!(sweep(&mut store, day(31)).expired, 1);
        assert_eq!((state(&mut store, one), text(&store, two)), ("expired", text_kept.clone()));
        forget(&mut store, &these(&[two]));
        assert_eq!(store.check().unwrap().stored_bytes, 0);
        let files = crate::dump::files(folder.path());
        assert!(files.iter().all(|file| file.extension().is_none_or(|e| e != "zst" && e != "part")), "{files:?}");
    }
}

#[test]
fn what_a_killed_process_left_is_swept_after_an_hour() {
    let (folder, mut store) = new_store();
    let kept = keep(&mut store, run(noise(1, 50_000))).reference;
    let blobs = folder.path().join("blobs");
    age_log(folder.path());
    let old = SystemTime::now() - Duration::from_secs(2 * 3600);
    let leave = |name: &str, time: SystemTime| {
        let file = std::fs::File::create(blobs.join(name)).unwrap();
        file.set_modified(time).unwrap();
    };
    let orphan = blake3::hash(b"nobody").to_hex();
    leave(&format!("{orphan}.zst"), old);
    leave("0123456789abcdef01234567.part", old);
    leave("fedcba987654321001234567.part", SystemTime::now());
    let named: Vec<_> =
        crate::dump::files(&blobs).into_iter().filter(|file| !file.ends_with(format!("{orphan}.zst"))).collect();
    let own = named.iter().find(|file| file.extension().is_some_and(|extension| extension == "zst")).unwrap();
    std::fs::File::options().write(true).open(own).unwrap().set_modified(old).unwrap();
    assert_eq!(store.sweep(NOW).unwrap(), Swept { orphans: 2, ..Swept::default() });
    assert_eq!(text(&store, kept), noise(1, 50_000));
    assert_eq!(crate::dump::files(&blobs).len(), 2, "the text, and the file that may be in the making");
}

/// Expiry and eviction happen while someone waits for an answer, so they must not cost much more than keeping did.
/// Wiping each word from the index's pages at once took forty to two hundred times as long.
#[test]
fn making_room_costs_about_what_keeping_did() {
    let (_folder, mut store) = new_store();
    let words = |n: u64| (0..8_000).map(|k| noisy_word(n * 3 + k % 900, 7) + " ").collect::<String>();
    let started = Instant::now();
    for n in 0..8 {
        keep(&mut store, run(words(n)));
    }
    let keeping = started.elapsed();
    let started = Instant::now();
    assert_eq!(sweep(&mut store, day(31)).expired, 8);
    let sweeping = started.elapsed();
    assert!(sweeping < keeping * 10, "keeping took {keeping:?}, removing the same {sweeping:?}");
}

#[test]
fn the_user_has_a_store_with_its_own_level() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Owner::User, Limits::default()).unwrap();
    let kept = keep(&mut store, NewEntry { level: Level::User, ..note("for every project") }).reference;
    assert_eq!(text(&store, kept), b"for every project");
    assert!(store.keep(&here(), note("for one project"), NOW).is_err());
    let elsewhere = weir_core::Scope::project(weir_core::ProjectKey("q".into()));
    assert!(matches!(store.get(&elsewhere, kept, NOW).unwrap(), Found::Here(_)));
    assert!(elsewhere.project != project());
}
