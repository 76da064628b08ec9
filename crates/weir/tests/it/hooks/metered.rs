//! The meter: what hooks did to a conversation, in tokens.

use serde_json::{Value, json};

use super::{Session, bash, hooked, numbers, shown};

fn stats(session: &Session, arguments: &[&str]) -> Value {
    serde_json::from_str(&session.ok(&[&["stats"], arguments, &["--json"]].concat())).unwrap()
}

#[test]
fn what_is_held_and_told_is_counted_as_the_client_alone_would_have_shown_it() {
    let session = Session::new();
    let nothing = session.weir(&["stats"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(3), "{nothing:?}");

    // Shorter than the client's limit: all of it would have been shown.
    let short = numbers(5_000);
    let first = session.ran("seq 1 5000", &short);
    let held = weir_tokens::count(shown(&first));
    let all = &stats(&session, &[])["all"];
    assert_eq!((&all["held"], &all["given"]), (&json!(1), &json!(weir_tokens::count(&short))), "{all}");
    assert_eq!((&all["shown"], &all["told"]), (&json!(held), &json!(0)), "{all}");

    // Longer: the client shows 2,000 characters, and the digest is no longer than that.
    let long: String = (0..3_000).map(|number| format!("a line that is like no other, {number:x}\n")).collect();
    let second = session.ran("make", &long);
    let claude = weir_clients::find("claude").unwrap();
    let cut = claude.cut(&weir_clients::Tool::Shell { command: "make".to_owned() }, false).unwrap();
    let alone = weir_tokens::count(&cut.shown(&long));
    assert!((500..800).contains(&alone) && weir_tokens::count(shown(&second)) <= alone, "{alone}: {second}");
    let rows = stats(&session, &[]);
    assert_eq!(rows["all"]["given"], weir_tokens::count(&short) + alone, "{rows}");
    assert_eq!(rows["tools"]["shell"]["shown"], held + weir_tokens::count(shown(&second)), "{rows}");

    session.hook("UserPromptSubmit", json!({ "prompt": "Count everything" }));
    session.hook("PreCompact", json!({ "trigger": "auto" }));
    let told = session.hook("SessionStart", json!({ "source": "compact" }));
    let told = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let rows = stats(&session, &["--client", "claude-code"]);
    assert_eq!(rows["tools"]["guide"]["told"], weir_tokens::count(told), "{rows}");
    let net = |sum: &Value| sum["net"].as_i64().unwrap();
    assert_eq!(net(&rows["all"]), rows["sessions"].as_array().unwrap().iter().map(|row| net(&row["sum"])).sum::<i64>());
    assert!(session.weir(&["stats", "--client", "codex"]).output().unwrap().status.code() == Some(3));

    let said = session.ok(&["stats"]);
    assert!(
        said.contains("in 1 session: 2 outputs held back") && said.lines().all(|line| line.chars().count() <= 120),
        "{said}"
    );
    assert_eq!(session.faults(), "");
}

#[test]
fn what_is_said_about_a_failed_command_that_the_client_cut_is_counted_with_it() {
    let session = Session::new();
    let failed = |mode: &str, command: &str, error: &str| {
        let failure = json!({
            "permission_mode": mode, "tool_name": "Bash", "tool_use_id": "t1", "tool_input": { "command": command },
            "error": error,
        });
        let answer = session.hook("PostToolUseFailure", failure);
        assert!(!answer.to_string().contains("permissionDecision"), "{answer}");
        answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    };
    let cut = format!("Exit code 1\n{}\n\n... [20000 characters truncated] ...\n\n{}", numbers(900), numbers(900));
    for mode in ["default", "acceptEdits", "plan", "dontAsk", "auto"] {
        let told = failed(mode, "make test", &cut).unwrap_or_else(|| panic!("nothing in {mode}"));
        assert!(told.contains("the client cut this output") && told.contains("ctx_execute"), "{told}");
        assert!(weir_tokens::count(&told) < 60, "{told}");
    }
    let rows = stats(&session, &[]);
    assert!(rows["tools"]["shell"]["told"].as_u64() > Some(0) && rows["tools"]["guide"].is_null(), "{rows}");
    // Nothing is missing, the text was asked for, or the user wants to be left alone.
    assert_eq!(failed("auto", "make test", "Exit code 1\nerror: it broke"), None);
    assert_eq!(failed("auto", "cat a b", &cut), None);
    assert_eq!(failed("auto", "make test # weir:off", &cut), None);
    super::write(&session.home.path().join(".config/weir/config.toml"), "[hold]\noff = [\"Bash\"]\n");
    assert_eq!(failed("auto", "make test", &cut), None);
}

#[test]
fn a_session_that_did_not_pay_is_said_to() {
    let session = Session::new();
    session.hook("UserPromptSubmit", json!({ "prompt": "Rename the widget to gadget everywhere" }));
    session.hook("PreCompact", json!({ "trigger": "auto" }));
    session.hook("SessionStart", json!({ "source": "compact" }));
    let said = session.ok(&["stats"]);
    assert!(said.contains("It did not pay: −"), "{said}");
    assert!(said.contains("1 of 1 session did not pay:\n  s1 (claude-code): −"), "{said}");
}

#[test]
fn the_status_line_says_what_is_known() {
    let session = Session::new();
    let told = |tokens: u64| {
        let window = json!({ "total_input_tokens": tokens, "context_window_size": 200_000 });
        json!({
            "session_id": "s1", "cwd": session.project(), "model": { "id": "claude-opus-4-5" }, "context_window": window,
        })
    };
    let line =
        |told: &Value| String::from_utf8(hooked(session.weir(&["statusline"]), told.to_string().as_bytes())).unwrap();
    assert_eq!(line(&told(80_000)), "80k of 200k (40 %) · next from $0.04\n");
    assert!(!session.data().exists(), "a look has made a store");
    let given = numbers(5_000);
    let held = session.ran("seq 1 5000", &given);
    session.hook("PostToolUse", bash("git commit -m 'Count'", "[main 1a2b3c4] Count"));
    let [given, held] = [given.as_str(), shown(&held)].map(weir_tokens::count);
    let became = format!("weir {}k tokens of output → {held}", given / 1_000);
    assert_eq!(
        line(&told(80_000)),
        format!("80k of 200k (40 %) · next from $0.04 · {became} · committed: a good moment to /compact\n")
    );
    assert_eq!(line(&told(20_000)), format!("20k of 200k (10 %) · next from $0.01 · {became}\n"));
    session.hook("UserPromptSubmit", json!({ "prompt": "Now count backwards" }));
    assert_eq!(line(&told(80_000)), format!("80k of 200k (40 %) · next from $0.04 · {became}\n"), "the work goes on");
    let mut elsewhere = told(20_000);
    elsewhere["workspace"] = json!({ "current_dir": session.home.path(), "project_dir": session.project() });
    assert_eq!(line(&elsewhere), line(&told(20_000)), "the session is the same wherever its shell is");
    assert_eq!(line(&json!({ "session_id": 7 })), "");
    assert_eq!(hooked(session.weir(&["statusline"]), b"not JSON"), b"");
}

fn transcript(key: &str, tokens: u64) -> String {
    let prompt = json!({
        "type": "user", "sessionId": key, "uuid": "u1", "message": { "role": "user", "content": "Count everything" },
    });
    let message = json!({
        "id": "m1", "role": "assistant", "model": "claude-opus-4-5", "content": [{ "type": "text", "text": "Done" }],
        "usage": { "input_tokens": tokens, "output_tokens": 1 },
    });
    format!("{prompt}\n{}\n", json!({ "type": "assistant", "sessionId": key, "uuid": "u2", "message": message }))
}

#[test]
fn a_share_of_sessions_is_left_alone_to_compare_with() {
    let mut session = Session::new();
    super::write(&session.home.path().join(".config/weir/config.toml"), "[stats]\nhold_out = 0.4\n");
    let (mut touched, mut alone) = (0, 0);
    for number in 0..24 {
        session.key = format!("session-{number}");
        let is_alone = session.ran("seq 1 5000", &numbers(5_000)).is_null();
        *(if is_alone { &mut alone } else { &mut touched }) += 1;
        if number < 6 {
            // A session stays on one side.
            session.hook("UserPromptSubmit", json!({ "prompt": "Count everything" }));
            session.hook("PreCompact", json!({ "trigger": "auto" }));
            assert_eq!(session.hook("SessionStart", json!({ "source": "compact" })).is_null(), is_alone);
        }
        let path = session.home.path().join(format!(".claude/projects/p/{}.jsonl", session.key));
        super::write(&path, transcript(&session.key, if is_alone { 200_000 } else { 100_000 } + number));
    }
    assert!(touched >= 5 && alone >= 5, "{touched} and {alone}");
    let data = stats(&session, &[]);
    let comparison = &data["comparison"];
    assert_eq!((&comparison["with"], &comparison["without"]), (&json!(touched), &json!(alone)), "{comparison}");
    let change = comparison["cost_per_prompt_change"].as_f64().unwrap();
    assert!((change + 50.0).abs() < 0.1, "{comparison}");
    assert_eq!(data["all"]["held"], touched, "what was not held back is not counted as held");
    let said = session.ok(&["stats"]);
    assert!(said.contains("Cost per prompt with Weir: -50.0 %") && said.contains("made them cheaper"), "{said}");
    // Events are recorded on both sides.
    let sessions = session.ok(&["history", "--sessions", "--limit", "100", "--json"]);
    assert_eq!(sessions.matches("\"session-").count(), 24, "{sessions}");
    super::write(&session.home.path().join(".config/weir/config.toml"), "[stats]\nhold_out = 2.0\n");
    assert_eq!(session.weir(&["stats"]).output().unwrap().status.code(), Some(5));
    assert!(session.ran("seq 1 5001", &numbers(5_001)).is_null() && session.faults().contains("hold_out"));
}

#[test]
fn every_output_is_counted_once_with_the_reason_for_which_it_was_left_alone() {
    let session = Session::new();
    super::write(&session.home.path().join(".config/weir/config.toml"), "[hold]\noff = [\"Bash(npm*)\"]\n");
    let (source, log) = (numbers(500), numbers(5_000));
    let prose: String = (0..60).map(|n| format!("a sentence that is like no other, number {n} of them\n")).collect();
    session.hook("UserPromptSubmit", json!({ "prompt": "Count everything" }));
    let outputs = [
        ("make", "done", "small"),
        ("cat prose.txt", prose.as_str(), "asked"),
        ("make all", source.as_str(), "small"),
        ("make log", log.as_str(), "held"),
        ("npm test", log.as_str(), "excluded"),
        ("seq 1 5000 # weir:off", log.as_str(), "excluded"),
    ];
    for (command, output, _) in outputs {
        session.ran(command, output);
    }
    let input = json!({ "file_path": "a.txt", "content": "text" });
    session.hook("PostToolUse", json!({ "tool_name": "Write", "tool_input": input, "tool_response": prose }));
    let seen = stats(&session, &[])["outputs"].clone();
    let count = |outcome: &str| outputs.iter().filter(|(.., expected)| *expected == outcome).count();
    for outcome in ["small", "asked", "held", "excluded"] {
        assert_eq!(seen["outcomes"][outcome]["outputs"], count(outcome), "{outcome}: {seen}");
    }
    assert_eq!(seen["outcomes"]["settled"]["outputs"], 1, "{seen}");
    assert_eq!(seen["all"]["outputs"], outputs.len() + 1, "{seen}");
    let parts = seen["outcomes"].as_object().unwrap().values();
    let bytes: u64 = parts.map(|part| part["bytes"].as_u64().unwrap()).sum();
    assert_eq!(seen["all"]["bytes"], bytes, "{seen}");
    assert_eq!(seen["outcomes"]["held"]["bytes"], log.len(), "{seen}");
    assert_eq!(stats(&session, &["--client", "claude-code"])["outputs"], seen);
    let said = session.ok(&["stats"]);
    assert!(said.contains("Hooks saw 7 outputs since ") && said.contains("excluded by your settings"), "{said}");
    let doctor = session.weir(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.contains(": 1 held back, 2 small, 1 asked for, 1 always shown as they are, 2 excluded"), "{doctor}");
    assert_eq!(session.faults(), "");
}
