//! What the status line says of the provider's cache of the conversation. Invariant: nothing is said that is not known
//! from the client, or from the end of the transcript.

use serde_json::Value;
use weir_clients::setup::NewestRequest;
use weir_core::Timestamp;
use weir_operations::stats::account::short;

/// A shorter conversation is not worth a word, in tokens.
const MIN_TOKENS: u64 = 20_000;
/// The shortest conversation that is worth compacting, in tokens.
const MIN_COMPACTED_TOKENS: u64 = 60_000;
/// From this time before it expires on, the cache will soon be cold, in milliseconds.
const SOON: i64 = 5 * 60_000;

/// The cache of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PromptCache {
    expires: Timestamp,
    /// The tokens that the next request writes if it has.
    tokens: u64,
    /// Whether the model has finished its turn. It is not known if there is no transcript.
    is_waiting: Option<bool>,
}

impl PromptCache {
    /// Reads what the client says of the cache or, if it says nothing, what follows from the newest request.
    pub(super) fn find(told: &Value, newest: Option<NewestRequest>) -> Option<Self> {
        let is_waiting = newest.map(|newest| !newest.is_running);
        let own = &told["prompt_cache"];
        if own.is_object() {
            let expires = Timestamp(own["expires_at"].as_i64()?.checked_mul(1_000)?);
            let tokens = own["recache_tokens_if_cold"].as_u64()?;
            return (own["caching_observed"] == true).then_some(Self { expires, tokens, is_waiting });
        }
        let newest = newest?;
        Some(Self { expires: newest.expires(), tokens: newest.window, is_waiting })
    }

    /// Returns the tokens that the next request writes to the cache again, if it has expired.
    pub(super) fn cold(&self, now: Timestamp) -> Option<u64> {
        (now >= self.expires && self.tokens >= MIN_TOKENS).then_some(self.tokens)
    }

    /// Says it in a few words. `clock` writes a time as the user's clock shows it.
    pub(super) fn said(&self, now: Timestamp, clock: impl Fn(Timestamp) -> String) -> Option<String> {
        let tokens = short(self.tokens);
        if self.cold(now).is_some() {
            return Some(format!("cold: next request writes {tokens} tokens"));
        }
        let left = self.expires.0.saturating_sub(now.0);
        // While the model works, each request renews the cache.
        if self.tokens < MIN_TOKENS || left <= 0 || self.is_waiting == Some(false) {
            return None;
        }
        let is_long = self.is_waiting == Some(true) && self.tokens >= MIN_COMPACTED_TOKENS;
        // The client may show the line for longer than it is new, so it has the time too.
        let at = clock(self.expires);
        match (left <= SOON, is_long) {
            (true, true) => {
                Some(format!("cold in {} ({at}), {tokens} tokens: /compact is cheap until then", minutes(left)))
            }
            (true, false) => Some(format!("cold in {} ({at}), {tokens} tokens", minutes(left))),
            (false, true) => Some(format!("/compact is cheap until {at}")),
            (false, false) => None,
        }
    }
}

fn minutes(millis: i64) -> String {
    match millis / 60_000 {
        0 => "less than a minute".to_owned(),
        minutes => format!("{minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp(1_794_960_000_000);

    fn newest(minutes_ago: i64, is_running: bool) -> NewestRequest {
        let answered = Timestamp(NOW.0 - minutes_ago * 60_000);
        NewestRequest { answered, millis: 5 * 60_000, window: 140_300, is_running }
    }

    /// As Claude Code 2.1.325 sends it, with other figures.
    fn told(seconds_left: i64, tokens: u64) -> Value {
        json!({ "prompt_cache": {
            "warm": seconds_left > 0, "caching_observed": true, "ttl": "1h", "expires_at": NOW.0 / 1_000 + seconds_left,
            "requests": 2, "misses": 0, "expected_rebuilds": 0, "hit_ratio": 0.31, "cache_write_tokens": 0,
            "miss_recache_tokens": 0, "last_miss_at": null, "last_miss_cause": null, "miss_causes": {},
            "recache_tokens_if_cold": tokens,
        } })
    }

    fn check(told: &Value, newest: Option<NewestRequest>, expected: &str) {
        let said = PromptCache::find(told, newest).and_then(|cache| cache.said(NOW, |_| "14:32".to_owned()));
        assert_eq!(said.unwrap_or_default(), expected, "{told} {newest:?}");
    }

    #[test]
    fn what_the_client_says_comes_first() {
        check(&told(-1, 140_300), None, "cold: next request writes 140k tokens");
        check(&told(150, 140_300), None, "cold in 2 min (14:32), 140k tokens");
        check(&told(30, 140_300), None, "cold in less than a minute (14:32), 140k tokens");
        check(
            &told(150, 140_300),
            Some(newest(30, false)),
            "cold in 2 min (14:32), 140k tokens: /compact is cheap until then",
        );
        check(&told(1_800, 140_300), Some(newest(0, false)), "/compact is cheap until 14:32");
        check(&told(1_800, 140_300), None, "");
    }

    #[test]
    fn without_it_the_transcript_says_when_the_cache_was_used() {
        check(&Value::Null, Some(newest(6, false)), "cold: next request writes 140k tokens");
        check(&Value::Null, Some(newest(3, false)), "cold in 2 min (14:32), 140k tokens: /compact is cheap until then");
    }

    #[test]
    fn what_is_not_known_or_does_not_matter_is_not_said() {
        check(&Value::Null, None, "");
        check(&Value::Null, Some(newest(3, true)), "");
        check(&told(150, 140_300), Some(newest(0, true)), "");
        check(&told(-1, 9_000), None, "");
        let mut unobserved = told(-1, 140_300);
        unobserved["prompt_cache"]["caching_observed"] = json!(false);
        check(&unobserved, Some(newest(6, false)), "");
        unobserved["prompt_cache"]["expires_at"] = Value::Null;
        check(&unobserved, Some(newest(6, false)), "");
    }
}
