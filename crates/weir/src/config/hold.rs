//! What is held back from the output of a client's own tools.

use std::path::PathBuf;

use serde::Deserialize;

/// What is held back from the output of a client's own tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HoldConfig {
    /// The largest output, in tokens, that is shown in full if it was asked for.
    pub asked_tokens: usize,
    /// The same limit for by-products: what builds, tests and other work print along the way.
    pub by_product_tokens: usize,
    /// The same limit for web pages and results of MCP tools.
    pub flood_tokens: usize,
    /// The same limit for commands that are in no list.
    pub unclear_tokens: usize,
    /// Whether lines that the conversation has already been shown are left out.
    pub repeats: bool,
    /// Tools and commands whose output is left alone, such as `Read`, `Bash(npm test*)` or `mcp__github__*`.
    pub off: Vec<String>,
    /// Folders in which all output is left alone.
    pub off_folders: Vec<PathBuf>,
}

impl Default for HoldConfig {
    fn default() -> Self {
        Self {
            asked_tokens: 12_000,
            by_product_tokens: 2_000,
            flood_tokens: 2_000,
            unclear_tokens: 8_000,
            repeats: true,
            off: Vec::new(),
            off_folders: Vec::new(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawHold {
    asked_tokens: Option<u32>,
    by_product_tokens: Option<u32>,
    flood_tokens: Option<u32>,
    unclear_tokens: Option<u32>,
    repeats: Option<bool>,
    off: Vec<String>,
    off_folders: Vec<PathBuf>,
}

/// Fills in the defaults for what is held back.
pub(super) fn hold(raw: RawHold) -> HoldConfig {
    let default = HoldConfig::default();
    // Holding back a text that is shorter than a digest would save nothing.
    let tokens = |given: Option<u32>, usual: usize| given.map_or(usual, |tokens| (tokens as usize).max(1_000));
    HoldConfig {
        asked_tokens: tokens(raw.asked_tokens, default.asked_tokens),
        by_product_tokens: tokens(raw.by_product_tokens, default.by_product_tokens),
        flood_tokens: tokens(raw.flood_tokens, default.flood_tokens),
        unclear_tokens: tokens(raw.unclear_tokens, default.unclear_tokens),
        repeats: raw.repeats.unwrap_or(default.repeats),
        off: raw.off,
        off_folders: raw.off_folders,
    }
}
