//! The error type of the program's edge: what went wrong, and what to do next.

use std::path::{Path, PathBuf};

use weir_core::wording::quoted;
use weir_store::{Refusal, StoreError, StorePart};

use crate::holders;

/// The kind of a failure, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
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
    pub fn as_str(self) -> &'static str {
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
    pub fn exit_code(self) -> u8 {
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

    /// Returns the exit code of a command that exits with the code of what it runs, so it needs codes of its own that
    /// programs seldom use: those of `env` and `docker run`.
    pub fn exit_code_of_run(self) -> u8 {
        match self {
            Self::Denied | Self::Sandbox => 126,
            Self::Cancelled => 130,
            Self::Failed | Self::Broken | Self::Usage | Self::NotFound | Self::Store | Self::Config => 125,
        }
    }
}

/// A failure as a person or a model reads it.
#[derive(Debug, Clone)]
pub struct CommandError {
    pub kind: ErrorKind,
    /// One sentence that says what went wrong.
    pub message: String,
    pub hints: Vec<String>,
    /// The error of a store, until it is known which folder the store is in.
    unplaced: Option<Box<StoreError>>,
}

impl CommandError {
    /// Returns a failure without hints.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new(), unplaced: None }
    }

    /// Returns a failure for invalid arguments.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Returns a failure for something that should never happen.
    pub fn broken(what: &str) -> Self {
        Self::new(ErrorKind::Broken, what).hint("this is a bug in Weir; `weir doctor` may show more")
    }

    /// Whether the error is that a store has to be migrated before it can be used.
    pub fn is_of_older_store(&self) -> bool {
        matches!(self.unplaced.as_deref(), Some(StoreError::Older { .. }))
    }

    /// Adds a hint on what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Names the file that an error of a store is about, now that the folder of the store is known. Any other error is
    /// returned as it is, and so is one that names its file already.
    pub fn in_store(mut self, folder: &Path) -> Self {
        let Some(error) = self.unplaced.take() else { return self };
        let path = path_of(&error, folder);
        self.message = store_message(&error, folder);
        // The first hint is that of the store's error.
        if let Some(hint) = self.hints.first_mut() {
            *hint = hint_for(&error, path.as_deref());
        }
        self
    }
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error: {}", self.message)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

/// What to do about an index that cannot be used. It can always be rebuilt, because it is derived from the log.
const REBUILD_INDEX: &str = "run `weir doctor --rebuild-index`; the index is rebuilt from the log, so nothing is lost";

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let (kind, message, hint) = (kind_of(&error), error.to_string(), hint_for(&error, None));
        Self { unplaced: Some(Box::new(error)), ..Self::new(kind, message).hint(hint) }
    }
}

/// Says that an answer is without the user's notes, because the user's store cannot be used.
pub fn without_user_notes(error: &CommandError) -> String {
    let hint = error.hints.first().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("without the user's notes: {}{hint}", error.message)
}

/// Returns the message of a store's error, with the path of the file that it is about.
pub fn store_message(error: &StoreError, folder: &Path) -> String {
    match path_of(error, folder) {
        Some(path) => error.message_at(&path.display().to_string()),
        None => error.to_string(),
    }
}

/// Returns the path of the file that a store's error is about.
fn path_of(error: &StoreError, folder: &Path) -> Option<PathBuf> {
    let file = error.part()?.file()?;
    Some(if file.is_empty() { folder.to_owned() } else { folder.join(file) })
}

fn kind_of(error: &StoreError) -> ErrorKind {
    match error {
        StoreError::Cancelled => ErrorKind::Cancelled,
        StoreError::NoSuchNote { .. } => ErrorKind::NotFound,
        StoreError::NoSuchLevel { .. } | StoreError::PlanChanged => ErrorKind::Usage,
        _ => ErrorKind::Store,
    }
}

/// Returns what to do about an error of a store. `path` is that of the file it is about, if it is known.
fn hint_for(error: &StoreError, path: Option<&Path>) -> String {
    let hint = match error {
        StoreError::Damaged { .. } | StoreError::ReadOnly { .. } | StoreError::Busy { .. } => {
            return hint_with_path(error, path);
        }
        StoreError::Newer { at: StorePart::Index, .. } | StoreError::OtherHistory { at: StorePart::Index, .. } => {
            REBUILD_INDEX
        }
        StoreError::Lost { .. } => "run `weir doctor` to see what is lost; `weir index` reads indexed files again",
        StoreError::Older { .. } => "nothing was changed; the next command that uses the store migrates it",
        StoreError::Newer { .. } => "nothing was changed; update Weir to the version that wrote the store",
        StoreError::OtherHistory { .. } => return hint_with_path(error, path),
        StoreError::Full { .. } => "free some space, or remove entries with `weir forget`; existing entries are safe",
        StoreError::Unusable { why, .. } => hint_for_refusal(*why),
        StoreError::OtherProject => "the store was copied from another project; remove it",
        StoreError::NotLocal => "make the call without a tenant and a user, or to a server",
        StoreError::NoSuchLevel { level } => {
            return format!(
                "leave out the scope, or set a {level} with WEIR_WORK or WEIR_SESSION, over HTTP with Weir-Work or Weir-Session"
            );
        }
        StoreError::NoSuchNote { .. } => "search for the note and use its reference",
        StoreError::PlanChanged => "repeat the dry run and use its new code",
        StoreError::ReferenceTaken { .. } | StoreError::Cancelled => "run it again",
        StoreError::Engine { .. } => {
            "make sure that the disk is healthy and has free space, then run `weir doctor` to see what is damaged"
        }
    };
    hint.to_owned()
}

/// Returns what to do about something that the system refuses at the moment. None of it is about the content.
fn hint_for_refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::Forbidden => "nothing was changed; make sure that you own the file and the folders above it",
        Refusal::TooManyFiles => "too many files are open: end some processes, or raise the limit with `ulimit -n`",
        Refusal::NoMemory => "there is not enough memory: end some processes, then try again",
        Refusal::Other => "try again; if it fails again, make sure that the folder exists and that the disk is healthy",
    }
}

/// Returns what to do about an error where that depends on the file it is about.
fn hint_with_path(error: &StoreError, path: Option<&Path>) -> String {
    let folder = path.map(|path| path.parent().unwrap_or(path).display().to_string());
    match error {
        StoreError::Damaged { at: StorePart::Index, .. } => REBUILD_INDEX.to_owned(),
        StoreError::Damaged { at: StorePart::Team, .. } | StoreError::OtherHistory { at: StorePart::Team, .. } => {
            "remove that file and connect again with `weir sync --server`; the notes are in the log".to_owned()
        }
        StoreError::OtherHistory { .. } => {
            let away = moved_away(folder, "old");
            format!(
                "nothing was changed; use that version, or run its `weir export FILE` for `weir import FILE` to read later, \
                 and move the store away to start over{away}"
            )
        }
        StoreError::Damaged { .. } => {
            let away = moved_away(folder, "damaged");
            format!(
                "nothing was changed; restore a backup with `weir restore FILE --force`, or move the store away to start \
                 over{away}"
            )
        }
        StoreError::Busy { .. } => match path.and_then(holders::of) {
            Some(who) => format!("the store is {who}; wait for that process to end, or end it"),
            None => "run `weir doctor` while the lock is held to see which process holds it".to_owned(),
        },
        _ => {
            let folder = folder.as_deref().unwrap_or("the store's folder");
            format!("make {folder} writable, or set WEIR_DATA to a folder that is")
        }
    }
}

/// Returns the command that moves the folder of a store away, as the end of a hint.
fn moved_away(folder: Option<String>, ending: &str) -> String {
    let command = |folder: String| format!(": mv {} {}", quoted(&folder), quoted(&format!("{folder}.{ending}")));
    folder.map(command).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(at: StorePart, place: &str) {
        let error = CommandError::from(StoreError::Full { at }).in_store(Path::new("/data/user"));
        assert_eq!(error.message.replace('\\', "/"), format!("the disk is full: {place}"));
        assert_eq!(
            error.in_store(Path::new("/other")).message.replace('\\', "/"),
            format!("the disk is full: {place}")
        );
    }

    #[test]
    fn an_error_of_a_store_names_its_file_once_the_folder_is_known() {
        check(StorePart::Folder, "/data/user");
        check(StorePart::Log, "/data/user/log.db");
        check(StorePart::Index, "/data/user/index.db");
        check(StorePart::Blob("ab.zst".to_owned()), "/data/user/blobs/ab.zst");
        check(StorePart::Copy, "the copy");
    }

    #[test]
    fn the_hint_names_the_folder_and_other_hints_stay() {
        let error =
            CommandError::from(StoreError::Damaged { at: StorePart::Log, detail: "torn".to_owned() }).hint("more");
        assert_eq!(error.message, "the store is damaged: log.db (torn)");
        let error = error.in_store(Path::new("/data/user"));
        let [first, second] = error.hints.as_slice() else { panic!("{error}") };
        assert!(first.ends_with("start over: mv /data/user /data/user.damaged"), "{first}");
        assert_eq!(second, "more");
    }
}
