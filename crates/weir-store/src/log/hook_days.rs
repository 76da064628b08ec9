//! The hooks that ran, by client, day, outcome and time. Invariant: a hook changes one row with one statement; only
//! sums and the last hook of a row are stored.

use rusqlite::{Connection, Params, Transaction};
use weir_core::Timestamp;
use weir_core::time::DAY;
use weir_ledger::Sql as _;

use super::written;

/// The lowest limit of a hook's time, in microseconds. The others are its doubles, and one halfway between each two.
const MIN_LIMIT_MICROS: u64 = 500;
/// The number of times that the lowest limit is doubled.
const LIMIT_DOUBLINGS: u32 = 20;
/// The day of hooks whose day is not known.
const NO_DAY: i64 = 0;

weir_core::written_enum! {
    /// What became of a tool's output that a hook reported.
    pub enum Outcome {
        /// Weir showed something smaller in its place.
        Held = "held",
        /// The output was within the limit for its purpose.
        Small = "small",
        /// The text was asked for, and within the limit for such texts, or a part of a file.
        AskedFor = "asked",
        /// The output is always shown as it is: an edit, the answer of a subagent or of one of Weir's tools.
        Settled = "settled",
        /// The user excluded the tool, the command or the folder.
        Excluded = "excluded",
        /// The client itself had cut the output or saved it elsewhere.
        Cut = "cut",
        /// The client accepts no replacement for this output.
        Fixed = "fixed",
        /// Weir would have shown something smaller, but the session is left alone for comparison.
        Compared = "compared",
        /// The output could not be stored in time, so it was not replaced.
        Failed = "failed",
    }
}

/// An output that a hook reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenOutput {
    pub outcome: Outcome,
    /// Its size as the client reported it, in bytes.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRun {
    /// The client, by its name in commands.
    pub client: String,
    /// The client's event that the hook ran for.
    pub event: String,
    pub at: Timestamp,
    /// How long Weir took, in microseconds, up to its last write.
    pub micros: u64,
    pub output: Option<SeenOutput>,
}

/// The last hook of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookUse {
    /// The client, by its name in commands.
    pub client: String,
    /// The client's event that the hook ran for.
    pub event: String,
    pub at: Timestamp,
    /// How long Weir took, in microseconds, up to its last write.
    pub micros: u64,
    pub count: u64,
}

/// The hooks of one day, of all clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookDay {
    /// The start of the day, in UTC.
    pub day: Timestamp,
    /// The hooks, by the limit that their time kept, the lowest first.
    pub hooks: Vec<TimedHooks>,
}

/// Hooks that took about the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedHooks {
    /// The limit that the time of each kept, in microseconds.
    pub within_micros: u64,
    pub count: u64,
}

impl HookDay {
    pub fn count(&self) -> u64 {
        self.hooks.iter().map(|hooks| hooks.count).sum()
    }

    /// Returns the lowest limit that at least this many of 100 hooks kept, in microseconds.
    pub fn within(&self, of_100: u64) -> u64 {
        let needed = self.count().saturating_mul(of_100).div_ceil(100);
        let mut so_far = 0;
        let reached = self.hooks.iter().find(|hooks| {
            so_far += hooks.count;
            so_far >= needed
        });
        reached.map_or(0, |hooks| hooks.within_micros)
    }
}

/// The outputs of a client with the same outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeSum {
    /// The client, by its name in commands.
    pub client: String,
    pub outcome: Outcome,
    pub count: u64,
    /// Their size as the client reported it, in bytes.
    pub bytes: u64,
    /// The start of the first day that is counted, in UTC.
    pub since: Timestamp,
}

/// Records that a hook ran, at the time at which it is written.
pub(crate) fn record(tx: &Transaction<'_>, run: &HookRun) -> rusqlite::Result<()> {
    // Each hook is a process that prepares this statement once, so it is short: columns are not named, and the order of
    // hooks is not compared.
    tx.sql(
        "INSERT INTO hooks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8)
         ON CONFLICT DO UPDATE SET event = ?5, at = ?6, micros = ?7, count = count + 1, bytes = bytes + ?8",
    )
    .run(row(run))
}

/// Records a hook from the spool, which may have run before the last one that was recorded.
pub(crate) fn record_late(tx: &Transaction<'_>, run: &HookRun) -> rusqlite::Result<()> {
    tx.sql(
        "INSERT INTO hooks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8)
         ON CONFLICT DO UPDATE SET event = CASE WHEN ?6 < at THEN event ELSE ?5 END,
             micros = CASE WHEN ?6 < at THEN micros ELSE ?7 END,
             at = max(at, ?6), count = count + 1, bytes = bytes + ?8",
    )
    .run(row(run))
}

fn row(run: &HookRun) -> impl Params {
    (
        run.client.as_str(),
        run.at.0.div_euclid(DAY),
        run.output.map_or("", |output| output.outcome.as_str()),
        limit_of(run.micros).cast_signed(),
        run.event.as_str(),
        run.at.0,
        run.micros.cast_signed(),
        run.output.map_or(0, |output| output.bytes).cast_signed(),
    )
}

/// Returns the lowest limit that a time keeps, in microseconds.
fn limit_of(micros: u64) -> u64 {
    let doubles = (0..LIMIT_DOUBLINGS).map(|times| MIN_LIMIT_MICROS << times);
    let mut limits = doubles.flat_map(|limit| [limit, limit + limit / 2]);
    limits.find(|limit| micros <= *limit).unwrap_or(i64::MAX.cast_unsigned())
}

pub(crate) fn last_of_each_client(db: &Connection) -> rusqlite::Result<Vec<HookUse>> {
    // With `max`, the engine takes the other columns from the row that has it.
    db.sql("SELECT client, event, max(at), micros, sum(count) FROM hooks GROUP BY client ORDER BY client").all(
        [],
        |row| {
            Ok(HookUse {
                client: row.get(0)?,
                event: row.get(1)?,
                at: Timestamp(row.get(2)?),
                micros: row.get::<_, i64>(3)?.cast_unsigned(),
                count: row.get::<_, i64>(4)?.cast_unsigned(),
            })
        },
    )
}

/// Returns the days since a time on which hooks ran, oldest first.
pub(crate) fn days(db: &Connection, since: Timestamp) -> rusqlite::Result<Vec<HookDay>> {
    let mut statement = db.prepare_cached(
        "SELECT day, within, sum(count) FROM hooks WHERE day >= ?1 AND day > ?2
         GROUP BY day, within ORDER BY day, within",
    )?;
    let mut rows = statement.query([since.0.div_euclid(DAY), NO_DAY])?;
    let mut days: Vec<HookDay> = Vec::new();
    while let Some(row) = rows.next()? {
        let day = Timestamp(row.get::<_, i64>(0)?.saturating_mul(DAY));
        let hooks = TimedHooks {
            within_micros: row.get::<_, i64>(1)?.cast_unsigned(),
            count: row.get::<_, i64>(2)?.cast_unsigned(),
        };
        match days.last_mut().filter(|last| last.day == day) {
            Some(last) => last.hooks.push(hooks),
            None => days.push(HookDay { day, hooks: vec![hooks] }),
        }
    }
    Ok(days)
}

/// Returns what became of outputs since a time, by client. The day of the time is included in full.
pub(crate) fn outcomes(db: &Connection, since: Option<Timestamp>) -> rusqlite::Result<Vec<OutcomeSum>> {
    let from = since.map_or(i64::MIN, |since| since.0.div_euclid(DAY));
    db.sql(
        "SELECT client, outcome, sum(count), sum(bytes), min(day) FROM hooks
         WHERE day >= ?1 AND day > ?2 AND outcome <> '' GROUP BY client, outcome ORDER BY client, outcome",
    )
    .all([from, NO_DAY], |row| {
        Ok(OutcomeSum {
            client: row.get(0)?,
            outcome: written(row, 1, Outcome::parse)?,
            count: row.get::<_, i64>(2)?.cast_unsigned(),
            bytes: row.get::<_, i64>(3)?.cast_unsigned(),
            since: Timestamp(row.get::<_, i64>(4)?.saturating_mul(DAY)),
        })
    })
}

/// Merges the hooks of all days before this time into one row of each client.
pub(crate) fn merge_before(tx: &Transaction<'_>, before: Timestamp) -> rusqlite::Result<()> {
    let day = before.0.div_euclid(DAY);
    let is_old = tx.sql("SELECT 1 FROM hooks WHERE day < ?1 AND day > ?2 LIMIT 1").has([day, NO_DAY])?;
    if !is_old {
        return Ok(());
    }
    tx.sql(
        "INSERT OR REPLACE INTO hooks
         SELECT client, ?2, '', 0, event, max(at), micros, sum(count), 0 FROM hooks WHERE day < ?1 GROUP BY client",
    )
    .run([day, NO_DAY])?;
    tx.sql("DELETE FROM hooks WHERE day < ?1 AND day > ?2").run([day, NO_DAY])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_keeps_its_limit_and_no_lower_one() {
        let cases = [(0, 500), (500, 500), (501, 750), (751, 1_000), (2_300, 3_000), (3_001, 4_000), (70_000, 96_000)];
        for (micros, limit) in cases {
            assert_eq!(limit_of(micros), limit, "{micros}");
        }
        assert_eq!(limit_of(u64::MAX), i64::MAX.cast_unsigned());
    }

    #[test]
    fn a_share_of_hooks_is_within_the_lowest_limit_that_it_keeps() {
        let hooks = [(2_000, 50), (3_000, 49), (96_000, 1)];
        let hooks = hooks.map(|(within_micros, count)| TimedHooks { within_micros, count }).to_vec();
        let day = HookDay { day: Timestamp(0), hooks };
        assert_eq!([50, 51, 99, 100].map(|of_100| day.within(of_100)), [2_000, 3_000, 3_000, 96_000]);
        assert_eq!(HookDay { day: Timestamp(0), hooks: Vec::new() }.within(50), 0);
    }
}
