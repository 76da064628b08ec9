//! What the user is told of the provider's cache: at a prompt that finds it cold, and in the status line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{Session, hooked, write};

fn millis(minutes_ago: u64) -> u128 {
    let at = SystemTime::now() - Duration::from_secs(minutes_ago * 60 + 5);
    at.duration_since(UNIX_EPOCH).unwrap().as_millis()
}

/// Writes a transcript that ends with the last answer of a turn.
fn answered(session: &Session, minutes_ago: u64, hour: u64) {
    let prompt =
        json!({ "type": "user", "sessionId": "s1", "uuid": "u", "message": { "role": "user", "content": "Go" } });
    let usage = json!({
        "input_tokens": 4, "cache_read_input_tokens": 138_000, "cache_creation_input_tokens": 2_000, "output_tokens": 300,
        "cache_creation": { "ephemeral_1h_input_tokens": hour, "ephemeral_5m_input_tokens": 2_000 - hour },
    });
    let message = json!({
        "id": "m1", "role": "assistant", "model": "claude-opus-4-5", "stop_reason": "end_turn", "usage": usage,
        "content": [{ "type": "text", "text": "Done" }],
    });
    let at = i64::try_from(millis(minutes_ago)).unwrap();
    let row = json!({ "type": "assistant", "sessionId": "s1", "uuid": "a", "timestamp": at, "message": message });
    write(&session.transcript(), format!("{prompt}\n{row}\n"));
}

#[test]
fn a_prompt_that_finds_the_cache_cold_is_told_to_the_user_alone() {
    let session = Session::new();
    let prompt = || session.hook("UserPromptSubmit", json!({ "prompt": "Now count backwards" }));
    answered(&session, 42, 0);
    let said = "weir: after 42 min the cache has expired: this request writes about 140k tokens again. Next time, \
                /compact before the pause.";
    assert_eq!(prompt(), json!({ "systemMessage": said }));
    answered(&session, 42, 2_000);
    assert_eq!(prompt(), Value::Null, "this cache lives for an hour");
    answered(&session, 3, 0);
    assert_eq!(prompt(), Value::Null);
    write(&session.transcript(), "");
    assert_eq!(prompt(), Value::Null, "nothing is known");
    assert_eq!(session.faults(), "");
}

#[test]
fn the_status_line_says_when_the_cache_goes_cold() {
    let session = Session::new();
    let line = |cache: Value| {
        let window = json!({ "total_input_tokens": 140_000, "context_window_size": 200_000 });
        let told = json!({
            "session_id": "s1", "cwd": session.project(), "model": { "id": "claude-opus-4-5" }, "context_window": window,
            "transcript_path": session.transcript(), "prompt_cache": cache,
        });
        let said = String::from_utf8(hooked(session.weir(&["statusline"]), told.to_string().as_bytes())).unwrap();
        said.trim_end().to_owned()
    };
    let cache = |seconds: i64| {
        let expires = i64::try_from(millis(0) / 1_000).unwrap() + 5 + seconds;
        json!({ "warm": seconds > 0, "caching_observed": true, "expires_at": expires, "recache_tokens_if_cold": 139_000 })
    };
    let full = "140k of 200k (70 %)";
    answered(&session, 42, 0);
    // The least that a warm request costs is a read of all, and a cold one writes what has expired.
    assert_eq!(line(cache(-60)), format!("{full} · next from $0.87 · cold: next request writes 139k tokens"));
    assert_eq!(line(Value::Null), format!("{full} · next from $0.88 · cold: next request writes 140k tokens"));
    let soon = line(cache(150));
    assert!(soon.starts_with(&format!("{full} · next from $0.07 · cold in 2 min (")), "{soon}");
    assert!(soon.ends_with("), 139k tokens: /compact is cheap until then"), "{soon}");
    let warm = line(cache(1_800));
    assert!(warm.starts_with(&format!("{full} · next from $0.07 · /compact is cheap until ")), "{warm}");
    write(&session.transcript(), "");
    assert_eq!(line(Value::Null), format!("{full} · next from $0.07"));
}
