//! What every client must do. The files next to this one run the suite, each with its client.
//!
//! `weir setup` writes the hooks and the server. A script decides what a client is asked to do, and the checks look at
//! what its model sees.

use serde_json::{Value, json};

use super::hooked::{check_held, numbers};
use super::{Client, Outcome, TestHome, between, replayed, tax, text};

const GUIDE: &str = "Where this session stood";
const MAX_GUIDE_TOKENS: usize = 500;

/// A client, how it is started, and how its model calls its tools.
pub(super) struct TestedClient {
    /// The client's name for `weir setup` and among the installed clients.
    pub name: &'static str,
    pub environment: &'static [&'static str],
    /// Returns the arguments for a new session, or to continue the last one.
    pub arguments: fn(&str, Session) -> Vec<String>,
    /// Writes the client's own configuration, with the server `probe`.
    pub configure: fn(&TestHome),
    pub shell: fn(&str) -> Value,
    pub read: fn(&TestHome, &str) -> Value,
    pub write: fn(&TestHome, &str, &str) -> Value,
    pub mcp: fn(&str, &str, Value) -> Value,
    /// How the client tells its model that a command returned 3.
    pub returned_3: &'static str,
    /// Whether the output of a failed command is held back too. Otherwise, the client itself cuts it.
    pub holds_failures: bool,
    /// Whether a file of 80 KB is held back. Otherwise, the client itself shows less than Weir would.
    pub holds_large_files: bool,
    /// The number of tokens at which the client compacts.
    pub full: u64,
    /// For a client that compacts only what an earlier turn left: removes the hook at the start of the next turn, which
    /// would deliver the guide too.
    pub forget_start: Option<fn(&TestHome)>,
    /// Whether the client's hooks distinguish a resumed session from a new one, and a subagent's session from the
    /// user's.
    pub tells_sessions: bool,
    /// Answers to requests outside the conversation. `summary` is for a compaction.
    pub rules: fn() -> Vec<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Session {
    New,
    Resumed,
}

impl TestedClient {
    pub(super) fn place(&self) -> TestHome {
        let place = TestHome::new();
        (self.configure)(&place);
        place
    }

    pub(super) fn place_with_weir(&self) -> TestHome {
        let place = self.place();
        place.set_up(self.name);
        place
    }

    pub(super) fn run(&self, place: &TestHome, session: Session, prompt: &str, scenario: &Value) -> Outcome {
        place.write("scenario.json", &scenario.to_string());
        let _ = std::fs::remove_file(place.path("requests.jsonl"));
        let scenario = place.path("scenario.json").display().to_string();
        let arguments = (self.arguments)(prompt, session);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        place.run(&Client {
            name: self.name,
            scenario: Some(&scenario),
            environment: self.environment,
            arguments: &arguments,
        })
    }

    /// Has the model call one tool after the other in a new session. Returns the outcome, and what the model saw of
    /// each call.
    pub(super) fn call(&self, place: &TestHome, calls: &[Value]) -> (Outcome, Vec<String>) {
        let steps = calls.iter().map(|call| json!({ "tools": [call] })).chain([json!({ "text": "That is all." })]);
        let scenario = json!({ "rules": (self.rules)(), "steps": steps.collect::<Vec<_>>() });
        let outcome = self.run(place, Session::New, "Look at everything", &scenario);
        let seen = outcome.steps()[1..].iter().map(|seen| (*seen).to_owned()).collect();
        (outcome, seen)
    }
}

/// Checks that large outputs become digests of stored texts, small ones stay untouched, and no request costs more.
pub(super) fn check_outputs(client: &TestedClient) {
    let place = client.place_with_weir();
    let bare = client.place();
    let big = (1..=1500)
        .map(|n| format!("{n}: the quick brown fox jumps over dog number {}\n", n * 7919))
        .collect::<String>();
    let calls = |place: &TestHome| {
        place.write("project/big.txt", &big);
        place.write("project/small.txt", "three short words\n");
        [
            (client.shell)("seq 1 30000"),
            (client.shell)("echo a few words"),
            (client.shell)("echo no such table >&2; exit 3"),
            (client.shell)("seq 1 30000; echo error: out of memory; exit 7"),
            (client.mcp)("probe", "lines", json!({ "count": 3000 })),
            (client.read)(place, "big.txt"),
            (client.read)(place, "small.txt"),
        ]
    };
    let (outcome, seen) = client.call(&place, &calls(&place));
    let [counted, words, failed, failed_big, lines, big_file, small_file] = seen.as_slice() else { panic!("{seen:?}") };

    check_held(&place, counted, &numbers(30_000));
    assert!(counted.contains("164.9 KiB held as [ctx:"), "{counted}");
    check_untouched(words, "a few words");
    check_untouched(failed, "no such table");
    assert!(failed.contains(client.returned_3), "{failed}");
    if client.holds_failures {
        check_held(&place, failed_big, &(numbers(30_000) + "error: out of memory\n"));
    }
    let returned = ["exit 7", "Exit Code: 7"].iter().any(|words| failed_big.contains(words));
    assert!(returned && failed_big.contains("out of memory") && failed_big.len() < 9_000, "{failed_big}");
    let probed: Vec<String> = (1..=3000).map(|number| format!("probe line {number} of 3000")).collect();
    check_held(&place, lines, &probed.join("\n"));
    // Some clients on their own show only a part of a large file, or none, which is less than Weir would show.
    match client.holds_large_files {
        true => check_held(&place, big_file, &big),
        false => assert!(!big_file.contains("[ctx:") && big_file.len() < 60_000, "{big_file}"),
    }
    check_untouched(small_file, "three short words");
    place.assert_no_faults();

    let reference = reference(counted);
    let part = json!({ "ref": reference, "lines": "29990-29999" });
    let (_, got) = client.call(&place, &[(client.mcp)("weir", "ctx_get", part)]);
    assert!(got[0].contains("29990\n29991\n") && got[0].contains(reference), "{}", got[0]);
    assert_eq!(got[0].matches("[ctx:").count(), 1, "what is ours is not held again: {}", got[0]);

    let (without, seen) = client.call(&bare, &calls(&bare));
    assert!(!seen.iter().any(|seen| seen.contains("[ctx:")), "there is nobody to hold anything back");
    assert_eq!(outcome.count(), without.count(), "no extra request");
    tax::check(client.name, &outcome, &without);
    replayed::check(&bare, client.name, 7);
    check_imported(&place);
}

/// Checks that events captured by hooks are not imported again from the client's own transcript.
fn check_imported(place: &TestHome) {
    let imported = place.weir(&["import", "--json"]);
    let imported: Value = serde_json::from_slice(&imported.stdout).unwrap_or_else(|_| panic!("{imported:?}"));
    assert!(imported["sessions"] != 0, "{imported}");
    // Not every client passes the model's last message to hooks.
    let mut kinds = imported["kinds"].clone();
    kinds.as_object_mut().unwrap().remove("said");
    let history = place.weir(&["history", "--limit", "60", "--budget", "9000"]);
    assert_eq!(kinds, json!({}), "{imported}\n{}", String::from_utf8_lossy(&history.stdout));
}

/// Checks that the model gets the guide once after a compaction, and again when the session is resumed.
pub(super) fn check_guide(client: &TestedClient) {
    let place = client.place_with_weir();
    let mut first = vec![
        json!({ "tools": [(client.write)(&place, "parser.txt", "strict\n")] }),
        json!({ "tools": [(client.shell)("echo error: expected a comma; exit 2")] }),
    ];
    let then = [
        json!({ "tools": [(client.shell)("echo one")], "usage": client.full }),
        json!({ "tools": [(client.shell)("echo two")] }),
        json!({ "tools": [(client.shell)("echo three")] }),
        json!({ "text": "It does not parse yet." }),
    ];
    let run = |session: Session, prompt: &str, steps: &[Value]| {
        client.run(&place, session, prompt, &json!({ "rules": (client.rules)(), "steps": steps }))
    };
    let (compacted, last) = match client.forget_start {
        None => {
            first.extend(then);
            (run(Session::New, "Make the parser strict about commas", &first), "Make the parser strict about commas")
        }
        Some(forget) => {
            first.push(json!({ "text": "It is strict." }));
            let before = run(Session::New, "Make the parser strict about commas", &first);
            assert!(guides(&before).is_empty(), "nothing was compacted");
            forget(&place);
            let compacted = run(Session::Resumed, "Now the quoted fields", &then);
            place.set_up(client.name);
            (compacted, "Now the quoted fields")
        }
    };
    let asked: Vec<&str> = compacted.requests.iter().map(|request| text(&request["why"])).collect();
    let summary = asked.iter().position(|why| *why == "rule:summary").unwrap_or_else(|| panic!("{asked:?}"));
    let told = guides(&compacted);
    let [(after, guide)] = told.as_slice() else { panic!("{told:#?} {asked:?}") };
    assert!((summary + 1..=summary + 3).contains(after), "request {after} of {asked:?}");
    check_told(guide, last);

    let resumed = run(Session::Resumed, "Go on", &[json!({ "text": "Now it parses." })]);
    if client.tells_sessions {
        let told = guides(&resumed);
        let [(_, guide)] = told.as_slice() else { panic!("{told:#?}") };
        check_told(guide, last);
    }
    place.assert_no_faults();
}

/// Checks that a guide is short, and begins with the last request.
fn check_told(guide: &str, last: &str) {
    assert!(guide.len() / 3 <= MAX_GUIDE_TOKENS, "{guide}");
    let facts = [last, "parser.txt", "expected a comma"].map(|fact| guide.find(fact));
    assert!(facts[0].is_some() && facts.iter().all(|fact| *fact >= facts[0]), "{facts:?} in {guide}");
}

/// Returns the guides that the model was given, each with the number of the request in which it first appeared. Later
/// requests of the conversation repeat it.
fn guides(outcome: &Outcome) -> Vec<(usize, String)> {
    let mut told = Vec::new();
    for (number, request) in outcome.requests.iter().enumerate() {
        let body = request["body"].to_string();
        let found: Vec<&str> = body.split(GUIDE).skip(1).collect();
        if found.len() > told.len() {
            // To the end of the text that contains the guide.
            let guide = found[told.len()].replace("\\\"", "'");
            told.push((number, guide.split('"').next().unwrap_or_default().to_owned()));
        }
    }
    told
}

fn check_untouched(seen: &str, words: &str) {
    assert!(seen.contains(words) && !seen.contains("[ctx:"), "{seen}");
}

fn reference(seen: &str) -> &str {
    between(seen, "[ctx:", "]")
}

/// Returns the end of a subagent for clients in which it simply sends a message.
pub(super) fn says() -> Value {
    json!({ "text": COUNTED })
}

/// The subagent's last message.
pub(super) const COUNTED: &str = "They are counted.";

/// Checks that a subagent's output is held back like the session's, and that nothing is added to its prompt.
pub(super) fn check_subagent(client: &TestedClient, task: impl Fn(&str) -> Value, ends: &Value) {
    let prompt = "Count the sheep of the subagent";
    let mut rules = (client.rules)();
    let counts = json!({ "tools": [(client.shell)("echo many sheep; seq 1 30000; echo no sheep left")] });
    // Without Weir, clients show the beginning or the end.
    let seen = "many sheep|no sheep left";
    rules.push(json!({ "name": "ends", "when": { "last": seen }, "reply": ends }));
    rules.push(json!({ "name": "begins", "when": { "last": prompt }, "reply": counts }));
    let steps = json!([{ "tools": [task(prompt)] }, { "text": "All are counted." }]);
    let scenario = json!({ "rules": rules, "steps": steps });

    let place = client.place_with_weir();
    // A new session of the user's would be told of a note.
    let note = "Sheep are counted at night";
    let noted = place.weir(&["note", note]);
    assert!(noted.status.success(), "{}", String::from_utf8_lossy(&noted.stderr));
    let with = client.run(&place, Session::New, "Have them counted", &scenario);
    let without = client.run(&client.place(), Session::New, "Have them counted", &scenario);
    assert_eq!(with.count(), without.count(), "no extra request");
    let [begins] = with.ruled("begins")[..] else { panic!("one subagent") };
    let [sent, asked] = [&begins["body"], &with.requests[0]["body"]].map(Value::to_string);
    assert!(asked.contains(note), "the user's session was told nothing");
    assert!(!sent.contains(GUIDE) && (!sent.contains(note) || !client.tells_sessions), "{}", begins["last"]);
    let [ends] = with.ruled("ends")[..] else { panic!("one subagent") };
    check_held(&place, text(&ends["last"]), &format!("many sheep\n{}no sheep left", numbers(30_000)));
    assert!(with.steps()[1].contains(COUNTED), "{}", with.steps()[1]);
    place.assert_no_faults();
}
