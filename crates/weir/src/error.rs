//! The one error of the program's edge: what went wrong, and what to do next.

use weir_store::StoreError;

use crate::holders;

/// What kind of failure it is. The kind decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Something else failed.
    Failed,
    /// The arguments do not make sense. Also clap's own exit code.
    Usage,
    /// What was asked for is not there.
    NotFound,
    /// The store cannot be used.
    Store,
    /// The configuration cannot be used.
    Config,
    /// The user's rules do not let it be done.
    Denied,
    /// There is no sandbox that would do.
    Sandbox,
    /// The caller gave up waiting.
    Cancelled,
}

impl ErrorKind {
    /// The exit code. This table is the documentation's too.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
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
    /// What kind.
    pub kind: ErrorKind,
    /// One sentence that says what went wrong.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl CommandError {
    /// A failure without hints.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// Arguments that do not make sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Something that should never happen.
    pub(crate) fn broken(what: &str) -> Self {
        Self::new(ErrorKind::Failed, what).hint("this is a fault in weir; `weir doctor` may show more")
    }

    /// Adds what to do next.
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

/// The index is derived from the log, so it can always be rebuilt.
fn is_index(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| name == "index.db")
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::Damaged { path, .. } if is_index(path) => {
                "run `weir doctor --rebuild-index`; the index is made anew from the log and nothing is lost".to_owned()
            }
            StoreError::Damaged { path, .. } => format!(
                "nothing was changed; bring a backup back with `weir restore FILE --force`, or move the store away to start \
                 anew: mv '{0}' '{0}.damaged'",
                path.parent().unwrap_or(path).display()
            ),
            StoreError::Unreadable { .. } => {
                "run `weir doctor`: it names what is lost; an indexed file is read again by `weir index`".to_owned()
            }
            StoreError::Newer { path, .. } | StoreError::OtherHistory { path, .. } if is_index(path) => {
                "run `weir doctor --rebuild-index`; the index is made anew from the log and nothing is lost".to_owned()
            }
            StoreError::Newer { .. } => "nothing was changed; update weir to the version that wrote it".to_owned(),
            StoreError::OtherHistory { .. } => {
                "nothing was changed; this weir was built from other sources than the one that made the store"
                    .to_owned()
            }
            StoreError::ReadOnly { path } => format!(
                "make {} writable, or set WEIR_DATA to a folder that is",
                path.parent().unwrap_or(path).display()
            ),
            StoreError::Full { .. } => {
                "free some space, or let go of something with `weir forget`; what was kept before is safe".to_owned()
            }
            StoreError::Busy { path } => match holders::of(path) {
                Some(who) => format!("it is {who}; wait for it to end, or end it"),
                None => "`weir doctor` names the process, as long as it holds the lock".to_owned(),
            },
            StoreError::Unusable { .. } => "see that the folder exists and is yours".to_owned(),
            StoreError::OtherProject => "this folder was copied from another project; remove it".to_owned(),
            StoreError::NoSuchLevel { level } => {
                format!("leave out `scope`, or name a {level} (WEIR_WORK, WEIR_SESSION)")
            }
            StoreError::NoSuchNote { .. } => "search for the note to supersede and use its reference".to_owned(),
            StoreError::ReferenceTaken { .. } => "run it again".to_owned(),
            StoreError::NoVectors { .. } => {
                "see `[search]` in the configuration; words alone work meanwhile".to_owned()
            }
            StoreError::PlanChanged => "run it again without `confirm` and use the new confirmation".to_owned(),
            StoreError::Cancelled => "run it again".to_owned(),
            StoreError::Engine { .. } => {
                "see that the disk has room and is sound, then run `weir doctor`: it names what is damaged".to_owned()
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
