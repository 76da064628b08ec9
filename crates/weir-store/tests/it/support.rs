//! What every test needs: a store in a folder that vanishes, entries in one line, and a random stream with a seed.

use std::path::Path;

use tempfile::TempDir;
use weir_core::{
    Ended, Entry, EntryKind, Event, EventKind, Level, Limits, NewEntry, Note, NoteKind, Origin, Pieces, Priority,
    ProjectKey, Query, Reference, RunFacts, Scope, SessionKey, Timestamp,
};
use weir_store::{Forgotten, Found, Hit, Kept, Owner, Selection, Store};

/// The time at which tests begin. The store has no clock of its own.
pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000_000);
/// One hour in milliseconds.
pub(crate) const HOUR: i64 = 60 * 60 * 1000;

/// A moment some milliseconds after the beginning.
pub(crate) fn at(milliseconds: i64) -> Timestamp {
    Timestamp(NOW.0 + milliseconds)
}

/// A moment some days after the beginning.
pub(crate) fn day(days: u32) -> Timestamp {
    NOW.plus_days(days)
}

/// The project most tests are in.
pub(crate) fn project() -> ProjectKey {
    ProjectKey("p".into())
}

/// A scope in the usual project.
pub(crate) fn scope_in(work: Option<&str>, session: Option<&str>) -> Scope {
    Scope { project: project(), work: work.map(Into::into), session: session.map(session_key) }
}

/// A session of the usual client.
pub(crate) fn session_key(key: &str) -> SessionKey {
    SessionKey { client: "test".into(), key: key.into() }
}

/// The scope most tests stand in: session `s1` of the work `main`.
pub(crate) fn here() -> Scope {
    scope_in(Some("main"), Some("s1"))
}

/// Opens the store of the usual project in a folder.
pub(crate) fn open(folder: &Path) -> Store {
    open_with(folder, Limits::default())
}

/// Opens the store of the usual project with limits of its own.
pub(crate) fn open_with(folder: &Path, limits: Limits) -> Store {
    Store::open(folder, Owner::Project(project()), limits).unwrap()
}

/// A new store and its folder.
pub(crate) fn new_store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    (folder, store)
}

/// An entry of this kind for the whole project.
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

/// How an ordinary run went.
pub(crate) fn facts() -> RunFacts {
    RunFacts {
        exit_code: Some(0),
        signal: None,
        millis: 1_500,
        sandbox: "full".into(),
        ended: Ended::Exited,
        pieces: Pieces::default(),
    }
}

/// A run's output.
pub(crate) fn run(text: impl AsRef<[u8]>) -> NewEntry {
    entry(EntryKind::Run, text)
}

/// A note without a topic.
pub(crate) fn note(text: impl AsRef<[u8]>) -> NewEntry {
    entry(EntryKind::Note, text)
}

/// A note on a topic.
pub(crate) fn note_on(topic: &str, text: impl AsRef<[u8]>) -> NewEntry {
    note_with(Note { topic: Some(topic.into()), ..plain_note() }, text)
}

/// A note with all it can have.
pub(crate) fn note_with(note: Note, text: impl AsRef<[u8]>) -> NewEntry {
    NewEntry { note: Some(note), ..entry(EntryKind::Note, text) }
}

/// What makes a note without anything beyond its text.
pub(crate) fn plain_note() -> Note {
    Note {
        kind: NoteKind::Finding,
        topic: None,
        revision: 1,
        supersedes: Vec::new(),
        files: Vec::new(),
        commit: None,
        branch: None,
        confirmed_at: None,
    }
}

/// An ordinary fact.
pub(crate) fn event(text: impl Into<String>) -> Event {
    Event { kind: EventKind::Tool, priority: Priority::P2, text: text.into(), data: None }
}

/// Keeps an entry in the usual scope at the beginning of time.
pub(crate) fn keep(store: &mut Store, entry: NewEntry) -> Kept {
    keep_at(store, entry, NOW)
}

/// Keeps an entry in the usual scope; it must be searchable at once.
pub(crate) fn keep_at(store: &mut Store, entry: NewEntry, now: Timestamp) -> Kept {
    let kept = store.keep(&here(), entry, now).unwrap();
    assert!(kept.unfinished.is_none(), "{:?}", kept.unfinished);
    kept
}

/// The entry behind a reference, which must be there.
pub(crate) fn get(store: &mut Store, reference: Reference) -> Entry {
    match store.get(&here(), reference, NOW).unwrap() {
        Found::Here(entry) => *entry,
        other => panic!("{reference} is {other:?}"),
    }
}

/// What is behind a reference, in few words.
pub(crate) fn state(store: &mut Store, reference: Reference) -> &'static str {
    match store.get(&here(), reference, NOW).unwrap() {
        Found::Here(_) => "here",
        Found::Gone(gone) => gone.why.as_str(),
        Found::Never => "never",
    }
}

/// The text of an entry, which must be there.
pub(crate) fn text(store: &Store, reference: Reference) -> Vec<u8> {
    let reader = store.text(&here(), reference).unwrap();
    reader.unwrap_or_else(|| panic!("{reference} has no text")).all().unwrap()
}

/// Searches from the usual scope, with room for everything.
pub(crate) fn search(store: &mut Store, text: &str) -> Vec<Hit> {
    store.search(&here(), &Query::new(text, 10_000)).unwrap().hits
}

/// The references of hits, in order, each entry once.
pub(crate) fn references(hits: &[Hit]) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    for hit in hits {
        if !found.contains(&hit.entry.reference) {
            found.push(hit.entry.reference);
        }
    }
    found
}

/// Plans and carries out a forgetting.
pub(crate) fn forget(store: &mut Store, selection: &Selection) -> Forgotten {
    let plan = store.plan_to_forget(&here(), selection).unwrap();
    store.forget(&here(), selection, &plan.confirmation, NOW).unwrap()
}

/// A selection of these entries.
pub(crate) fn these(references: &[Reference]) -> Selection {
    Selection { references: references.to_vec(), ..Selection::default() }
}

/// Asserts that the store finds nothing wrong with itself.
pub(crate) fn assert_healthy(store: &mut Store) {
    let health = store.check().unwrap();
    assert!(health.log_problems.is_empty() && health.index_problems.is_empty(), "{health:?}");
}

/// Copies a folder with all that is in it.
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

/// Bytes that do not compress, the same for the same seed.
pub(crate) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// Bytes that hardly compress and that the index reads as blanks: a large text that costs it next to nothing.
pub(crate) fn blank_noise(seed: u64, length: usize) -> Vec<u8> {
    noise(seed, length).into_iter().map(|byte| byte % 32).collect()
}

/// Letters that hardly compress, the same for the same seed. They are one word, unless a secret is seen in them.
pub(crate) fn noisy_word(seed: u64, length: usize) -> String {
    noise(seed, length).iter().map(|byte| char::from(b'a' + byte % 26)).collect()
}

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Dice(blake3::OutputReader);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(blake3::Hasher::new().update(b"dice").update(&seed.to_le_bytes()).finalize_xof())
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % sides
    }

    /// One of these.
    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.roll(among.len() as u64) as usize]
    }
}
