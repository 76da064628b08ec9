//! Notes: what someone decided or learned, with what was true when it was written.

use crate::{Reference, Timestamp};

crate::written_enum! {
    /// What a note says.
    pub enum NoteKind {
        /// A choice that was made, and why.
        Decision = "decision",
        /// Something learned.
        Finding = "finding",
        /// How things are done here.
        Convention = "convention",
        /// Something left to do.
        Todo = "todo",
        /// Something to beware of.
        Warning = "warning",
    }
}

/// What a note has beyond its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// What it says.
    pub kind: NoteKind,
    /// A name for what it is about; a second note on the same topic is a new revision of the first.
    pub topic: Option<String>,
    /// Counts the revisions of a topic from 1.
    pub revision: u32,
    /// The notes it takes the place of.
    pub supersedes: Vec<Reference>,
    /// The files it speaks of, as they were.
    pub files: Vec<BoundFile>,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// When the user confirmed a note that a model wrote.
    pub confirmed_at: Option<Timestamp>,
}

/// A file and the content it had when a note was made about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundFile {
    /// The path, relative to the project where it lies inside.
    pub path: String,
    /// The BLAKE3 hash of its content, in hexadecimal.
    pub hash: String,
}
