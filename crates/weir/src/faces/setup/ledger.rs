//! The ledger: which files setup wrote, and what was there before. Invariant: of a file it keeps only what setup took the
//! place of, since settings may hold secrets.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use weir_clients::setup::Setting;

use super::diff::Cut;
use super::files;
use crate::error::{CommandError, ErrorKind};

/// What setup wrote.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Ledger {
    files: Vec<Written>,
}

/// One file that setup wrote.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Written {
    /// Which.
    pub path: PathBuf,
    /// The clients for which it was written.
    pub clients: Vec<String>,
    /// The hash of what setup left there.
    pub hash: String,
    /// Whether there was no such file before.
    pub made: bool,
    /// The folders that were made for it, outermost first.
    pub folders: Vec<PathBuf>,
    /// What makes the old text of it.
    pub undo: Vec<Cut>,
    /// Settings of the client's own that were set in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Changed>,
}

/// A setting of the client's own that setup changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Changed {
    /// The keys that lead to it.
    pub at: Vec<String>,
    /// The value that setup gave it.
    pub set: Value,
    /// The value that it had before.
    pub before: Option<Value>,
}

impl Changed {
    /// Whether it is this setting.
    pub(super) fn is(&self, setting: &Setting) -> bool {
        self.at == setting.at
    }
}

impl Ledger {
    /// Reads it; an empty one where there is none.
    pub(super) fn read(path: &Path) -> Result<Self, CommandError> {
        let Some(text) = files::read(path)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|error| {
            CommandError::new(ErrorKind::Config, format!("{} cannot be read: {error}", path.display()))
                .hint("move it away; teardown then removes what is ours by itself")
        })
    }

    /// Writes it; one with nothing in it is removed.
    pub(super) fn write(&self, path: &Path) -> Result<(), CommandError> {
        if self.files.is_empty() {
            let folder = path.parent().map(Path::to_owned);
            return files::remove(path, folder.as_slice());
        }
        let text = serde_json::to_string_pretty(self).map_err(|error| CommandError::broken(&error.to_string()))?;
        files::write(path, &format!("{text}\n"), true)
    }

    /// What it says of a file.
    pub(super) fn of(&self, path: &Path) -> Option<&Written> {
        self.files.iter().find(|written| written.path == path)
    }

    /// Writes a file down, in place of what was written down of it before.
    pub(super) fn put(&mut self, written: Written) {
        self.drop(&written.path);
        self.files.push(written);
    }

    /// Forgets a file.
    pub(super) fn drop(&mut self, path: &Path) {
        self.files.retain(|written| written.path != path);
    }
}

impl Written {
    /// Whether a file is as setup left it.
    pub(super) fn left(&self, text: &str) -> bool {
        self.hash == hash(text)
    }
}

/// The hash of a text.
pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
