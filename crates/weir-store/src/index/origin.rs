//! Ties the index to the log it was made from. Invariant: an index that follows a different log, or a log that was
//! since restored to an earlier state, is never searched.

use std::cmp::Ordering;

use rusqlite::{Connection, Transaction, params};
use weir_ledger::Sql as _;

use crate::error::Result;
use crate::feed::Feed;

/// How far the index has followed, and which log.
pub(crate) struct LogPosition {
    log: String,
    applied: i64,
    last_entry: i64,
    last_reference: String,
}

/// The state of the index relative to a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The index has followed every change.
    CaughtUp,
    /// There are changes to follow.
    Behind,
    /// The index was made from a different log, or the log was restored to an earlier state.
    Foreign,
}

pub(crate) fn read(index: &Connection) -> rusqlite::Result<LogPosition> {
    index.sql("SELECT log, applied, last_entry, last_reference FROM progress WHERE id = 1").one([], |row| {
        Ok(LogPosition { log: row.get(0)?, applied: row.get(1)?, last_entry: row.get(2)?, last_reference: row.get(3)? })
    })
}

impl LogPosition {
    /// Returns the last change that the index has applied.
    pub(crate) fn applied(&self) -> i64 {
        self.applied
    }

    /// Compares the origin with a log. The origin must have been read before the view of the log began, since the log
    /// only grows.
    pub(crate) fn standing(&self, log: &dyn Feed) -> Result<Standing> {
        if self.applied == 0 {
            return Ok(if log.head()? == 0 { Standing::CaughtUp } else { Standing::Behind });
        }
        // The reference of an entry is random, so two logs never share a change by chance.
        let is_same = self.log == log.identity()?
            && log.reference(self.last_entry)?.as_ref() == Some(&self.last_reference)
            && log.has_change(self.applied, self.last_entry)?;
        if !is_same {
            return Ok(Standing::Foreign);
        }
        Ok(match self.applied.cmp(&log.head()?) {
            Ordering::Equal => Standing::CaughtUp,
            Ordering::Less => Standing::Behind,
            Ordering::Greater => Standing::Foreign,
        })
    }
}

pub(crate) struct AppliedChange {
    pub(crate) log: String,
    pub(crate) position: i64,
    pub(crate) entry_id: i64,
    pub(crate) reference: String,
}

/// Records how far the index has followed.
pub(crate) fn write(tx: &Transaction<'_>, last: &AppliedChange) -> rusqlite::Result<()> {
    tx.sql("UPDATE progress SET log = ?1, applied = ?2, last_entry = ?3, last_reference = ?4 WHERE id = 1")
        .run(params![last.log, last.position, last.entry_id, last.reference])
}
