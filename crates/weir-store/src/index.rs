//! The index: finds chunks by their words. Invariant: everything here is derived from the log by [`apply`], the one
//! way in; dropping the file loses nothing.

pub(crate) mod apply;
mod excerpt;
pub(crate) mod search;
mod text;

use weir_core::Entry;

use crate::migrate::Migration;

/// The history of the index's shape.
pub(crate) const MIGRATIONS: &[Migration] =
    &[Migration { name: "0001_index", sql: include_str!("index/migrations/0001_index.sql") }];

/// A ranked chunk with the entry it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The entry.
    pub entry: Entry,
    /// Which chunk of the entry, from 0.
    pub ordinal: u32,
    /// The line of the entry the excerpt begins at, from 1.
    pub line: u64,
    /// The text around the match.
    pub excerpt: String,
    /// Whether the excerpt leaves out part of the entry.
    pub partial: bool,
    /// How well it matches; 0 for a match inside a word.
    pub score: f64,
}
