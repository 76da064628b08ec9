//! How long a provider keeps the cache of a client's conversations, for clients that have settings for it. Each entry
//! names the version in which the settings were seen to change requests.

use weir_core::Timestamp;

use super::Setting;

/// A client's settings for how long the cache lives. Their values are `5m` and `1h`.
#[derive(Debug, Clone, Copy)]
pub struct CacheSettings {
    /// The version in which they were observed.
    pub version: &'static str,
    /// The setting for main conversations.
    pub main: Setting,
    /// The setting for subagents and other requests in the background.
    pub subagents: Setting,
    /// Returns the newest request of a conversation, given the last rows of its transcript.
    pub newest: fn(&[u8]) -> Option<NewestRequest>,
}

/// The newest request of a conversation, as its transcript tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewestRequest {
    pub answered: Timestamp,
    /// How long the provider keeps the cache after its last use, in milliseconds.
    pub millis: i64,
    /// The tokens of the conversation, with the answer.
    pub window: u64,
    /// Whether the model goes on without the user.
    pub is_running: bool,
}

impl NewestRequest {
    pub fn expires(&self) -> Timestamp {
        Timestamp(self.answered.0.saturating_add(self.millis))
    }

    /// Returns how long nobody has used the cache, in minutes, if that is longer than it lives.
    pub fn idle_minutes(&self, now: Timestamp) -> Option<i64> {
        (now > self.expires()).then(|| now.0.saturating_sub(self.answered.0) / 60_000)
    }
}

#[cfg(test)]
mod tests {
    use crate::recipe as find;

    #[test]
    fn a_lifetime_is_written_as_the_client_reads_it() {
        let cache = find("claude").unwrap().cache.unwrap();
        let written = |setting: super::Setting| setting.written(&serde_json::json!("1h"));
        assert_eq!(written(cache.main), "\"promptCacheTtl\": \"1h\" in ~/.claude/settings.json");
        assert_eq!(written(cache.subagents), "\"subagentPromptCacheTtl\": \"1h\" in ~/.claude/settings.json");
    }
}
