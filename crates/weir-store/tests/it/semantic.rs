//! Embeds for a store, as its callers do: the store itself knows no model.

use weir_core::Query;
use weir_core::query::{ChunkVector, QueryVector};
use weir_embed::{Embed, EmbedError};
use weir_store::{ChunkText, Findings, LockPolicy, Store, StoreError};

use crate::support::here;

pub(crate) fn model() -> &'static dyn Embed {
    weir_embed::built_in().expect("the model is built in")
}

/// Embeds at most `most` chunks that have no vector yet. Returns how many still have none.
pub(crate) fn embed_some(store: &mut Store, model: &dyn Embed, most: usize) -> Result<u64, EmbedError> {
    let Some(chunks) = store.without_vectors(model.name(), most, LockPolicy::Wait).unwrap() else { return Ok(0) };
    let vectors = vectors_of(model, chunks.texts())?;
    Ok(store.keep_vectors(&chunks, &vectors, LockPolicy::Wait).unwrap())
}

/// Embeds every chunk that has no vector yet.
pub(crate) fn embed_all(store: &mut Store, model: &dyn Embed) {
    while embed_some(store, model, 100).unwrap() > 0 {}
}

/// Searches by words and by meaning. A quick model embeds the best chunks that have no vector on the spot; one that
/// fails leaves the words.
pub(crate) fn search(store: &mut Store, model: &dyn Embed, query: &Query) -> Result<Findings, StoreError> {
    let values = model.embed(&[query.text.as_str()]).ok().and_then(|mut vectors| vectors.remove(0));
    let mut vector = QueryVector { model: model.name().to_owned(), values, chunks: Vec::new() };
    let found = store.search(&here(), &Query { vector: Some(vector.clone()), ..query.clone() })?;
    if found.unembedded.is_empty() || !model.is_quick() {
        return Ok(found);
    }
    vector.chunks = vectors_of(model, &store.chunk_texts(&found.unembedded)?).unwrap();
    store.search(&here(), &Query { vector: Some(vector), ..query.clone() })
}

fn vectors_of(model: &dyn Embed, chunks: &[ChunkText]) -> Result<Vec<ChunkVector>, EmbedError> {
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let made = chunks.iter().zip(model.embed(&texts)?);
    Ok(made.filter_map(|(chunk, values)| Some(ChunkVector { chunk: chunk.chunk, values: values? })).collect())
}
