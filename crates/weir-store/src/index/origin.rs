//! Ties the index to the log it was made from. Invariant: an index that follows a different log, or a log that was
//! since restored to an earlier state, is never searched.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use crate::log::changes;

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

/// Reads the origin of the index.
pub(crate) fn read(index: &Connection) -> rusqlite::Result<LogPosition> {
    index.prepare_cached("SELECT log, applied, last_entry, last_reference FROM progress WHERE id = 1")?.query_row(
        [],
        |row| {
            Ok(LogPosition {
                log: row.get(0)?,
                applied: row.get(1)?,
                last_entry: row.get(2)?,
                last_reference: row.get(3)?,
            })
        },
    )
}

impl LogPosition {
    /// Returns the last change that the index has applied.
    pub(crate) fn applied(&self) -> i64 {
        self.applied
    }

    /// Compares the origin with a log. The origin must have been read before the view of the log began, since the log
    /// only grows.
    pub(crate) fn standing(&self, log: &Connection) -> rusqlite::Result<Standing> {
        if self.applied == 0 {
            return Ok(if changes::head(log)? == 0 { Standing::CaughtUp } else { Standing::Behind });
        }
        // An older index does not name its log; the caller checks that once.
        let is_named = !self.log.is_empty();
        if is_named && (self.log != identity(log)? || !self.knows_last_change(log)?) {
            return Ok(Standing::Foreign);
        }
        Ok(match self.applied.cmp(&changes::head(log)?) {
            Ordering::Equal => Standing::CaughtUp,
            Ordering::Less => Standing::Behind,
            Ordering::Greater => Standing::Foreign,
        })
    }

    /// Returns whether the index was made by a version that did not record its log.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.log.is_empty() && self.applied > 0
    }

    /// Returns whether the last change that was followed is in this log: its event exists, or its entry is gone since.
    /// The reference of an entry is random, so two logs never share a change by chance.
    fn knows_last_change(&self, log: &Connection) -> rusqlite::Result<bool> {
        if reference(log, self.last_entry)?.as_ref() != Some(&self.last_reference) {
            return Ok(false);
        }
        let event: Option<Option<i64>> = log
            .prepare_cached("SELECT entry_id FROM events WHERE id = ?1")?
            .query_row([self.applied], |row| row.get(0))
            .optional()?;
        Ok(match event {
            Some(entry) => entry == Some(self.last_entry),
            // The event that kept an entry is removed with it. An entry has the id of that event.
            None => self.applied == self.last_entry,
        })
    }
}

/// Returns the identity of a log.
pub(crate) fn identity(log: &Connection) -> rusqlite::Result<String> {
    log.prepare_cached("SELECT value FROM identity WHERE id = 1")?.query_row([], |row| row.get(0))
}

/// Returns the reference that an entry has or had.
pub(crate) fn reference(log: &Connection, entry_id: i64) -> rusqlite::Result<Option<String>> {
    log.prepare_cached(
        "SELECT reference FROM entries WHERE id = ?1 UNION ALL SELECT reference FROM gone WHERE entry_id = ?1",
    )?
    .query_row([entry_id], |row| row.get(0))
    .optional()
}

/// A change that the index has followed.
pub(crate) struct AppliedChange {
    pub(crate) log: String,
    pub(crate) seq: i64,
    pub(crate) entry_id: i64,
    pub(crate) reference: String,
}

/// Records how far the index has followed.
pub(crate) fn write(tx: &Transaction<'_>, last: &AppliedChange) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE progress SET log = ?1, applied = ?2, last_entry = ?3, last_reference = ?4 WHERE id = 1")?
        .execute(params![last.log, last.seq, last.entry_id, last.reference])
        .map(drop)
}

/// Returns whether an older index fits this log, as far as that can be checked: its newest entry was kept at the same
/// moment.
pub(crate) fn fits(index: &Connection, log: &Connection) -> rusqlite::Result<bool> {
    let newest: Option<(i64, i64)> = index
        .prepare_cached("SELECT entry_id, at FROM documents WHERE entry_id > 0 ORDER BY entry_id DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((entry, at)) = newest else { return Ok(true) };
    let kept_at: Option<i64> =
        log.prepare_cached("SELECT at FROM entries WHERE id = ?1")?.query_row([entry], |row| row.get(0)).optional()?;
    match kept_at {
        Some(kept_at) => Ok(kept_at == at),
        None => log.prepare_cached("SELECT 1 FROM gone WHERE entry_id = ?1")?.exists([entry]),
    }
}
