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
pub(crate) mod source_events;
pub(crate) mod sources;
pub(crate) mod spooled;
pub(crate) mod turns;

use rusqlite::types::Type;

use crate::db::migrate::Migration;

/// The history of the log's schema.
pub(crate) const MIGRATIONS: &[Migration] =
    &[Migration { name: "0001_log", sql: include_str!("log/migrations/0001_log.sql") }];

/// Reads a column with the stored name of an enum's variant.
pub(crate) fn written<T>(row: &rusqlite::Row<'_>, column: usize, parse: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    parse(&text).ok_or_else(|| {
        let detail = format!("this version does not know `{text}`").into();
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, detail)
    })
}
