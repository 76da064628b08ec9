//! Hands out the texts of chunks, and keeps the vectors that a caller has made of them.
//!
//! Invariant: the store knows vectors and the names of models, never a model. Nothing is locked while one works.

use weir_core::query::{ChunkId, ChunkVector};

use super::Store;
use crate::error::Result;
use crate::index::unembedded::{self, ChunkText, LockPolicy, UnembeddedChunks};
use crate::log::feed::LogFeed;

impl Store {
    /// Returns at most `most` chunks that have no vector of this model yet, or `None` if there are none. Entries that
    /// are not indexed yet are skipped, since most outputs are never searched for.
    pub fn without_vectors(&mut self, model: &str, most: usize, lock: LockPolicy) -> Result<Option<UnembeddedChunks>> {
        self.open_index()?;
        let Self { index: Some(index), log, blobs, .. } = self else { return Ok(None) };
        unembedded::next(index, &LogFeed { log, blobs }, model, most, lock)
    }

    /// Keeps the vectors of chunks from [`Self::without_vectors`], unless others were kept in the meantime. A chunk
    /// that is left out is found by keywords only. Returns how many chunks still have no vector.
    pub fn keep_vectors(&mut self, of: &UnembeddedChunks, made: &[ChunkVector], lock: LockPolicy) -> Result<u64> {
        unembedded::keep(self.opened_index()?, of, made, lock)
    }

    /// Returns the texts of chunks that a search has found without a vector, as far as they are still there.
    pub fn chunk_texts(&mut self, chunks: &[ChunkId]) -> Result<Vec<ChunkText>> {
        self.open_index()?;
        let Self { index: Some(index), log, blobs, .. } = self else { return Ok(Vec::new()) };
        let feed = LogFeed { log, blobs };
        index.read_at_once(|c| unembedded::texts_of(c, &feed, chunks))
    }
}
