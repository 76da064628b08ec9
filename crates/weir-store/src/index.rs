//! The index: finds chunks by their words and by what they mean. Invariant: everything here is derived from the log by
//! [`apply`], and the vectors from that by [`embed`]; dropping the file loses nothing.

pub(crate) mod apply;
pub(crate) mod documents;
pub(crate) mod embed;
mod excerpt;
pub(crate) mod map;
mod meaning;
pub(crate) mod origin;
pub(crate) mod search;
mod text;
mod vectors;
mod vocabulary;

use weir_core::{Entry, Reference};

use crate::migrate::Migration;
pub(crate) use vocabulary::Learner;

/// The history of the index's shape.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_index", sql: include_str!("index/migrations/0001_index.sql") },
    Migration { name: "0002_knowledge", sql: include_str!("index/migrations/0002_knowledge.sql") },
    Migration { name: "0003_map", sql: include_str!("index/migrations/0003_map.sql") },
    Migration { name: "0004_identity", sql: include_str!("index/migrations/0004_identity.sql") },
];

/// What a search found, and how.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Words that were taken for misspelt: as they were written, and what was looked for.
    pub corrected: Vec<(String, String)>,
    /// Words that nothing in the store is like.
    pub unknown: Vec<String>,
    /// How many chunks are found by their words alone, since their vectors are not made yet.
    pub without_vectors: u64,
    /// Whether not everything is indexed yet, since another process is at it or there is very much of it.
    pub behind: bool,
    /// Entries of the scope whose text could not be read, or not to its end: at most a few of them. They are found by
    /// their titles and by what could be read.
    pub unreadable: Vec<Reference>,
    /// Why the model could not say what the query means, if it should have.
    pub words_alone: Option<String>,
}

/// A ranked chunk with the entry it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The entry.
    pub entry: Entry,
    /// Which chunk of the entry, from 0.
    pub ordinal: u32,
    /// The line of the entry the excerpt begins at, from 1.
    pub line: u64,
    /// The headings, symbols or keys that the chunk stands under; empty where there are none.
    pub heading: String,
    /// The text around the match.
    pub excerpt: String,
    /// Whether the excerpt leaves out part of the entry.
    pub partial: bool,
    /// How well it matches.
    pub score: f64,
    /// Whether it was found by what it means and shares no word with the query.
    pub by_meaning: bool,
    /// Another hit that says something newer on the same subject.
    pub newer: Option<Reference>,
    /// Other outputs with the same passage.
    pub also: Vec<Reference>,
}
