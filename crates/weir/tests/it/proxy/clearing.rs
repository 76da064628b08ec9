//! What the proxy clears once the provider's cache has expired, and that nothing else changes what was sent.

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::harness::{Api, Proxy};
use super::{ANTHROPIC, Conversation, Format, RESPONSES, parsed, reference};
use crate::support::{Home, hooked, write};

/// As Claude Code sends it: with a cache of 5 minutes.
const CACHED: Format = Format {
    begin: concat!(
        r#"{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"#,
        r#""tools":[{"name":"Bash","input_schema":{"properties":{"command":{}}}}],"#,
        r#""messages":[ {"role":"user","content":"Read it"}"#
    ),
    ..ANTHROPIC
};

const FOR_AN_HOUR: Format = Format {
    begin: concat!(
        r#"{"model":"m","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],"#,
        r#""tools":[{"name":"Bash","input_schema":{"properties":{"command":{}}}}],"#,
        r#""messages":[ {"role":"user","content":"Read it"}"#
    ),
    ..ANTHROPIC
};

const MINUTE: u64 = 60;

/// A file that a model reads: too short to be held back, and too long for a reference.
fn page(number: usize) -> String {
    (1..=30).map(|line| format!("line {line} of page {number}, \"quoted\"\n")).collect()
}

fn reading(format: &'static Format, pages: usize) -> Conversation {
    let mut conversation = Conversation::new(format);
    (1..=pages).for_each(|number| read(&mut conversation, number));
    conversation
}

fn read(conversation: &mut Conversation, number: usize) {
    conversation.ran(&format!("toolu_{number}"), &format!("cat page-{number}"), &page(number));
}

fn switched_on() -> Home {
    let home = Home::new();
    write(&home.at(".config/weir/config.toml"), "[proxy]\nclear_when_cold = true\n");
    home
}

/// Returns the files that say when caches were used.
fn uses(home: &Home) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(home.path()).into_iter().flatten();
    all.map(walkdir::DirEntry::into_path).filter(|path| path.extension().is_some_and(|end| end == "used")).collect()
}

/// Makes it so long ago that caches were used. No proxy may run meanwhile.
fn pause(home: &Home, seconds: u64) {
    let uses = uses(home);
    assert!(!uses.is_empty());
    for path in uses {
        let file = File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }
}

fn results(body: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(body).unwrap();
    let messages = body["messages"].as_array().unwrap().iter();
    let results = messages.filter_map(|message| message["content"][0]["content"].as_str());
    results.map(str::to_owned).collect()
}

/// Checks which results are shown as they are, and that each of the others can be read.
fn check_shown(home: &Home, body: &str, shown_from: usize) {
    for (at, shown) in results(body).iter().enumerate() {
        let whole = page(at + 1);
        match at + 1 >= shown_from {
            true => assert_eq!(*shown, whole, "result {}", at + 1),
            false => {
                assert!(shown.contains("tokens left out after a pause, held as [ctx:"), "result {}: {shown}", at + 1);
                assert_eq!(home.ok(&["get", reference(shown), "--raw"]), whole);
            }
        }
    }
}

#[test]
fn old_results_become_references_once_the_cache_has_expired() {
    let (home, api) = (switched_on(), Api::start());
    let mut conversation = reading(&CACHED, 12);
    let proxy = Proxy::start(&home, &api.url());
    assert_eq!(conversation.send(&proxy, &api), conversation.body(), "nobody knows when the cache was used last");
    drop(proxy);

    pause(&home, 5 * MINUTE + 30);
    let proxy = Proxy::start(&home, &api.url());
    assert_eq!(conversation.send(&proxy, &api), conversation.body(), "the cache may still be warm");
    drop(proxy);

    pause(&home, 42 * MINUTE);
    let proxy = Proxy::start(&home, &api.url());
    let cold = conversation.send(&proxy, &api);
    check_shown(&home, &cold, 5);
    assert_eq!(conversation.send(&proxy, &api), cold, "the same request again");
    let tally = parsed(&proxy.send("GET /weir/stats", &[], b""));
    assert_eq!((&tally["cleared"], &tally["held"]), (&json!(4), &json!(0)));
    assert!(tally["cleared_before"].as_u64() > tally["cleared_after"].as_u64(), "{tally}");
    read(&mut conversation, 13);
    check_shown(&home, &conversation.send(&proxy, &api), 5);
    let (said, log) = proxy.end();
    assert!(said.contains("4 old results cleared after a pause: "), "{said}");
    assert!(log.contains("the cache had expired after 42 min: 4 old results became references"), "{log}");
    let stats = home.ok(&["stats", "--client", "proxy"]);
    assert!(stats.contains("cleared"), "{stats}");
    let told = json!({ "session_id": "s1", "cwd": home.project() });
    let line = hooked(home.weir_command(&["statusline"]), told.to_string().as_bytes());
    let line = String::from_utf8(line).unwrap();
    assert!(line.starts_with("proxy cleared 4 old results, "), "{line}");

    // What was cleared stays so, even if the user does not want it any more.
    write(&home.at(".config/weir/config.toml"), "");
    pause(&home, 42 * MINUTE);
    let proxy = Proxy::start(&home, &api.url());
    check_shown(&home, &conversation.send(&proxy, &api), 5);
}

#[test]
fn a_cache_for_an_hour_is_given_an_hour() {
    let (home, api) = (switched_on(), Api::start());
    let conversation = reading(&FOR_AN_HOUR, 12);
    conversation.send(&Proxy::start(&home, &api.url()), &api);
    pause(&home, 55 * MINUTE);
    assert_eq!(conversation.send(&Proxy::start(&home, &api.url()), &api), conversation.body());
    pause(&home, 62 * MINUTE);
    check_shown(&home, &conversation.send(&Proxy::start(&home, &api.url()), &api), 5);
}

#[test]
fn nothing_is_cleared_unless_the_user_wants_it_and_the_cache_is_known() {
    let api = Api::start();
    let home = Home::new();
    let conversation = reading(&CACHED, 12);
    conversation.send(&Proxy::start(&home, &api.url()), &api);
    assert!(uses(&home).is_empty(), "nothing is recorded for somebody who does not want it");
    let home = switched_on();
    for format in [&ANTHROPIC, &RESPONSES] {
        reading(format, 12).send(&Proxy::start(&home, &api.url()), &api);
    }
    assert!(uses(&home).is_empty(), "these requests do not say how long a cache lives");
}

#[test]
fn what_was_sent_stays_as_it_is_over_200_requests_but_for_pauses() {
    let (home, api) = (switched_on(), Api::start());
    let mut conversation = reading(&CACHED, 1);
    let mut proxy = Proxy::start(&home, &api.url());
    let mut before = conversation.send(&proxy, &api);
    let mut shown_from = 1;
    for number in 2..=200 {
        read(&mut conversation, number);
        let is_paused = number % 45 == 0;
        if is_paused {
            drop(proxy);
            pause(&home, 10 * MINUTE);
            proxy = Proxy::start(&home, &api.url());
            shown_from = number - 7;
        }
        let sent = conversation.send(&proxy, &api);
        if !is_paused {
            assert!(
                sent.starts_with(before.strip_suffix(CACHED.end).unwrap()),
                "request {number} changed what was sent"
            );
        }
        before = sent;
    }
    check_shown(&home, &before, shown_from);
    assert_eq!((results(&before).len(), shown_from), (200, 173));
}
