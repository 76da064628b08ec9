//! What the user and the model say is kept whole, and found again.

use serde_json::{Value, json};

use super::{Session, reference};

/// Returns the events of a session that have a reference, as kind and reference, newest first.
fn referred(session: &Session) -> Vec<(String, String)> {
    let history: Value = serde_json::from_str(&session.ok(&["history", "--limit", "100", "--json"])).unwrap();
    let moments = history["moments"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    moments.map(|moment| (text(&moment["kind"]), text(&moment["reference"]))).filter(|(_, of)| !of.is_empty()).collect()
}

#[test]
fn a_long_prompt_is_stored_whole_found_and_forgotten() {
    let session = Session::new();
    let requirements: String = (1..=60)
        .map(|n| {
            format!("Requirement {n}: the report must have a column for region {n} and explain how it is computed.\n")
        })
        .collect();
    session.hook("UserPromptSubmit", json!({ "prompt": format!("Write the report.\n\n{requirements}") }));
    let found = session.ok(&["search", "Requirement 41 column"]);
    assert!(found.contains("Requirement 41: the report"), "{found}");
    let kept = referred(&session);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let whole = session.ok(&["get", &kept[0].1, "--lines", "60-62"]);
    assert!(whole.contains("Requirement 60: the report"), "{whole}");
    let plan = session.weir(&["forget", "--session", "s1"]).output().unwrap();
    let plan = String::from_utf8_lossy(&plan.stdout).into_owned() + &String::from_utf8_lossy(&plan.stderr);
    let code = plan.split("--confirm ").nth(1).unwrap().split_whitespace().next().unwrap();
    session.ok(&["forget", "--session", "s1", "--confirm", code]);
    let gone = session.weir(&["get", &kept[0].1]).output().unwrap();
    assert!(!gone.status.success(), "{gone:?}");
}

#[test]
fn pasted_data_is_stored_with_its_prompt() {
    let session = Session::new();
    let log: String = (0..90).map(|n| format!("2026-01-01 10:00:{n:02} [WARN] pool={n} zebra=0x{n:x}\n")).collect();
    session.hook("UserPromptSubmit", json!({ "prompt": format!("why does this happen?\n{log}") }));
    let kept = referred(&session);
    assert_eq!(kept.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(), ["data", "prompt"]);
    assert_eq!(kept[0].1, kept[1].1);
    let found = session.ok(&["search", "zebra=0x2a"]);
    assert!(reference(&found).contains(kept[0].1.trim_matches(['[', ']'])), "{found} {kept:?}");
    let listed = session.ok(&["history", "--sessions"]);
    assert!(listed.contains("\"why does this happen?\""), "{listed}");
}

#[test]
fn the_last_message_is_searched_as_a_whole() {
    let session = Session::new();
    let last = "`FlushBuffer` now waits for the disk.\n\nThe tests pass.\n\nThe branch is ready.";
    session.hook("Stop", json!({ "last_assistant_message": last }));
    let found = session.ok(&["search", "FlushBuffer"]);
    assert!(found.contains("now waits for the disk"), "{found}");
}

#[test]
fn a_choice_is_recorded_with_the_option_that_it_means() {
    let session = Session::new();
    let last = "Two ways:\n\n**Option A: keep the index in memory**\n**Option B: write it to the disk**\n\nWhich one?";
    session.hook("Stop", json!({ "last_assistant_message": last }));
    session.hook("UserPromptSubmit", json!({ "prompt": "let's go with B" }));
    let decision = session.events().into_iter().find(|(kind, _)| kind == "decision").unwrap();
    assert_eq!(decision.1, "let's go with B (Option B: write it to the disk)");
}

#[test]
fn finished_tasks_are_not_open() {
    let session = Session::new();
    session.hook("UserPromptSubmit", json!({ "prompt": "port the parser to the new lexer" }));
    for n in 1..=3 {
        let (input, task) = (json!({ "subject": format!("Step {n}") }), json!({ "id": n.to_string() }));
        session.hook(
            "PostToolUse",
            json!({ "tool_name": "TaskCreate", "tool_input": input, "tool_response": { "task": task } }),
        );
    }
    for n in 1..=2 {
        let input = json!({ "taskId": n.to_string(), "status": "completed" });
        session.hook(
            "PostToolUse",
            json!({ "tool_name": "TaskUpdate", "tool_input": input, "tool_response": { "success": true } }),
        );
    }
    session.hook("PreCompact", json!({ "trigger": "auto" }));
    let guide = session.hook("SessionStart", json!({ "source": "compact" })).to_string();
    assert!(guide.contains("Step 3") && !guide.contains("Step 1"), "{guide}");
    assert!(guide.contains("2 of 3"), "{guide}");
}

#[test]
fn a_fix_names_the_file_that_was_changed() {
    let session = Session::new();
    let command = json!({ "command": "cargo test" });
    let failed = "Exit code 101\nerror[E0425]: cannot find value `y`";
    session.hook("PostToolUseFailure", json!({ "tool_name": "Bash", "tool_input": command, "error": failed }));
    let edit = json!({ "file_path": session.project().join("src/a.rs") });
    session.hook("PostToolUse", json!({ "tool_name": "Edit", "tool_input": edit, "tool_response": {} }));
    session.ran("cargo test", "test result: ok. 3 passed");
    let fix = session.events().into_iter().find(|(kind, _)| kind == "fix").unwrap();
    assert!(fix.1.starts_with("passes again after a change of src/a.rs: cargo test: error[E0425]"), "{}", fix.1);
}
