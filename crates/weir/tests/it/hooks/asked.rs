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

#[test]
fn a_large_text_is_shown_by_its_beginning() {
    let session = Session::new();
    let text: String = (0..4_000).map(|n| format!("{n} words of prose that somebody wants to read\n")).collect();
    let answer = session.ran("cat words.txt", &text);
    let shown = shown(&answer);
    assert!(shown.contains("; beginning and end; 4000 lines, "), "{shown}");
    assert!(shown.contains("\n0 words of prose") && shown.contains("\n3999 words of prose"), "{shown}");
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
    let answer = session.ran("cat bundle.js", &format!("{}\nlast\n", "call(argument); ".repeat(6_000)));
    let text = shown(&answer);
    assert!(text.contains("\n… rest of line 1 left out\n") && text.contains("\nlast\n"), "{text}");
}

#[test]
fn long_lines_are_cut_before_any_is_left_out() {
    let session = Session::new();
    let line = |n: u64| format!("package-{n} 1.{n}.0 {}\n", blake3::hash(&n.to_le_bytes()).to_hex().repeat(6));
    let text: String = (0..100).map(line).collect();
    let answer = session.ran("grep package app.lock", &text);
    let shown = shown(&answer);
    assert!(shown.contains("every line, cut after "), "{shown}");
    assert!((0..100).all(|n| shown.contains(&format!("package-{n} 1.{n}.0 "))), "{shown}");
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
    let found: String = (1..4_000).map(|n| format!("src/file_{n}.rs:{n}:fn number_{n}() -> u64\n")).collect();
    let searched = |response: Value| {
        let used = json!({ "tool_name": "Grep", "tool_input": { "pattern": "fn" }, "tool_response": response });
        session.hook("PostToolUse", used)
    };
    let answer = searched(json!({ "mode": "content", "numFiles": 0, "content": found, "numLines": 3_999 }));
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
