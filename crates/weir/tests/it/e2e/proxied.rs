//! Claude Code and Codex through `weir proxy`, without hooks: what they sent, and what reached the model.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{CODEX_CONFIG, Client, Outcome, TestHome, WEIR, claude, text};

/// The number of files in the folder that the model lists: more than 2,000 tokens, and less than clients cut by
/// themselves.
const FILES: usize = 300;

fn listing() -> String {
    (1..=FILES).map(|number| format!("q7f3-{number:04}-x9z2.txt\n")).collect()
}

fn fill(place: &TestHome) {
    for name in listing().lines() {
        place.write(&format!("project/data/{name}"), "");
    }
}

/// A request, as the client sent it and as it reached the model.
struct Exchange {
    sent: String,
    arrived: String,
    /// The results that were held back, each with its replacement.
    held: Vec<(String, String)>,
}

fn run(place: &TestHome, client: &Client<'_>) -> (Outcome, Vec<Exchange>) {
    let outcome = place.run_with(client, &["--proxy", WEIR]);
    let sent: BTreeMap<String, String> = place
        .read("sent.jsonl")
        .lines()
        .map(|line| {
            let sent: Value = serde_json::from_str(line).unwrap();
            (sent["number"].to_string(), text(&sent["raw"]).to_owned())
        })
        .collect();
    let exchanges = outcome.requests.iter().filter(|request| request["why"] != "stray").map(|request| {
        let (arrived, sent) = (text(&request["raw"]).to_owned(), sent[text(&request["recorded"])].clone());
        let mut held = Vec::new();
        let [before, after]: [Value; 2] = [&sent, &arrived].map(|body| serde_json::from_str(body).unwrap());
        differences(&before, &after, &mut held);
        Exchange { sent, arrived, held }
    });
    let exchanges = exchanges.collect();
    (outcome, exchanges)
}

/// Checks that the listing was held back, and that all of it is stored. A client may run commands in a terminal.
fn check_listed(place: &TestHome, seen: &str) {
    assert_eq!(place.whole(seen).replace('\r', "").trim_end(), listing().trim_end(), "{seen}");
}

/// Finds the strings in which two bodies differ. Nothing else may differ.
fn differences(before: &Value, after: &Value, found: &mut Vec<(String, String)>) {
    match (before, after) {
        (Value::String(before), Value::String(after)) if before != after => {
            found.push((before.clone(), after.clone()));
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before.len(), after.len());
            before.iter().zip(after).for_each(|(before, after)| differences(before, after, found));
        }
        (Value::Object(before), Value::Object(after)) => {
            let names = |object: &serde_json::Map<String, Value>| object.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(before), names(after));
            before.values().zip(after.values()).for_each(|(before, after)| differences(before, after, found));
        }
        _ => assert_eq!(before, after),
    }
}

/// Checks that requests differ in the held results alone, and that the proxy keeps what they have in common.
#[expect(clippy::print_stdout, reason = "the figures are wanted where the tests are run by hand")]
fn check(client: &str, messages: &str, exchanges: &[Exchange]) {
    let mut decided: BTreeMap<String, String> = BTreeMap::new();
    for Exchange { sent, arrived, held } in exchanges {
        let mut expected = sent.clone();
        for (before, after) in held {
            assert!(after.contains("held as [ctx:") && after.len() < before.len(), "{after}");
            let first = decided.entry(before.clone()).or_insert_with(|| after.clone());
            assert_eq!(first, after, "a replacement changed");
            expected = expected.replace(&json!(before).to_string(), &json!(after).to_string());
        }
        assert_eq!(expected, *arrived, "something besides the held results differs");
    }
    for (before, after) in &decided {
        let literal = json!(before).to_string();
        assert!(exchanges.iter().all(|exchange| !exchange.arrived.contains(&literal)), "sent in full as well: {after}");
    }
    for pair in exchanges.windows(2) {
        let [first, second] = pair else { continue };
        let [sent, arrived] = [(&first.sent, &second.sent), (&first.arrived, &second.arrived)]
            .map(|(first, second)| common_messages(messages, first, second));
        assert_eq!(sent, arrived, "the proxy changed what two requests have in common");
        println!("{client}: {} of {} messages as before, byte for byte", arrived.same, arrived.before);
    }
    let tokens = |body: fn(&Exchange) -> &str| -> usize {
        exchanges.iter().map(|exchange| weir_tokens::count(body(exchange))).sum()
    };
    let (without, with) = (tokens(|exchange| &exchange.sent), tokens(|exchange| &exchange.arrived));
    println!("{client}: {} requests, {without} tokens without the proxy, {with} with it", exchanges.len());
    assert!(with < without);
}

/// How many messages two requests have in common.
#[derive(Debug, PartialEq, Eq)]
struct CommonMessages {
    before: usize,
    /// Those with which the second begins too, byte for byte.
    same: usize,
}

fn common_messages(name: &str, first: &str, second: &str) -> CommonMessages {
    let [before, after] = [first, second].map(|body| messages_of(name, body));
    let same = before.iter().zip(&after).take_while(|(before, after)| before == after).count();
    CommonMessages { before: before.len(), same }
}

/// Returns the messages of a request as they are written, without the marks that say where to cache: those move from
/// request to request.
fn messages_of(name: &str, body: &str) -> Vec<String> {
    let request: BTreeMap<String, &RawValue> = serde_json::from_str(body).unwrap();
    let messages: Vec<&RawValue> = serde_json::from_str(request[name].get()).unwrap();
    messages.iter().map(|message| without_marks(message.get())).collect()
}

fn without_marks(message: &str) -> String {
    let mut parts = message.split(",\"cache_control\":{");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('}').map_or("", |(_, rest)| rest))
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn claude_code_sends_less_and_repeats_itself_exactly() {
    let place = claude::place();
    fill(&place);
    let client = Client {
        name: "claude",
        scenario: Some("claude_proxied.json"),
        environment: claude::ENVIRONMENT,
        arguments: &[
            "--output-format=json", "--mcp-config=../servers.json", "--dangerously-skip-permissions", "--print",
            "Do it",
        ],
    };
    let (outcome, exchanges) = run(&place, &client);
    check("claude", "messages", &exchanges);
    let [_, listed, got, small, lines, failed] = outcome.steps()[..] else { panic!("{}", outcome.steps().len()) };
    check_listed(&place, listed);
    assert!(got.contains("q7f3-0299-x9z2.txt"), "{got}");
    assert!(small.contains("SMALL-OUTPUT") && !small.contains("ctx:"), "{small}");
    assert!(place.whole(lines).ends_with("probe line 1000 of 1000"), "{lines}");
    assert!(failed.contains("Exit code 3\n") && place.whole(failed).contains("error: it broke"), "{failed}");
    let said = place.read("proxy.stdout");
    assert!(said.contains(", 5 tool results, 3 held back: "), "{said}");
    place.assert_no_faults();
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn codex_sends_less_and_repeats_itself_exactly() {
    let place = TestHome::new();
    fill(&place);
    place.write("home/.codex/config.toml", CODEX_CONFIG.split("[mcp_servers.weir]").next().unwrap());
    let client = Client {
        name: "codex",
        scenario: Some("codex_proxied.json"),
        environment: &[],
        arguments: &[
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--disable=plugins",
            "--config=model_providers.scripted.base_url=\"http://127.0.0.1:{PORT}/v1\"",
            "Do it",
        ],
    };
    let (outcome, exchanges) = run(&place, &client);
    check("codex", "input", &exchanges);
    let [_, listed, got, small, failed] = outcome.steps()[..] else { panic!("{}", outcome.steps().len()) };
    check_listed(&place, listed);
    assert!(got.contains("q7f3-0299-x9z2.txt"), "{got}");
    assert!(small.contains("SMALL-OUTPUT") && !small.contains("ctx:"), "{small}");
    assert!(failed.contains("exited with code 3") && place.whole(failed).contains("error: it broke"), "{failed}");
    let said = place.read("proxy.stdout");
    assert!(said.contains(", 4 tool results, 2 held back: "), "{said}");
    place.assert_no_faults();
}
