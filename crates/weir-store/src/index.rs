//! The index: finds chunks by their words and by their meaning.
//!
//! Invariant: everything here is derived, the documents from the log by [`apply`], their vectors by the caller's model
//! ([`unembedded`]), and the map from the files of a project, so removing the index file loses nothing.

pub(crate) mod again;
pub(crate) mod apply;
mod chunk_texts;
pub(crate) mod documents;
mod excerpt;
pub(crate) mod map;
mod meaning;
pub(crate) mod origin;
pub(crate) mod search;
mod span;
mod text;
pub(crate) mod unembedded;
mod vectors;
mod vocabulary;

use weir_core::query::ChunkId;
use weir_core::{Entry, Reference};

use crate::db::migrate::Migration;
use crate::error::Unreadable;
pub(crate) use vocabulary::Learner;

/// The history of the index's schema.
pub(crate) const MIGRATIONS: &[Migration] =
    &[Migration { name: "0001_index", sql: include_str!("index/migrations/0001_index.sql") }];

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    pub hits: Vec<Hit>,
    /// Words that were treated as misspelt: as written, and the words searched for instead.
    pub corrected: Vec<(String, String)>,
    /// Words without any similar word in the store.
    pub unknown: Vec<String>,
    /// Number of chunks that are found by keywords only because they have no vector yet.
    pub without_vectors: u64,
    /// Whether not everything is indexed yet, because another process is indexing or there is very much to index.
    pub behind: bool,
    /// Some of the visible entries whose text is lost, at least in part. They are found by their titles and by the part
    /// that could be read.
    pub lost: Vec<Reference>,
    /// Some of the visible entries whose text cannot be read at the moment. They are found in the same way until a
    /// search can read them.
    pub unavailable: Vec<Reference>,
    /// Chunks among the best that were ranked by keywords only, because they have no vector. A caller may embed them
    /// ([`crate::Store::chunk_texts`]) and ask again with their vectors in the query.
    pub unembedded: Vec<ChunkId>,
}

/// A ranked chunk with the entry it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub entry: Entry,
    /// The position of the chunk in the entry, from 0.
    pub ordinal: u32,
    /// The line of the entry where the excerpt begins, from 1.
    pub line: u64,
    /// The headings, symbols or keys above the chunk; empty if there are none.
    pub heading: String,
    /// The text around the match; empty if it cannot be read.
    pub excerpt: String,
    /// Why the text cannot be read, if it cannot.
    pub unreadable: Option<Unreadable>,
    /// Whether the excerpt leaves out part of the entry.
    pub partial: bool,
    pub score: f64,
    /// Whether the hit was found by its meaning and shares no word with the query.
    pub by_meaning: bool,
    /// Other entries with the same passage.
    pub also: Vec<Reference>,
}
