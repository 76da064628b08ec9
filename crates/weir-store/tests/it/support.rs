//! Helpers for all tests: a store in a temporary folder, entries in one line, and random numbers from a seed.

use std::path::Path;

use tempfile::TempDir;
use weir_core::{
    Entry, EntryKind, Event, EventKind, Level, Limits, NewEntry, Note, NoteKind, Origin, Priority, ProjectKey, Query,
    Reference, Scope, SessionKey, Timestamp,
};
use weir_store::{Forgotten, Found, Hit, Kept, Owner, Selection, Store, Swept};

/// The time at which tests begin. The store has no clock of its own.
pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000_000);
/// One hour in milliseconds.
pub(crate) const HOUR: i64 = 60 * 60 * 1000;

/// Returns a moment some milliseconds after [`NOW`].
pub(crate) fn at(milliseconds: i64) -> Timestamp {
    Timestamp(NOW.0 + milliseconds)
}

/// Returns a moment some days after [`NOW`].
pub(crate) fn day(days: u32) -> Timestamp {
    NOW.plus_days(days)
}

/// Returns the project that most tests use.
pub(crate) fn project() -> ProjectKey {
    ProjectKey("p".into())
}

pub(crate) fn scope_in(work: Option<&str>, session: Option<&str>) -> Scope {
    Scope { work: work.map(Into::into), session: session.map(session_key), ..Scope::project(project()) }
}

pub(crate) fn session_key(key: &str) -> SessionKey {
    SessionKey { client: "test".into(), key: key.into() }
}

/// Returns the scope that most tests use: session `s1` of the work `main`.
pub(crate) fn here() -> Scope {
    scope_in(Some("main"), Some("s1"))
}

pub(crate) fn open(folder: &Path) -> Store {
    open_with(folder, Limits::default())
}

pub(crate) fn open_with(folder: &Path, limits: Limits) -> Store {
    Store::open(folder, Owner::Project(project()), limits).unwrap()
}

pub(crate) fn new_store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    (folder, store)
}

pub(crate) fn entry(kind: EntryKind, text: impl AsRef<[u8]>) -> NewEntry {
    let note = (kind == EntryKind::Note).then(plain_note);
    NewEntry {
        kind,
        origin: Origin::Tool,
        level: Level::Project,
        title: kind.as_str().to_owned(),
        source: None,
        text: text.as_ref().to_vec(),
        note,
        run: None,
        reference: None,
    }
}

pub(crate) fn run(text: impl AsRef<[u8]>) -> NewEntry {
    entry(EntryKind::Run, text)
}

/// Returns a note without a topic.
pub(crate) fn note(text: impl AsRef<[u8]>) -> NewEntry {
    entry(EntryKind::Note, text)
}

pub(crate) fn note_on(topic: &str, text: impl AsRef<[u8]>) -> NewEntry {
    note_with(Note { topic: Some(topic.into()), ..plain_note() }, text)
}

pub(crate) fn note_with(note: Note, text: impl AsRef<[u8]>) -> NewEntry {
    NewEntry { note: Some(note), ..entry(EntryKind::Note, text) }
}

/// Returns the fields of a note that has only a text.
pub(crate) fn plain_note() -> Note {
    Note::new(NoteKind::Finding)
}

pub(crate) fn event(text: impl Into<String>) -> Event {
    Event { kind: EventKind::Tool, priority: Priority::P2, text: text.into(), data: None, whole: None }
}

/// Keeps an entry in the usual scope at [`NOW`].
pub(crate) fn keep(store: &mut Store, entry: NewEntry) -> Kept {
    keep_at(store, entry, NOW)
}

/// Keeps an entry in the usual scope, and asserts that nothing was left unfinished.
pub(crate) fn keep_at(store: &mut Store, entry: NewEntry, now: Timestamp) -> Kept {
    let kept = store.keep(&here(), entry, now).unwrap();
    assert!(kept.unfinished.is_none(), "{:?}", kept.unfinished);
    kept
}

/// Returns the entry with a reference, which must exist.
pub(crate) fn get(store: &mut Store, reference: Reference) -> Entry {
    match store.get(&here(), reference, NOW).unwrap() {
        Found::Here(entry) => *entry,
        other => panic!("{reference} is {other:?}"),
    }
}

pub(crate) fn state(store: &mut Store, reference: Reference) -> &'static str {
    match store.get(&here(), reference, NOW).unwrap() {
        Found::Here(_) => "here",
        Found::Gone(gone) => gone.why.as_str(),
        Found::Never => "never",
    }
}

/// Returns the text of an entry, which must exist.
pub(crate) fn text(store: &Store, reference: Reference) -> Vec<u8> {
    let reader = store.text(&here(), reference).unwrap();
    reader.unwrap_or_else(|| panic!("{reference} has no text")).all().unwrap()
}

/// Searches in the usual scope, with a limit large enough for everything.
pub(crate) fn search(store: &mut Store, text: &str) -> Vec<Hit> {
    store.search(&here(), &Query::new(text, 10_000)).unwrap().hits
}

pub(crate) fn references(hits: &[Hit]) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    for hit in hits {
        if !found.contains(&hit.entry.reference) {
            found.push(hit.entry.reference);
        }
    }
    found
}

pub(crate) fn forget(store: &mut Store, selection: &Selection) -> Forgotten {
    let plan = store.plan_to_forget(&here(), selection).unwrap();
    store.forget(&here(), selection, &plan.confirmation, NOW).unwrap()
}

/// Sweeps at a time that the store believes, because it looked at the clock a day before too. Returns what both sweeps
/// removed.
pub(crate) fn sweep(store: &mut Store, now: Timestamp) -> Swept {
    let before = store.sweep(Timestamp(now.0 - 24 * HOUR)).unwrap();
    let Swept { expired, evicted, events, orphans, index_removed } = store.sweep(now).unwrap();
    Swept {
        expired: before.expired + expired,
        evicted: before.evicted + evicted,
        events: before.events + events,
        orphans: before.orphans + orphans,
        index_removed: before.index_removed || index_removed,
    }
}

/// Makes the log older than the files in its folder, whatever the time of those.
pub(crate) fn age_log(folder: &Path) {
    let log = crate::dump::meddle_with(&folder.join("log.db"));
    log.execute("UPDATE migrations SET applied_at = '2001-01-01 00:00:00'", []).unwrap();
}

pub(crate) fn these(references: &[Reference]) -> Selection {
    Selection { references: references.to_vec(), ..Selection::default() }
}

pub(crate) fn assert_healthy(store: &mut Store) {
    let health = store.check().unwrap();
    assert!(health.log_problems.is_empty() && health.index_problems.is_empty(), "{health:?}");
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for item in std::fs::read_dir(from).unwrap() {
        let path = item.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &to);
        } else {
            std::fs::copy(&path, to).unwrap();
        }
    }
}

/// Returns bytes that do not compress, the same for the same seed.
pub(crate) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// Returns bytes that hardly compress and that the index reads as blanks: a large text that costs it almost nothing.
pub(crate) fn blank_noise(seed: u64, length: usize) -> Vec<u8> {
    noise(seed, length).into_iter().map(|byte| byte % 32).collect()
}

/// Returns letters that hardly compress, the same for the same seed. They are one word, unless redaction finds a secret
/// in them.
pub(crate) fn noisy_word(seed: u64, length: usize) -> String {
    noise(seed, length).iter().map(|byte| char::from(b'a' + byte % 26)).collect()
}

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Dice(blake3::OutputReader);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(blake3::Hasher::new().update(b"dice").update(&seed.to_le_bytes()).finalize_xof())
    }

    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % sides
    }

    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.roll(among.len() as u64) as usize]
    }
}
