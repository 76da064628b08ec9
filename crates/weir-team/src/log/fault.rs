//! What can go wrong inside a call, and which kind of failure that is for the caller of the port.

use std::error::Error;

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;
use weir_ledger::HistoryError;
use weir_records::{ErrorKind, PortError};

/// An error inside a transaction, before it is known what the caller was doing.
pub(crate) enum Fault {
    /// The engine failed, or the connection to it.
    Engine(tokio_postgres::Error),
    /// There is no connection to be had.
    Pool(PoolError),
    /// Already an error of the port.
    Port(PortError),
}

/// Somebody else is in the way, or there is too much to do.
const BUSY: &[SqlState] = &[
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::QUERY_CANCELED,
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::TOO_MANY_CONNECTIONS,
];
/// A value that PostgreSQL cannot store: a name with a zero byte, or one of thousands of bytes.
const INVALID: &[SqlState] = &[SqlState::CHARACTER_NOT_IN_REPERTOIRE, SqlState::PROGRAM_LIMIT_EXCEEDED];
const DAMAGED: &[SqlState] = &[SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED];
/// What the functions of the schema say about a tenant that is not in this database.
const ELSEWHERE: &str = "WE001";
const FULL: &[SqlState] = &[SqlState::DISK_FULL];
const CONFLICT: &[SqlState] = &[SqlState::UNIQUE_VIOLATION];
/// The transaction collided with one that has committed meanwhile. Run again, it sees what the other one wrote.
const COLLIDED: &[SqlState] = &[
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::UNIQUE_VIOLATION,
    SqlState::DUPLICATE_OBJECT,
];

impl Fault {
    /// Returns the error for the caller.
    pub(crate) fn at(self, doing: &str) -> PortError {
        match self {
            Self::Port(error) => error,
            Self::Engine(error) | Self::Pool(PoolError::Backend(error)) => {
                let kind = kind_of(&error);
                match kind {
                    // These are for the caller, and the engine would name its tables and indexes.
                    ErrorKind::Invalid => {
                        PortError::new(kind, doing).because("a value is too long for the database or has a zero byte")
                    }
                    ErrorKind::Conflict => PortError::new(kind, doing),
                    _ => PortError::new(kind, doing).because(reason(&error)),
                }
            }
            Self::Pool(PoolError::Timeout(_)) => {
                PortError::new(ErrorKind::Busy, doing).because("every connection is in use, and none became free")
            }
            Self::Pool(error) => PortError::new(ErrorKind::Unavailable, doing).because(error.to_string()),
        }
    }

    /// Returns whether the transaction collided with another one, and was rolled back for it.
    pub(super) fn is_collision(&self) -> bool {
        self.has_state(COLLIDED)
    }

    /// Returns whether a lock was not to be had in time.
    pub(super) fn is_lock_timeout(&self) -> bool {
        self.has_state(&[SqlState::LOCK_NOT_AVAILABLE])
    }

    /// Returns whether the tenant cannot be used now, while the connection can.
    pub(super) fn is_about_tenant(&self) -> bool {
        let Self::Engine(error) = self else { return false };
        matches!(kind_of(error), ErrorKind::Busy | ErrorKind::Elsewhere)
    }

    /// Returns whether the tables do not exist, or the role may not see them.
    pub(super) fn is_unprepared(&self) -> bool {
        self.has_state(&[SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME, SqlState::INSUFFICIENT_PRIVILEGE])
    }

    fn has_state(&self, states: &[SqlState]) -> bool {
        matches!(self, Self::Engine(error) if error.code().is_some_and(|code| states.contains(code)))
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

impl From<PortError> for Fault {
    fn from(error: PortError) -> Self {
        Self::Port(error)
    }
}

impl From<HistoryError> for Fault {
    fn from(error: HistoryError) -> Self {
        let kind = match error {
            HistoryError::Newer { .. } => ErrorKind::Newer,
            HistoryError::Other { .. } => ErrorKind::Damaged,
        };
        Self::Port(PortError::new(kind, "open the database").because(error))
    }
}

fn kind_of(error: &tokio_postgres::Error) -> ErrorKind {
    let Some(code) = error.code() else { return ErrorKind::Unavailable };
    if code.code() == ELSEWHERE {
        return ErrorKind::Elsewhere;
    }
    let kinds = [
        (BUSY, ErrorKind::Busy),
        (INVALID, ErrorKind::Invalid),
        (DAMAGED, ErrorKind::Damaged),
        (FULL, ErrorKind::Full),
        (CONFLICT, ErrorKind::Conflict),
    ];
    kinds.iter().find(|(states, _)| states.contains(code)).map_or(ErrorKind::Unavailable, |(_, kind)| *kind)
}

/// Returns what the engine says, or what the system says about the connection. The address is not part of it.
fn reason(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
