//! Searches the stores by words and by meaning.
//!
//! Invariant: no store is locked while the model works. Whatever cannot be embedded in time is found by its words.

use std::sync::Arc;

use weir_context::LockedStores;
use weir_context::embedding::embed_chunks;
use weir_core::query::{self, QueryVector};
use weir_core::{Level, Query, Scope};
use weir_embed::Embed;
use weir_host::error::CommandError;
use weir_store::{Findings, LockPolicy, Store, StoreError};

use crate::needs::KnowledgeContext;

/// The longest query, in bytes. The work grows with its words.
const MAX_QUERY_BYTES: usize = 8 << 10;

/// A way to search a store: [`Store::search`] or [`Store::search_indexed`].
pub type SearchMethod = fn(&mut Store, &Scope, &Query) -> Result<Findings, StoreError>;

/// Searches for one call, with the model that the user has configured.
pub struct Searcher<'a> {
    context: &'a KnowledgeContext,
    model: Option<Arc<dyn Embed>>,
}

/// A query with its vector.
pub struct EmbeddedQuery {
    /// The query. It has a vector if there is a model.
    pub query: Query,
    /// Why the model could not embed the query, if it should have.
    pub problem: Option<String>,
}

impl<'a> Searcher<'a> {
    /// Returns a searcher. Loads the model, if that has not been done yet.
    pub async fn new(context: &'a KnowledgeContext) -> Result<Self, CommandError> {
        let own = context.clone();
        let model = off_the_async_thread(move || own.model()).await?;
        Ok(Self { context, model })
    }

    /// Embeds a query, unless it has no words. Every search begins here, so a query that is too long ends here.
    pub async fn embed_query(&self, query: Query) -> Result<EmbeddedQuery, CommandError> {
        if query.text.len() > MAX_QUERY_BYTES {
            let message =
                format!("cannot search: the query has {} bytes, the limit is {MAX_QUERY_BYTES}", query.text.len());
            return Err(CommandError::usage(message).hint("search for a few words"));
        }
        let Some(model) = self.model.clone() else { return Ok(EmbeddedQuery { query, problem: None }) };
        off_the_async_thread(move || {
            let (values, problem) = match vector(model.as_ref(), &query.text) {
                Ok(values) => (values, None),
                Err(problem) => (None, Some(problem)),
            };
            let vector = QueryVector { model: model.name().to_owned(), values, chunks: Vec::new() };
            EmbeddedQuery { query: Query { vector: Some(vector), ..query }, problem }
        })
        .await
    }

    /// Embeds at most `most` chunks of the project's store, if the model is quick and no other process is writing.
    pub async fn embed_recent(&self, most: usize) {
        let Some(model) = self.quick_model() else { return };
        let name = model.name().to_owned();
        let take = move |open: &mut LockedStores<'_>| match open.existing(Level::Project)? {
            Some(store) => Ok(store.without_vectors(&name, most, LockPolicy::GiveUp)?),
            None => Ok(None),
        };
        let Ok(Some(chunks)) = self.context.with_stores(take).await else { return };
        let embed = move || embed_chunks(model.as_ref(), chunks.texts()).map(|vectors| (chunks, vectors));
        let Ok(Ok((chunks, vectors))) = off_the_async_thread(embed).await else { return };
        let keep = move |open: &mut LockedStores<'_>| {
            Ok(open.project()?.keep_vectors(&chunks, &vectors, LockPolicy::GiveUp)?)
        };
        // The vectors are made again later if they cannot be kept now.
        let _ = self.context.with_stores(keep).await;
    }

    /// Searches the store of a level. A quick model embeds those of the best chunks that have no vector yet.
    pub async fn search(&self, level: Level, query: &Query, method: SearchMethod) -> Result<Findings, CommandError> {
        let found = self.search_once(level, query.clone(), method).await?;
        let (Some(model), Some(vector)) = (self.quick_model(), &query.vector) else { return Ok(found) };
        if found.unembedded.is_empty() {
            return Ok(found);
        }
        let chunks = found.unembedded.clone();
        let read = move |open: &mut LockedStores<'_>| Ok(open.store(level)?.chunk_texts(&chunks)?);
        let texts = self.context.with_stores(read).await?;
        match off_the_async_thread(move || embed_chunks(model.as_ref(), &texts)).await? {
            Ok(chunks) if !chunks.is_empty() => {
                let vector = QueryVector { chunks, ..vector.clone() };
                self.search_once(level, Query { vector: Some(vector), ..query.clone() }, method).await
            }
            _ => Ok(found),
        }
    }

    async fn search_once(&self, level: Level, query: Query, method: SearchMethod) -> Result<Findings, CommandError> {
        let scope = self.context.scope();
        let work = move |open: &mut LockedStores<'_>| match open.existing(level)? {
            Some(store) => Ok(method(store, &scope, &query)?),
            None => Ok(Findings::default()),
        };
        self.context.with_stores(work).await
    }

    /// Returns the model, if someone can wait for it.
    fn quick_model(&self) -> Option<Arc<dyn Embed>> {
        self.model.clone().filter(|model| model.is_quick())
    }
}

/// Returns the vector of a text, or `None` if the model knows none of its words. A search for a text without words
/// finds nothing, so no server is asked about it.
fn vector(model: &dyn Embed, text: &str) -> Result<Option<Vec<f32>>, String> {
    if query::terms(text).is_empty() {
        return Ok(None);
    }
    let vectors = model.embed(&[text]).map_err(|error| error.to_string())?;
    Ok(vectors.into_iter().next().flatten())
}

/// Runs work that may take a while on a thread for such work.
async fn off_the_async_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, CommandError> {
    let task = tokio::task::spawn_blocking(work).await;
    task.map_err(|error| CommandError::broken(&format!("the call failed: {error}")))
}
