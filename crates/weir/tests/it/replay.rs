//! Replays of recorded sessions, whose figures must match those worked out by hand.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Home, said, text, write};

/// A home with transcripts, in which `weir replay` runs.
struct Transcripts(Home);

impl Transcripts {
    fn new() -> Self {
        Self(Home::outside_tmp())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.at(name)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.path(name), text);
    }

    fn weir(&self, arguments: &[&str]) -> Output {
        self.0.weir_in(self.0.path(), &[&["replay"], arguments].concat())
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.weir(arguments);
        assert!(output.status.success(), "{}", said(&output));
        text(&output.stdout)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).unwrap()
    }
}

/// Returns the output of a command: too long to be shown in full, with no two lines alike.
fn printed() -> String {
    (0..6_000).map(|number| format!("value_{number:05} is {}\n", number * 7_919 % 10_007)).collect()
}

/// The identifier that the model uses three requests later.
const LATER: &str = "It must be value_03456";
/// The output tokens of each of four requests.
const WRITTEN: [u64; 4] = [10, 11, 10, 11];
/// The input tokens of each request.
const WINDOW: u64 = 100_000;

fn rows(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn claude() -> String {
    claude_with(&printed(), LATER)
}

/// Returns a session with this output, of which this is said later.
fn claude_with(printed: &str, later: &str) -> String {
    let row =
        |kind: &str, message: Value| json!({ "type": kind, "sessionId": "s", "version": "2.1.39", "message": message });
    let said = |request: usize, part: Value| {
        let usage = json!({ "cache_creation_input_tokens": WINDOW, "output_tokens": WRITTEN[request] });
        row("assistant", json!({ "id": format!("m{request}"), "model": "new", "content": [part], "usage": usage }))
    };
    let words = |text: &str| json!({ "type": "text", "text": text });
    let mut result =
        row("user", json!({ "content": [{ "type": "tool_result", "tool_use_id": "t", "content": printed }] }));
    result["toolUseResult"] = json!({ "stdout": printed, "stderr": "", "interrupted": false, "isImage": false });
    rows(&[
        row("user", json!({ "content": "look" })),
        said(0, json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "list" } })),
        result,
        said(1, words("hm")),
        said(2, words("hm")),
        said(3, words(later)),
    ])
}

fn codex() -> String {
    let item = |payload: Value| json!({ "type": "response_item", "payload": payload });
    let used = |request: usize| {
        let used = json!({ "input_tokens": WINDOW, "cached_input_tokens": 0, "output_tokens": WRITTEN[request] });
        json!({ "type": "event_msg", "payload": { "type": "token_count", "info": { "last_token_usage": used } } })
    };
    let words =
        |role: &str, text: &str| item(json!({ "type": "message", "role": role, "content": [{ "text": text }] }));
    rows(&[
        json!({ "type": "session_meta", "payload": { "id": "s", "cli_version": "0.98.0" } }),
        words("user", "look"),
        item(
            json!({ "type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"list\"}", "call_id": "t" }),
        ),
        used(0),
        item(
            json!({ "type": "function_call_output", "call_id": "t", "output": format!("Wall time: 1\nOutput:\n{}", printed()) }),
        ),
        words("assistant", "hm"),
        used(1),
        words("assistant", "hm"),
        used(2),
        words("assistant", LATER),
        used(3),
    ])
}

/// Returns the messages of an OpenCode session, and their parts.
fn opencode() -> Vec<Value> {
    let part = |id: usize, message: &str, kind: &str, more: Value| {
        let mut part = json!({ "id": format!("p{id:02}"), "sessionID": "s", "messageID": message, "type": kind });
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part
    };
    let used = |request: usize| json!({ "tokens": { "input": 0, "output": WRITTEN[request], "cache": { "read": 0, "write": WINDOW } } });
    let state = json!({ "status": "completed", "input": { "command": "list" }, "output": printed(), "metadata": { "exit": 0 } });
    let words = |text: &str| json!({ "text": text });
    vec![
        json!({ "id": "m1", "sessionID": "s", "role": "user" }),
        json!({ "id": "m2", "sessionID": "s", "role": "assistant", "modelID": "new" }),
        part(1, "m1", "text", words("look")),
        part(2, "m2", "tool", json!({ "tool": "bash", "callID": "t", "state": state })),
        part(3, "m2", "step-finish", used(0)),
        part(4, "m2", "text", words("hm")),
        part(5, "m2", "step-finish", used(1)),
        part(6, "m2", "text", words("hm")),
        part(7, "m2", "step-finish", used(2)),
        part(8, "m2", "text", words(LATER)),
        part(9, "m2", "step-finish", used(3)),
    ]
}

fn gemini() -> String {
    let said = |request: usize, content: &str, calls: Value| {
        let tokens = json!({ "input": WINDOW, "cached": 0, "output": WRITTEN[request] });
        json!({ "id": request.to_string(), "type": "gemini", "content": content, "toolCalls": calls, "tokens": tokens, "model": "new" })
    };
    let result = json!([{ "functionResponse": { "response": { "output": format!("Output: {}", printed()) } } }]);
    let call = json!({ "id": "t", "name": "run_shell_command", "args": { "command": "list" }, "result": result, "status": "success" });
    let messages = json!([
        { "id": "u", "type": "user", "content": "look" },
        said(0, "", json!([call])),
        said(1, "hm", json!([])),
        said(2, "hm", json!([])),
        said(3, LATER, json!([])),
    ]);
    serde_json::to_string_pretty(&json!({ "sessionId": "s", "projectHash": "h", "messages": messages })).unwrap()
}

/// Checks the figures of the only session against its tokens, the relative prices and the client's tool descriptions.
fn check(session: &Value, client: &str, input_price: f64, descriptions: f64) {
    let number = |key: &str| session[key].as_f64().unwrap_or_else(|| panic!("{key} of {session}"));
    assert_eq!(session["client"], client);
    let counts = ["requests", "results", "touched", "used", "visible", "asked_again"].map(number);
    assert_eq!(counts, [4.0, 1.0, 1.0, 1.0, 0.0, 1.0], "{session}");
    let (tokens, less) = (number("tokens"), number("tokens_less"));
    assert!(tokens > 30_000.0 && less > tokens * 0.8, "{session}");
    let cost = 4.0 * WINDOW as f64 * input_price + 5.0 * 42.0;
    // Written once, and read by the two requests in between.
    let saved = less * (input_price + 2.0 * 0.1);
    // One more request: the window is read, the call is written, and the output is shown after all.
    let again = WINDOW as f64 * 0.1 + 150.0 * 5.0 + tokens * input_price;
    let own = descriptions * (input_price + 4.0 * 0.1);
    let expected = [cost, saved / cost, -again / cost, -own / cost, (saved - again - own) / cost];
    let found = ["cost", "saved", "asked_again_share", "descriptions", "net"].map(number);
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} and not {expected} in {session}");
    }
    assert_eq!(session["unseen"][0]["names"], json!(["value_03456"]));
    assert_eq!(session["faults"], json!([]));
}

#[test]
fn every_client_is_judged_by_the_same_rules_where_it_keeps_its_transcripts() {
    let home = Transcripts::new();
    home.write(".claude/projects/-p/s.jsonl", &claude());
    home.write(".codex/sessions/2026/02/01/rollout-s.jsonl", &codex());
    home.write(".gemini/tmp/h/chats/session-s.json", &gemini());
    home.write(".gemini/tmp/h/logs.json", "[]");
    for row in opencode() {
        let (id, message) = (row["id"].as_str().unwrap(), row["messageID"].as_str());
        let name =
            message.map_or_else(|| format!("message/s/{id}.json"), |message| format!("part/{message}/{id}.json"));
        home.write(&format!(".local/share/opencode/storage/{name}"), &serde_json::to_string_pretty(&row).unwrap());
    }
    let report = home.json(&[]);
    let sessions = report["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 4);
    for (client, input_price, descriptions) in
        [("claude", 1.25, 250.0), ("codex", 1.25, 647.0), ("opencode", 1.25, 679.0), ("gemini", 1.0, 901.0)]
    {
        let session = sessions.iter().find(|session| session["client"] == client).unwrap();
        check(session, client, input_price, descriptions);
    }
    assert_eq!((&report["all"]["touched"], &report["tools"]["shell"]["used"]), (&json!(4), &json!(4)));
    assert_eq!(
        (&report["levers"]["digest"]["touched"], &report["levers"]["beginning"]["touched"]),
        (&json!(4), &json!(0))
    );
    assert_eq!(report["skipped_rows"], 0);
    // Nothing of the user's is written, and nothing is left behind.
    assert!(!home.path(".local/share/weir").exists());
    let left: Vec<_> = std::fs::read_dir(home.path(".cache/weir")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_person_reads_a_sentence_a_chart_and_what_was_missed() {
    let home = Transcripts::new();
    home.write("s.jsonl", &claude());
    let check = |shown: &str, parts: &[&str]| {
        for part in parts {
            assert!(shown.contains(part), "{part:?} is not in\n{shown}");
        }
    };
    let short = home.ok(&["s.jsonl"]);
    check(
        &short,
        &[
            "In 1 session (Claude Code 1) with 4 requests, Weir would have ",
            "\ns  ",
            "█",
            "░",
            "\n1 of 1 tool results would have been shown shorter: ",
            "\nOf 1 name or number that the model later used of them, it would still have seen 0; ",
            "Used later and not visible:\n  shell list\n    ",
            "1 of 1 used later not visible: value_03456",
            "1 session has a model without a known price",
            "`--full` adds the tables",
        ],
    );
    assert!(short.lines().count() <= 24 && !short.contains("tool descriptions  "), "{short}");
    let full = home.ok(&["s.jsonl", "--full"]);
    let tables = ["\nshell ", "\ntool descriptions ", "Tokens of tool descriptions in every request: Claude Code 250."];
    check(&full, &tables);
    assert!(!home.ok(&["s.jsonl", "--show", "0"]).contains("Used later"));
}

/// In the session, a digest costs more than it saves, because the next request needs what it hides. A higher limit would
/// have shown the whole output.
#[test]
fn a_setting_is_named_if_a_replay_with_it_saves_more() {
    let home = Transcripts::new();
    // The client itself shows all of it.
    let printed: String = printed().lines().take(1_300).map(|line| format!("{line}\n")).collect();
    let session = claude_with(&printed, "It must be value_00700");
    let lines: Vec<String> = session.lines().filter(|line| !line.contains("\"hm\"")).map(str::to_owned).collect();
    home.write("s.jsonl", &lines.join("\n"));
    let shown = home.ok(&["s.jsonl"]);
    assert!(shown.contains("\nSettings worth changing, in [hold]"), "{shown}");
    let line = shown.lines().find(|line| line.starts_with("  unclear_tokens = 16000 "));
    let line = line.unwrap_or_else(|| panic!("{shown}"));
    assert!(line.ends_with(" of the price, with 1 name fewer hidden"), "{line}");
    // What it names is what a replay with it shows.
    let net = || home.json(&["s.jsonl"])["all"]["net"].as_f64().unwrap();
    let before = net();
    home.write(".config/weir/config.toml", "[hold]\nunclear_tokens = 16000\n");
    let gain = (net() - before) * 100.0;
    let named: f64 = line.split_once('+').and_then(|(_, rest)| rest.split(' ').next()?.parse().ok()).unwrap();
    assert!((gain - named).abs() < 0.1, "{gain} is not in {line}");
    assert!(!home.ok(&["s.jsonl"]).contains("Settings worth changing"));
}

/// A compaction ends the repeated reading, and uses after it do not count against a result before it.
#[test]
fn what_comes_after_a_compaction_is_another_matter() {
    let home = Transcripts::new();
    let mut lines: Vec<String> = claude().lines().map(str::to_owned).collect();
    let compacted =
        json!({ "type": "user", "sessionId": "s", "isCompactSummary": true, "message": { "content": "gone" } });
    lines.insert(lines.len() - 1, compacted.to_string());
    home.write("s.jsonl", &lines.join("\n"));
    let report = home.json(&["s.jsonl"]);
    let session = &report["sessions"][0];
    let number = |key: &str| session[key].as_f64().unwrap();
    assert_eq!(["touched", "used", "asked_again"].map(number), [1.0, 0.0, 0.0], "{session}");
    // Now the requests are 0 to 2: written once, and read once more.
    let saved = number("tokens_less") * (1.25 + 0.1) / number("cost");
    assert!((number("saved") - saved).abs() < 1e-5, "{session}");
    assert!(session["guides"]["tokens"].as_u64().is_some_and(|tokens| tokens > 0 && tokens <= 900), "{session}");
}

#[test]
fn what_a_fork_repeats_is_counted_once() {
    let home = Transcripts::new();
    let named = |(number, row): (usize, &str)| {
        let mut row: Value = serde_json::from_str(row).unwrap();
        row["uuid"] = json!(format!("row {number}"));
        row
    };
    let parent: Vec<Value> = claude().lines().enumerate().map(named).collect();
    let mut own = parent[3].clone();
    (own["uuid"], own["message"]["id"]) = (json!("own"), json!("own"));
    home.write("t/parent.jsonl", &rows(&parent));
    home.write("t/fork.jsonl", &rows(&[parent, vec![own]].concat()));
    let report = home.json(&["t"]);
    let sum = |key: &str| {
        let sessions = report["sessions"].as_array().unwrap().iter();
        sessions.map(|session| session[key].as_f64().unwrap()).sum::<f64>()
    };
    assert_eq!(["requests", "results", "touched"].map(sum), [5.0, 1.0, 1.0], "{report}");
    assert_eq!(report["copied_requests"], 4);
    assert!(home.ok(&["t"]).contains("4 requests that forks repeat are counted once."));
}

#[test]
fn a_price_makes_money_of_it() {
    let home = Transcripts::new();
    home.write("s.jsonl", &claude());
    let price = "date = \"2026-01-02\"\n[[model]]\nnames = [\"new\"]\ninput = 4\ncache_write = 5\ncache_read = 0.4\noutput = 20\n";
    home.write(".config/weir/prices.toml", price);
    let report = home.json(&["s.jsonl"]);
    let cost = (4.0 * WINDOW as f64 * 5.0 + 42.0 * 20.0) / 1e6;
    assert!((report["sessions"][0]["usd"]["cost"].as_f64().unwrap() - cost).abs() < 1e-9, "{report}");
    assert_eq!(report["prices_of"], "2026-01-02");
    home.write("other.toml", "date = \"2026-01-03\"\nbuilt_in = false\n");
    assert_eq!(home.json(&["s.jsonl", "--prices", "other.toml"])["sessions"][0]["usd"], Value::Null);
    home.write("bad.toml", "date = 1\n");
    let output = home.weir(&["s.jsonl", "--prices", "bad.toml"]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("cannot use the prices in "), "{}", text(&output.stderr));
}

#[test]
fn what_cannot_be_played_is_said() {
    let home = Transcripts::new();
    let output = home.weir(&[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("There are no transcripts to replay."), "{}", text(&output.stdout));
    home.write(".local/share/opencode/opencode.db", "");
    let shown = text(&home.weir(&[]).stdout);
    assert!(shown.contains("opencode.db: no such table: session"), "{shown}");
    assert_eq!(home.weir(&["nowhere"]).status.code(), Some(3));
    home.write("t/a.jsonl", &format!("{}{{\"broken\n7\n", claude()));
    home.write("t/b.jsonl", "{\"some\": \"rows\"}\n");
    home.write("t/c.jsonl", &codex());
    home.write("t/notes.txt", "none");
    let shown = home.ok(&["t"]);
    for part in ["2 sessions (", "2 rows were skipped", "1 file is not a transcript."] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    let report = home.json(&["t", "--newest", "1"]);
    assert_eq!((report["sessions"].as_array().unwrap().len(), &report["left_out"]), (1, &json!(2)));
}

#[test]
fn a_compressed_transcript_is_read_as_any_other() {
    let home = Transcripts::new();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(codex().as_bytes()).unwrap();
    let whole = gzip.finish().unwrap();
    std::fs::write(home.path("s.jsonl.gz"), &whole).unwrap();
    check(&home.json(&["s.jsonl.gz"])["sessions"][0], "codex", 1.25, 647.0);
    // A truncated transcript is not read at all, since half a session would be judged wrongly.
    std::fs::write(home.path("half.jsonl.gz"), &whole[..whole.len() / 2]).unwrap();
    let output = home.weir(&["half.jsonl.gz"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("Cannot read "), "{}", text(&output.stdout));
}

#[test]
fn a_session_without_usage_has_no_price_and_no_share_of_one() {
    let home = Transcripts::new();
    home.write("t/known.jsonl", &claude());
    let known = home.json(&["t"])["all"].clone();
    home.write("t/unknown.jsonl", &claude().replace("\"usage\"", "\"unused\""));
    let all = &home.json(&["t"])["all"];
    // References are random, and one may have a token more than another.
    let differ = |name: &str| (all[name].as_f64().unwrap() - known[name].as_f64().unwrap()).abs();
    assert!(differ("net") < 1e-4 && differ("saved") < 1e-4, "{all}\n{known}");
    assert_eq!(all["touched"], 2, "{all}");
    let shown = home.ok(&["t"]);
    assert!(shown.contains("1 session does not say how many tokens the requests had"), "{shown}");
    let shown = home.ok(&["t/unknown.jsonl"]);
    assert!(shown.contains(", Weir would have changed their cost by an unknown amount.\n"), "{shown}");
}

/// A transcript may name any path. The file there today is not what the session read, and must not be opened.
#[test]
fn no_file_is_opened_that_a_session_read() {
    let home = Transcripts::new();
    home.write("trap.txt", "value_03456\n");
    let path = home.path("trap.txt");
    let input = json!({ "file_path": path }).to_string();
    let text = claude().replace("\"Bash\"", "\"Read\"").replace("{\"command\":\"list\"}", &input);
    let mut session: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    session[2]["toolUseResult"] = json!({ "type": "text", "file": { "filePath": path, "content": printed() } });
    home.write("s.jsonl", &rows(&session));
    let report = home.json(&["s.jsonl"]);
    let read = &report["tools"]["read"];
    assert_eq!((&read["touched"], &read["used"], &read["visible"]), (&json!(1), &json!(1), &json!(0)), "{report}");
}
