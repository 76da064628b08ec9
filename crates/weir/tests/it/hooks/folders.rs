//! A session belongs to the folder in which it was started, wherever its shell is.

use std::path::Path;

use serde_json::{Value, json};

use super::{Session, bash, hooked, numbers, reference, shown, write};

/// Calls a hook of a session that was started in the project and whose shell is in another folder.
fn called(session: &Session, folder: &Path, more: Value) -> Value {
    let mut payload = json!({ "session_id": "s1", "cwd": folder, "permission_mode": "default" });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut command = session.weir(&["hook", "claude", "PostToolUse"]);
    command.env("CLAUDE_PROJECT_DIR", session.project());
    let answer = hooked(command, payload.to_string().as_bytes());
    if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer).unwrap() }
}

fn edit(path: &Path) -> Value {
    json!({ "tool_name": "Edit", "tool_input": { "file_path": path }, "tool_response": {} })
}

#[test]
fn what_is_held_in_any_folder_is_found_where_the_session_was_started() {
    let session = Session::new();
    let (plain, repository) = (session.project().join("plain"), session.project().join("vendor"));
    std::fs::create_dir(&plain).unwrap();
    write(&repository.join(".git/HEAD"), "ref: refs/heads/main\n");
    for folder in [plain, repository, session.project().join("removed")] {
        let answer = called(&session, &folder, bash("seq 1 9000", &numbers(9_000)));
        assert_eq!(session.ok(&["get", reference(shown(&answer)), "--raw"]), numbers(9_000), "{}", folder.display());
    }
    assert_eq!(session.faults(), "");
}

#[test]
fn a_file_has_the_same_name_from_every_folder() {
    let session = Session::new();
    session.home.git(&["init", "-q"]);
    let folder = session.project().join("src");
    std::fs::create_dir(&folder).unwrap();
    called(&session, &session.project(), edit(&folder.join("a.rs")));
    called(&session, &folder, edit(&folder.join("b.rs")));
    let texts: Vec<String> = session.events().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["edited src/a.rs", "edited src/b.rs"]);
}

#[test]
fn another_work_tree_has_files_of_its_own() {
    let session = Session::new();
    session.home.git(&["init", "-q"]);
    session.home.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    session.home.git(&["worktree", "add", "-q", "-b", "other", ".claude/worktrees/other"]);
    let tree = session.project().join(".claude/worktrees/other");
    called(&session, &tree, edit(&tree.join("a.rs")));
    assert!(session.events().iter().any(|(_, text)| text == "edited a.rs"), "{:?}", session.events());
}
