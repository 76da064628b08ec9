//! Computes how close chunks are to a query in meaning. Invariant: a search never waits for missing vectors. A quick
//! model embeds the best candidates on the spot; all other chunks without a vector are ranked by keywords only.

use std::collections::HashMap;

use rusqlite::Connection;
use weir_embed::Embed;

use super::chunk_texts::ChunkTexts;
use super::documents;
use super::vectors::{self, EmbedProgress};
use crate::error::Fault;
use crate::quantised::{Quantised, cosine, quantise};

/// A query as a vector, and the range of chunks to compare it with.
pub(super) struct Meaning<'a> {
    model: &'a dyn Embed,
    query: Quantised,
    /// The last chunk with a vector of this model.
    embedded: i64,
    /// Approximate number of chunks.
    pub(super) chunks: i64,
}

/// Why a query has no vector.
pub(super) enum EmbedFailure {
    /// The model failed.
    Unanswered(String),
    /// The index could not be read.
    Store(Fault),
}

impl<'a> Meaning<'a> {
    /// Embeds a text. Returns `None` if the model knows none of its words.
    pub(super) fn of(connection: &Connection, model: &'a dyn Embed, text: &str) -> Result<Option<Self>, EmbedFailure> {
        let vectors = model.embed(&[text]).map_err(|error| EmbedFailure::Unanswered(error.to_string()))?;
        let Some(vector) = vectors.into_iter().next().flatten() else { return Ok(None) };
        let covered = vectors::covered(connection).map_err(|error| EmbedFailure::Store(error.into()))?;
        let EmbedProgress { embedded, next_chunk, model: made_by } = covered;
        let embedded = if made_by == model.name() { embedded } else { 0 };
        Ok(Some(Self { model, query: quantise(&vector), embedded, chunks: next_chunk - 1 }))
    }

    /// Returns how close these chunks are to the query.
    pub(super) fn nearness(
        &self,
        connection: &Connection,
        texts: &mut ChunkTexts<'_>,
        chunks: &[i64],
    ) -> Result<HashMap<i64, f32>, Fault> {
        let vectors = self.vectors(connection, texts, chunks)?;
        Ok(vectors.into_iter().map(|(id, vector)| (id, cosine(&self.query, &vector))).collect())
    }

    /// Returns the closest of all chunks.
    pub(super) fn nearest(&self, connection: &Connection, most: usize) -> Result<Vec<(i64, f32)>, Fault> {
        if self.embedded == 0 {
            return Ok(Vec::new());
        }
        Ok(vectors::nearest(connection, &self.query, most)?)
    }

    /// Returns the vectors of these chunks.
    pub(super) fn vectors(
        &self,
        connection: &Connection,
        texts: &mut ChunkTexts<'_>,
        chunks: &[i64],
    ) -> Result<HashMap<i64, Quantised>, Fault> {
        let mut sorted = chunks.to_vec();
        sorted.sort_unstable();
        let (with, without) = sorted.split_at(sorted.partition_point(|id| *id <= self.embedded));
        let mut found: HashMap<i64, Quantised> = vectors::load(connection, with)?.into_iter().collect();
        found.extend(self.make(connection, texts, without)?);
        Ok(found)
    }

    /// Embeds chunks that have no vector yet, if the model is quick.
    fn make(
        &self,
        connection: &Connection,
        texts: &mut ChunkTexts<'_>,
        chunks: &[i64],
    ) -> Result<Vec<(i64, Quantised)>, Fault> {
        if chunks.is_empty() || !self.model.is_quick() {
            return Ok(Vec::new());
        }
        let mut given = Vec::with_capacity(chunks.len());
        for &id in chunks {
            let Some(chunk) = documents::chunk(connection, id)? else { continue };
            given.extend(texts.read(&chunk)?.map(|text| (id, text.embedded())));
        }
        Ok(embed(self.model, &given).unwrap_or_default())
    }
}

/// Embeds texts, leaving out those that the model cannot embed.
pub(super) fn embed(
    model: &dyn Embed,
    texts: &[(i64, String)],
) -> Result<Vec<(i64, Quantised)>, weir_embed::EmbedError> {
    let given: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    let made = model.embed(&given)?;
    let pairs = texts.iter().zip(made);
    Ok(pairs.filter_map(|((id, _), vector)| Some((*id, quantise(&vector?)))).collect())
}
