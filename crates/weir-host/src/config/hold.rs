//! Which outputs the settings leave alone.

use std::path::Path;

use weir_clients::{Purpose, Tool, ToolCall};

use super::HoldConfig;

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
