//! Opens databases. Invariant: opening, pragmas, waiting for other processes and transactions live here and nowhere
//! else, so every connection behaves the same.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, InterruptHandle, OpenFlags, Transaction, TransactionBehavior};

use crate::error::{Fault, PATIENCE, Result, StoreError, from_engine, from_system};
use crate::migrate::{self, Migration};
use crate::private;

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The end of the process, however it comes. A loss of power may take the last moments.
    Process,
    /// A loss of power too: the write waits for the disk.
    Power,
}

/// How long a database waits for other processes.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// Each write as long as this.
    Each(Duration),
    /// All writes together as long as this. What they do themselves does not count.
    InAll(Duration),
}

impl Patience {
    fn left(self) -> Duration {
        let (Self::Each(left) | Self::InAll(left)) = self;
        left
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self::Each(PATIENCE)
    }
}

/// One database file.
pub(crate) struct Db {
    connection: Connection,
    path: PathBuf,
    durability: Durability,
    patience: Patience,
    mapped: bool,
    access: Access,
    /// Which file it was when it was opened.
    file: Option<FileId>,
}

/// Whether a database can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Writing,
    /// The folder allows nothing else.
    Reading,
    /// The disk had no room for anything else.
    ReadingFull,
}

impl Db {
    /// Opens a database, making it or bringing it up to date first where needed. Where nothing can be written, it can be
    /// read all the same.
    pub(crate) fn open(path: &Path, migrations: &[Migration], patience: Patience) -> Result<Self> {
        match Self::open_to_write(path, migrations, patience) {
            Err(error @ (StoreError::ReadOnly { .. } | StoreError::Full { .. })) if path.exists() => {
                let is_full = matches!(error, StoreError::Full { .. });
                let access = if is_full { Access::ReadingFull } else { Access::Reading };
                Self::open_to_read((path, patience), migrations, access).map_err(|_| error)
            }
            other => other,
        }
    }

    fn open_to_write(path: &Path, migrations: &[Migration], patience: Patience) -> Result<Self> {
        create_private_file(path)?;
        let mut db = Self::new(connect(path, &How::Writing)?, (path, patience), Access::Writing)?;
        migrate::bring_up_to_date(&mut db, migrations)?;
        Ok(db)
    }

    fn open_to_read((path, patience): (&Path, Patience), migrations: &[Migration], access: Access) -> Result<Self> {
        // Without a write-ahead log, the file itself is all there is. With one, the engine needs its side files, which are
        // there after anything but an orderly end.
        let how = match std::fs::metadata(with_suffix(path, "-wal")) {
            Ok(about) if about.len() > 0 => How::Reading,
            _ => How::Unchanging,
        };
        let db = Self::new(connect(path, &how)?, (path, patience), access)?;
        migrate::check_is_current(&db, migrations)?;
        Ok(db)
    }

    fn new(connection: Connection, (path, patience): (&Path, Patience), access: Access) -> Result<Self> {
        let (durability, file) = (Durability::Process, FileId::of(path));
        let mut db = Self { connection, path: path.to_owned(), durability, patience, mapped: false, access, file };
        db.set_patience(patience)?;
        Ok(db)
    }

    /// How long it waits for other processes.
    pub(crate) fn patience(&self) -> Patience {
        self.patience
    }

    /// Sets how long it waits for other processes. The engine's own waiting: sleeps of 1 to 100 ms. Shorter ones were
    /// measured: they spare the unluckiest of eight writers half a second, and cost every hundredth append of all of them
    /// some milliseconds.
    pub(crate) fn set_patience(&mut self, patience: Patience) -> Result<()> {
        self.patience = patience;
        self.read(|connection| connection.busy_timeout(patience.left()))
    }

    /// Whether it can only be read.
    pub(crate) fn is_read_only(&self) -> bool {
        self.access != Access::Writing
    }

    /// Whether its path leads to another file by now, or to none.
    pub(crate) fn was_moved(&self) -> bool {
        self.file.is_some() && FileId::of(&self.path) != self.file
    }

    /// Waits until everything committed so far is on the disk.
    pub(crate) fn wait_for_disk(&self) -> Result<()> {
        let log = with_suffix(&self.path, "-wal");
        match std::fs::File::open(&log).and_then(|file| file.sync_data()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(from_system(&log, &error)),
            _ => Ok(()),
        }
    }

    /// Bytes of the pages that are in use.
    pub(crate) fn bytes_in_use(&self) -> Result<i64> {
        self.read(bytes_in_use)
    }

    /// Leaves the write-ahead log as it is when the connection closes.
    pub(crate) fn is_short_lived(&self) -> Result<()> {
        let named = |error: rusqlite::Error| from_engine(&self.path, &error);
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(named)?;
        self.outside_transaction("PRAGMA wal_autocheckpoint = 0")
    }

    /// Empties the write-ahead log once it has grown, unless another process uses it: a process that finds nobody else
    /// reads all of it when it opens the database. The engine's own way would not do here: it begins the log anew only
    /// when it remembers that all of it was copied, and nobody stays to remember.
    pub(crate) fn empty_grown_log(&self) -> Result<()> {
        const GROWN: u64 = 256 << 10;
        let log = with_suffix(&self.path, "-wal");
        if std::fs::metadata(&log).is_ok_and(|about| about.len() > GROWN) {
            self.outside_transaction("PRAGMA busy_timeout = 0")?;
            self.truncate_write_ahead_log()?;
        }
        Ok(())
    }

    /// Reads pages where the system has them, without a copy: a scan of vectors takes a fifth of the time. For readers
    /// only, since the pages count as memory of the process, though the system takes them back when it needs to.
    pub(crate) fn map_for_reading(&mut self) -> Result<()> {
        const MOST: i64 = 2 << 30;
        if !self.mapped {
            self.read(|connection| connection.query_row(&format!("PRAGMA mmap_size = {MOST}"), [], |_| Ok(())))?;
            self.mapped = true;
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs statements that only read.
    pub(crate) fn read<T, E: Into<Fault>>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T> {
        work(&self.connection).map_err(|error| error.into().at(&self.path))
    }

    /// Runs many statements that only read: all see one state, and the lock is taken once for all of them.
    pub(crate) fn read_at_once<T, E: Into<Fault>>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T> {
        let named = |error: rusqlite::Error| from_engine(&self.path, &error);
        let transaction = self.connection.unchecked_transaction().map_err(named)?;
        let result = work(&transaction).map_err(|error| error.into().at(&self.path))?;
        transaction.commit().map_err(named)?;
        Ok(result)
    }

    /// Runs one transaction that takes the write lock at once, so that it cannot fail half way for want of it.
    pub(crate) fn write<T, E: Into<Fault>>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T> {
        self.set_durability(durability)?;
        let begun = Instant::now();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let waited = begun.elapsed();
        let written = transaction.map_err(Fault::from).and_then(|transaction| {
            let result = work(&transaction).map_err(Into::into)?;
            transaction.commit()?;
            Ok(result)
        });
        if let Patience::InAll(left) = self.patience {
            self.patience = Patience::InAll(left.saturating_sub(waited));
            // What was written is written, whatever becomes of this.
            let _ = self.connection.busy_timeout(self.patience.left());
        }
        written.map_err(|fault| match fault.at(&self.path) {
            StoreError::ReadOnly { path } if self.access == Access::ReadingFull => StoreError::Full { path },
            error => error,
        })
    }

    /// The same if the lock can be had in this time; none if it cannot.
    pub(crate) fn write_within<T, E: Into<Fault>>(
        &mut self,
        patience: Duration,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<Option<T>> {
        let usual = self.patience;
        self.set_patience(Patience::Each(patience))?;
        let written = self.write(durability, work);
        self.set_patience(usual)?;
        match written {
            Ok(result) => Ok(Some(result)),
            Err(StoreError::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same if nobody else holds the lock at this moment; none if somebody does.
    pub(crate) fn write_if_free<T, E: Into<Fault>>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<Option<T>> {
        self.write_within(Duration::ZERO, durability, work)
    }

    /// Runs a pragma or another statement that may not stand inside a transaction.
    pub(crate) fn outside_transaction(&self, statement: &str) -> Result<()> {
        self.read(|connection| connection.execute_batch(statement))
    }

    /// Ends a running statement from another thread.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// Moves everything into the main file and empties the write-ahead log. False when a reader held it back.
    pub(crate) fn truncate_write_ahead_log(&self) -> Result<bool> {
        self.read(|c| c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))).map(|busy: i64| busy == 0)
    }

    /// Writes a copy of the whole database, as it is at one moment, to a new file.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<()> {
        let _ = std::fs::remove_file(path);
        create_private_file(path)?;
        let name = path.to_str().ok_or_else(|| from_system(path, &std::io::ErrorKind::InvalidFilename.into()))?;
        self.read(|connection| connection.execute("VACUUM INTO ?1", [name]).map(drop))
    }

    /// Gives the pages that nothing needs any more back to the system.
    pub(crate) fn give_back_space(&self) -> Result<()> {
        // The engine frees one page for each step of the statement.
        self.read(|connection| -> rusqlite::Result<()> {
            let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        })
    }

    /// What the engine finds wrong with the file; empty when all is well.
    pub(crate) fn integrity_problems(&self) -> Result<Vec<String>> {
        self.read(|connection| -> rusqlite::Result<_> {
            let mut statement = connection.prepare("PRAGMA integrity_check(10)")?;
            let lines =
                statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(lines.into_iter().filter(|line| line != "ok").collect())
        })
    }

    /// Sets write-ahead logging on a new file. Other processes may be doing the same at this moment.
    pub(crate) fn set_write_ahead_logging(&self) -> Result<()> {
        let deadline = Instant::now() + self.patience.left();
        loop {
            // The busy handler is not consulted for this change of mode, so the waiting is done here.
            match self.outside_transaction("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;") {
                Err(StoreError::Busy { .. }) if Instant::now() < deadline => sleep(),
                other => return other,
            }
        }
    }

    fn set_durability(&mut self, durability: Durability) -> Result<()> {
        if self.durability != durability {
            self.outside_transaction(match durability {
                Durability::Process => "PRAGMA synchronous = NORMAL",
                Durability::Power => "PRAGMA synchronous = FULL",
            })?;
            self.durability = durability;
        }
        Ok(())
    }
}

/// Which file a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(path).ok().map(|about| Self { device: about.dev(), number: about.ino() })
    }

    #[cfg(not(unix))]
    fn of(_path: &Path) -> Option<Self> {
        None
    }
}

/// Bytes of the pages that are in use.
pub(crate) fn bytes_in_use(connection: &Connection) -> rusqlite::Result<i64> {
    let number = |pragma: &str| connection.prepare_cached(pragma)?.query_row([], |row| row.get::<_, i64>(0));
    Ok((number("PRAGMA page_count")? - number("PRAGMA freelist_count")?) * number("PRAGMA page_size")?)
}

/// A file beside the database's own.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    name.into()
}

/// Makes a folder that only its owner can enter.
pub(crate) fn create_private_folder(path: &Path) -> Result<()> {
    private::folder(path).map_err(|error| from_system(path, &error))
}

/// Opens a file for writing that only its owner can read.
pub(crate) fn private_file_options() -> std::fs::OpenOptions {
    private::options()
}

/// The engine would make the file readable for others, and its side files take the mode of the main one.
fn create_private_file(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    private::open(path, &private::options()).map(drop).map_err(|error| from_system(path, &error))
}

/// For what a database is opened.
enum How {
    Writing,
    Reading,
    /// For reading a file that nobody can change, without locks and side files.
    Unchanging,
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that opens a database")]
fn connect(path: &Path, how: &How) -> Result<Connection> {
    let named = |error: rusqlite::Error| from_engine(path, &error);
    let flags = |access| access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = match how {
        How::Writing => Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE)),
        How::Reading => Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_ONLY)),
        How::Unchanging => {
            let flags = flags(OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI);
            Connection::open_with_flags(unchanging(path), flags)
        }
    };
    let connection = opened.map_err(named)?;
    connection.set_prepared_statement_cache_capacity(128);
    // Without this the engine plans a statement anew whenever another value is bound to it, which cost two thirds of
    // a search. Our plans do not depend on values; a test looks at each of them.
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
    #[cfg(test)]
    let connection = crate::plan_tests::recorded(connection);
    Ok(connection)
}

/// The path as an address that tells the engine that the file does not change.
fn unchanging(path: &Path) -> PathBuf {
    let mut address = std::ffi::OsString::from("file:");
    let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    address.push(escaped);
    address.push("?immutable=1");
    address.into()
}

/// Waits before another try for a lock that the engine does not wait for.
#[expect(clippy::disallowed_methods, reason = "the lock of another process cannot be waited for, only tried again")]
fn sleep() {
    std::thread::sleep(Duration::from_millis(2));
}
