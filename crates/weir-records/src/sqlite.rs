//! The ports on SQLite and files, for a server of one small team: one database for all logs and accounts, one for the
//! index of each project, and a file for each text.
//!
//! Invariant: the log is the truth. The folder of indexes can be deleted at any time.

mod accounts;
mod db;
mod deletion;
mod erasure;
mod files;
mod heads;
mod hosts;
mod index;
mod invitations;
mod log;
mod moving;
mod requests;

use std::path::Path;
use std::sync::Arc;

pub use accounts::SqliteAccounts;
pub use files::FileBlobs;
pub use index::SqliteIndex;
pub use log::SqliteLog;

use crate::error::Result;
use crate::moving::MoveState;
use crate::shelf::Ports;

/// The database of the log and of the accounts.
const DATABASE: &str = "records.db";

/// The number of the schema that this version has and knows: how many migrations have run.
pub const SCHEMA: usize = log::MIGRATIONS.len();

/// Creates the database of a folder or brings it up to this version, and returns the names of the migrations that ran.
/// A database that is newer or of another program is refused, and left as it is.
pub fn prepare(folder: &Path) -> Result<Vec<&'static str>> {
    let (_, ran) = db::Database::prepare(&folder.join(DATABASE), log::MIGRATIONS)?;
    Ok(ran)
}

/// Opens the three ports in a folder, which is created if it does not exist.
pub fn open(folder: &Path) -> Result<Ports> {
    Ok(Ports {
        log: Arc::new(SqliteLog::open(&folder.join(DATABASE))?),
        index: Arc::new(SqliteIndex::open(&folder.join("index"))?),
        blobs: Arc::new(FileBlobs::open(&folder.join("texts"))?),
    })
}

/// Opens the accounts in a folder, which is created if it does not exist. They are in the database of the log.
pub fn open_accounts(folder: &Path) -> Result<SqliteAccounts> {
    SqliteAccounts::open(&folder.join(DATABASE))
}

/// Opens what a move copies from a folder: the log, the accounts and the texts.
pub fn open_for_move(folder: &Path) -> Result<(SqliteLog, SqliteAccounts, FileBlobs)> {
    let database = folder.join(DATABASE);
    Ok((SqliteLog::open(&database)?, SqliteAccounts::open(&database)?, FileBlobs::open(&folder.join("texts"))?))
}

/// Returns whether the team in a folder is being moved, or was. The folder must have one.
pub fn move_state(folder: &Path) -> Result<MoveState> {
    SqliteLog::open(&folder.join(DATABASE))?.move_state()
}
