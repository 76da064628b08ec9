//! The error type of the program's edge: what went wrong, and what to do next.

use weir_store::StoreError;

use crate::holders;

/// The kind of a failure, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Any other failure.
    Failed,
    /// Something that should never happen: a bug.
    Broken,
    /// The arguments are invalid. clap uses the same exit code.
    Usage,
    /// What was requested does not exist.
    NotFound,
    /// The store cannot be used.
    Store,
    /// The configuration cannot be used.
    Config,
    /// The user's rules forbid it.
    Denied,
    /// No acceptable sandbox is available.
    Sandbox,
    /// The caller gave up waiting.
    Cancelled,
}

impl ErrorKind {
    /// Returns the name, for counters.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Broken => "broken",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Store => "store",
            Self::Config => "config",
            Self::Denied => "denied",
            Self::Sandbox => "sandbox",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the exit code. The documentation has the same table.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Failed | Self::Broken => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Store => 4,
            Self::Config => 5,
            Self::Denied => 6,
            Self::Sandbox => 7,
            Self::Cancelled => 130,
        }
    }
}

/// A failure as a person or a model reads it.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// The kind of the failure.
    pub kind: ErrorKind,
    /// One sentence that says what went wrong.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl CommandError {
    /// Returns a failure without hints.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// Returns a failure for invalid arguments.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Returns a failure for something that should never happen.
    pub(crate) fn broken(what: &str) -> Self {
        Self::new(ErrorKind::Broken, what).hint("this is a bug in Weir; `weir doctor` may show more")
    }

    /// Adds a hint on what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error: {}", self.message)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

/// Whether a path is an index, which can always be rebuilt because it is derived from the log.
fn is_index(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| name == "index.db")
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::Damaged { path, .. } if is_index(path) => {
                "run `weir doctor --rebuild-index`; the index is rebuilt from the log, so nothing is lost".to_owned()
            }
            StoreError::Damaged { path, .. } => format!(
                "nothing was changed; restore a backup with `weir restore FILE --force`, or move the store away to start \
                 over: mv '{0}' '{0}.damaged'",
                path.parent().unwrap_or(path).display()
            ),
            StoreError::Unreadable { .. } => {
                "run `weir doctor` to see what is lost; `weir index` reads indexed files again".to_owned()
            }
            StoreError::Newer { path, .. } | StoreError::OtherHistory { path, .. } if is_index(path) => {
                "run `weir doctor --rebuild-index`; the index is rebuilt from the log, so nothing is lost".to_owned()
            }
            StoreError::Newer { .. } => {
                "nothing was changed; update Weir to the version that wrote the store".to_owned()
            }
            StoreError::OtherHistory { .. } => {
                "nothing was changed; a different build of Weir created this store".to_owned()
            }
            StoreError::ReadOnly { path } => format!(
                "make {} writable, or set WEIR_DATA to a folder that is",
                path.parent().unwrap_or(path).display()
            ),
            StoreError::Full { .. } => {
                "free some space, or remove entries with `weir forget`; existing entries are safe".to_owned()
            }
            StoreError::Busy { path } => match holders::of(path) {
                Some(who) => format!("the store is {who}; wait for that process to end, or end it"),
                None => "run `weir doctor` while the lock is held to see which process holds it".to_owned(),
            },
            StoreError::Unusable { .. } => "make sure that the folder exists and that you own it".to_owned(),
            StoreError::OtherProject => "the store was copied from another project; remove it".to_owned(),
            StoreError::NotLocal => "make the call without a tenant and a user, or to a server".to_owned(),
            StoreError::NoSuchLevel { level } => {
                format!(
                    "omit `scope`, or set a {level} with WEIR_WORK or WEIR_SESSION, over HTTP with Weir-Work or \
                     Weir-Session"
                )
            }
            StoreError::NoSuchNote { .. } => "search for the note and use its reference".to_owned(),
            StoreError::ReferenceTaken { .. } => "run it again".to_owned(),
            StoreError::NoVectors { .. } => {
                "check `[search]` in the configuration; keyword search still works".to_owned()
            }
            StoreError::PlanChanged => "run it again without `confirm` and use the new code".to_owned(),
            StoreError::Cancelled => "run it again".to_owned(),
            StoreError::Engine { .. } => {
                "make sure that the disk is healthy and has free space, then run `weir doctor` to see what is damaged"
                    .to_owned()
            }
        };
        let kind = match &error {
            StoreError::Cancelled => ErrorKind::Cancelled,
            StoreError::NoSuchNote { .. } => ErrorKind::NotFound,
            StoreError::NoSuchLevel { .. } | StoreError::PlanChanged => ErrorKind::Usage,
            _ => ErrorKind::Store,
        };
        Self::new(kind, error.to_string()).hint(hint)
    }
}
