//! The databases of a store: SQLite files that several processes use at once, and what can go wrong with them.
//!
//! [`Db`] opens a database, migrates it by the ledger that all of Weir's databases have (`weir-ledger`), waits for other
//! processes, and runs reads and transactions. [`error`] turns what the engine and the system say into errors about a
//! part of a store ([`layout`]), without naming the engine or a path. What the tables mean, `weir-store` knows.
//! [`foreign`] reads databases of other programs.
//!
//! # Invariants
//!
//! - Opening, pragmas, waiting for other processes and transactions are implemented only here, so that every connection
//!   behaves the same.
//! - A migration runs once, in a transaction of its own. A newer database is refused and left untouched.
//! - Only a [`error::Loss`] is ever acted on for good. An error that may pass never becomes one.
//! - A database of another program is only read, and nothing in it is executed.

mod connect;
pub mod error;
mod file_id;
mod files;
pub mod foreign;
pub mod layout;
pub mod migrate;
mod open;
mod space;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, InterruptHandle, Transaction, TransactionBehavior};

pub use crate::connect::ON_CONNECT;
use crate::error::{Fault, Result, StoreError, from_system};
use crate::file_id::FileId;
use crate::files::create_private_file;
pub use crate::files::{check_room, create_private_folder, exists, private_file_options, with_suffix};
use crate::layout::StorePart;
pub use crate::space::Space;

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives any end of the process. A power cut may lose the most recent writes.
    Process,
    /// Survives a power cut too: the write waits for the disk.
    Power,
}

/// How long a database waits for other processes.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// Time limit for each write.
    Each(Duration),
    /// Time limit for all writes together. Only waiting counts, not the writes themselves.
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
        Self::Each(Duration::from_secs(30))
    }
}

pub struct Db {
    connection: Connection,
    path: PathBuf,
    part: StorePart,
    durability: Durability,
    patience: Patience,
    mapped: bool,
    access: Access,
    keeps_log_small: bool,
    /// The identity of the file when it was opened.
    file: Option<FileId>,
}

/// Whether a database can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Writing,
    /// The folder is read-only.
    Reading,
    /// The disk was full.
    ReadingFull,
}

impl Db {
    fn new(connection: Connection, part: &StorePart, path: &Path, patience: Patience, access: Access) -> Result<Self> {
        let (durability, file, part) = (Durability::Process, FileId::of(path), part.clone());
        let (mapped, keeps_log_small, path) = (false, false, path.to_owned());
        let mut db = Self { connection, path, part, durability, patience, mapped, access, keeps_log_small, file };
        db.set_patience(patience)?;
        Ok(db)
    }

    /// Returns how long this database waits for other processes.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Sets how long this database waits for other processes. The engine does the waiting, in sleeps of 1 to 100 ms.
    /// Shorter sleeps were measured: the unluckiest of eight writers waits half a second less, but for all of them one
    /// in a hundred appends takes some milliseconds longer.
    pub fn set_patience(&mut self, patience: Patience) -> Result<()> {
        self.patience = patience;
        self.read(|connection| connection.busy_timeout(patience.left()))
    }

    pub fn is_read_only(&self) -> bool {
        self.access != Access::Writing
    }

    /// Returns why the database is read-only, if it is.
    pub fn check_writable(&self) -> Result<()> {
        match self.access {
            Access::Writing => Ok(()),
            Access::Reading => Err(StoreError::ReadOnly { at: self.part.clone() }),
            Access::ReadingFull => Err(StoreError::Full { at: self.part.clone() }),
        }
    }

    /// Returns whether the path no longer leads to the file that was opened.
    pub fn was_moved(&self) -> bool {
        self.file.is_some() && FileId::of(&self.path) != self.file
    }

    /// Waits until everything committed so far is on the disk.
    pub fn wait_for_disk(&self) -> Result<()> {
        let log = with_suffix(&self.path, "-wal");
        // Opened for writing, since Windows flushes no other file.
        match std::fs::File::options().write(true).open(&log).and_then(|file| file.sync_data()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(from_system(self.part.clone(), &error)),
            _ => Ok(()),
        }
    }

    pub fn bytes_in_use(&self) -> Result<i64> {
        self.read(Space::read).map(|space| space.in_use)
    }

    /// Leaves the write-ahead log as it is when the connection closes.
    pub fn disable_checkpoints(&self) -> Result<()> {
        self.read(|c| c.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true))?;
        self.outside_transaction("PRAGMA wal_autocheckpoint = 0")
    }

    /// Restarts the write-ahead log whenever a write has made it grow by another step. The engine restarts it only at a
    /// moment without readers. While several processes search continuously, that moment never comes, and the log grows
    /// until the disk is full.
    pub fn keep_log_small(&mut self) {
        self.keeps_log_small = true;
    }

    fn begin_grown_log_again(&self, before: u64) {
        const STEP_BYTES: u64 = 16 << 20;
        let after = self.log_size();
        if after < 2 * STEP_BYTES || after / STEP_BYTES <= before / STEP_BYTES {
            return;
        }
        // The write is already committed, so errors here do not matter.
        let _ = self.connection.busy_timeout(self.wait_for_readers(after / STEP_BYTES));
        let _ = self.outside_transaction("PRAGMA wal_checkpoint(RESTART)");
        let _ = self.connection.busy_timeout(self.patience.left());
    }

    /// Returns how long to wait for readers, by the size of the log: at first slightly longer than most searches take,
    /// then longer with every step, so that slow readers cannot make the log grow without end. The usual patience for
    /// the write lock does not apply here, except that a hook never waits longer than it may.
    fn wait_for_readers(&self, steps: u64) -> Duration {
        const WAIT_PER_STEP: Duration = Duration::from_millis(300);
        const MAX_WAIT: Duration = Duration::from_secs(10);
        let wait =
            WAIT_PER_STEP.saturating_mul(u32::try_from(steps).unwrap_or(u32::MAX).saturating_sub(1)).min(MAX_WAIT);
        match self.patience {
            Patience::InAll(left) => wait.min(left),
            Patience::Each(_) => wait,
        }
    }

    fn log_size(&self) -> u64 {
        std::fs::metadata(with_suffix(&self.path, "-wal")).map_or(0, |about| about.len())
    }

    /// Empties a write-ahead log that has grown, unless another process is using the database. Otherwise a process that
    /// opens the database alone would read all of the log. The engine's own mechanism does not help: it restarts the
    /// log only if it remembers that all of it was copied, and no process lives long enough to remember.
    pub fn empty_grown_log(&self) -> Result<()> {
        const MAX_LOG_BYTES: u64 = 256 << 10;
        if self.log_size() > MAX_LOG_BYTES {
            self.outside_transaction("PRAGMA busy_timeout = 0")?;
            self.truncate_write_ahead_log()?;
        }
        Ok(())
    }

    /// Reads pages from the system's memory map without copying them, which makes a scan of vectors five times as fast.
    /// For readers only: the pages count as memory of the process, although the system reclaims them when it needs to.
    pub fn map_for_reading(&mut self) -> Result<()> {
        const MAX_MAPPED_BYTES: i64 = 2 << 30;
        if !self.mapped {
            self.read(|connection| {
                connection.query_row(&format!("PRAGMA mmap_size = {MAX_MAPPED_BYTES}"), [], |_| Ok(()))
            })?;
            self.mapped = true;
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn part(&self) -> &StorePart {
        &self.part
    }

    /// Runs statements that only read.
    pub fn read<T, E: Into<Fault>>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T> {
        work(&self.connection).map_err(|error| self.name(error))
    }

    /// Returns an error of a statement or a transaction as an error of this part of the store.
    pub fn name(&self, error: impl Into<Fault>) -> StoreError {
        error.into().at(&self.part, &self.path)
    }

    /// Runs several statements that only read. All of them see the same state, and the lock is taken once.
    pub fn read_at_once<T, E: Into<Fault>>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T> {
        let transaction = self.connection.unchecked_transaction().map_err(|error| self.name(error))?;
        let result = work(&transaction).map_err(|error| self.name(error))?;
        transaction.commit().map_err(|error| self.name(error))?;
        Ok(result)
    }

    /// Runs a transaction that takes the write lock at its start, so that it cannot fail half way for lack of the lock.
    pub fn write<T, E: Into<Fault>>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T> {
        self.set_durability(durability)?;
        let before = self.keeps_log_small.then(|| self.log_size());
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
            // The write is already committed, so errors here do not matter.
            let _ = self.connection.busy_timeout(self.patience.left());
        }
        if let Some(before) = before.filter(|_| written.is_ok()) {
            self.begin_grown_log_again(before);
        }
        written.map_err(|fault| match self.name(fault) {
            StoreError::ReadOnly { at } if self.access == Access::ReadingFull => StoreError::Full { at },
            error => error,
        })
    }

    /// Like [`Self::write`], but returns `None` if the lock is not free within `patience`.
    pub fn write_within<T, E: Into<Fault>>(
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

    /// Like [`Self::write`], but returns `None` if another process holds the lock.
    pub fn write_if_free<T, E: Into<Fault>>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<Option<T>> {
        self.write_within(Duration::ZERO, durability, work)
    }

    /// Runs a pragma or another statement that is not allowed in a transaction.
    pub fn outside_transaction(&self, statement: &str) -> Result<()> {
        self.read(|connection| connection.execute_batch(statement))
    }

    /// Returns a handle that ends a running statement from another thread.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// Moves everything into the main file and empties the write-ahead log. Returns false if a reader prevented it.
    pub fn truncate_write_ahead_log(&self) -> Result<bool> {
        self.read(|c| c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))).map(|busy: i64| busy == 0)
    }

    /// Writes a copy of the whole database, as of one moment, to a new file.
    pub fn copy_to(&self, path: &Path) -> Result<()> {
        let _ = std::fs::remove_file(path);
        create_private_file(&StorePart::Copy, path)?;
        let name =
            path.to_str().ok_or_else(|| from_system(StorePart::Copy, &std::io::ErrorKind::InvalidFilename.into()))?;
        self.read(|connection| connection.execute("VACUUM INTO ?1", [name]).map(drop))
    }

    /// Returns unused pages to the file system.
    pub fn give_back_space(&self) -> Result<()> {
        // The engine frees one page for each step of the statement.
        self.read(|connection| -> rusqlite::Result<()> {
            let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        })
    }

    /// Returns unused pages to the file system if there are many, unless another process is writing. At most
    /// `MAX_PAGES` at a time, so that a call does not pay for everything at once.
    pub fn give_back_some_space(&mut self) -> Result<()> {
        const MIN_UNUSED_BYTES: i64 = 2 << 20;
        const MAX_PAGES: usize = 4_096;
        let Space { in_use, unused } = self.read(Space::read)?;
        if unused < MIN_UNUSED_BYTES.max(in_use / 8) {
            return Ok(());
        }
        let give_back = |tx: &Transaction<'_>| -> rusqlite::Result<()> {
            let mut statement = tx.prepare(&format!("PRAGMA incremental_vacuum({MAX_PAGES})"))?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        };
        self.write_if_free(Durability::Process, give_back).map(drop)
    }

    /// Returns the problems that the engine finds in the file; empty if there are none.
    pub fn integrity_problems(&self) -> Result<Vec<String>> {
        self.read(|connection| -> rusqlite::Result<_> {
            let mut statement = connection.prepare("PRAGMA integrity_check(10)")?;
            let lines =
                statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(lines.into_iter().filter(|line| line != "ok").collect())
        })
    }

    /// Enables write-ahead logging on a new file. Other processes may be doing the same.
    pub fn set_write_ahead_logging(&self) -> Result<()> {
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

/// Waits before another attempt to take a lock that the engine does not wait for.
#[expect(clippy::disallowed_methods, reason = "the lock of another process cannot be waited for, only tried again")]
fn sleep() {
    std::thread::sleep(Duration::from_millis(2));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Writes 256 MB in steps, each of which gives up at once if the lock is taken, while one of two readers always
    /// reads, for this long. Returns the largest size of the write-ahead log.
    #[expect(clippy::disallowed_methods, reason = "a reader takes the same time on any machine")]
    fn log_beside_readers(reading: Duration) -> u64 {
        const PAGES: migrate::Migration =
            migrate::Migration { name: "0001_pages", sql: "CREATE TABLE pages (bytes BLOB)" };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let open = || Db::open(&path, &[PAGES], Patience::default()).unwrap();
        let mut db = open();
        db.keep_log_small();
        let (over, mut largest) = (AtomicBool::new(false), 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let readers = [open(), open()];
                let begin = "BEGIN; SELECT count(*) FROM sqlite_schema";
                readers[1].outside_transaction(begin).unwrap();
                while !over.load(Ordering::Relaxed) {
                    for (begins, ends) in [(0, 1), (1, 0)] {
                        readers[begins].outside_transaction(begin).unwrap();
                        std::thread::sleep(reading);
                        readers[ends].outside_transaction("COMMIT").unwrap();
                    }
                }
            });
            for _ in 0..256 {
                let page = |tx: &Transaction<'_>| tx.execute("INSERT INTO pages VALUES (zeroblob(1 << 20))", []);
                assert!(db.write_if_free(Durability::Process, page).unwrap().is_some());
                largest = largest.max(db.log_size());
            }
            over.store(true, Ordering::Relaxed);
        });
        largest
    }

    #[test]
    fn readers_that_never_pause_do_not_make_the_write_ahead_log_grow_without_end() {
        let quick = log_beside_readers(Duration::ZERO);
        assert!(quick < 96 << 20, "{quick} bytes");
    }

    #[test]
    fn nor_do_readers_that_are_slow() {
        // Longer than a writer waits for readers while the log is small.
        let slow = log_beside_readers(Duration::from_millis(500));
        assert!(slow < 160 << 20, "{slow} bytes");
    }
}
