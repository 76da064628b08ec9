//! Entries: stored texts, each found again by its reference.

use std::ops::Range;

use crate::{Level, Note, Reference, RunFacts, Timestamp};

/// Size of the head of a text that is indexed, in bytes. Full-text indexing takes about a second for each 8 MiB, and as
/// much disk space again. A gigabyte would take minutes, and what matters in it is usually at one of its ends.
pub const INDEXED_HEAD_BYTES: u64 = 4 << 20;
/// Size of the tail of a text that is indexed, in bytes.
pub const INDEXED_TAIL_BYTES: u64 = 4 << 20;

crate::written_enum! {
    /// What an entry is. The kind decides how long the entry is kept.
    pub enum EntryKind {
        Run = "run",
        /// Something decided or learned.
        Note = "note",
        /// Indexed text that belongs to the user.
        Document = "document",
        Page = "page",
        File = "file",
        /// Something imported from a client's transcript.
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
        Model = "model",
        /// A program's output.
        Tool = "tool",
        /// A page from the network.
        Web = "web",
        /// A teammate, or a model that worked for one: received from a team server.
        Teammate = "teammate",
    }
}

#[derive(Debug, Clone)]
pub struct NewEntry {
    pub kind: EntryKind,
    /// Who wrote the text.
    pub origin: Origin,
    /// How far the entry is visible.
    pub level: Level,
    pub title: String,
    /// Where the text came from: a path, a URL, a command.
    pub source: Option<String>,
    /// The text itself, byte for byte; empty if it was written to the store piece by piece.
    pub text: Vec<u8>,
    pub note: Option<Note>,
    pub run: Option<RunFacts>,
    /// The reference to store the entry under, if one was drawn earlier.
    pub reference: Option<Reference>,
}

impl NewEntry {
    /// Creates an entry with only the required fields. The others are set as in `..NewEntry::new(…)`.
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

/// A stored entry, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub reference: Reference,
    pub kind: EntryKind,
    /// Who wrote the text.
    pub origin: Origin,
    /// How far the entry is visible.
    pub level: Level,
    pub title: String,
    pub source: Option<String>,
    pub at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// Whether the entry is kept regardless of its age, because a note cites it.
    pub pinned: bool,
    pub bytes: u64,
    /// The number of secrets removed before storing.
    pub redactions: u32,
    pub note: Option<Note>,
    /// The newer note that superseded this one.
    pub superseded_by: Option<Reference>,
    pub run: Option<RunFacts>,
}

impl Entry {
    /// Returns the parts of the text that are indexed, in order. There is one part unless the text is large. Less of a
    /// binary text is indexed: see [`crate::terminal::is_binary`].
    pub fn indexed(&self) -> Vec<Range<u64>> {
        indexed(self.bytes)
    }

    /// Returns the name of the teammate whose entry it is, if it was received from a team.
    pub fn teammate(&self) -> Option<&str> {
        if self.origin != Origin::Teammate {
            return None;
        }
        Some(self.source.as_deref().and_then(|source| source.strip_prefix("team/")).unwrap_or("unknown"))
    }

    /// Says whether a person stands behind a teammate's entry. What a person wrote is confirmed by them.
    pub fn teammate_standing(&self) -> String {
        match (self.note.as_ref().and_then(|note| note.confirmed_at), self.teammate()) {
            (Some(at), Some(name)) if at == self.at => {
                format!("confirmed by {}", crate::wording::one_line(name, 60))
            }
            (Some(_), _) => "confirmed by a person".to_owned(),
            (None, _) => "not confirmed by a person".to_owned(),
        }
    }

    pub fn is_indexed_whole(&self) -> bool {
        self.bytes <= INDEXED_HEAD_BYTES + INDEXED_TAIL_BYTES
    }
}

/// Returns the parts of a text of this many bytes that are indexed, in order.
pub fn indexed(bytes: u64) -> Vec<Range<u64>> {
    if bytes <= INDEXED_HEAD_BYTES + INDEXED_TAIL_BYTES {
        return std::iter::once(0..bytes).collect();
    }
    vec![0..INDEXED_HEAD_BYTES, bytes - INDEXED_TAIL_BYTES..bytes]
}
