//! A text that was asked for is the answer; the output of a build is not.

use serde_json::{Value, json};

use super::{Session, shown, write};

/// Returns about 3,000 tokens of source with words that logs have too.
fn source() -> String {
    (0..120)
        .map(|n| format!("    /// Raises an error if step {n} failed.\n    def step_{n}(self): raise ValueError(\"error {n}\")\n\n"))
        .collect()
}

fn warnings() -> String {
    (0..400).map(|n| format!("src/module_{n}.c:{n}: warning: unused variable 'v{n}' [-Wunused-variable]\n")).collect()
}

#[test]
fn a_printed_file_is_left_alone_and_a_build_is_not() {
    let session = Session::new();
    for command in ["sed -n '1,360p' a.py", "cat a.py", "cd src && nl -b a a.py | head -400", "git show HEAD:a.py"] {
        assert_eq!(session.ran(command, &source()), Value::Null, "{command}");
        session.hook("SessionStart", json!({ "source": "compact" }));
    }
    let answer = session.ran("make -j8 2>&1", &warnings());
    assert!(shown(&answer).contains("held as [ctx:"), "{answer}");
}

impl Session {
    /// Reports a command as Gemini CLI does, which shows 40,000 characters of a long output. Returns what the model
    /// gets instead.
    fn in_gemini(&self, command: &str, output: &str) -> Option<String> {
        let payload = json!({
            "session_id": "g1", "cwd": self.project(), "hook_event_name": "AfterTool", "tool_name": "run_shell_command",
            "tool_input": { "command": command },
            "tool_response": { "llmContent": format!("Output: {output}\nProcess Group PGID: 5"), "returnDisplay": output },
        });
        let answer = self.raw_hook("gemini", "AfterTool", payload.to_string().as_bytes());
        let answer: Option<Value> = serde_json::from_slice(&answer).ok();
        Some(answer?["reason"].as_str().unwrap().to_owned())
    }
}

#[test]
fn what_the_client_cuts_to_less_than_the_limit_stays_as_the_client_shows_it() {
    let session = Session::new();
    let diff: String = (0..2_000).map(|n| format!("+    let value_{n} = compute({});\n", n * 7919)).collect();
    assert!(weir_tokens::count(&diff) > 12_000);
    assert_eq!(session.ran("git diff main...HEAD", &diff), Value::Null);
    assert_eq!(session.ran("cat src/large.rs", &diff), Value::Null);
    // Nobody reads a log line by line, so a digest of the same size says more.
    let log: String = (0..2_000)
        .map(|n| format!("10.0.0.{} - - [18/Nov/2026:10:00:00 +0000] \"GET /item/{n} HTTP/1.1\" 200 512\n", n % 250))
        .collect();
    let answer = session.ran("cat access.log", &log);
    assert!(weir_tokens::count(shown(&answer)) < weir_tokens::count(&log[..2_300]), "{answer}");
    assert!(shown(&answer).contains("200"), "{answer}");
}

#[test]
fn a_large_text_is_shown_by_its_beginning() {
    let session = Session::new();
    let text: String = (0..4_000).map(|n| format!("{n} words {:016x} to read\n", n * 2_654_435_761_u64)).collect();
    let shown = session.in_gemini("cat words.txt", &text).unwrap();
    assert!(shown.contains("; beginning and end; 4000 lines, "), "{shown}");
    assert!(shown.contains("\n0 words") && shown.contains("\n3999 words"), "{shown}");
    let left_out = shown.lines().find(|line| line.starts_with("… lines ")).unwrap();
    let range = left_out.trim_start_matches("… lines ").trim_end_matches(" left out");
    let (first, last) = range.split_once('-').unwrap();
    let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
    assert!(shown.contains(&format!("\n{} words", first - 2)) && !shown.contains(&format!("\n{} words", first - 1)));
    assert!(shown.contains(&format!("\n{last} words")) && !shown.contains(&format!("\n{} words", last - 1)));
}

#[test]
fn a_line_that_is_cut_says_so() {
    let session = Session::new();
    let text = session.in_gemini("cat bundle.js", &format!("{}\nlast\n", "f(a, b); ".repeat(9_000))).unwrap();
    assert!(text.contains("\n… rest of line 1 left out\n") && text.contains("\nlast\n"), "{text}");
}

#[test]
fn long_lines_are_cut_before_any_is_left_out() {
    let session = Session::new();
    let line = |n: u64| format!("package-{n} 1.{n}.0 {}\n", blake3::hash(&n.to_le_bytes()).to_hex().repeat(6));
    let text: String = (0..70).map(line).collect();
    let answer = session.ran("grep package app.lock", &text);
    let shown = shown(&answer);
    assert!(shown.contains("every line, cut after "), "{shown}");
    assert!((0..70).all(|n| shown.contains(&format!("package-{n} 1.{n}.0 "))), "{shown}");
}

#[test]
fn what_the_client_saved_of_a_text_that_was_asked_for_stays_as_the_client_shows_it() {
    let session = Session::new();
    let saved = session.home.path().join(".claude/projects/p/s1/tool-results/b.txt");
    write(&saved, source().repeat(5));
    let mut payload = super::bash("cat a.py", &source());
    payload["tool_response"]["persistedOutputPath"] = json!(saved);
    assert_eq!(session.hook("PostToolUse", payload.clone()), Value::Null);
    payload["tool_input"]["command"] = json!("make");
    let answer = session.hook("PostToolUse", payload);
    assert!(shown(&answer).contains(&format!("or read {}", saved.display())), "{answer}");
}

#[test]
fn a_page_is_searched_for_the_question_that_came_with_it() {
    let session = Session::new();
    let mut page: String =
        (0..900).map(|n| format!("## Section {n}\n\nSome words on topic {n} that nobody asked about.\n\n")).collect();
    page.insert_str(page.len() / 2, "## Limits\n\nThe quota of an account is 4711 requests an hour.\n\n");
    let answer = session.hook(
        "PostToolUse",
        json!({
            "tool_name": "WebFetch", "tool_response": page,
            "tool_input": { "url": "http://example.org/docs", "prompt": "What is the quota of an account?" },
        }),
    );
    let shown = answer["hookSpecificOutput"]["updatedToolOutput"].as_str().unwrap();
    assert!(shown.contains("4711 requests an hour"), "{shown}");
}

/// The client ignores an answer of another shape, and the model would see what is counted as held.
#[test]
fn the_result_of_a_search_keeps_its_shape() {
    let session = Session::new();
    write(&session.home.path().join(".config/weir/config.toml"), "[hold]\nasked_tokens = 1000\n");
    let found: String = (1..400).map(|n| format!("src/file_{n}.rs:{n}:fn number_{n}() -> u64\n")).collect();
    let searched = |response: Value| {
        let used = json!({ "tool_name": "Grep", "tool_input": { "pattern": "fn" }, "tool_response": response });
        session.hook("PostToolUse", used)
    };
    let answer = searched(json!({ "mode": "content", "numFiles": 0, "content": found, "numLines": 399 }));
    let shape = &answer["hookSpecificOutput"]["updatedToolOutput"];
    let text = shape["content"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(text.contains("held as [ctx:"), "{text}");
    assert_eq!((&shape["mode"], &shape["numLines"]), (&json!("content"), &json!(text.lines().count())));
    assert_eq!(searched(json!({ "content": [{ "type": "text", "text": found }] })), Value::Null);
}

#[test]
fn tools_commands_and_folders_can_be_left_alone() {
    let session = Session::new();
    let config = session.home.path().join(".config/weir/config.toml");
    let is_held = |command: &str| session.ran(command, &warnings()) != Value::Null;
    assert!(is_held("make"));
    for off in [
        "off = [\"Bash(make*)\"]".to_owned(),
        "off = [\"Bash\"]".to_owned(),
        format!("off_folders = [{:?}]", session.home.path()),
    ] {
        write(&config, format!("[hold]\n{off}\n"));
        assert!(!is_held("make all"), "{off}");
    }
    write(&config, "[hold]\noff = [\"Bash(npm*)\"]\n");
    assert!(is_held("make all"));
    write(&config, "[hold]\nby_product_tokens = 100000\n");
    assert!(!is_held("make all"));
}
