//! Import of past sessions from transcripts: once each, into the project that they belong to, with their original
//! times.
#![expect(clippy::disallowed_methods, reason = "an import is killed after some milliseconds")]

mod engram;
mod own_export;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Home, text, write};

impl Home {
    fn write_rows(&self, name: &str, rows: &[Value]) {
        write(&self.at(name), rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    }

    fn import(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[&["import"], arguments, &["--json"]].concat())).unwrap()
    }

    /// Returns the content of the log, except when and where it was imported.
    fn events(&self) -> Vec<String> {
        let exported = self.ok(&["export"]);
        let rows = exported.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let event = |row: Value| format!("{} {} {}", row["at"], row["kind"], row["text"]);
        let mut events: Vec<String> = rows.filter(|row| row["type"] == "event").map(event).collect();
        events.sort();
        events
    }
}

/// A session of Claude Code with a request, a failure, its fix and a commit.
struct Session {
    folder: String,
    key: &'static str,
    begun: jiff::Timestamp,
    rows: Vec<Value>,
}

impl Session {
    fn new(folder: &Path, key: &'static str) -> Self {
        let begun = "2023-03-04T10:00:00Z".parse().unwrap();
        Self { folder: folder.to_str().unwrap().to_owned(), key, begun, rows: Vec::new() }
    }

    fn row(&mut self, kind: &str, message: Value) -> &mut Value {
        let number = self.rows.len() as i64;
        let at = self.begun + jiff::SignedDuration::from_secs(number * 10);
        self.rows.push(json!({
            "type": kind, "sessionId": self.key, "uuid": format!("{}-{number}", self.key), "cwd": self.folder,
            "version": "2.1.39", "gitBranch": "login", "timestamp": at.to_string(), "message": message,
        }));
        self.rows.last_mut().unwrap()
    }

    fn asks(mut self, words: &str) -> Self {
        self.row("user", json!({ "role": "user", "content": words }));
        self
    }

    fn says(mut self, words: &str) -> Self {
        self.row("assistant", json!({ "id": "m", "content": [{ "type": "text", "text": words }] }));
        self
    }

    fn runs(mut self, command: &str, printed: &str, failed: bool) -> Self {
        let id = format!("t{}", self.rows.len());
        let call = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
        self.row("assistant", json!({ "id": "m", "content": [call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": printed, "is_error": failed });
        let row = self.row("user", json!({ "role": "user", "content": [result] }));
        if !failed {
            row["toolUseResult"] = json!({ "stdout": printed, "stderr": "" });
        }
        self
    }

    fn compacts(mut self, summary: &str) -> Self {
        self.row("user", json!({ "role": "user", "content": summary }))["isCompactSummary"] = json!(true);
        self
    }

    fn whole(folder: &Path, key: &'static str) -> Self {
        Self::new(folder, key)
            .asks("Store passwords with argon2id, and never log them")
            .runs(
                "cargo test",
                "Exit code 101\nerror[E0433]: failed to resolve: use of undeclared crate `argon2`",
                true,
            )
            .runs("cargo test", "test result: ok. 3 passed", false)
            .runs("git commit -m 'Hash passwords'", "[login 1a2b3c4] Hash passwords", false)
            .says("We will not support bcrypt hashes. Next comes the migration of old rows.")
            .compacts("The user wants argon2id everywhere; the migration is left to do.")
            .asks("Go on with the migration of quartzite_rows")
            .says("It is done.")
    }
}

const TRANSCRIPT: &str = ".claude/projects/p/s1.jsonl";

#[test]
fn sessions_are_found_where_a_variable_says() {
    let home = Home::new();
    home.write_rows("elsewhere/projects/p/a.jsonl", &Session::whole(&home.project(), "a").rows);
    let mut command = home.weir_command(&["import", "--json"]);
    let output = command.env("CLAUDE_CONFIG_DIR", home.at("elsewhere")).output().unwrap();
    let data: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(data["sessions"], 1, "{data}");
}

#[test]
fn a_past_session_is_found_with_its_own_time_and_only_once() {
    let home = Home::outside_tmp();
    let session = Session::whole(&home.at("project"), "s1");
    home.write_rows(TRANSCRIPT, &session.rows);
    let look = home.import(&["--dry-run"]);
    assert_eq!((&look["sessions"], &look["kinds"]["prompt"]), (&json!(1), &json!(2)), "{look}");
    assert!(!home.at(".local/share/weir/projects").exists(), "a look has made a store");

    let first = home.import(&[]);
    assert_eq!(first["kinds"]["prompt"], 2, "{first}");
    assert_eq!(
        (&first["kinds"]["error"], &first["kinds"]["fix"], &first["summaries"]),
        (&json!(1), &json!(1), &json!(1))
    );
    for (source, words, found) in [
        ("prompt", "argon2id passwords", "prompt by user, 2023-03-04 10:00Z"),
        ("turn", "argon2id passwords", "turn by model, 2023-03-04 10:00Z"),
        ("said", "bcrypt hashes", "by model, 2023-03-04 10:01Z"),
        ("fix", "undeclared crate", "fix, 2023-03-04 10:0"),
        ("summary", "migration is left", "summary by model"),
    ] {
        let said = home.ok(&["search", words, "--kind", "said", "--source", source]);
        assert!(said.contains(found), "no {found:?} in:\n{said}");
    }
    // Old events are not swept because of their age.
    let events = home.events();
    home.ok(&["doctor"]);
    assert_eq!(home.events(), events);
    assert!(home.ok(&["search", "quartzite_rows"]).contains("quartzite_rows"));
    assert!(home.ok(&["history", "--work", "login"]).contains("2023-03-04"));

    assert_eq!(home.import(&[])["new"], 0);
    assert_eq!(home.events(), events);
    // The transcript grows.
    home.write_rows(TRANSCRIPT, &session.asks("And now the index on quartzite_rows").rows);
    let more = home.import(&[]);
    assert_eq!((&more["new"], &more["kinds"]), (&json!(1), &json!({ "prompt": 1 })), "{more}");
}

#[test]
fn a_transcript_that_was_written_again_is_read_from_its_beginning() {
    let home = Home::outside_tmp();
    let folder = home.at("project");
    home.write_rows(TRANSCRIPT, &Session::whole(&folder, "s1").rows);
    home.import(&[]);
    // The same beginning with another end: first longer, then shorter.
    let other = |rows: usize, words: &str| {
        let mut session = Session::whole(&folder, "s1");
        session.rows.truncate(rows);
        let session = session.asks(words).asks("And then another thing");
        let renamed = |(number, mut row): (usize, Value)| {
            row["uuid"] = json!(format!("other-{rows}-{number}"));
            row
        };
        session.rows.into_iter().enumerate().map(renamed).collect::<Vec<_>>()
    };
    for (rows, words) in [(11, "Paint the shed in heliotrope"), (2, "Paint the fence in vermilion")] {
        home.write_rows(TRANSCRIPT, &other(rows, words));
        let imported = home.import(&[]);
        let prompts = imported["kinds"]["prompt"].as_u64().unwrap();
        assert!((1..=2).contains(&prompts), "{imported}");
        assert!(home.ok(&["history"]).contains(words), "{words}");
        assert_eq!(home.import(&[])["new"], 0);
    }
}

#[test]
fn what_hooks_captured_is_not_taken_in_again() {
    let home = Home::outside_tmp();
    let folder = home.at("project");
    let (folder, path) = (folder.to_str().unwrap(), home.at(TRANSCRIPT));
    let about = |more: Value| {
        let mut payload =
            json!({ "session_id": "s1", "cwd": folder, "transcript_path": path, "permission_mode": "default" });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload
    };
    let used = |more: Value| {
        let mut payload =
            about(json!({ "tool_name": "Bash", "tool_use_id": "t", "tool_input": { "command": "make" } }));
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload
    };
    home.hook("s1", "UserPromptSubmit", &about(json!({ "prompt": "Build the thing with make" })));
    home.hook("s1", "PostToolUseFailure", &used(json!({ "error": "Exit code 2\nmake: *** no rule to make target" })));
    home.hook("s1", "Stop", &about(json!({ "last_assistant_message": "There is no rule. We decided to write one." })));
    home.hook("s1", "PostCompact", &about(json!({ "compact_summary": "<summary>make has no rule</summary>" })));
    let live = home.events();
    assert!(live.len() >= 4, "{live:?}");

    let mut session = Session::new(&home.at("project"), "s1");
    session.begun = jiff::Timestamp::now();
    let session = session
        .asks("Build the thing with make")
        .runs("make", "Exit code 2\nmake: *** no rule to make target", true)
        .says("There is no rule. We decided to write one.")
        .compacts("This session is being continued: make has no rule");
    home.write_rows(TRANSCRIPT, &session.rows);
    let imported = home.import(&[]);
    assert_eq!(imported["new"], 0, "{imported}\n{}", home.events().join("\n"));
    assert_eq!(home.events(), live);
}

#[test]
fn what_happens_again_after_an_import_is_imported_too() {
    let home = Home::outside_tmp();
    let session =
        Session::new(&home.at("project"), "s1").asks("Try it once more").runs("make", "Exit code 2\nno", true);
    home.write_rows(TRANSCRIPT, &session.rows);
    home.import(&[]);
    home.write_rows(TRANSCRIPT, &session.asks("Try it once more").runs("make", "Exit code 2\nno", true).rows);
    let more = home.import(&[]);
    assert_eq!(more["kinds"], json!({ "prompt": 1, "error": 1 }), "{more}");
    assert_eq!(home.import(&[])["new"], 0);
}

#[test]
fn a_failure_is_not_fixed_by_what_came_before_it() {
    let home = Home::outside_tmp();
    let used = |more: Value| {
        let mut payload = json!({
            "session_id": "s1", "cwd": home.at("project"), "transcript_path": home.at(TRANSCRIPT), "tool_name": "Bash",
            "tool_use_id": "t", "tool_input": { "command": "make" }, "permission_mode": "default",
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload
    };
    home.hook("s1", "PostToolUse", &used(json!({ "tool_response": { "stdout": "done", "stderr": "" } })));
    home.hook("s1", "PostToolUseFailure", &used(json!({ "error": "Exit code 2\nmake: *** no rule to make target" })));
    let mut session = Session::new(&home.at("project"), "s1");
    session.begun = jiff::Timestamp::now();
    let session =
        session.runs("make", "done", false).runs("make", "Exit code 2\nmake: *** no rule to make target", true);
    home.write_rows(TRANSCRIPT, &session.rows);
    let imported = home.import(&[]);
    assert_eq!(imported["new"], 0, "{imported}\n{}", home.events().join("\n"));
}

#[test]
fn what_a_fork_copies_is_imported_once() {
    let home = Home::outside_tmp();
    let folder = home.at("project");
    let fork = |key: &'static str| {
        let mut fork = Session::whole(&folder, "s1");
        fork.rows.iter_mut().for_each(|row| row["sessionId"] = json!(key));
        fork.key = key;
        fork
    };
    // One fork keeps the identifiers of messages, the other names them.
    let mut named = fork("s3");
    for row in &mut named.rows {
        row["forkedFrom"] = json!({ "sessionId": "s1", "messageUuid": row["uuid"] });
        row["uuid"] = json!(format!("copy-of-{}", row["uuid"]));
    }
    home.write_rows(TRANSCRIPT, &Session::whole(&folder, "s1").rows);
    home.write_rows(".claude/projects/p/s2.jsonl", &fork("s2").asks("Try it with scrypt").rows);
    home.write_rows(".claude/projects/p/s3.jsonl", &named.asks("Try it with pepper").rows);
    let codex = |about: Value, said: &[(&str, &str)]| {
        let mut rows = vec![json!({ "type": "session_meta", "payload": about })];
        for (id, words) in said {
            let content = json!([{ "type": "input_text", "text": words }]);
            let message = json!({ "type": "message", "id": id, "role": "user", "content": content });
            rows.push(json!({ "type": "response_item", "timestamp": "2024-01-01T00:00:00Z", "payload": message }));
        }
        rows
    };
    let asked = ("msg_a", "Draw the fence");
    home.write_rows(".codex/sessions/c1.jsonl", &codex(json!({ "id": "c1", "cwd": folder }), &[asked]));
    let about = json!({ "id": "c2", "cwd": folder, "forked_from_id": "c1" });
    home.write_rows(".codex/sessions/c2.jsonl", &codex(about, &[asked, ("msg_b", "Draw the gate")]));
    let imported = home.import(&[]);
    let kinds = &imported["kinds"];
    assert_eq!((&imported["sessions"], &kinds["prompt"]), (&json!(5), &json!(6)), "{imported}");
    assert_eq!((&kinds["error"], &kinds["fix"], &kinds["said"]), (&json!(1), &json!(1), &json!(2)), "{imported}");
    assert_eq!(imported["summaries"], 1, "{imported}");
    assert_eq!(home.import(&[])["new"], 0);
}

#[test]
fn an_import_that_is_killed_and_repeated_takes_everything_in_once() {
    let [whole, killed] = [Home::outside_tmp(), Home::outside_tmp()];
    let long = |home: &Home| {
        let mut session = Session::new(Path::new("/home/dev/project"), "s1");
        for number in 0..3_000 {
            session = session
                .asks(&format!("Request number {number}: look at part_{number} of the long transcript"))
                .runs(&format!("make part_{number}"), &"a line of output\n".repeat(40), false);
        }
        home.write_rows("long.jsonl", &session.rows);
    };
    long(&whole);
    long(&killed);
    whole.import(&["../long.jsonl", "--here"]);
    for millis in [20, 60, 100, 140, 180, 240, 300, 360] {
        let mut command = killed.weir_command(&["import", "../long.jsonl", "--here"]);
        let mut import = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(millis));
        let _ = import.kill();
        import.wait().unwrap();
    }
    killed.import(&["../long.jsonl", "--here"]);
    let (expected, found) = (whole.events(), killed.events());
    assert_eq!(expected.len(), 6_000);
    assert_eq!(found, expected);
}

#[test]
fn the_folder_of_a_session_decides_its_project() {
    let home = Home::outside_tmp();
    std::fs::create_dir_all(home.at("other/deep")).unwrap();
    home.write_rows(TRANSCRIPT, &Session::whole(&home.at("project"), "s1").rows);
    home.write_rows(".claude/projects/p/s2.jsonl", &Session::whole(&home.at("other"), "s2").rows);
    home.write_rows(".claude/projects/p/s3.jsonl", &Session::whole(&home.at("nowhere"), "s3").rows);
    let own = home.import(&[]);
    assert_eq!(
        (&own["sessions"], &own["other_projects"], &own["folder_gone"]),
        (&json!(1), &json!(1), &json!(1)),
        "{own}"
    );
    let all = home.import(&["--all"]);
    assert_eq!((&all["sessions"], &all["folder_gone"]), (&json!(2), &json!(1)), "{all}");
    let other = home.weir_in(&home.at("other"), &["history"]);
    assert!(text(&other.stdout).contains("argon2id"), "{other:?}");
    let here = home.import(&[home.at(".claude/projects/p/s3.jsonl").to_str().unwrap(), "--here"]);
    assert_eq!(here["sessions"], 1, "{here}");
    let since = home.import(&["--since", "2024-01-01"]);
    assert_eq!(since["sessions"], 0, "{since}");
    let unknown = home.weir(&["import", "--client", "emacs"]);
    let said = text(&unknown.stderr);
    assert!(said.contains("invalid value 'emacs'") && said.contains("claude, codex"), "{said}");
}

#[test]
fn history_and_reflection_know_past_sessions() {
    let home = Home::outside_tmp();
    let later = Session { begun: "2024-05-06T07:00:00Z".parse().unwrap(), ..Session::new(&home.at("project"), "ab2") };
    home.write_rows(".claude/projects/p/ab1.jsonl", &Session::whole(&home.at("project"), "ab1").rows);
    home.write_rows(".claude/projects/p/ab2.jsonl", &later.asks("go on").asks("Draw the fence").rows);
    let before = home.weir(&["reflect"]);
    assert!(text(&before.stderr).contains("`weir import` imports past sessions"), "{before:?}");
    home.import(&[]);

    let sessions = home.ok(&["history", "--sessions"]);
    let lines: Vec<&str> = sessions.lines().filter(|line| line.starts_with("ab")).collect();
    assert_eq!(lines.len(), 2, "{sessions}");
    assert!(
        lines[0].starts_with("ab2 2024-05-06 07:00Z to 07:00Z claude-code, 2 events (login): \"Draw the fence\""),
        "{sessions}"
    );
    assert!(lines[1].contains("\"Store passwords with argon2id, and never log them\""), "{sessions}");
    let last = home.ok(&["history", "--session", "last", "--kind", "prompt"]);
    assert!(last.contains("Draw the fence") && !last.contains("argon2id"), "{last}");
    let day = home.ok(&["history", "--day", "2023-03-04", "--client", "claude-code", "--kind", "error"]);
    assert!(day.contains("E0433") && !day.contains("fence"), "{day}");
    assert_eq!(home.weir(&["history", "--day", "2023-03-05"]).status.code(), Some(3));
    for (name, said) in [("ab", "`ab` matches more than one session"), ("zz", "unknown session `zz`")] {
        let output = home.weir(&["history", "--session", name]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(text(&output.stderr).contains(said) && text(&output.stderr).contains("ab2 2024"), "{output:?}");
    }

    let reflected = home.ok(&["reflect", "ab1"]);
    for part in [
        "Session ab1 has 11 events over 1 min (claude-code, branch login, 2023-03-04 10:00Z to 2023-03-04 10:01Z)",
        "Asked for:\n- user: \"Store passwords with argon2id",
        "Done:\n- git commit 1a2b3c4: Hash passwords (#",
        "- model: We will not support bcrypt hashes. (#",
        "Failed:\n- passes again: cargo test: error[E0433]",
    ] {
        assert!(reflected.contains(part), "no {part:?} in:\n{reflected}");
    }
    // A search makes entries of events, which adds no events to the session.
    home.ok(&["search", "argon2id"]);
    let sessions = home.ok(&["history", "--sessions"]);
    assert!(sessions.contains("ab1 2023-03-04 10:00Z to 10:01Z claude-code, 11 events"), "{sessions}");
    assert!(home.ok(&["context"]).contains("claude-code, 11 events"));
    assert_eq!(home.json(&["reflect", "ab1"])["entries"], 11);
    assert!(!reflected.contains("Open:"), "what the model says at the end is not open:\n{reflected}");
    let markdown = home.ok(&["reflect", "--work", "login", "--markdown", "--budget", "2000"]);
    assert!(markdown.starts_with("# Work login has 13 events") && markdown.contains("\n\n## Done\n"), "{markdown}");
    assert_eq!(home.ok(&["reflect", "ab1", "--json"]), home.ok(&["reflect", "ab1", "--json"]));
}

#[test]
fn a_time_of_the_future_is_taken_for_now() {
    let home = Home::outside_tmp();
    let folder = home.at("project");
    let row = |at: i64, text: &str| json!({ "session": "a", "role": "user", "at": at, "folder": folder, "text": text });
    home.write_rows("plain.jsonl", &[row(i64::MAX, "Rename the widget"), row(i64::MIN, "Paint the shed")]);
    assert_eq!(home.import(&["../plain.jsonl"])["kinds"]["prompt"], 2);
    let history = home.ok(&["history"]);
    assert!(history.contains("1970-01-01 00:00Z prompt Paint the shed"), "{history}");
    assert!(!history.contains("unknown time"), "{history}");
}

#[test]
fn rows_that_are_not_understood_are_named_by_their_line() {
    let home = Home::outside_tmp();
    let mut rows: Vec<String> =
        Session::whole(&home.at("project"), "s1").rows.iter().map(ToString::to_string).collect();
    rows.insert(1, "{\"type\":\"user\",\"sess".to_owned());
    rows.insert(4, json!({ "type": "telepathy", "sessionId": "s1", "message": { "role": "user" } }).to_string());
    let path = home.at("bad.jsonl");
    std::fs::write(&path, rows.join("\n")).unwrap();
    let said = home.ok(&["import", "../bad.jsonl", "--here"]);
    let named = format!("2 rows were not understood: {0}:2, {0}:5", path.display());
    assert!(said.contains(&named), "no {named} in {said}");
    assert!(said.starts_with("imported 1 session, 2023-03-04 to 2023-03-04: 2 prompts"), "{said}");
}

#[test]
fn every_client_has_transcripts_that_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    for (name, client, prompts) in [
        ("claude.jsonl", "claude", 2),
        ("codex.jsonl", "codex", 2),
        ("copilot.jsonl", "copilot", 2),
        ("gemini.jsonl", "gemini", 2),
        ("opencode.json", "opencode", 2),
        ("qwen.jsonl", "qwen", 2),
    ] {
        let home = Home::outside_tmp();
        let path = folder.join(name);
        let imported = home.import(&[path.to_str().unwrap(), "--here", "--client", client]);
        assert_eq!((&imported["sessions"], &imported["rows_skipped"]), (&json!(1), &json!(0)), "{name}: {imported}");
        assert_eq!(imported["kinds"]["prompt"], prompts, "{name}: {imported}");
        let found = home.ok(&["history"]);
        assert!(found.contains("prompt ") && found.contains("2026-11-14"), "{name}: {found}");
        assert_eq!(home.import(&[path.to_str().unwrap(), "--here"])["new"], 0, "{name}");
    }
}

#[test]
fn plain_rows_of_any_program_are_read() {
    let home = Home::outside_tmp();
    let folder = home.at("project");
    home.write_rows(
        "plain.jsonl",
        &[
            json!({ "session": "a", "role": "user", "at": "2025-01-02T03:04:05Z", "folder": folder, "text": "Rename the widget" }),
            json!({ "session": "a", "role": "tool", "tool": "Bash", "input": { "command": "make" }, "text": "Exit code 1\nerror: no widget", "failed": true }),
            json!({ "session": "a", "role": "assistant", "text": "There is no widget." }),
            json!({ "session": "b", "role": "user", "at": 1_735_787_045_000_i64, "folder": folder, "text": "Paint the shed" }),
            json!({ "session": "b", "role": "summary", "text": "The shed is to be painted." }),
            json!({ "session": "b", "role": "nobody", "text": "?" }),
        ],
    );
    let imported = home.import(&["../plain.jsonl"]);
    assert_eq!((&imported["sessions"], &imported["rows_skipped"]), (&json!(2), &json!(1)), "{imported}");
    assert_eq!((&imported["kinds"]["prompt"], &imported["kinds"]["error"]), (&json!(2), &json!(1)), "{imported}");
    assert_eq!(imported["summaries"], 1);
    assert_eq!(home.import(&["../plain.jsonl"])["new"], 0);
    // A key may begin with another one.
    let row = |key: &str, text: &str| json!({ "session": key, "role": "user", "folder": folder, "text": text });
    home.write_rows("more.jsonl", &[row("a1", "Sweep the yard"), row("a2", "Mow the lawn")]);
    home.import(&["../more.jsonl"]);
    let history = home.ok(&["history", "--session", "a"]);
    assert!(history.contains("Rename the widget") && !history.contains("Sweep the yard"), "{history}");
}
