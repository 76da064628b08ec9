//! What is held back from the output of a client's own tools.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use weir_clients::{Purpose, Tool, ToolCall};

/// What is held back from the output of a client's own tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldConfig {
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

impl HoldConfig {
    /// Returns the size up to which an output is left alone, in tokens.
    pub fn limit(&self, purpose: Purpose) -> usize {
        match purpose {
            Purpose::AskedFor => self.asked_tokens,
            Purpose::ByProduct => self.by_product_tokens,
            Purpose::Flood => self.flood_tokens,
            Purpose::Unclear | Purpose::Settled => self.unclear_tokens,
        }
    }

    /// Whether the user wants the output of a call left alone.
    pub fn leaves_alone(&self, used: &ToolCall, folder: &Path) -> bool {
        let command = match &used.tool {
            Tool::Shell { command } => command.trim(),
            tool => tool.path().unwrap_or_default(),
        };
        let fits = |pattern: &str, text: &str| match pattern.strip_suffix('*') {
            Some(beginning) => text.starts_with(beginning),
            None => text == pattern,
        };
        let is_meant = |rule: &String| match rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) {
            Some((tool, pattern)) => fits(tool, &used.name) && fits(pattern, command),
            None => fits(rule, &used.name),
        };
        self.off.iter().any(is_meant) || self.off_folders.iter().any(|off| folder.starts_with(off))
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
