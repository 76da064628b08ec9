//! When clients compact by themselves, and how that is set: dated data.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::CommandError;

/// One client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setting {
    /// The version in which this was seen.
    pub version: String,
    /// The length at which it compacts unless it is told otherwise, in tokens.
    pub default: u64,
    /// When that is so.
    pub note: String,
    /// The smallest length that can be set.
    pub smallest: u64,
    /// The setting, with a place for the value.
    setting: String,
    /// How much larger than the length the value is.
    #[serde(default)]
    above: u64,
    /// The window that the value is a share of.
    window: Option<u64>,
}

impl Setting {
    /// What to write to have it compact at a length; none below the smallest.
    pub(super) fn at(&self, length: u64) -> Option<String> {
        if length < self.smallest {
            return None;
        }
        let share = self.window.map_or(0.0, |window| length as f64 / window as f64);
        let set = self.setting.replace("{at}", &length.to_string());
        Some(set.replace("{above}", &(length + self.above).to_string()).replace("{share}", &format!("{share:.2}")))
    }
}

/// Every client of which it is known, by its name.
pub(super) fn all() -> Result<BTreeMap<String, Setting>, CommandError> {
    toml::from_str(include_str!("windows.toml")).map_err(|error| CommandError::broken(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_becomes_what_the_client_reads() {
        let all = all().unwrap();
        let at = |name: &str, length| all[name].at(length).unwrap_or_default();
        assert_eq!(at("claude", 80_000), "\"autoCompactWindow\": 113000 in ~/.claude/settings.json");
        assert_eq!(at("claude", 60_000), "");
        assert_eq!(at("codex", 80_000), "model_auto_compact_token_limit = 80000 at the top of ~/.codex/config.toml");
        let gemini = "\"model\": {\"compressionThreshold\": 0.08} in ~/.gemini/settings.json";
        assert_eq!(at("gemini", 80_000), gemini);
    }
}
