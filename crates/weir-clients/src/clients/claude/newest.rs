//! The newest request of a conversation, from the end of its transcript.

use serde_json::Value;

use crate::format::time;
use crate::json;
use crate::setup::NewestRequest;
use crate::wire::text;

const MINUTES: i64 = 5 * 60_000;
const HOUR: i64 = 60 * 60_000;
/// Why an answer ends if the model waits for the user then.
const ENDS: [&str; 3] = ["end_turn", "stop_sequence", "max_tokens"];

/// Returns the newest request, given the last rows of a transcript; the first of them may be cut. `None` if they do not
/// say how long the provider keeps its cache, or if the conversation was compacted since.
pub(super) fn newest(rows: &[u8]) -> Option<NewestRequest> {
    let mut newest: Option<NewestRequest> = None;
    let mut is_running = false;
    for row in rows.split(|byte| *byte == b'\n').rev() {
        let Ok(row) = json::parse(row) else { continue };
        if row["isSidechain"] == true || row["isMeta"] == true {
            continue;
        }
        if row["isCompactSummary"] == true || row["subtype"] == "compact_boundary" {
            return None;
        }
        let message = &row["message"];
        if row["type"] == "user" && message.is_object() {
            is_running |= newest.is_none();
        }
        if row["type"] != "assistant" || message["model"] == "<synthetic>" || !message["usage"].is_object() {
            continue;
        }
        let request = match newest {
            Some(request) => request,
            None => NewestRequest {
                answered: time(&row["timestamp"])?,
                millis: 0,
                window: length(&message["usage"]),
                is_running: is_running || !ENDS.contains(&text(&message["stop_reason"])),
            },
        };
        match lifetime(&message["usage"]) {
            Some(millis) => return Some(NewestRequest { millis, ..request }),
            // It only read from the cache. An earlier one wrote what it read.
            None => newest = Some(request),
        }
    }
    None
}

/// Returns the tokens that the conversation has with the answer.
fn length(usage: &Value) -> u64 {
    let keys = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
    keys.iter().map(|key| crate::format::session::tokens(&usage[*key])).sum()
}

/// Returns how long the cache lives that a request wrote to. Older versions do not say.
fn lifetime(usage: &Value) -> Option<i64> {
    let is_written = |key: &str| usage["cache_creation"][key].as_u64().is_some_and(|tokens| tokens > 0);
    match is_written("ephemeral_1h_input_tokens") {
        true => Some(HOUR),
        false => is_written("ephemeral_5m_input_tokens").then_some(MINUTES),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(minute: u8, stop: &str, written: u64, hour: u64) -> String {
        let usage = json!({
            "input_tokens": 10, "cache_read_input_tokens": 90_000, "cache_creation_input_tokens": written,
            "cache_creation": { "ephemeral_1h_input_tokens": hour, "ephemeral_5m_input_tokens": written - hour },
            "output_tokens": 500,
        });
        let message = json!({ "id": "m", "model": "claude-opus-5-5", "stop_reason": stop, "usage": usage });
        let at = format!("2026-11-18T10:{minute:02}:00.000Z");
        json!({ "type": "assistant", "timestamp": at, "message": message }).to_string()
    }

    fn check(rows: &[String], expected: Option<(i64, u64, bool)>) {
        let found = newest(rows.join("\n").as_bytes());
        assert_eq!(found.map(|found| (found.millis, found.window, found.is_running)), expected, "{rows:?}");
    }

    #[test]
    fn the_end_of_a_transcript_tells_of_the_newest_request() {
        let user = || json!({ "type": "user", "message": { "content": "go on" } }).to_string();
        let cut = || "e\":1}".to_owned();
        check(&[cut(), user(), answer(1, "end_turn", 1_000, 0)], Some((MINUTES, 91_510, false)));
        check(&[answer(1, "end_turn", 1_000, 1_000)], Some((HOUR, 91_510, false)));
        check(&[answer(1, "tool_use", 1_000, 0)], Some((MINUTES, 91_510, true)));
        check(&[answer(1, "end_turn", 1_000, 0), user()], Some((MINUTES, 91_510, true)));
        check(&[answer(1, "tool_use", 1_000, 1_000), answer(2, "end_turn", 0, 0)], Some((HOUR, 90_510, false)));
        check(&[answer(1, "end_turn", 0, 0)], None);
        let summary = json!({ "type": "user", "isCompactSummary": true, "message": { "content": "all" } });
        check(&[answer(1, "end_turn", 1_000, 0), summary.to_string()], None);
        check(&[cut()], None);
    }
}
