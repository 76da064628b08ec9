//! What is stored: an entry is one thing kept, found again by its reference.

use crate::{Level, Note, Reference, Timestamp};

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
    /// The text itself, byte for byte.
    pub text: Vec<u8>,
    /// What makes it a note, when it is one.
    pub note: Option<Note>,
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
}
