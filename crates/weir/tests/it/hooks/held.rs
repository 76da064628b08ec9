//! Outputs of a client's own tools: small ones pass, large ones are held.

use serde_json::{Value, json};

use super::{Session, bash, numbers, reference, shown, write};

#[test]
fn a_big_output_is_held_and_a_small_one_passes() {
    let session = Session::new();
    assert_eq!(session.ran("seq 1 5", &numbers(5)), Value::Null);
    let answer = session.ran("seq 1 30000", &numbers(30_000));
    let digest = shown(&answer);
    assert!(
        digest.starts_with("done in 27 ms; ") && digest.contains("30000 lines, 164.9 KiB held as [ctx:"),
        "{digest}"
    );
    assert!(digest.len() < 8_000, "{} bytes", digest.len());
    assert_eq!(session.ok(&["get", reference(digest), "--raw"]), numbers(30_000));
    // The answer must have the tool's own shape, or the client ignores it.
    let shape = &answer["hookSpecificOutput"]["updatedToolOutput"];
    assert_eq!((&shape["interrupted"], &shape["stderr"]), (&json!(false), &json!("")));
    assert_eq!(session.faults(), "");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(session.data()).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700, "a hook may be the first that makes the data folder");
}

#[test]
fn a_command_in_the_background_is_not_done() {
    let session = Session::new();
    let error =
        json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "error": "Exit code 101\nerror" });
    session.hook("PostToolUseFailure", error);
    let mut payload = bash("cargo test", &numbers(9_000));
    payload["tool_response"]["backgroundTaskId"] = json!("b1");
    assert_eq!(session.hook("PostToolUse", payload), Value::Null);
    let kinds: Vec<String> = session.events().into_iter().map(|(kind, _)| kind).collect();
    assert!(kinds.iter().any(|kind| kind == "error") && kinds.iter().all(|kind| kind != "fix"), "{kinds:?}");
}

#[test]
fn json_is_seen_wherever_its_beginning_is_cut() {
    let session = Session::new();
    for length in 0..40 {
        let record = |number: usize| {
            let name = "n".repeat(length);
            format!(
                "{{\"id\": {number}, \"name\": \"{name}\", \"done\": {}, \"owner\": null}}",
                number.is_multiple_of(2)
            )
        };
        let output = format!("[{}]\n", (0..700).map(record).collect::<Vec<_>>().join(",\n  "));
        let answer = session.ran("gh issue list --json id,name,done,owner", &output);
        assert!(shown(&answer).contains("JSON"), "{length}: {}", shown(&answer));
    }
}

#[test]
fn what_the_client_saved_is_read_whole() {
    let session = Session::new();
    let saved = session.home.path().join(".claude/projects/p/s1/tool-results/b.txt");
    write(&saved, numbers(30_000));
    let mut payload = bash("seq 1 30000", &numbers(5_000));
    payload["tool_response"]["persistedOutputPath"] = json!(saved);
    let answer = session.hook("PostToolUse", payload.clone());
    assert!(shown(&answer).contains("30000 lines"), "{answer}");
    assert!(!answer.to_string().contains("persistedOutputPath"));

    // A path elsewhere is a trap.
    let secret = session.home.path().join("secret");
    write(&secret, "secret\n".repeat(20_000));
    for path in [secret, session.home.path().join(".claude/projects/p/s1/../../../../secret")] {
        payload["tool_response"]["persistedOutputPath"] = json!(path);
        // How much of it is in the payload is unknown, so it is left alone.
        assert_eq!(session.hook("PostToolUse", payload.clone()), Value::Null);
    }
}

#[test]
fn what_is_ours_or_asked_for_in_part_or_marked_is_left_alone() {
    let session = Session::new();
    let big = numbers(30_000);
    let ours = json!({ "tool_name": "mcp__weir__ctx_get", "tool_input": {}, "tool_response": [{ "type": "text", "text": big }] });
    assert_eq!(session.hook("PostToolUse", ours), Value::Null);
    let file = |input: Value| {
        json!({
            "tool_name": "Read", "tool_input": input,
            "tool_response": { "type": "text", "file": { "filePath": "/a.txt", "content": big, "numLines": 30000, "startLine": 1, "totalLines": 30000 } },
        })
    };
    assert_eq!(
        session.hook("PostToolUse", file(json!({ "file_path": "/a.txt", "offset": 5, "limit": 20000 }))),
        Value::Null
    );
    let answer = session.hook("PostToolUse", file(json!({ "file_path": "/a.txt" })));
    let shape = &answer["hookSpecificOutput"]["updatedToolOutput"]["file"];
    assert!(shape["content"].as_str().unwrap().contains("held as [ctx:") && shape["totalLines"] == 30000, "{answer}");
    assert_eq!(session.ran("seq 1 30000 # weir:off", &big), Value::Null);
    let mut off = session.weir(&["hook", "claude", "PostToolUse"]);
    off.env("WEIR_OFF", "1");
    assert!(super::hooked(off, bash("seq", &big).to_string().as_bytes()).is_empty());
}

#[test]
fn what_is_kept_keeps_to_the_users_limits() {
    let session = Session::new();
    write(&session.home.path().join(".config/weir/config.toml"), "[retention]\nrun_days = 3\n");
    let shown = shown(&session.ran("seq 1 30000", &numbers(30_000))).to_owned();
    let until = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(72);
    let said = session.ok(&["get", reference(&shown)]);
    assert!(said.contains(&until.strftime("until %Y-%m-%d").to_string()), "{}", &said[..200]);
}

#[test]
fn a_large_file_is_held_whole_behind_a_link_too() {
    let session = Session::new();
    write(&session.project().join("big.txt"), numbers(30_000));
    std::os::unix::fs::symlink("big.txt", session.project().join("link.txt")).unwrap();
    // The client reads the beginning.
    let content = json!({ "filePath": "link.txt", "content": numbers(12_000), "numLines": 12000, "startLine": 1, "totalLines": 30000 });
    let read = json!({
        "tool_name": "Read", "tool_input": { "file_path": session.project().join("link.txt") },
        "tool_response": { "type": "text", "file": content },
    });
    let answer = session.hook("PostToolUse", read);
    let shown = answer["hookSpecificOutput"]["updatedToolOutput"]["file"]["content"].as_str().unwrap();
    assert_eq!(session.ok(&["get", reference(shown), "--raw"]), numbers(30_000));
}

/// Claude Code numbers the lines of a replacement, beginning with `startLine`.
#[test]
fn lines_of_a_large_file_have_their_own_numbers() {
    let session = Session::new();
    let code: String =
        (0..3_000).map(|n| format!("def product_{n:03}(order):\n    return order.total * {n}\n")).collect();
    let data: String = (0..9_000).map(|n| format!("{n},name {n},{}\n", n * 7919)).collect();
    let text: String =
        (0..4_000).map(|n| format!("{n} words of prose that somebody wants to read {}\n", n * 7919)).collect();
    for (path, content) in [("shop.py", code), ("orders.csv", format!("id,name,sum\n{data}")), ("words.txt", text)] {
        let lines = content.lines().count();
        let file =
            json!({ "filePath": path, "content": content, "numLines": lines, "startLine": 1, "totalLines": lines });
        let read = json!({
            "tool_name": "Read", "tool_input": { "file_path": session.project().join(path) },
            "tool_response": { "type": "text", "file": file },
        });
        let answer = session.hook("PostToolUse", read);
        let shape = &answer["hookSpecificOutput"]["updatedToolOutput"]["file"];
        let shown = shape["content"].as_str().unwrap_or_else(|| panic!("{path}: {answer}"));
        let own = shown.lines().zip(content.lines()).take_while(|(shown, own)| shown == own).count();
        assert!(own >= 5 && shape["startLine"] == 1, "{path}: {shown}");
        // What follows is ours.
        let next = shown.lines().nth(own).unwrap();
        assert!(next.contains("held as [ctx:"), "{path}: {next}");
        assert_eq!(session.ok(&["get", reference(next), "--raw"]), content);
        assert!(weir_tokens::count(shown) < 5_000, "{path}");
    }
}

#[test]
fn a_file_that_opencode_shows_in_part_is_read_whole() {
    let session = Session::new();
    let text: String = (0..6_000).map(|n| format!("let value_{n} = compute({}, {n});\n", n * 7919)).collect();
    write(&session.project().join("big.js"), &text);
    let part = &text[..50 << 10];
    let display = json!({ "type": "file", "text": part, "truncated": true });
    let about = json!({
        "tool": "read", "sessionID": "ses_1", "callID": "c1", "args": { "filePath": session.project().join("big.js") },
    });
    let payload = json!({
        "directory": session.project(), "input": about, "output": { "output": part, "metadata": { "display": display } },
    });
    let answer = session.raw_hook("opencode", "tool.execute.after", payload.to_string().as_bytes());
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let shown = answer["output"].as_str().unwrap();
    assert!(weir_tokens::count(shown) < 5_000 && weir_tokens::count(part) > 12_000, "{shown}");
    assert_eq!(session.ok(&["get", reference(shown), "--raw"]), text);
}

#[test]
fn a_page_is_what_a_subagent_was_sent_for() {
    let session = Session::new();
    let page: String =
        (0..400).map(|n| format!("Sentence {n} of a page that a subagent was sent to read.\n")).collect();
    let fetched = |more: Value| {
        let mut payload = json!({
            "tool_name": "WebFetch", "tool_input": { "url": "http://example.org", "prompt": "Read it" }, "tool_response": page,
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        session.hook("PostToolUse", payload)
    };
    assert!((2_500..12_000).contains(&weir_tokens::count(&page)));
    assert_eq!(fetched(json!({ "agent_id": "a1", "agent_type": "explore" })), Value::Null);
    assert_ne!(fetched(json!({})), Value::Null);
}

#[test]
fn a_missing_key_of_the_search_server_does_not_stop_hooks() {
    let session = Session::new();
    let search = "[search]\nmodel = \"m\"\nendpoint = \"http://127.0.0.1:9/v1\"\nkey_file = \"/nowhere/key\"\n";
    write(&session.home.path().join(".config/weir/config.toml"), search);
    assert!(shown(&session.ran("seq 1 30000", &numbers(30_000))).contains("held as [ctx:"));
    assert_eq!(session.faults(), "");
}

#[test]
fn an_mcp_output_is_held_in_its_own_shape() {
    let session = Session::new();
    let call = |response: Value| json!({ "tool_name": "mcp__probe__lines", "tool_input": { "n": 9 }, "tool_response": response });
    let answer = session.hook("PostToolUse", call(json!([{ "type": "text", "text": numbers(30_000) }])));
    let text = answer["hookSpecificOutput"]["updatedToolOutput"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("probe/lines; "), "{text}");
    assert_eq!(session.ok(&["get", reference(text), "--raw"]), numbers(30_000));
}

#[test]
fn eight_sessions_at_once_lose_nothing() {
    let session = Session::new();
    // The first hook creates the store.
    session.hook("UserPromptSubmit", json!({ "prompt": "begin" }));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let session = &session;
            scope.spawn(move || {
                for turn in 0..200 {
                    let payload = json!({
                        "session_id": format!("storm-{number}"), "cwd": session.project(),
                        "prompt": format!("please do {number}-{turn}"),
                    });
                    let answer = session.raw_hook("claude", "UserPromptSubmit", payload.to_string().as_bytes());
                    assert!(answer.is_empty());
                }
            });
        }
    });
    assert_eq!(session.faults(), "");
    // Read from the database itself, since an answer has a budget.
    let count = "import glob,os,sqlite3\n\
                 [path] = glob.glob(os.environ['HOME'] + '/.local/share/weir/projects/*/log.db')\n\
                 rows = sqlite3.connect(path).execute('SELECT s.key, count(*) FROM events v JOIN sessions s ON s.id ='\n\
                 \x20' v.session_id WHERE v.kind = \"prompt\" AND s.key <> \"s1\" GROUP BY s.key').fetchall()\n\
                 print(len(rows), sorted({count for _, count in rows}))";
    let mut python = std::process::Command::new("/usr/bin/python3");
    let counted = python.args(["-c", count]).env("HOME", session.home.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&counted.stdout), "8 [200]\n");
}

#[test]
fn a_project_where_something_happened_is_not_said_to_be_empty() {
    let session = Session::new();
    let search = || String::from_utf8(session.weir(&["search", "zebra"]).output().unwrap().stdout).unwrap();
    assert!(search().contains(": nothing is kept here yet; add content with `weir index`"), "{}", search());
    session.hook("UserPromptSubmit", json!({ "prompt": "please paint the fence" }));
    let said = search();
    assert!(
        said.contains(": only what happened in sessions is kept here yet; ") && said.contains("`weir history` lists"),
        "{said}"
    );
}
