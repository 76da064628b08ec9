//! Counts what Weir did in conversations, in tokens. Invariant: only sums are stored, no text.

use rusqlite::{Connection, Transaction, params};
use weir_core::time::DAY;
use weir_core::{SessionKey, Timestamp};
use weir_ledger::Sql as _;

use super::written;

weir_core::written_enum! {
    pub enum MeterAction {
        /// Weir replaced an output with something smaller.
        Held = "held",
        /// Weir added text that was not asked for.
        Told = "told",
        /// The model called one of Weir's tools, and the answer is Weir's own text.
        Answered = "answered",
        /// The model ran a program with one of Weir's tools, and the answer shows less than the program printed.
        Ran = "ran",
        /// Weir did nothing, in a session that is left alone for comparison: what would have been held or told was not.
        Untouched = "untouched",
    }
}

/// What Weir did, once or several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub what: MeterAction,
    /// The tool whose output this concerns, or the tool of Weir that was called.
    pub tool: String,
    pub times: u64,
    /// The tokens of the outputs in full.
    pub output: u64,
    /// The tokens that the model would have received without Weir: what the client shows of the outputs by itself.
    pub given: u64,
    /// The tokens that the model received.
    pub shown: u64,
}

/// The sum of one day, by session and tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterRow {
    /// The start of the day, in UTC.
    pub day: Timestamp,
    pub session: SessionKey,
    pub reading: Reading,
}

pub(crate) fn add(
    tx: &Transaction<'_>,
    session: &SessionKey,
    reading: &Reading,
    now: Timestamp,
) -> rusqlite::Result<()> {
    tx.sql(
        "INSERT INTO meter (day, client, session, tool, what, times, given, shown, output)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (day, client, session, tool, what)
         DO UPDATE SET times = times + ?6, given = given + ?7, shown = shown + ?8, output = output + ?9",
    )
    .run(params![
        now.0.div_euclid(DAY),
        session.client,
        session.key,
        reading.tool,
        reading.what.as_str(),
        reading.times.cast_signed(),
        reading.given.cast_signed(),
        reading.shown.cast_signed(),
        reading.output.cast_signed()
    ])
}

/// Returns the sums between two times, of one session or of all, by day, oldest first. The days of both times are
/// included in full.
pub(crate) fn between(
    db: &Connection,
    session: Option<&SessionKey>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> rusqlite::Result<Vec<MeterRow>> {
    let from = since.map_or(i64::MIN, |since| since.0.div_euclid(DAY));
    let to = until.map_or(i64::MAX, |until| until.0.div_euclid(DAY));
    let (client, key) = (session.map(|session| &session.client), session.map(|session| &session.key));
    db.sql(
        "SELECT day, client, session, tool, what, times, given, shown, output FROM meter
         WHERE day >= ?1 AND day <= ?2 AND (?3 IS NULL OR (client = ?3 AND session = ?4))
         ORDER BY day, client, session, tool, what",
    )
    .all(params![from, to, client, key], |row| {
        Ok(MeterRow {
            day: Timestamp(row.get::<_, i64>(0)?.saturating_mul(DAY)),
            session: SessionKey { client: row.get(1)?, key: row.get(2)? },
            reading: Reading {
                tool: row.get(3)?,
                what: written(row, 4, MeterAction::parse)?,
                times: row.get::<_, i64>(5)?.cast_unsigned(),
                given: row.get::<_, i64>(6)?.cast_unsigned(),
                shown: row.get::<_, i64>(7)?.cast_unsigned(),
                output: row.get::<_, i64>(8)?.cast_unsigned(),
            },
        })
    })
}
