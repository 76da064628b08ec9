//! The model that finds by meaning: which one the user wants, and making vectors while nobody waits.
//!
//! Invariant: no call fails or waits because of it; without a model, words alone decide, and the answer says so.

mod background;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use weir_embed::Embed;
use weir_fetch::endpoint::{Endpoint, Remote};

pub(crate) use background::Background;

use crate::config::Meaning;
use crate::error::CommandError;

/// How many chunks are embedded before a search, so that what was just kept is found by meaning too: 20 ms or so.
pub(crate) const BEFORE_SEARCH: usize = 512;
/// How many texts a server gets at once, and how long it has for them: a search waits for its own words as long.
const AT_ONCE: usize = 64;
const PATIENCE: Duration = Duration::from_secs(10);

/// The model, made when it is first needed.
#[derive(Default)]
pub(crate) struct Model(OnceLock<Result<Option<Arc<dyn Embed>>, String>>);

impl Model {
    /// The model that the user wants; none if it is off or cannot be used.
    pub(crate) fn get(&self, wanted: &Meaning) -> Option<Arc<dyn Embed>> {
        self.made(wanted).as_ref().ok().cloned().flatten()
    }

    /// Why the model that the user wants cannot be used.
    pub(crate) fn problem(&self, wanted: &Meaning) -> Option<&str> {
        self.made(wanted).as_ref().err().map(String::as_str)
    }

    fn made(&self, wanted: &Meaning) -> &Result<Option<Arc<dyn Embed>>, String> {
        self.0.get_or_init(|| make(wanted).map_err(|error| error.message))
    }
}

fn make(wanted: &Meaning) -> Result<Option<Arc<dyn Embed>>, CommandError> {
    match wanted {
        Meaning::Off => Ok(None),
        Meaning::BuiltIn => Ok(weir_embed::built_in().map(|model| Arc::new(model) as Arc<dyn Embed>)),
        Meaning::Folder(path) => {
            let model = weir_embed::StaticModel::open(path)
                .map_err(|error| CommandError::usage(format!("cannot use the model in {}: {error}", path.display())))?;
            Ok(Some(Arc::new(model)))
        }
        Meaning::Endpoint { url, model, key } => {
            let endpoint = Endpoint {
                url: url.clone(),
                model: model.clone(),
                key: key.clone(),
                batch: AT_ONCE,
                timeout: PATIENCE,
                ..Endpoint::default()
            };
            let remote = Remote::connect(endpoint).map_err(|error| CommandError::usage(error.to_string()))?;
            Ok(Some(Arc::new(remote)))
        }
    }
}
