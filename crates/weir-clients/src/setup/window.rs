//! When a client compacts by itself, and how that is set. Dated: each was seen in the version that it names.

use serde_json::{Value, json};

use super::Setting;

/// When a client compacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The version in which this was seen.
    pub version: &'static str,
    /// The length at which it compacts unless it is told otherwise, in tokens.
    pub default: u64,
    /// When that is so.
    pub note: &'static str,
    /// The smallest length that can be set.
    pub smallest: u64,
    /// The setting.
    pub setting: Setting,
    /// What its value means.
    pub scale: Scale,
}

/// What the value of a setting means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The length and this many tokens more.
    Above(u64),
    /// A share of a window of this length.
    Share(u64),
}

impl Window {
    /// The value that has the client compact at a length; none below the smallest.
    pub fn value(&self, length: u64) -> Option<Value> {
        let value = match self.scale {
            Scale::Above(more) => json!(length + more),
            Scale::Share(window) => json!((length as f64 / window as f64 * 100.0).round() / 100.0),
        };
        (length >= self.smallest).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use crate::setup::find;

    #[test]
    fn a_length_becomes_what_the_client_reads() {
        let at = |name: &str, length| {
            let window = find(name).unwrap().window.unwrap();
            window.value(length).map(|value| window.setting.written(&value)).unwrap_or_default()
        };
        assert_eq!(at("claude", 80_000), "\"autoCompactWindow\": 113000 in ~/.claude/settings.json");
        assert_eq!(at("claude", 60_000), "");
        assert_eq!(at("codex", 80_000), "model_auto_compact_token_limit = 80000 at the top of ~/.codex/config.toml");
        let gemini = "\"model\": {\"compressionThreshold\": 0.08} in ~/.gemini/settings.json";
        assert_eq!(at("gemini", 80_000), gemini);
    }
}
