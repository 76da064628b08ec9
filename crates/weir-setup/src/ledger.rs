//! The ledger: which files setup wrote, and what was there before. Invariant: the ledger keeps only the parts of a file
//! that setup replaced, since settings may contain secrets.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use weir_clients::setup::{Setting, TakenServer};
use weir_host::diff::ReverseEdit;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::user_files;

/// The record of what setup wrote.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Ledger {
    files: Vec<LedgerRecord>,
    /// The folders created for the entries of servers behind Weir, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
}

/// A file that setup wrote.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LedgerRecord {
    pub path: PathBuf,
    /// The clients for which the file was written.
    pub clients: Vec<String>,
    /// The hash of the content that setup left.
    pub hash: String,
    /// Whether setup created the file.
    pub made: bool,
    /// The folders created for the file, outermost first.
    pub folders: Vec<PathBuf>,
    /// The steps that restore the old text.
    pub undo: Vec<ReverseEdit>,
    /// Settings of the client's own that setup changed in the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<ChangedSetting>,
    /// Servers that setup moved behind Weir.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedServer>,
}

/// A server that setup moved behind Weir, with what the settings had in its place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct MovedServer {
    pub client: String,
    pub name: String,
    text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    tables: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChangedSetting {
    /// The path of keys to the setting.
    pub at: Vec<String>,
    /// The value that setup wrote.
    pub set: Value,
    pub before: Option<Value>,
}

impl MovedServer {
    pub(super) fn new(client: &str, taken: TakenServer) -> Self {
        let TakenServer { name, text, tables } = taken;
        Self { client: client.to_owned(), name, text, tables }
    }

    pub(super) fn taken(&self) -> TakenServer {
        TakenServer { name: self.name.clone(), text: self.text.clone(), tables: self.tables.clone() }
    }
}

impl ChangedSetting {
    pub(super) fn is(&self, setting: &Setting) -> bool {
        self.at == setting.at
    }
}

impl Ledger {
    /// Returns the paths of all files that setup wrote.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|record| record.path.as_path())
    }

    /// Returns the records of all files that setup wrote.
    pub(super) fn records(&self) -> impl Iterator<Item = &LedgerRecord> {
        self.files.iter()
    }

    /// Reads the ledger. Returns an empty one if there is none.
    pub(super) fn read(path: &Path) -> Result<Self, CommandError> {
        let Some(text) = user_files::read(path)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|error| {
            CommandError::new(ErrorKind::Config, format!("{} cannot be read: {error}", path.display()))
                .hint("move it away; teardown then removes what is ours by itself")
        })
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), CommandError> {
        if self.files.is_empty() {
            let folder = path.parent().map(Path::to_owned);
            return user_files::remove(path, folder.as_slice());
        }
        let text = serde_json::to_string_pretty(self).map_err(|error| CommandError::broken(&error.to_string()))?;
        user_files::write(path, &format!("{text}\n"), true)
    }

    pub(super) fn of(&self, path: &Path) -> Option<&LedgerRecord> {
        self.files.iter().find(|written| written.path == path)
    }

    pub(super) fn put(&mut self, written: LedgerRecord) {
        self.drop(&written.path);
        self.files.push(written);
    }

    pub(super) fn drop(&mut self, path: &Path) {
        self.files.retain(|written| written.path != path);
    }
}

impl LedgerRecord {
    /// Whether a file is as setup left it.
    pub(super) fn left(&self, text: &str) -> bool {
        self.hash == hash(text)
    }
}

pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
