//! Opens connections. No other module does.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Result, from_engine};
use crate::layout::StorePart;

/// What is done with every connection of this process, for tests that watch the engine.
pub static ON_CONNECT: OnceLock<fn(&mut Connection)> = OnceLock::new();

/// The purpose that a database is opened for.
pub(super) enum OpenMode {
    Writing,
    Reading,
    /// For reading a file that does not change, without locks and side files.
    Unchanging,
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that opens a database")]
pub(super) fn connect(part: &StorePart, path: &Path, mode: &OpenMode) -> Result<Connection> {
    let named = |error: rusqlite::Error| from_engine(part, path, &error);
    let flags = |access| access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = match mode {
        OpenMode::Writing => Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE)),
        OpenMode::Reading => Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_ONLY)),
        OpenMode::Unchanging => {
            let flags = flags(OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI);
            Connection::open_with_flags(unchanging(path), flags)
        }
    };
    let mut connection = opened.map_err(named)?;
    connection.set_prepared_statement_cache_capacity(128);
    // Otherwise the engine plans a statement again whenever a different value is bound to it, which took two thirds of
    // the time of a search. Our plans do not depend on values, and a test checks each of them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(named)?;
    connection
        .execute_batch(
            "PRAGMA synchronous = NORMAL;
             PRAGMA foreign_keys = ON;
             PRAGMA secure_delete = ON;
             PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -8000;
             PRAGMA wal_autocheckpoint = 4000;
             PRAGMA journal_size_limit = 16777216;",
        )
        .map_err(named)?;
    // Without these, macOS only hands the data to the disk, which may write it later and in another order.
    #[cfg(target_os = "macos")]
    connection.execute_batch("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;").map_err(named)?;
    if let Some(prepare) = ON_CONNECT.get() {
        prepare(&mut connection);
    }
    Ok(connection)
}

/// Returns the path as a URI that tells the engine that the file does not change.
fn unchanging(path: &Path) -> PathBuf {
    let mut address = std::ffi::OsString::from("file:");
    let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    address.push(escaped);
    address.push("?immutable=1");
    address.into()
}
