//! The one error of all ports. Invariant: it names what was done and what kind of failure it is, never a file, a table
//! or an engine, so that a caller treats all backends alike.

use std::error::Error;
use std::fmt;

/// What kind of failure an error is. A caller decides by this what to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Another record has the same host and index: the machine was cloned, or its counter was set back.
    Conflict,
    /// A record with the same host and index was erased by an earlier version, which kept nothing to compare it by.
    Erased,
    /// Another user has used the host of the record first.
    ForeignHost,
    /// The record belongs to another tenant or project, or the user of the call may not see it.
    OutOfScope,
    /// Only the author of a record may do this.
    NotAuthor,
    /// No such record is visible in the scope.
    Missing,
    /// The project is sealed, and this is in clear or needs what is.
    Sealed,
    /// The record or the argument contradicts itself.
    Invalid,
    /// A newer version of Weir wrote this.
    Newer,
    /// The position is beyond the head of the log: the log was put back to an older state.
    Ahead,
    Damaged,
    /// There is no room left.
    Full,
    /// Somebody else holds what the call needs. The same call may succeed later.
    Busy,
    /// The tenant is in another database, or on its way there.
    Elsewhere,
    /// The backend cannot be reached or used.
    Unavailable,
}

impl ErrorKind {
    /// Returns whether the same call may succeed later without a change.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::Busy | Self::Elsewhere | Self::Full | Self::Unavailable)
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Conflict => "a different record has the same id",
            Self::Erased => "a record with the same id was erased, and it is not known whether it was another one",
            Self::ForeignHost => "its host belongs to another user",
            Self::OutOfScope => "the record is outside the scope of the call",
            Self::NotAuthor => "only the author of the record may do this",
            Self::Missing => "no such record is visible in this scope",
            Self::Sealed => "the project is sealed, and its server takes and has no text in clear",
            Self::Invalid => "the request is not valid",
            Self::Newer => "a newer version of Weir wrote it",
            Self::Ahead => "the position is beyond the end of the log, which was put back to an older state",
            Self::Damaged => "the stored data is damaged",
            Self::Full => "there is no room left",
            Self::Busy => "it is in use",
            Self::Elsewhere => "the tenant is in another database, or on its way there",
            Self::Unavailable => "the backend cannot be used",
        }
    }
}

/// An error of a port.
#[derive(Debug)]
pub struct PortError {
    pub kind: ErrorKind,
    /// What was being done, as the rest of a sentence that begins with "cannot": `append to the log`.
    pub at: String,
    /// The reason, if there is more to say than the kind does.
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// The result of a call on a port.
pub type Result<T, E = PortError> = std::result::Result<T, E>;

impl PortError {
    /// Creates an error without another one behind it.
    pub fn new(kind: ErrorKind, at: impl Into<String>) -> Self {
        Self { kind, at: at.into(), source: None }
    }

    pub fn because(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.at, self.kind.reason())?;
        match &self.source {
            Some(source) => write!(f, " ({source})"),
            None => Ok(()),
        }
    }
}

impl Error for PortError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
