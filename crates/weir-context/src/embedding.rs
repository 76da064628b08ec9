//! The model for search by meaning that the user has configured, loaded on first use, and the vectors it makes for
//! stores.
//!
//! Invariant: no call fails or waits because of the model; without one, search uses words alone, and the answer says
//! so. A store gets vectors, never the model, so it is not locked while the model works.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use weir_core::query::ChunkVector;
use weir_embed::{Embed, EmbedError};
use weir_fetch::endpoint::{Endpoint, Remote};
use weir_host::config::EmbeddingModel;
use weir_host::error::{CommandError, ErrorKind};
use weir_store::{ChunkText, LockPolicy, Store};

/// How many texts a server gets in one request, and how long it may take. A search waits as long for the vector of its
/// query.
const EMBED_BATCH: usize = 64;
const EMBED_TIMEOUT: Duration = Duration::from_secs(10);

/// The model, loaded on first use.
#[derive(Default)]
pub struct LazyModel(OnceLock<Result<Option<Arc<dyn Embed>>, String>>);

impl LazyModel {
    /// Returns the configured model, or `None` if it is off or unusable.
    pub fn get(&self, wanted: &EmbeddingModel) -> Option<Arc<dyn Embed>> {
        self.made(wanted).as_ref().ok().cloned().flatten()
    }

    /// Returns why the configured model is unusable, if it is.
    pub fn problem(&self, wanted: &EmbeddingModel) -> Option<&str> {
        self.made(wanted).as_ref().err().map(String::as_str)
    }

    fn made(&self, wanted: &EmbeddingModel) -> &Result<Option<Arc<dyn Embed>>, String> {
        self.0.get_or_init(|| make(wanted).map_err(|error| error.message))
    }
}

/// Embeds at most `most` chunks of a store that have no vector yet. Returns how many still have none.
pub fn embed_some(store: &mut Store, model: &dyn Embed, most: usize) -> Result<u64, CommandError> {
    let Some(chunks) = store.without_vectors(model.name(), most, LockPolicy::Wait)? else { return Ok(0) };
    let vectors = embed_chunks(model, chunks.texts()).map_err(|error| {
        CommandError::new(ErrorKind::Store, format!("semantic search does not work: {error}"))
            .hint("check `[search]` in the configuration; keyword search still works")
    })?;
    Ok(store.keep_vectors(&chunks, &vectors, LockPolicy::Wait)?)
}

/// Embeds chunks, leaving out those that the model knows nothing about.
pub fn embed_chunks(model: &dyn Embed, chunks: &[ChunkText]) -> Result<Vec<ChunkVector>, EmbedError> {
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let made = chunks.iter().zip(model.embed(&texts)?);
    Ok(made.filter_map(|(chunk, values)| Some(ChunkVector { chunk: chunk.chunk, values: values? })).collect())
}

fn make(wanted: &EmbeddingModel) -> Result<Option<Arc<dyn Embed>>, CommandError> {
    match wanted {
        EmbeddingModel::Off => Ok(None),
        EmbeddingModel::BuiltIn => Ok(weir_embed::built_in().map(|model| Arc::new(model) as Arc<dyn Embed>)),
        EmbeddingModel::Folder(path) => {
            let model = weir_embed::StaticModel::open(path)
                .map_err(|error| CommandError::usage(format!("cannot use the model in {}: {error}", path.display())))?;
            Ok(Some(Arc::new(model)))
        }
        EmbeddingModel::Endpoint { url, model, key_file } => {
            let endpoint = Endpoint {
                url: url.clone(),
                model: model.clone(),
                key: key_file.as_deref().map(read_key).transpose()?,
                batch: EMBED_BATCH,
                timeout: EMBED_TIMEOUT,
                ..Endpoint::default()
            };
            let remote = Remote::connect(endpoint).map_err(|error| CommandError::usage(error.to_string()))?;
            Ok(Some(Arc::new(remote)))
        }
    }
}

fn read_key(path: &Path) -> Result<String, CommandError> {
    let key = std::fs::read_to_string(path).map_err(|error| {
        CommandError::usage(format!("cannot read [search] key_file {}: {error}", path.display()))
            .hint("correct the path in the configuration, or remove `key_file`")
    })?;
    Ok(key.trim().to_owned())
}
