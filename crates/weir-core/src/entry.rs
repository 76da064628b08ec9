//! What is stored: an entry is one thing kept, found again by its reference.

use std::ops::Range;

use crate::{Level, Note, Reference, RunFacts, Timestamp};

/// How much of the beginning of a text the index takes. Full text costs about a second for each 8 MiB and as much room
/// again; a gigabyte would take minutes, and what matters in it mostly stands at an end.
pub const INDEXED_HEAD: u64 = 4 << 20;
/// How much of the end of a text the index takes.
pub const INDEXED_TAIL: u64 = 4 << 20;

crate::written_enum! {
    /// What an entry is. The kind decides how long it is kept.
    pub enum EntryKind {
        /// The output of a run.
        Run = "run",
        /// Something decided or learned.
        Note = "note",
        /// Indexed text that belongs to the user.
        Document = "document",
        /// A fetched page.
        Page = "page",
        /// A file that was read.
        File = "file",
        /// Something taken over from a client's transcript.
        Import = "import",
        /// Something that was said or that happened in a session.
        Said = "said",
    }
}

crate::written_enum! {
    /// Who wrote the text. Recalled text is data whatever its origin; the label lets a reader weigh it.
    pub enum Origin {
        /// The person at the keyboard.
        User = "user",
        /// A model.
        Model = "model",
        /// A program's output.
        Tool = "tool",
        /// A page from the network.
        Web = "web",
    }
}

/// An entry about to be stored.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// What it is.
    pub kind: EntryKind,
    /// Who wrote it.
    pub origin: Origin,
    /// How far it is seen.
    pub level: Level,
    /// One line that names it.
    pub title: String,
    /// Where the text came from: a path, a URL, a command.
    pub source: Option<String>,
    /// The text itself, byte for byte; empty when it was written to the store piece by piece.
    pub text: Vec<u8>,
    /// What makes it a note, when it is one.
    pub note: Option<Note>,
    /// How the run went, when it is the output of one.
    pub run: Option<RunFacts>,
    /// The reference to keep it under, drawn earlier; none for a new one.
    pub reference: Option<Reference>,
}

impl NewEntry {
    /// An entry with nothing but what every entry has. The rest is set as with `..NewEntry::new(…)`.
    pub fn new(kind: EntryKind, origin: Origin, level: Level, title: impl Into<String>) -> Self {
        Self {
            kind,
            origin,
            level,
            title: title.into(),
            source: None,
            text: Vec::new(),
            note: None,
            run: None,
            reference: None,
        }
    }
}

/// An entry as stored, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its handle.
    pub reference: Reference,
    /// What it is.
    pub kind: EntryKind,
    /// Who wrote it.
    pub origin: Origin,
    /// How far it is seen.
    pub level: Level,
    /// One line that names it.
    pub title: String,
    /// Where the text came from.
    pub source: Option<String>,
    /// When it was kept.
    pub at: Timestamp,
    /// When it will be removed, if ever.
    pub expires_at: Option<Timestamp>,
    /// Kept whatever its age, because a note cites it.
    pub pinned: bool,
    /// Size of the text in bytes.
    pub bytes: u64,
    /// How many secrets were removed before storing.
    pub redactions: u32,
    /// What makes it a note, when it is one.
    pub note: Option<Note>,
    /// The newer note that took its place.
    pub superseded_by: Option<Reference>,
    /// How the run went, when it is the output of one.
    pub run: Option<RunFacts>,
}

impl Entry {
    /// The parts of the text that the index takes, in order. One part, unless the text is large. Of a binary text it
    /// takes less: [`crate::terminal::is_binary`].
    pub fn indexed(&self) -> Vec<Range<u64>> {
        indexed(self.bytes)
    }

    /// Whether the index takes the whole text.
    pub fn is_indexed_whole(&self) -> bool {
        self.bytes <= INDEXED_HEAD + INDEXED_TAIL
    }
}

/// The parts of a text of this many bytes that the index takes, in order.
pub fn indexed(bytes: u64) -> Vec<Range<u64>> {
    if bytes <= INDEXED_HEAD + INDEXED_TAIL {
        return std::iter::once(0..bytes).collect();
    }
    vec![0..INDEXED_HEAD, bytes - INDEXED_TAIL..bytes]
}
