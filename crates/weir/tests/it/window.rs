//! Costs with other windows, from recorded sessions.

use serde_json::{Value, json};

use crate::support::{Home, text, write};

fn request(number: u64, window: u64, new: u64) -> String {
    let usage = json!({
        "cache_creation_input_tokens": new, "cache_read_input_tokens": window - new, "output_tokens": 100,
    });
    let content = json!([{ "type": "text", "text": "on" }]);
    let message = json!({ "id": format!("m{number}"), "model": "claude-opus-5-5", "content": content, "usage": usage });
    json!({ "type": "assistant", "sessionId": "s", "cwd": "/srv/app", "message": message }).to_string() + "\n"
}

/// Returns a session that begins with some tokens, and whose window grows by `grown` with every request.
fn session_from(begins: u64, requests: u64, grown: u64) -> String {
    let row = |number: u64| request(number, begins + number * grown, if number == 0 { begins } else { grown });
    (0..requests).map(row).collect()
}

/// Returns a session whose window grows by `grown` tokens with every request.
pub(crate) fn session(requests: u64, grown: u64) -> String {
    session_from(30_000, requests, grown)
}

/// Gives the messages of a session names of their own.
fn named(name: &str, rows: &str) -> String {
    rows.replace("\"id\":\"m", &format!("\"id\":\"{name}"))
}

fn window(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let output = home.weir_in(home.path(), &[&["window"], arguments].concat());
    (output.status.code(), text(&output.stdout))
}

/// Returns the figures of Claude Code.
fn study(home: &Home, arguments: &[&str]) -> Value {
    let data: Value = serde_json::from_str(&window(home, &[arguments, &["--json"]].concat()).1).unwrap();
    data["clients"].as_array().unwrap().iter().find(|study| study["client"] == "claude").unwrap().clone()
}

fn at(study: &Value, length: u64) -> Value {
    study["lengths"].as_array().unwrap().iter().find(|row| row["length"] == length).unwrap_or(&Value::Null).clone()
}

/// Writes as many copies of a session as it takes for a recommendation.
fn write_sessions(home: &Home, number: usize, rows: &str) {
    for nth in 0..number {
        write(&home.at(&format!(".claude/projects/p/{nth}.jsonl")), named(&format!("a{nth}-"), rows));
    }
}

#[test]
fn long_sessions_are_cheaper_in_a_smaller_window() {
    let home = Home::new();
    write_sessions(&home, 5, &session(300, 1_500));
    write(&home.at(".claude/projects/p/short.jsonl"), named("x", &session(5, 1_500)));
    let (code, said) = window(&home, &[]);
    assert_eq!(code, Some(0), "{said}");
    for text in [
        "Claude Code: 5 sessions of 30 requests or more, 1,500 requests, the longest window 478,500 tokens",
        "They were never compacted",
        "Compact at 140,000: −",
        "cheaper for 5 of 5 sessions, dearer for none",
        "weir setup claude --window 140000\n      writes \"autoCompactWindow\": 173000 in ~/.claude/settings.json",
        "assumed, since these sessions have none",
        "1 shorter session was left out",
    ] {
        assert!(said.contains(text), "no {text} in:\n{said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 200), "{said}");
    assert!(!said.contains("60,000"), "the client cannot be set to it:\n{said}");
    let study = study(&home, &[]);
    assert_eq!((&study["recommended"], &study["now"]), (&json!(140_000), &Value::Null));
    let cost = |length: u64| at(&study, length)["cost"].as_f64().unwrap();
    assert!(cost(140_000) < cost(167_000) && cost(167_000) < cost(967_000), "{study}");
    assert!((cost(967_000) - study["cost"].as_f64().unwrap()).abs() < 1e-6 * cost(967_000), "as it was: {study}");
}

#[test]
fn what_a_compaction_cannot_remove_is_learned_from_the_other_sessions() {
    let home = Home::new();
    write_sessions(&home, 4, &session(60, 500));
    // A recording that begins in the middle of a conversation: all of its first request is cached.
    let middle = (0..60).map(|number| request(number, 113_000 + number * 500, if number == 0 { 40 } else { 500 }));
    write(&home.at(".claude/projects/p/middle.jsonl"), named("b", &middle.collect::<String>()));
    let study = study(&home, &[]);
    let prefixes: Vec<u64> =
        study["sessions"].as_array().unwrap().iter().map(|session| session["prefix"].as_u64().unwrap()).collect();
    assert_eq!(prefixes, [30_000; 5]);
    let with = at(&study, 100_000);
    assert_eq!((&with["too_small_for"], &with["compactions"]), (&json!(0), &json!(1)), "{with}");
}

#[test]
fn sessions_are_compared_with_where_they_were_compacted_or_with_what_is_set() {
    let home = Home::new();
    let summary = json!({
        "type": "user", "sessionId": "s", "isCompactSummary": true,
        "message": { "role": "user", "content": "The work so far." },
    });
    let second: String = (100..200)
        .map(|number| request(number, 50_000 + (number - 100) * 1_000, if number == 100 { 20_000 } else { 1_000 }))
        .collect();
    write(&home.at(".claude/projects/p/s.jsonl"), session(100, 1_200) + &format!("{summary}\n") + &second);
    let (_, said) = window(&home, &[]);
    assert!(said.contains("They were compacted 1 time, at 148,800 to 148,800 tokens"), "{said}");
    assert!(said.contains("measured at 1 compaction") || said.contains("partly assumed: 1 compaction"), "{said}");
    let study = study(&home, &[]);
    assert_eq!(study["sessions"][0]["compacted_at"], json!([148_800]));
    // Where the client compacts by itself, this session would have cost more, so the advice says so.
    assert!(at(&study, 967_000)["change"].as_f64().unwrap() > 0.02, "{study}");
    assert!(said.contains("Claude Code 2.1.325 compacts at 967,000 unless it is set"), "{said}");

    write(&home.at(".claude/settings.json"), "{\"autoCompactWindow\": 133000}");
    let set = self::study(&home, &[]);
    assert_eq!(set["now"], 100_000);
    assert!(at(&set, 100_000)["change"].as_f64().unwrap().abs() < 1e-9, "{set}");
    let (_, said) = window(&home, &[]);
    assert!(said.contains("100,000 (now)") && said.contains("where it compacts now"), "{said}");
}

#[test]
fn a_length_that_saves_little_is_not_recommended() {
    let home = Home::new();
    write_sessions(&home, 4, &session(300, 1_500));
    assert!(window(&home, &[]).1.contains("these sessions are too few to tell"));
    write_sessions(&home, 6, &session(45, 1_500));
    let (_, said) = window(&home, &[]);
    assert!(said.contains("Keep what you have: no other length is clearly cheaper."), "{said}");
    assert!(!said.contains("weir setup claude --window"), "{said}");
    assert_eq!(study(&home, &[])["recommended"], Value::Null);
}

#[test]
fn a_length_that_is_too_small_for_one_session_is_not_excluded_for_all() {
    let home = Home::new();
    write_sessions(&home, 12, &session_from(20_000, 200, 1_500));
    let heavy = named("b", &session_from(75_000, 40, 1_500)).replace("/srv/app", "/srv/heavy");
    write(&home.at(".claude/projects/q/heavy.jsonl"), heavy);
    let study = study(&home, &[]);
    let row = at(&study, 100_000);
    assert_eq!((&row["too_small_for"], &row["dearer"], &row["cheaper"]), (&json!(1), &json!(1), &json!(12)), "{row}");
    let recommended = study["recommended"].as_u64().unwrap();
    assert!(recommended <= 120_000, "{study}");
    let said = window(&home, &[]).1;
    assert!(said.contains("cheaper for 12 of 13 sessions, dearer for 1 (the worst +"), "{said}");
    // What is recommended can be set.
    home.ok(&["setup", "claude", "--window", &recommended.to_string(), "--yes"]);
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
    let cost = || study(&home, &[])["cost"].as_f64().unwrap();
    write(&home.at(path), session(40, 50));
    let plain = cost();
    let for_an_hour = |row: &str| {
        let mut row: Value = serde_json::from_str(row).unwrap();
        let usage = &mut row["message"]["usage"];
        usage["cache_creation"] = json!({ "ephemeral_1h_input_tokens": usage["cache_creation_input_tokens"] });
        format!("{row}\n")
    };
    write(&home.at(path), session(40, 50).lines().map(for_an_hour).collect::<String>());
    // Written once each: 30,000 tokens, and 50 with each of 39 requests, at 2.0 in place of 1.25 times the input,
    // which costs $4 for a million.
    let more = 31_950.0 * 0.75 * 4e-6;
    assert!((cost() - plain - more).abs() < 1e-9, "{} is not {}", cost(), plain + more);
}

#[test]
fn without_a_long_session_there_is_nothing_to_say() {
    let home = Home::new();
    let (code, said) = window(&home, &[]);
    assert_eq!((code, said.contains("There is no session of 30 requests or more")), (Some(3), true), "{said}");
}
