//! The model for search by meaning that the user has configured, loaded on first use.
//!
//! Invariant: no call fails or waits because of the model; without one, search uses words alone, and the answer says
//! so.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use weir_embed::Embed;
use weir_fetch::endpoint::{Endpoint, Remote};

use crate::config::EmbeddingModel;
use crate::error::CommandError;

/// How many texts a server gets in one request, and how long it may take. A search waits as long for the vector of its
/// query.
const EMBED_BATCH: usize = 64;
const EMBED_TIMEOUT: Duration = Duration::from_secs(10);

/// The model, loaded on first use.
#[derive(Default)]
pub(crate) struct LazyModel(OnceLock<Result<Option<Arc<dyn Embed>>, String>>);

impl LazyModel {
    /// Returns the configured model, or `None` if it is off or unusable.
    pub(crate) fn get(&self, wanted: &EmbeddingModel) -> Option<Arc<dyn Embed>> {
        self.made(wanted).as_ref().ok().cloned().flatten()
    }

    /// Returns why the configured model is unusable, if it is.
    pub(crate) fn problem(&self, wanted: &EmbeddingModel) -> Option<&str> {
        self.made(wanted).as_ref().err().map(String::as_str)
    }

    fn made(&self, wanted: &EmbeddingModel) -> &Result<Option<Arc<dyn Embed>>, String> {
        self.0.get_or_init(|| make(wanted).map_err(|error| error.message))
    }
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
        EmbeddingModel::Endpoint { url, model, key } => {
            let endpoint = Endpoint {
                url: url.clone(),
                model: model.clone(),
                key: key.clone(),
                batch: EMBED_BATCH,
                timeout: EMBED_TIMEOUT,
                ..Endpoint::default()
            };
            let remote = Remote::connect(endpoint).map_err(|error| CommandError::usage(error.to_string()))?;
            Ok(Some(Arc::new(remote)))
        }
    }
}
