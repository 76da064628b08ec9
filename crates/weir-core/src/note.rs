//! Notes: what someone decided or learned, with the state of the project when it was written.

use crate::{Reference, Timestamp};

crate::written_enum! {
    pub enum NoteKind {
        /// A choice that was made, and why.
        Decision = "decision",
        /// Something that was learned.
        Finding = "finding",
        /// How things are done here.
        Convention = "convention",
        /// Something left to do.
        Todo = "todo",
        /// Something to beware of.
        Warning = "warning",
    }
}

/// The fields of a note besides its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    pub kind: NoteKind,
    /// The subject of the note. A second note on the same topic is a new revision of the first.
    pub topic: Option<String>,
    /// The revision of the note on its topic, from 1.
    pub revision: u32,
    pub supersedes: Vec<Reference>,
    /// The files that the note is about, as they were when it was written.
    pub files: Vec<BoundFile>,
    pub commit: Option<String>,
    pub branch: Option<String>,
    /// When the user confirmed the note, if a model wrote it.
    pub confirmed_at: Option<Timestamp>,
}

impl Note {
    /// Creates the fields of a note that has only a text.
    pub fn new(kind: NoteKind) -> Self {
        Self {
            kind,
            topic: None,
            revision: 1,
            supersedes: Vec::new(),
            files: Vec::new(),
            commit: None,
            branch: None,
            confirmed_at: None,
        }
    }
}

/// A file with the content it had when a note was made about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundFile {
    /// The path, relative to the project if the file is inside it.
    pub path: String,
    /// The BLAKE3 hash of its content, in hexadecimal.
    pub hash: String,
}
