//! Costs with other windows, from recorded sessions.

use serde_json::{Value, json};

use crate::support::{Home, text, write};

/// Returns a session whose window grows by `grown` tokens with every request.
pub(crate) fn session(requests: u64, grown: u64) -> String {
    let row = |request: u64| {
        let window = 30_000 + request * grown;
        let new = if request == 0 { window } else { grown };
        let usage = json!({
            "cache_creation_input_tokens": new, "cache_read_input_tokens": window - new, "output_tokens": 100,
        });
        let content = json!([{ "type": "text", "text": "on" }]);
        let message =
            json!({ "id": format!("m{request}"), "model": "claude-opus-5-5", "content": content, "usage": usage });
        json!({ "type": "assistant", "sessionId": "s", "message": message }).to_string() + "\n"
    };
    (0..requests).map(row).collect()
}

fn window(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let output = home.weir_in(home.path(), &[&["window"], arguments].concat());
    (output.status.code(), text(&output.stdout))
}

#[test]
fn a_long_session_is_cheaper_in_a_smaller_window() {
    let home = Home::new();
    write(&home.at(".claude/projects/p/long.jsonl"), session(300, 1_500));
    write(&home.at(".claude/projects/p/short.jsonl"), session(5, 1_500));
    let (code, said) = window(&home, &["--against", "967000"]);
    assert_eq!(code, Some(0), "{said}");
    for text in [
        "1 session of 30 requests or more: 300 requests, the longest window 478,500 tokens",
        "Cheapest at 100,000 tokens: −",
        "\"autoCompactWindow\": 133000 in ~/.claude/settings.json",
        "assumed, since these sessions have none",
        "1 shorter session was left out",
        "too small for 1 session",
    ] {
        assert!(said.contains(text), "no {text} in:\n{said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 200), "{said}");
    let data: Value = serde_json::from_str(&window(&home, &["--json"]).1).unwrap();
    assert_eq!((&data["least"], &data["against"]), (&json!(100_000), &json!(167_000)));
    let lengths = data["lengths"].as_array().unwrap();
    let cost = |at: usize| lengths[at]["cost"].as_f64().unwrap();
    assert!(cost(2) < cost(4) && cost(4) < cost(8), "{data}");
}

#[test]
fn a_request_of_unknown_length_is_not_one_of_length_0() {
    let home = Home::new();
    let path = ".claude/projects/p/long.jsonl";
    write(&home.at(path), session(100, 50));
    let whole = window(&home, &["--json"]).1;
    // Between the requests are some whose usage nobody has reported.
    let gap = |(number, row): (usize, &str)| {
        let message = json!({ "id": format!("gap {number}"), "model": "claude-opus-5-5", "content": [] });
        format!("{row}\n{}\n", json!({ "type": "assistant", "sessionId": "s", "message": message }))
    };
    write(&home.at(path), session(100, 50).lines().enumerate().map(gap).collect::<String>());
    assert_eq!(window(&home, &["--json"]).1, whole);

    let unknown = session(40, 50).replace("\"usage\"", "\"unused\"");
    write(&home.at(path), &unknown);
    let (code, said) = window(&home, &[]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("1 session does not say how many tokens the requests had"), "{said}");
}

#[test]
fn a_cache_for_an_hour_has_its_own_price() {
    let home = Home::new();
    let path = ".claude/projects/p/long.jsonl";
    let cost = || {
        let data: Value = serde_json::from_str(&window(&home, &["--json"]).1).unwrap();
        data["lengths"][8]["cost"].as_f64().unwrap()
    };
    write(&home.at(path), session(40, 50));
    let plain = cost();
    let for_an_hour = |row: &str| {
        let mut row: Value = serde_json::from_str(row).unwrap();
        let usage = &mut row["message"]["usage"];
        usage["cache_creation"] = json!({ "ephemeral_1h_input_tokens": usage["cache_creation_input_tokens"] });
        format!("{row}\n")
    };
    write(&home.at(path), session(40, 50).lines().map(for_an_hour).collect::<String>());
    // Written once each: 30,000 tokens, and 50 with each of 39 requests, at 2.0 in place of 1.25 times the input.
    let more = 31_950.0 * 0.75;
    assert!((cost() - plain - more).abs() < 1e-6, "{} is not {}", cost(), plain + more);
}

#[test]
fn without_a_long_session_there_is_nothing_to_say() {
    let home = Home::new();
    let (code, said) = window(&home, &[]);
    assert_eq!((code, said.contains("There is no session of 30 requests or more")), (Some(3), true), "{said}");
}
