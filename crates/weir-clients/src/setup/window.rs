//! When a client compacts by itself, and how to change that. Each entry names the version in which it was observed.

use serde_json::{Value, json};

use super::Setting;

/// The point at which a client compacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The version in which this was observed.
    pub version: &'static str,
    /// The length at which it compacts by default, in tokens.
    pub default: u64,
    /// The condition under which the default applies.
    pub note: &'static str,
    /// The smallest length that can be set, in tokens.
    pub smallest: u64,
    /// The setting for the length.
    pub setting: Setting,
    /// The unit of the setting's value.
    pub scale: Scale,
}

/// The unit of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The length in tokens plus this many.
    Above(u64),
    /// A fraction of a window of this many tokens.
    Share(u64),
}

impl Window {
    /// Returns the value that makes the client compact at a length, or `None` below the smallest.
    pub fn value(&self, length: u64) -> Option<Value> {
        let value = match self.scale {
            Scale::Above(more) => json!(length + more),
            Scale::Share(window) => json!((length as f64 / window as f64 * 100.0).round() / 100.0),
        };
        (length >= self.smallest).then_some(value)
    }

    /// Returns the length at which the client compacts with this value of the setting, or `None` if it is not one.
    pub fn length(&self, value: &Value) -> Option<u64> {
        match self.scale {
            Scale::Above(more) => value.as_u64()?.checked_sub(more),
            Scale::Share(window) => {
                let length = value.as_f64()? * window as f64;
                (length >= 0.0 && length.is_finite()).then(|| length.round() as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::recipe as find;

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

    #[test]
    fn what_the_client_reads_becomes_a_length() {
        for (name, length) in [("claude", 80_000), ("codex", 80_000), ("gemini", 524_288)] {
            let window = find(name).unwrap().window.unwrap();
            assert_eq!(window.value(length).and_then(|value| window.length(&value)), Some(length), "{name}");
            assert_eq!(window.length(&serde_json::json!("no number")), None, "{name}");
        }
    }
}
