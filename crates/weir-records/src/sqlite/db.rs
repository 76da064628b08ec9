//! Opens the databases of this crate. Invariant: opening, pragmas, waiting for others and transactions are implemented
//! only here, so that every connection behaves the same.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use weir_ledger::sqlite::LedgerError;
use weir_ledger::{HistoryError, Migration, private};

use crate::error::{ErrorKind, PortError, Result};

/// How long a call waits for another process.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many unused connections are kept open.
const MAX_IDLE: usize = 8;

/// An error inside a transaction, before it is known what the caller was doing.
pub(super) enum Fault {
    Engine(rusqlite::Error),
    /// Already an error of the port.
    Port(PortError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<PortError> for Fault {
    fn from(error: PortError) -> Self {
        Self::Port(error)
    }
}

impl From<LedgerError> for Fault {
    fn from(error: LedgerError) -> Self {
        let kind = match error {
            LedgerError::History(HistoryError::Newer { .. }) => ErrorKind::Newer,
            LedgerError::History(HistoryError::Other { .. }) => ErrorKind::Damaged,
            LedgerError::Engine(error) => return Self::Engine(error),
        };
        Self::Port(PortError::new(kind, "open the database").because(error))
    }
}

impl Fault {
    fn at(self, doing: &str) -> PortError {
        match self {
            Self::Engine(error) => PortError::new(kind_of(&error), doing).because(error),
            Self::Port(error) => error,
        }
    }
}

/// One database, used from several threads: each call takes a connection of its own.
pub(super) struct Database {
    path: PathBuf,
    migrations: &'static [Migration],
    idle: Mutex<Vec<Connection>>,
}

impl Database {
    /// Opens a database, creating or migrating it first if necessary.
    pub(super) fn open(path: &Path, migrations: &'static [Migration]) -> Result<Self> {
        let (database, _) = Self::prepare(path, migrations)?;
        Ok(database)
    }

    /// Opens a database as [`Self::open`] does, and also returns the names of the migrations that ran.
    pub(super) fn prepare(path: &Path, migrations: &'static [Migration]) -> Result<(Self, Vec<&'static str>)> {
        if let Some(folder) = path.parent() {
            private::folder(folder).map_err(|error| from_system(&error, "create the folder of a database"))?;
        }
        let database = Self { path: path.to_owned(), migrations, idle: Mutex::default() };
        let opened = database.connect().and_then(|(connection, ran)| {
            check_own(&connection)?;
            Ok((connection, ran))
        });
        let (connection, ran) = opened.map_err(|fault| fault.at("open the database"))?;
        database.put_back(connection);
        Ok((database, ran))
    }

    /// Runs statements that only read. All of them see the same state.
    pub(super) fn read<T>(&self, doing: &str, work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>) -> Result<T> {
        self.run(TransactionBehavior::Deferred, work).map_err(|fault| fault.at(doing))
    }

    /// Runs a transaction that takes the write lock at its start. What it commits survives a power cut.
    pub(super) fn write<T>(&self, doing: &str, work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>) -> Result<T> {
        self.run(TransactionBehavior::Immediate, work).map_err(|fault| fault.at(doing))
    }

    /// Moves what was written into the database file and empties the write-ahead log, which still has the pages of
    /// before. If a reader is in the way, a later call does it.
    pub(super) fn wipe_write_ahead_log(&self, doing: &str) -> Result<()> {
        let wiped = self.connection().and_then(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            self.put_back(connection);
            Ok(())
        });
        wiped.map_err(|fault| fault.at(doing))
    }

    fn run<T>(
        &self,
        behaviour: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut connection = self.connection()?;
        let tx = connection.transaction_with_behavior(behaviour)?;
        let result = work(&tx);
        // A transaction that is dropped is rolled back.
        if result.is_ok() {
            tx.commit()?;
        } else {
            drop(tx);
        }
        self.put_back(connection);
        result
    }

    fn connection(&self) -> Result<Connection, Fault> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| self.connect().map(|(connection, _)| connection), Ok)
    }

    fn put_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place of this crate that opens a database")]
    fn connect(&self) -> Result<(Connection, Vec<&'static str>), Fault> {
        let system = |error: std::io::Error| from_system(&error, "create a database");
        // The engine would make the file readable by others, and gives its side files the mode of the main file.
        private::open(&self.path, &private::options()).map_err(system)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.execute_batch(
            "PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA secure_delete = ON;
             PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -8000;
             PRAGMA journal_size_limit = 16777216;",
        )?;
        let ran = bring_up_to_date(&mut connection, self.migrations)?;
        Ok((connection, ran))
    }
}

/// Runs the migrations that have not run yet, and returns their names. In the common case, where there are none, this
/// reads one number.
fn bring_up_to_date(connection: &mut Connection, migrations: &[Migration]) -> Result<Vec<&'static str>, Fault> {
    let mut ran = Vec::new();
    if weir_ledger::sqlite::version(connection)? == migrations.len() {
        return Ok(ran);
    }
    check_own(connection)?;
    weir_ledger::sqlite::check(connection, migrations)?;
    set_write_ahead_logging(connection)?;
    for (position, migration) in migrations.iter().enumerate() {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let is_due = weir_ledger::sqlite::version(&tx)? <= position;
        weir_ledger::sqlite::run_once(&tx, position, migration)?;
        tx.commit()?;
        ran.extend(is_due.then_some(migration.name));
    }
    Ok(ran)
}

/// Refuses the database of another program: one that has tables, and no ledger of migrations.
fn check_own(connection: &Connection) -> Result<(), Fault> {
    let count = "SELECT count(*), count(*) FILTER (WHERE name = 'migrations') FROM sqlite_schema WHERE type = 'table'";
    let (tables, ledgers): (i64, i64) = connection.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if tables > 0 && ledgers == 0 {
        let error = PortError::new(ErrorKind::Unavailable, "open the database");
        return Err(error.because("it has tables of another program").into());
    }
    Ok(())
}

/// Sets the mode in which readers and one writer do not wait for each other. It stays set in the file.
fn set_write_ahead_logging(connection: &Connection) -> Result<(), Fault> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // The engine does not wait for other processes when it changes the mode, so the waiting is done here.
        match connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())) {
            Err(error) if kind_of(&error) == ErrorKind::Busy && Instant::now() < deadline => sleep(),
            other => return other.map_err(Fault::from),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the lock of another process cannot be waited for, only tried again")]
fn sleep() {
    std::thread::sleep(Duration::from_millis(2));
}

/// Turns an error of the system into an error of the port.
pub(super) fn from_system(error: &std::io::Error, doing: &str) -> PortError {
    use std::io::ErrorKind as Kind;
    let kind = match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => ErrorKind::Full,
        Kind::InvalidData | Kind::UnexpectedEof => ErrorKind::Damaged,
        _ => ErrorKind::Unavailable,
    };
    // The message of the system does not name the file.
    PortError::new(kind, doing).because(error.to_string())
}

fn kind_of(error: &rusqlite::Error) -> ErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Busy,
        Some(ErrorCode::DiskFull) => ErrorKind::Full,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorKind::Damaged,
        _ => ErrorKind::Unavailable,
    }
}
