//! Searches a store by meaning, as the program does: with the built-in model, outside the store.

use weir_core::query::{ChunkVector, QueryVector};
use weir_core::{Query, Scope};
use weir_embed::{Embed, StaticModel};
use weir_store::{ChunkText, Findings, LockPolicy, Store, StoreError};

pub(crate) fn model() -> &'static StaticModel {
    weir_embed::built_in().unwrap()
}

/// Embeds every chunk that has no vector yet, `batch` of them in one transaction.
pub(crate) fn embed_all(store: &mut Store, batch: usize) {
    while let Some(chunks) = store.without_vectors(model().name(), batch, LockPolicy::Wait).unwrap() {
        store.keep_vectors(&chunks, &vectors_of(chunks.texts()), LockPolicy::Wait).unwrap();
    }
}

/// Searches by words and by meaning. The best chunks that have no vector are embedded on the spot.
pub(crate) fn search(store: &mut Store, scope: &Scope, query: Query) -> Result<Findings, StoreError> {
    let values = model().embed(&[query.text.as_str()]).unwrap().remove(0);
    let vector = QueryVector { model: model().name().to_owned(), values, chunks: Vec::new() };
    let mut query = Query { vector: Some(vector), ..query };
    let found = store.search(scope, &query)?;
    if !found.unembedded.is_empty() {
        let chunks = vectors_of(&store.chunk_texts(&found.unembedded)?);
        query.vector = query.vector.map(|vector| QueryVector { chunks, ..vector });
        return store.search(scope, &query);
    }
    Ok(found)
}

fn vectors_of(chunks: &[ChunkText]) -> Vec<ChunkVector> {
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let made = chunks.iter().zip(model().embed(&texts).unwrap());
    made.filter_map(|(chunk, values)| Some(ChunkVector { chunk: chunk.chunk, values: values? })).collect()
}
