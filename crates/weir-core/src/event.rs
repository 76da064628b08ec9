//! Events: immutable facts captured in a session, in the order they happened.

use crate::{Reference, SessionKey, Timestamp};

crate::written_enum! {
    /// What happened.
    pub enum EventKind {
        /// The user asked for something.
        Prompt = "prompt",
        /// A file was read, edited, written or searched.
        File = "file",
        /// A task was opened, changed or finished.
        Task = "task",
        /// Something was decided.
        Decision = "decision",
        /// The user corrected the model.
        Correction = "correction",
        /// A git command changed the repository.
        Git = "git",
        /// Something failed.
        Error = "error",
        /// What failed was repaired.
        Fix = "fix",
        /// The environment changed: a folder, a variable, a dependency.
        Environment = "environment",
        /// A rules file was loaded.
        Rule = "rule",
        /// A tool was used.
        Tool = "tool",
        /// A subagent was started or came back.
        Subagent = "subagent",
        /// A plan was made or approved.
        Plan = "plan",
        /// A goal was set.
        Goal = "goal",
        /// Something stands in the way.
        Blocker = "blocker",
        /// An approach was tried and given up.
        Rejected = "rejected",
        /// The user pasted a lot of data.
        Data = "data",
        /// What the session is for.
        Intent = "intent",
        /// An entry was kept.
        Kept = "kept",
        /// An entry is gone: expired, evicted or forgotten.
        Gone = "gone",
    }
}

crate::written_enum! {
    /// How much an event matters when there is not room for all.
    pub enum Priority {
        /// Never dropped while anything less important is left.
        P1 = "P1",
        /// Important.
        P2 = "P2",
        /// Ordinary.
        P3 = "P3",
        /// First to go.
        P4 = "P4",
    }
}

/// A fact about to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// How much it matters.
    pub priority: Priority,
    /// One sentence or line that says it.
    pub text: String,
    /// More, as JSON.
    pub data: Option<String>,
}

/// A fact as stored, with where and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the order of the log.
    pub seq: i64,
    /// When it was appended.
    pub at: Timestamp,
    /// The session it happened in.
    pub session: Option<SessionKey>,
    /// The work it belongs to.
    pub work: Option<String>,
    /// The fact.
    pub event: Event,
    /// The entry it speaks of, if it speaks of one.
    pub reference: Option<Reference>,
}
