//! VS Code's agent. Formats from its public documentation
//! (<https://code.visualstudio.com/docs/agents/reference/hooks-reference>, read in November 2026); VS Code has not been
//! run with them. It accepts context at the start of a session and after a tool call, and no replacement for an output.
//! It does not say whether it would ask the user about a command, so no command is rewritten.
//!
//! It also runs the hooks of Claude Code's settings and of Copilot CLI's hook files. Those clients' decoders recognise
//! its payloads (`Wire::is_of_vscode`) and leave them to this one.

pub(crate) mod setup;

use serde_json::Value;

use super::copilot;
use crate::hook::{AcceptedReplies, Done, Hook, Output, Point, Start, Tool};
use crate::wire::{Wire, first_text, has_any, mcp_tool, text};
use crate::{Client, Compaction, Defers, Reply, Retention};

pub(crate) const VSCODE: Client = Client {
    name: "vscode",
    title: "VS Code",
    session: "Visual Studio Code",
    compaction: Compaction::Waits,
    cuts: &[],
    cut_marks: &[],
    retention: Retention::Unknown,
    overhead_tokens: 0,
    defers_tools: Defers::Unknown,
    borrower: Some(&copilot::BORROWER),
    folder_variable: None,
    tool,
    decode,
    reply,
};

fn decode(wire: &Wire<'_>) -> Option<Hook> {
    if !wire.is_of_vscode() {
        return None;
    }
    let point = match wire.event {
        // It names no other source than a new session.
        "SessionStart" => Point::SessionStart(Start::New),
        "UserPromptSubmit" => Point::Prompt { text: wire.text("prompt").to_owned() },
        "PostToolUse" => Point::AfterTool(wire.call(tool), done(wire)),
        "PreCompact" => Point::BeforeCompaction,
        "SubagentStart" => Point::SubagentStart,
        "SubagentStop" => Point::SubagentStop { result: String::new() },
        "Stop" => Point::Stop { last: String::new() },
        _ => return None,
    };
    let context = matches!(wire.event, "SessionStart" | "PostToolUse");
    let session = first_text(wire.payload, &["session_id", "sessionId"]).to_owned();
    Some(Hook { session, ..wire.hook(point, AcceptedReplies { context, ..AcceptedReplies::default() })? })
}

fn tool(name: &str, input: &Value) -> Tool {
    let at = |keys: &[&str]| first_text(input, keys).to_owned();
    let file = || match first_text(input, &["filePath", "path"]) {
        "" => text(&input["files"][0]).to_owned(),
        path => path.to_owned(),
    };
    match name {
        "run_in_terminal" | "runInTerminal" | "runTerminalCommand" => Tool::Shell { command: at(&["command"]) },
        "read_file" | "readFile" => {
            Tool::Read { path: file(), part: has_any(input, &["startLine", "endLine", "offset", "limit"]) }
        }
        "create_file" | "createFile" => Tool::Write { path: file() },
        "replace_string_in_file" | "insert_edit_into_file" | "edit_notebook_file" | "editFiles" => {
            Tool::Edit { path: file() }
        }
        "multi_replace_string_in_file" => Tool::Edit { path: text(&input["replacements"][0]["filePath"]).to_owned() },
        "grep_search" | "file_search" | "semantic_search" | "list_dir" => {
            Tool::Search { pattern: at(&["query", "path"]) }
        }
        "fetch_webpage" => Tool::Fetch { what: text(&input["urls"][0]).to_owned() },
        "manage_todo_list" => Tool::Tasks,
        "runSubagent" => Tool::Subagent { task: at(&["description", "prompt"]) },
        name => mcp_tool(name, "mcp_", "_").unwrap_or(Tool::Other),
    }
}

/// Decodes an output. The hook is called only for a tool that has succeeded.
fn done(wire: &Wire<'_>) -> Done {
    let output = Output { text: wire.all_text(&wire.payload["tool_response"]), ..Output::default() };
    Done { output, ..Done::default() }
}

fn reply(wire: &Wire<'_>, hook: &Hook, reply: &Reply) -> Option<Value> {
    match reply {
        Reply::Context(text) if hook.takes.context => Some(wire.context_reply(text)),
        Reply::Context(_) | Reply::Output(_) | Reply::Command(_) | Reply::Keep(_) | Reply::Notice(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;
    use weir_check::Checked;

    use crate::find;

    macro_rules! documented {
        ($name:literal) => {
            serde_json::from_str::<Value>(include_str!(concat!("../../fixtures/vscode/", $name, ".json"))).unwrap()
        };
    }

    fn check(event: &str, payload: &Value) -> Checked {
        let hook = decode(&Wire::new(event, payload)).unwrap();
        assert_eq!((hook.session.as_str(), hook.folder), ("session-identifier", "/path/to/workspace".into()));
        let told = match hook.point {
            Point::AfterTool(call, done) => format!("{:?}\n{done:?}", call.tool),
            point => format!("{point:?} {:?}", hook.subagent),
        };
        Checked(told)
    }

    #[test]
    fn a_session_is_told_from_its_beginning_to_its_end() {
        check("SessionStart", &documented!("SessionStart")).shows(&expect!["SessionStart(New) None"]);
        check("UserPromptSubmit", &documented!("UserPromptSubmit"))
            .shows(&expect![[r#"Prompt { text: "Fix the failing test" } None"#]]);
        check("PreCompact", &documented!("PreCompact")).shows(&expect!["BeforeCompaction None"]);
        check("SubagentStart", &documented!("SubagentStart"))
            .shows(&expect![[r#"SubagentStart Some(Subagent { key: "subagent-456", kind: "Plan" })"#]]);
        check("SubagentStop", &documented!("SubagentStop"))
            .shows(&expect![[r#"SubagentStop { result: "" } Some(Subagent { key: "subagent-456", kind: "Plan" })"#]]);
        check("Stop", &documented!("Stop")).shows(&expect![[r#"Stop { last: "" } None"#]]);
    }

    #[test]
    fn what_tools_gave_back_is_a_text() {
        check("PostToolUse", &documented!("PostToolUse")).shows(&expect![[r#"
            Edit { path: "src/main.ts" }
            Done { output: Output { text: Here("File edited successfully"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
        check("PostToolUse", &documented!("PostToolUse.run_in_terminal")).shows(&expect![[r#"
            Shell { command: "npm test" }
            Done { output: Output { text: Here("All tests passed"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
    }

    /// It calls the hooks of Claude Code and Copilot CLI with its own payloads, besides those that are meant for it.
    #[test]
    fn only_its_own_hook_answers_it() {
        for (event, camel, payload) in [
            ("PostToolUse", "postToolUse", documented!("PostToolUse.run_in_terminal")),
            ("SessionStart", "sessionStart", documented!("SessionStart")),
            ("PreCompact", "preCompact", documented!("PreCompact")),
        ] {
            assert!(decode(&Wire::new(event, &payload)).is_some(), "{event}");
            assert_eq!((find("claude").unwrap().decode)(&Wire::new(event, &payload)), None, "{event}");
            assert_eq!((find("copilot").unwrap().decode)(&Wire::new(camel, &payload)), None, "{camel}");
        }
        let claude = serde_json::from_str(include_str!("../../fixtures/claude/PostToolUse.json")).unwrap();
        assert_eq!(decode(&Wire::new("PostToolUse", &claude)), None, "a payload of Claude Code");
        let cursor = serde_json::from_str(include_str!("../../fixtures/cursor/postToolUse.Shell.json")).unwrap();
        assert_eq!((find("claude").unwrap().decode)(&Wire::new("PostToolUse", &cursor)), None, "a payload of Cursor");
    }

    #[test]
    fn the_names_that_its_source_uses_are_known_too() {
        let mut payload = documented!("PostToolUse");
        let fields = payload.as_object_mut().unwrap();
        for (documented, sent) in [("sessionId", "session_id"), ("hookEventName", "hook_event_name")] {
            let value = fields.remove(documented).unwrap();
            fields.insert(sent.to_owned(), value);
        }
        assert_eq!(decode(&Wire::new("PostToolUse", &payload)).unwrap().session, "session-identifier");
    }

    #[test]
    fn nothing_but_context_is_answered() {
        let answered = |event: &str, payload: &Value, form: fn(String) -> Reply| {
            let wire = Wire::new(event, payload);
            reply(&wire, &decode(&wire).unwrap(), &form("said".to_owned()))
        };
        let after = documented!("PostToolUse");
        let context = json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "additionalContext": "said" } });
        assert_eq!(answered("PostToolUse", &after, Reply::Context), Some(context));
        assert_eq!(answered("PostToolUse", &after, Reply::Output), None);
        assert_eq!(answered("UserPromptSubmit", &documented!("UserPromptSubmit"), Reply::Context), None);
        assert_eq!(tool("mcp_weir_ctx_get", &Value::Null), Tool::Ours);
    }
}
