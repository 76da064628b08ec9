//! The configuration file, parsed once into values that cannot be invalid.
//!
//! The file belongs to the user. Projects have none, because a project that could loosen its own sandbox would
//! effectively have no sandbox.

mod declare;
mod hint;
mod hold;
pub mod kinds;
mod rows;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weir_core::Limits;

use crate::error::{CommandError, ErrorKind};
use crate::foreign;
use crate::trust;
use declare::Section as _;
pub use declare::Setting;
pub use rows::{
    Config, FetchConfig, GuideConfig, HoldConfig, PolicyConfig, RetentionConfig, RunConfig, SETTINGS, SearchConfig,
    StatsConfig, TeamConfig, ToolsConfig,
};

/// The default size of a guide, in tokens.
pub const GUIDE_TOKENS: usize = 900;
/// The default size of a guide after a long window, in tokens.
const LONG_GUIDE_TOKENS: usize = 1_500;
/// The length above which a window is long, in tokens.
const LONG_WINDOW_TOKENS: u64 = 150_000;

impl GuideConfig {
    /// Returns the maximum number of tokens in a guide after a window of this length.
    pub fn tokens_after(&self, window: u64) -> usize {
        let default = if window > LONG_WINDOW_TOKENS { LONG_GUIDE_TOKENS } else { GUIDE_TOKENS };
        self.tokens.unwrap_or(default)
    }
}

/// Whether a run must have a full sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// Run only with the full sandbox.
    Required,
    /// Run with the full sandbox or, failing that, with Landlock; otherwise do not run.
    BestEffort,
    /// Run with the profile for macOS, which has not been tried on a Mac. Other systems refuse it.
    Seatbelt,
    Off,
}

/// When a run gets a layer, so that nothing that it writes is live before it has been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerUse {
    /// Runs that a model starts and waits for get one where possible.
    Auto,
    /// Every run that somebody waits for gets one, or does not start.
    On,
    /// No run gets one unless it is asked for.
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Only a loopback interface of their own.
    Off,
    /// The hosts that the user has allowed, through a proxy.
    AllowList,
    /// Everything.
    On,
}

/// The tools that clients are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedTools {
    /// The tools that most conversations use.
    Core,
    All,
    /// The tools with these names.
    Named(Vec<String>),
}

/// The model for search by meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingModel {
    /// No model: search uses words alone.
    Off,
    /// The built-in model.
    BuiltIn,
    /// A model of the same type, loaded from a folder.
    Folder(PathBuf),
    /// A server with an OpenAI-compatible embeddings API.
    Endpoint {
        /// The server's address, up to `/v1`.
        url: String,
        /// The model's name on the server.
        model: String,
        /// The file with the API key, if the server requires one. It is read when the server is used.
        key_file: Option<PathBuf>,
    },
}

/// Reads the configuration file. A missing file means the defaults.
pub fn read(path: &Path) -> Result<Config, CommandError> {
    parse(&text(path)?, path)
}

/// Returns the text of the configuration file. That of a missing one is empty.
pub fn text(path: &Path) -> Result<String, CommandError> {
    match trust::read_own_file(path, foreign::MAX_SETTINGS_BYTES) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| unusable(path, "it is not UTF-8")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(unusable(path, &error.to_string())),
    }
}

/// Parses the text of a configuration file. `path` is for errors.
pub fn parse(text: &str, path: &Path) -> Result<Config, CommandError> {
    let raw = toml::from_str(text).map_err(|error| {
        let full = unusable(path, error.to_string().trim_end());
        hint::meant(error.message()).into_iter().fold(full, CommandError::hint)
    })?;
    let mut config = Config::read(raw).map_err(|problem| unusable(path, &problem))?;
    config.search.check().map_err(|problem| unusable(path, &problem))?;
    Ok(config)
}

impl RetentionConfig {
    pub fn limits(&self) -> Limits {
        let Self { run_days, page_days, event_days, quota_bytes } = *self;
        Limits { run_days, page_days, event_days, quota_bytes }
    }
}

impl SearchConfig {
    /// Checks that a server comes with the name of its model, and drops the key of no server.
    fn check(&mut self) -> Result<(), String> {
        if self.endpoint.is_none() {
            self.key_file = None;
        } else if self.model.is_none() {
            return Err("[search] has an endpoint but no model: set `model` to the name of one there".to_owned());
        }
        Ok(())
    }

    /// Returns the model for search by meaning.
    pub fn embedding_model(&self) -> EmbeddingModel {
        let model = self.model.as_deref().unwrap_or("built-in");
        match (&self.endpoint, model) {
            (Some(url), _) => {
                EmbeddingModel::Endpoint { url: url.clone(), model: model.to_owned(), key_file: self.key_file.clone() }
            }
            (None, "off") => EmbeddingModel::Off,
            (None, "built-in") => EmbeddingModel::BuiltIn,
            (None, folder) => EmbeddingModel::Folder(PathBuf::from(folder)),
        }
    }
}

fn unusable(path: &Path, detail: &str) -> CommandError {
    CommandError::new(ErrorKind::Config, format!("cannot use {}: {detail}", path.display()))
        .hint("`weir config show` lists every setting; `weir config edit` opens the file")
}
