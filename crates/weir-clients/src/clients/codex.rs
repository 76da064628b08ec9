//! Codex. It rejects a whole answer if one of its fields is unknown, and silently skips hooks that the user has not
//! trusted. Its hook receives only a part of a large output and the rest is lost, so the command is rewritten
//! beforehand.

use serde_json::{Value, json};

use crate::hook::{AcceptedReplies, Done, Hook, Output, Point, Tool};
use crate::wire::{Wire, first_text, mcp_tool};
use crate::{Client, Compaction, OwnCut, Reply};

/// Codex.
pub(crate) const CODEX: Client = Client {
    name: "codex",
    title: "Codex",
    session: "codex-mcp-client",
    compaction: Compaction::Begins,
    own_cut: Some(OwnCut { above: 10_000, shows: 10_000 }),
    decode,
    reply,
};

/// The beginning of an output that Codex has truncated.
const CUT: &str = "Warning: truncated output (original token count: ";

fn decode(wire: &Wire<'_>) -> Option<Hook> {
    let point = match wire.event {
        "SessionStart" => Point::SessionStart(wire.start()),
        "UserPromptSubmit" => Point::Prompt { text: wire.text("prompt").to_owned() },
        "PreToolUse" => Point::BeforeTool(wire.call(tool)),
        "PostToolUse" => Point::AfterTool(wire.call(tool), done(wire)),
        "PreCompact" => Point::BeforeCompaction,
        "PostCompact" => Point::AfterCompaction { summary: String::new() },
        "SubagentStart" => Point::SubagentStart,
        "SubagentStop" => Point::SubagentStop { result: wire.text("last_assistant_message").to_owned() },
        "Stop" => Point::Stop { last: wire.text("last_assistant_message").to_owned() },
        "SessionEnd" => Point::SessionEnd,
        _ => return None,
    };
    let takes = AcceptedReplies {
        context: point.takes_context(),
        output: wire.event == "PostToolUse",
        // It accepts a rewritten command only together with permission to run it.
        command: wire.text("permission_mode") == "bypassPermissions",
        keep: false,
    };
    wire.hook(point, takes)
}

fn tool(name: &str, input: &Value) -> Tool {
    let at = |keys: &[&str]| first_text(input, keys).to_owned();
    match name {
        "Bash" | "shell" | "exec_command" => Tool::Shell { command: at(&["command", "cmd"]) },
        "apply_patch" | "Edit" | "Write" => Tool::Edit { path: patched(&at(&["command", "input", "patch"])) },
        "update_plan" => Tool::Tasks,
        "spawn_agent" => Tool::Subagent { task: at(&["message"]) },
        "web_search" => Tool::Fetch { what: at(&["query"]) },
        name => mcp_tool(name, "mcp__", "__").unwrap_or(Tool::Other),
    }
}

/// Returns the first file that a patch names.
fn patched(patch: &str) -> String {
    let file = |line: &str| {
        ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .map(str::to_owned)
    };
    patch.lines().find_map(file).unwrap_or_default()
}

fn done(wire: &Wire<'_>) -> Done {
    let text = wire.all_text(&wire.payload["tool_response"]);
    let cut = text.view().head().starts_with(CUT);
    Done { output: Output { text, cut, ..Output::default() }, ..Done::default() }
}

fn reply(wire: &Wire<'_>, hook: &Hook, reply: &Reply) -> Option<Value> {
    Some(match reply {
        Reply::Output(text) => json!({ "decision": "block", "reason": text }),
        Reply::Context(text) => {
            json!({ "hookSpecificOutput": { "hookEventName": wire.event, "additionalContext": text } })
        }
        Reply::Command(command) => {
            let Point::BeforeTool(_) = &hook.point else { return None };
            let input = json!({ "command": command });
            json!({ "hookSpecificOutput": {
                "hookEventName": wire.event, "permissionDecision": "allow", "updatedInput": input,
            } })
        }
        Reply::Keep(_) => return None,
    })
}
