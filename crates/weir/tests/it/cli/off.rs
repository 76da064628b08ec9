//! Weir while it is off: in a project, for a client, everywhere.

use serde_json::{Value, json};

use crate::support::{Home, WEIR, feed, said, text, write};

/// Sends a prompt and a long output to the hooks of Claude Code, as if in a folder. Returns the answers.
fn work(home: &Home, folder: &str) -> Vec<Value> {
    let output = (0..9_000).map(|n| format!("line {n} of a long build\n")).collect::<String>();
    let result = json!({ "stdout": output, "stderr": "", "interrupted": false, "isImage": false });
    let events = [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt": "We decided to keep the secret plan." })),
        ("PostToolUse", json!({ "tool_name": "Bash", "tool_input": { "command": "make" }, "tool_response": result })),
        ("PreCompact", json!({ "trigger": "auto" })),
    ];
    let answer = |(event, more): &(&str, Value)| {
        let mut payload = json!({ "session_id": "s", "cwd": home.at(folder), "hook_event_name": event });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = home.raw_hook("claude", event, payload.to_string().as_bytes());
        if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer).unwrap() }
    };
    events.iter().map(answer).collect()
}

fn has_store(home: &Home) -> bool {
    home.data().join("projects").exists()
}

/// Runs a command of a person, and returns what it prints.
fn typed(home: &Home, arguments: &[&str]) -> String {
    said(&home.piped(arguments))
}

#[test]
fn while_weir_is_off_in_a_project_hooks_record_hold_and_say_nothing() {
    let home = Home::new();
    assert!(typed(&home, &["off"]).starts_with("✓ Weir is off in ~/project: nothing is recorded"));
    home.write("below/file", "");
    for folder in ["project", "project/below"] {
        assert_eq!(work(&home, folder), vec![Value::Null; 4], "{folder}");
    }
    assert!(!has_store(&home));
    assert!(typed(&home, &[]).starts_with("Weir is off in "), "{}", typed(&home, &[]));
    assert!(typed(&home, &["doctor"]).starts_with("– weir: "), "{}", typed(&home, &["doctor"]));
    let setup = typed(&home, &["setup", "claude", "--dry-run"]);
    assert!(setup.starts_with("Weir is off in "), "{setup}");

    assert!(typed(&home, &["on"]).starts_with("✓ Weir is on in ~/project"));
    assert!(work(&home, "project")[2].to_string().contains("held as [ctx:"));
    assert!(home.ok(&["history"]).contains("secret plan"));
    assert!(!home.at(".config/weir/off.toml").exists());
}

#[test]
fn all_work_trees_of_a_repository_are_off_and_other_projects_are_not() {
    let home = Home::new();
    home.git(&["init", "-q"]);
    home.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    home.git(&["worktree", "add", "-q", "../tree"]);
    let off = home.command(WEIR, &["off"]).current_dir(home.at("tree")).output().unwrap();
    assert!(off.status.success(), "{}", said(&off));
    for folder in ["project", "tree"] {
        assert_eq!(work(&home, folder), vec![Value::Null; 4], "{folder}");
    }
    assert!(!has_store(&home));
    std::fs::create_dir(home.at("another")).unwrap();
    assert!(work(&home, "another")[2].to_string().contains("held as [ctx:"));
}

#[test]
fn a_server_offers_no_tools_while_weir_is_off_and_a_model_is_told_so() {
    let home = Home::new();
    let mut before = home.session("s");
    assert!(typed(&home, &["off"]).contains("which answer that Weir is off"));
    assert!(before.refused("ctx_execute", &json!({ "code": "echo hi" })).contains("Weir is off in "));
    let mut server = crate::support::Server::start(home.weir_command(&["mcp"]));
    let greeting = server.greet("claude-code", "2025-11-25", &json!({}));
    assert_eq!(greeting.get("instructions"), None, "{greeting}");
    assert_eq!(server.ask("tools/list", json!({}))["result"]["tools"], json!([]));
    assert!(server.refused("ctx_annotate", &json!({ "text": "a note" })).contains("`weir on` in "));
    let run = home.weir(&["run", "echo hi"]);
    assert!(!run.status.success() && said(&run).contains("Weir is off in "), "{}", said(&run));
    assert!(!has_store(&home));
    let on = home.weir(&["on"]);
    assert!(!on.status.success() && said(&on).contains("only you can turn Weir on"), "{}", said(&on));
    // A person who types a command means it.
    assert!(home.piped(&["note", "typed by a person"]).status.success());
}

#[test]
fn a_client_can_be_off_while_the_others_work() {
    let home = Home::new();
    typed(&home, &["off", "--client", "claude"]);
    assert_eq!(work(&home, "project"), vec![Value::Null; 4]);
    let prompt =
        json!({ "session_id": "g", "cwd": home.project(), "hook_event_name": "BeforeAgent", "prompt": "Hello" });
    home.raw_hook("gemini", "BeforeAgent", prompt.to_string().as_bytes());
    let history = home.ok(&["history"]);
    assert!(history.contains("Hello") && !history.contains("secret plan"), "{history}");
    let tools = |home: &Home| home.session("s").ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools(&home), json!([]));
    assert!(typed(&home, &[]).starts_with("Weir is off for Claude Code"));
    typed(&home, &["on", "--client", "claude"]);
    assert_eq!(tools(&home).as_array().unwrap().len(), 4);
}

#[test]
fn everywhere_is_every_project_and_on_says_what_is_still_off() {
    let home = Home::new();
    typed(&home, &["off", "--everywhere"]);
    assert_eq!(work(&home, "project"), vec![Value::Null; 4]);
    assert!(!has_store(&home));
    let still = home.piped(&["on"]);
    assert!(!still.status.success() && said(&still).contains("`weir on --everywhere`"), "{}", said(&still));
    typed(&home, &["on", "--everywhere"]);
    assert!(work(&home, "project")[2].to_string().contains("held as [ctx:"));
}

#[test]
fn a_switch_that_cannot_be_read_is_off() {
    let home = Home::new();
    let switch = home.at(".config/weir/off.toml");
    for broken in ["everywhere = ", "later = true\n"] {
        write(&switch, broken);
        assert_eq!(work(&home, "project"), vec![Value::Null; 4], "{broken}");
        assert!(!has_store(&home));
        let doctor = typed(&home, &["doctor"]);
        assert!(doctor.starts_with("✗ weir: ") && doctor.contains("off.toml"), "{doctor}");
    }
    std::fs::remove_file(&switch).unwrap();
    std::fs::create_dir(&switch).unwrap();
    assert_eq!(work(&home, "project"), vec![Value::Null; 4]);
    assert!(!has_store(&home));
}

#[test]
fn a_folder_in_the_configuration_is_off_too_whatever_else_is_wrong_there() {
    let home = Home::new();
    for rest in ["", "no_such_setting = 1\n"] {
        home.configure(&format!("[hold]\noff_folders = [{:?}]\n{rest}", home.project()));
        assert_eq!(work(&home, "project"), vec![Value::Null; 4], "{rest}");
        assert!(!has_store(&home));
    }
    home.configure(&format!("[hold]\noff_folders = [{:?}]\n", home.project()));
    let still = typed(&home, &["on"]);
    assert!(still.contains("off_folders in the configuration"), "{still}");
    assert!(typed(&home, &[]).starts_with("Weir is off in "));
}

#[test]
fn the_variable_and_the_status_line_say_that_weir_is_off() {
    let home = Home::new();
    let mut overview = home.command(WEIR, &[]);
    let shown = said(&overview.env("WEIR_OFF", "1").output().unwrap());
    assert!(shown.starts_with("Weir is off in this shell (WEIR_OFF is set): nothing is recorded"), "{shown}");
    let told = json!({
        "session_id": "s", "cwd": home.project(), "context_window": { "total_input_tokens": 62_400 },
    });
    let line = || text(&feed(home.weir_command(&["statusline"]), told.to_string().as_bytes()).stdout);
    assert_eq!(line(), "62k tokens\n");
    typed(&home, &["off"]);
    assert_eq!(line(), "62k tokens · weir off\n");
}

#[test]
fn sessions_of_a_project_that_is_off_are_not_imported() {
    let home = Home::new();
    let row = json!({
        "type": "user", "sessionId": "s", "cwd": home.project(), "uuid": "u", "timestamp": "2026-01-01T00:00:00Z",
        "message": { "role": "user", "content": "Import the secret plan" },
    });
    write(&home.at(".claude/projects/p/s.jsonl"), format!("{row}\n"));
    typed(&home, &["off"]);
    let imported = typed(&home, &["import", "--all"]);
    assert!(imported.contains("because Weir is off for their project or client"), "{imported}");
    assert!(!typed(&home, &["history"]).contains("secret plan"));
}

#[test]
fn a_server_over_http_refuses_calls_while_weir_is_off() {
    let home = Home::new();
    let server = crate::serve::support::Server::start(&home);
    typed(&home, &["off"]);
    let problem = server.post("ctx_annotate", &json!({ "text": "a note" })).problem(403);
    assert!(problem["detail"].as_str().unwrap().contains("Weir is off in "), "{problem}");
    typed(&home, &["on"]);
    server.call("ctx_annotate", &json!({ "text": "a note" }));
}
