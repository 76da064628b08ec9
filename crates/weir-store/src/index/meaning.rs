//! Computes how close chunks are to a query in meaning. Invariant: a search never waits for missing vectors. Chunks
//! without one are ranked by keywords only, unless the caller has made one for this search.

use std::collections::HashMap;

use rusqlite::Connection;
use weir_core::query::{ChunkId, QueryVector};

use super::vectors::{self, EmbedProgress};
use crate::quantised::{Quantised, cosine, quantise};

/// A query as a vector, and the range of chunks to compare it with.
pub(super) struct Meaning {
    query: Quantised,
    /// Vectors of chunks that the caller has made for this search.
    made: HashMap<i64, Quantised>,
    /// The last chunk with a vector of this model.
    embedded: i64,
    pub(super) chunks: i64,
}

impl Meaning {
    /// Returns the meaning of a query, or `None` if the query has no vector.
    pub(super) fn of(db: &Connection, vector: &QueryVector) -> rusqlite::Result<Option<Self>> {
        let Some(values) = &vector.values else { return Ok(None) };
        let EmbedProgress { embedded, next_chunk, model } = vectors::covered(db)?;
        let embedded = if model == vector.model { embedded } else { 0 };
        let made = vector.chunks.iter().map(|made| (made.chunk.0, quantise(&made.values))).collect();
        Ok(Some(Self { query: quantise(values), made, embedded, chunks: next_chunk - 1 }))
    }

    pub(super) fn without_vector(&self, chunks: &[i64]) -> Vec<ChunkId> {
        let is_missing = |id: &&i64| **id > self.embedded && !self.made.contains_key(*id);
        chunks.iter().filter(is_missing).map(|id| ChunkId(*id)).collect()
    }

    /// Returns how close these chunks are to the query, for those that have a vector.
    pub(super) fn nearness(&self, db: &Connection, chunks: &[i64]) -> rusqlite::Result<HashMap<i64, f32>> {
        let vectors = self.vectors(db, chunks)?;
        Ok(vectors.into_iter().map(|(id, vector)| (id, cosine(&self.query, &vector))).collect())
    }

    pub(super) fn nearest(&self, db: &Connection, most: usize) -> rusqlite::Result<Vec<(i64, f32)>> {
        if self.embedded == 0 { Ok(Vec::new()) } else { vectors::nearest(db, &self.query, most) }
    }

    pub(super) fn vectors(&self, db: &Connection, chunks: &[i64]) -> rusqlite::Result<HashMap<i64, Quantised>> {
        let mut sorted = chunks.to_vec();
        sorted.sort_unstable();
        let (with, without) = sorted.split_at(sorted.partition_point(|id| *id <= self.embedded));
        let mut found: HashMap<i64, Quantised> = vectors::load(db, with)?.into_iter().collect();
        found.extend(without.iter().filter_map(|id| Some((*id, self.made.get(id)?.clone()))));
        Ok(found)
    }
}
