//! The parts of a store, and the files in its folder that they are in.

use std::fmt;
use std::path::Path;

pub const LOG_FILE: &str = "log.db";
pub const INDEX_FILE: &str = "index.db";
/// The database of what is shared with a team.
pub const TEAM_FILE: &str = "team.db";
/// The folder of large texts.
pub const BLOBS_FOLDER: &str = "blobs";
pub const SPOOL_FOLDER: &str = "spool";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorePart {
    Folder,
    Log,
    Index,
    /// What is shared with a team.
    Team,
    /// The folder of large texts.
    Blobs,
    /// The file of a large text, by its name.
    Blob(String),
    /// A text that is in the log, by its hash.
    Text(String),
    Spool,
    SpoolRecord(String),
    /// A copy of the store that is being made.
    Copy,
    /// The system's source of random numbers, without which no entry and no file gets a name.
    RandomSource,
}

impl StorePart {
    pub fn of_database(path: &Path) -> Self {
        match path.file_name().and_then(|name| name.to_str()) {
            Some(INDEX_FILE) => Self::Index,
            Some(TEAM_FILE) => Self::Team,
            _ => Self::Log,
        }
    }

    /// Returns the path of the part within the folder of the store. It is empty for the folder itself, and `None` for
    /// a part that is not a file there.
    pub fn file(&self) -> Option<String> {
        match self {
            Self::Folder => Some(String::new()),
            Self::Log => Some(LOG_FILE.to_owned()),
            Self::Index => Some(INDEX_FILE.to_owned()),
            Self::Team => Some(TEAM_FILE.to_owned()),
            Self::Blobs => Some(BLOBS_FOLDER.to_owned()),
            Self::Blob(name) => Some(format!("{BLOBS_FOLDER}/{name}")),
            Self::Spool => Some(SPOOL_FOLDER.to_owned()),
            Self::SpoolRecord(name) => Some(format!("{SPOOL_FOLDER}/{name}")),
            Self::Text(_) | Self::Copy | Self::RandomSource => None,
        }
    }
}

impl fmt::Display for StorePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder => f.write_str("its folder"),
            Self::Copy => f.write_str("the copy"),
            Self::RandomSource => f.write_str("the system's random source"),
            Self::Text(hash) => write!(f, "text {hash}"),
            file => f.write_str(&file.file().unwrap_or_default()),
        }
    }
}
