//! The log: events and entries, in one order. Invariant: an acknowledged write is still there after a crash.
//!
//! Functions here take a connection or a transaction and the ids of a place; [`crate::Store`] composes them.

pub(crate) mod ageing;
pub(crate) mod clock;
pub(crate) mod entries;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod feed;
pub(crate) mod files;
pub(crate) mod forget;
pub(crate) mod history;
pub(crate) mod hook_days;
pub(crate) mod hooks;
pub(crate) mod imports;
pub(crate) mod meter;
pub(crate) mod notes;
pub(crate) mod overview;
pub(crate) mod projects;
pub(crate) mod prompts;
pub(crate) mod retention;
pub(crate) mod runs;
pub(crate) mod said;
pub(crate) mod scopes;
pub(crate) mod sessions;
pub(crate) mod sources;
pub(crate) mod spooled;

use rusqlite::types::Type;

use crate::migrate::Migration;

/// The history of the log's schema.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_log", sql: include_str!("log/migrations/0001_log.sql") },
    Migration { name: "0002_runs", sql: include_str!("log/migrations/0002_runs.sql") },
    Migration { name: "0003_hooks", sql: include_str!("log/migrations/0003_hooks.sql") },
    Migration { name: "0004_sources", sql: include_str!("log/migrations/0004_sources.sql") },
    Migration { name: "0005_session_files", sql: include_str!("log/migrations/0005_session_files.sql") },
    Migration { name: "0006_identity", sql: include_str!("log/migrations/0006_identity.sql") },
    Migration { name: "0007_spool", sql: include_str!("log/migrations/0007_spool.sql") },
    Migration { name: "0008_said", sql: include_str!("log/migrations/0008_said.sql") },
    Migration { name: "0009_imports", sql: include_str!("log/migrations/0009_imports.sql") },
    Migration { name: "0010_meter", sql: include_str!("log/migrations/0010_meter.sql") },
    Migration { name: "0011_confirmed", sql: include_str!("log/migrations/0011_confirmed.sql") },
    Migration { name: "0012_identity_of_projects", sql: include_str!("log/migrations/0012_identity_of_projects.sql") },
    Migration { name: "0013_hook_days", sql: include_str!("log/migrations/0013_hook_days.sql") },
    Migration { name: "0014_clock", sql: include_str!("log/migrations/0014_clock.sql") },
    Migration { name: "0015_meter_output", sql: include_str!("log/migrations/0015_meter_output.sql") },
];

/// Reads a column with the stored name of an enum's variant.
pub(crate) fn written<T>(row: &rusqlite::Row<'_>, column: usize, parse: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    parse(&text).ok_or_else(|| {
        let detail = format!("this version does not know `{text}`").into();
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, detail)
    })
}
