//! Whether the clock can be believed. A clock that jumps ahead must not make everything expire. Invariant: nothing
//! expires at a time that is far ahead of the last one, until another day has confirmed it.

use rusqlite::{Connection, Transaction};
use weir_core::Timestamp;
use weir_ledger::Sql as _;

/// One day in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;
/// How far the clock may go on between two looks at it before it is doubted.
const MAX_STEP: i64 = 2 * DAY;
/// How long a doubted time waits for its confirmation. Later, it is doubted again.
const MAX_WAIT: i64 = 60 * DAY;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    /// The last time that was believed, or 0 if there was none.
    believed: i64,
    /// The first time that was doubted since then, or 0 if there was none.
    doubted: i64,
}

impl Clock {
    /// Reads what the log knows. If nobody has looked at the clock yet, the newest event is what it knows.
    pub(crate) fn read(db: &Connection) -> rusqlite::Result<Self> {
        db.sql("SELECT coalesce(nullif(clock_believed, 0), (SELECT at FROM events WHERE id = (SELECT max(id) FROM events)), 0),
                     clock_doubted FROM totals WHERE id = 1").one([], |row| Ok(Self { believed: row.get(0)?, doubted: row.get(1)? }))
    }

    pub(crate) fn write(self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        tx.sql("UPDATE totals SET clock_believed = ?1, clock_doubted = ?2 WHERE id = 1")
            .run([self.believed, self.doubted])
    }

    /// Looks at the clock. Returns the time by which things may expire, and what to write down, if anything.
    pub(crate) fn look(self, now: Timestamp) -> (Timestamp, Option<Self>) {
        let believed = Self { believed: now.0, doubted: 0 };
        let is_confirmed = (DAY..=MAX_WAIT).contains(&(now.0 - self.doubted));
        let is_doubted = self.believed > 0 && now.0 - self.believed > MAX_STEP;
        match is_doubted {
            true if is_confirmed => (now, Some(believed)),
            true if self.doubted > 0 && (0..DAY).contains(&(now.0 - self.doubted)) => (Timestamp(self.believed), None),
            true => (Timestamp(self.believed), Some(Self { doubted: now.0, ..self })),
            false if self.doubted > 0 || now.0 - self.believed > DAY / 2 => (now, Some(believed)),
            false => (now, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at the clock on some days, and returns by which of them things may expire.
    fn check(days: &[i64], expected: &[i64]) {
        let mut clock = Clock { believed: 0, doubted: 0 };
        let expiry = days.iter().map(|day| {
            let (by, changed) = clock.look(Timestamp(day * DAY));
            clock = changed.unwrap_or(clock);
            by.0 / DAY
        });
        assert_eq!(expiry.collect::<Vec<_>>(), expected, "{days:?}");
    }

    #[test]
    fn a_clock_that_goes_on_is_believed() {
        check(&[100, 100, 101, 103, 104], &[100, 100, 101, 103, 104]);
    }

    #[test]
    fn a_jump_ahead_expires_nothing_until_another_day_confirms_it() {
        check(&[100, 500, 500, 500], &[100, 100, 100, 100]);
        check(&[100, 140, 141, 142], &[100, 100, 141, 142]);
        check(&[100, 107, 114, 121, 128], &[100, 100, 114, 114, 128]);
    }

    #[test]
    fn a_jump_that_is_taken_back_is_forgotten() {
        check(&[100, 500, 101, 102, 500], &[100, 100, 101, 102, 102]);
        check(&[100, 140, 100, 141, 142], &[100, 100, 100, 100, 142]);
    }

    #[test]
    fn two_jumps_do_not_confirm_each_other() {
        check(&[100, 500, 900, 900], &[100, 100, 100, 100]);
        check(&[100, 500, 300, 300], &[100, 100, 100, 100]);
    }

    #[test]
    fn a_clock_that_goes_back_expires_less() {
        check(&[100, 50, 51, 100], &[100, 50, 51, 100]);
    }
}
