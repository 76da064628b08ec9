//! The configuration file, parsed once into values that cannot be invalid.
//!
//! The file belongs to the user. Projects have none, because a project that could loosen its own sandbox would
//! effectively have no sandbox.

mod hint;
mod hold;
mod team;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use weir_core::Limits;

use crate::error::{CommandError, ErrorKind};
use crate::foreign;
use crate::trust;
pub use hold::HoldConfig;
use hold::{RawHold, hold};
use team::TeamConfig;

/// The default time limit of a run. The shortest limit that a client sets on a call is one minute.
const TIMEOUT_SECONDS: u64 = 50;
/// The default limit on how much a run may print.
const OUTPUT_MB: u64 = 2048;

/// The default time limit for fetching a page, including redirects.
const FETCH_SECONDS: u64 = 30;
/// The default limit on how much of a page is read.
const FETCH_MB: u64 = 10;
/// How long a fetched page counts as fresh by default.
const FETCH_HOURS: u64 = 24;

/// The default size of a guide, in tokens.
pub const GUIDE_TOKENS: usize = 900;

/// The user's configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// How long stored data is kept.
    pub limits: Limits,
    /// Whether a run must have a full sandbox.
    pub sandbox: Sandbox,
    /// The network access of runs.
    pub network: Network,
    /// Additional resources and permissions of runs.
    pub run: RunConfig,
    /// Which pages may be fetched, and how.
    pub fetch: FetchConfig,
    /// What is held back from the output of a client's own tools.
    pub hold: HoldConfig,
    /// The maximum size of a guide, in tokens.
    pub guide_tokens: usize,
    /// The share of sessions that hooks leave as they would be without Weir.
    pub hold_out: f64,
    /// The tools that clients are shown.
    pub tools: ListedTools,
    /// The model for search by meaning.
    pub embedding_model: EmbeddingModel,
    /// The user's own rules, in the format of Claude Code's settings.
    pub policy: PolicyLists,
    /// What is taken from a team server.
    pub team: TeamConfig,
}

/// Whether a run must have a full sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// Run only with the full sandbox.
    #[default]
    Required,
    /// Run with the full sandbox or, failing that, with Landlock; otherwise do not run.
    BestEffort,
    /// Run with the profile for macOS, which has not been tried on a Mac. Other systems refuse it.
    Seatbelt,
    /// No sandbox.
    Off,
}

/// When a run gets a layer, so that nothing that it writes is live before it has been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerUse {
    /// Runs that a model starts and waits for get one where possible.
    Auto,
    /// Every run that somebody waits for gets one, or does not start.
    On,
    /// No run gets one unless it is asked for.
    #[default]
    Off,
}

/// The network access of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Only a loopback interface of their own.
    #[default]
    Off,
    /// The hosts that the user has allowed, through a proxy.
    AllowList,
    /// Everything.
    On,
}

/// The tools that clients are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ListedTools {
    /// The tools that most conversations use.
    #[default]
    Core,
    /// All tools.
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

/// Additional resources and permissions of runs.
#[derive(Debug, Clone)]
pub struct RunConfig {
    /// The default time limit of a run.
    pub timeout: Duration,
    /// The maximum number of bytes that a run may print.
    pub output_bytes: u64,
    /// The maximum memory of a run's processes, in bytes.
    pub memory_bytes: Option<u64>,
    /// When a run gets a layer.
    pub layer: LayerUse,
    /// Hosts that runs may reach with `network = "allow-list"`.
    pub hosts: Vec<String>,
    /// Folders outside the project that runs may change.
    pub writable: Vec<String>,
    /// Patterns of secret paths that runs may read nevertheless.
    pub readable: Vec<String>,
    /// Environment variables that runs get in addition to the usual ones.
    pub environment: Vec<String>,
    /// Authenticated programs that the broker runs outside the sandbox on behalf of a run.
    pub brokered: Vec<String>,
}

/// Which pages may be fetched, and how.
#[derive(Debug, Clone)]
pub struct FetchConfig {
    /// The addresses that may be reached.
    pub guard: weir_fetch::Guard,
    /// The private hosts among them, as the user wrote them.
    pub allow: Vec<String>,
    /// The time limit for one page, including redirects.
    pub timeout: Duration,
    /// The maximum number of bytes that are read of a page.
    pub bytes: u64,
    /// How long a fetched page counts as fresh.
    pub ttl: Duration,
}

/// Rules as the user wrote them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyLists {
    /// What is forbidden.
    pub deny: Vec<String>,
    /// What needs the user's consent.
    pub ask: Vec<String>,
    /// What is allowed.
    pub allow: Vec<String>,
}

/// The file as written, before validation.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawConfig {
    sandbox: Sandbox,
    network: Network,
    run: RawRun,
    fetch: RawFetch,
    guide: RawGuide,
    hold: RawHold,
    search: RawSearch,
    stats: RawStats,
    team: TeamConfig,
    tools: RawTools,
    policy: PolicyLists,
    retention: RawRetention,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawRun {
    timeout_seconds: Option<u64>,
    output_mb: Option<u64>,
    memory_mb: Option<u64>,
    layer: LayerUse,
    hosts: Vec<String>,
    writable: Vec<String>,
    readable: Vec<String>,
    environment: Vec<String>,
    brokered: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawFetch {
    allow: Vec<String>,
    timeout_seconds: Option<u64>,
    size_mb: Option<u64>,
    ttl_hours: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawTools {
    list: Option<RawList>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum RawList {
    Word(String),
    Names(Vec<String>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawGuide {
    tokens: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawStats {
    hold_out: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawSearch {
    model: Option<String>,
    endpoint: Option<String>,
    key_file: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawRetention {
    run_days: Option<u32>,
    page_days: Option<u32>,
    event_days: Option<u32>,
    quota_mb: Option<u64>,
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
    let raw: RawConfig = toml::from_str(text).map_err(|error| {
        let full = unusable(path, error.to_string().trim_end());
        hint::meant(error.message()).into_iter().fold(full, CommandError::hint)
    })?;
    let megabytes = |mb: u64| mb.saturating_mul(1 << 20);
    let default = Limits::default();
    Ok(Config {
        limits: Limits {
            run_days: raw.retention.run_days.unwrap_or(default.run_days),
            page_days: raw.retention.page_days.unwrap_or(default.page_days),
            event_days: raw.retention.event_days.unwrap_or(default.event_days),
            quota_bytes: raw.retention.quota_mb.map_or(default.quota_bytes, megabytes),
        },
        sandbox: raw.sandbox,
        network: raw.network,
        run: RunConfig {
            timeout: Duration::from_secs(raw.run.timeout_seconds.unwrap_or(TIMEOUT_SECONDS).max(1)),
            output_bytes: megabytes(raw.run.output_mb.unwrap_or(OUTPUT_MB).max(1)),
            memory_bytes: raw.run.memory_mb.map(megabytes),
            layer: raw.run.layer,
            hosts: raw.run.hosts,
            writable: raw.run.writable,
            readable: raw.run.readable,
            environment: raw.run.environment,
            brokered: raw.run.brokered,
        },
        hold: hold(raw.hold),
        fetch: fetch(&raw.fetch).map_err(|problem| unusable(path, &problem))?,
        guide_tokens: raw.guide.tokens.map_or(GUIDE_TOKENS, |tokens| (tokens as usize).clamp(100, 4_000)),
        hold_out: hold_out(&raw.stats).map_err(|problem| unusable(path, &problem))?,
        tools: tools(raw.tools).map_err(|problem| unusable(path, &problem))?,
        embedding_model: embedding_model(raw.search).map_err(|problem| unusable(path, &problem))?,
        policy: raw.policy,
        team: raw.team,
    })
}

/// Converts the list of tools that clients are shown.
fn tools(raw: RawTools) -> Result<ListedTools, String> {
    match raw.list {
        None => Ok(ListedTools::default()),
        Some(RawList::Word(word)) => match word.as_str() {
            "core" => Ok(ListedTools::Core),
            "all" => Ok(ListedTools::All),
            other => Err(format!("[tools] list: `{other}` is neither `core`, `all` nor a list of names")),
        },
        Some(RawList::Names(names)) => Ok(ListedTools::Named(names)),
    }
}

/// Checks the share of sessions that are left alone.
fn hold_out(raw: &RawStats) -> Result<f64, String> {
    match raw.hold_out {
        share if (0.0..=0.5).contains(&share) => Ok(share),
        share => Err(format!("[stats] hold_out: {share} is not between 0 and 0.5")),
    }
}

/// Converts the settings for fetching pages.
fn fetch(raw: &RawFetch) -> Result<FetchConfig, String> {
    Ok(FetchConfig {
        guard: weir_fetch::Guard::allowing(&raw.allow).map_err(|error| format!("[fetch] allow: {error}"))?,
        allow: raw.allow.clone(),
        timeout: Duration::from_secs(raw.timeout_seconds.unwrap_or(FETCH_SECONDS).clamp(1, 600)),
        bytes: raw.size_mb.unwrap_or(FETCH_MB).clamp(1, 64) << 20,
        ttl: Duration::from_secs(raw.ttl_hours.unwrap_or(FETCH_HOURS).min(24 * 365) * 60 * 60),
    })
}

/// Converts the settings of the model for search by meaning.
fn embedding_model(raw: RawSearch) -> Result<EmbeddingModel, String> {
    match (raw.model.as_deref(), raw.endpoint) {
        (Some("off"), None) => Ok(EmbeddingModel::Off),
        (None | Some("built-in"), None) => Ok(EmbeddingModel::BuiltIn),
        (Some(folder), None) => Ok(EmbeddingModel::Folder(PathBuf::from(folder))),
        (None, Some(_)) => {
            Err("[search] has an endpoint but no model: set `model` to the name of one there".to_owned())
        }
        (Some(model), Some(url)) => {
            Ok(EmbeddingModel::Endpoint { url, model: model.to_owned(), key_file: raw.key_file })
        }
    }
}

fn unusable(path: &Path, detail: &str) -> CommandError {
    CommandError::new(ErrorKind::Config, format!("cannot use {}: {detail}", path.display()))
        .hint("`weir config show` lists every setting; `weir config edit` opens the file")
}
