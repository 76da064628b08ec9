//! Copilot CLI. It saves a large output itself, and shows the first lines and the path; it refuses to read a large
//! file. A hook called in a subagent has the subagent's key, and the session's key in a separate field.

pub(crate) mod setup;
pub(crate) mod transcript;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hook::{AcceptedReplies, Done, Hook, Output, Point, Subagent, Tool, ToolCall};
use crate::text::TextView;
use crate::wire::{Wire, between, first_text, mcp_tool};
use crate::{Borrower, Client, Compaction, Defers, OwnCut, Reply, Retention};

/// Copilot CLI as the caller of hooks of Claude Code and VS Code, which it runs in addition to its own.
pub(crate) const BORROWER: Borrower = Borrower { sets: "COPILOT_CLI", unless: "CLAUDECODE" };

pub(crate) const COPILOT: Client = Client {
    name: "copilot",
    title: "Copilot CLI",
    session: "copilot-cli",
    compaction: Compaction::Waits,
    cuts: &[OwnCut { above: 20_480, head: 500, around: SAVED, ..OwnCut::NONE }],
    cut_marks: &[SAVED],
    // Going back in the conversation leaves no trace in the transcript.
    retention: Retention::Turn(&[
        r#""type":"session.truncation""#,
        r#""type":"session.compaction_complete""#,
        r#""type":"session.context_cleared""#,
    ]),
    overhead_tokens: 586,
    defers_tools: Defers::Never { tried: "1.0.102" },
    borrower: None,
    folder_variable: None,
    tool,
    decode,
    reply,
};

/// The beginning of its message about an output that it has saved.
const SAVED: &str = "Output too large to read at once (";
/// A part of the names of the files in which it saves outputs.
const OWN_FILE: &str = "-copilot-tool-output-";

fn decode(wire: &Wire<'_>) -> Option<Hook> {
    // VS Code runs the hooks of Copilot CLI in addition to its own, which answer.
    if wire.is_of_vscode() {
        return None;
    }
    let point = match wire.event {
        "sessionStart" => Point::SessionStart(wire.start()),
        "userPromptSubmitted" => Point::Prompt { text: wire.text("prompt").to_owned() },
        "preToolUse" => Point::BeforeTool(call(wire)),
        "postToolUse" => {
            let call = call(wire);
            let done = done(wire, &call.tool);
            Point::AfterTool(call, done)
        }
        "postToolUseFailure" => Point::AfterTool(call(wire), failed(wire)),
        "preCompact" => Point::BeforeCompaction,
        "subagentStart" => Point::SubagentStart,
        "subagentStop" => Point::SubagentStop { result: wire.text("response").to_owned() },
        "agentStop" => Point::Stop { last: String::new() },
        "sessionEnd" => Point::SessionEnd,
        _ => return None,
    };
    let subagent = wire.text("agentId");
    let key = if subagent.is_empty() { "sessionId" } else { "parentAgentId" };
    Some(Hook {
        session: wire.text(key).to_owned(),
        folder: wire.path("cwd")?,
        shell: None,
        transcript: wire.path("transcriptPath"),
        subagent: (!subagent.is_empty())
            .then(|| Subagent { key: subagent.to_owned(), kind: wire.text("agentType").to_owned() }),
        takes: AcceptedReplies {
            context: point.takes_context(),
            output: wire.event == "postToolUse",
            // It does not say whether it would ask the user.
            command: false,
            keep: false,
            notice: false,
        },
        point,
    })
}

fn call(wire: &Wire<'_>) -> ToolCall {
    let (name, input) = (wire.text("toolName"), &wire.payload["toolArgs"]);
    ToolCall {
        key: None,
        name: name.to_owned(),
        tool: tool(name, input),
        input: input.clone(),
        input_is_whole: !wire.has_long(input),
        background: false,
    }
}

fn tool(name: &str, input: &Value) -> Tool {
    let at = |keys: &[&str]| first_text(input, keys).to_owned();
    match name {
        "bash" | "powershell" => Tool::Shell { command: at(&["command"]) },
        // A forced read of a large file is asked for as it is, like a part.
        "view" => Tool::Read {
            path: at(&["path"]),
            part: !input["view_range"].is_null() || input["forceReadLargeFiles"] == true,
        },
        "edit" => Tool::Edit { path: at(&["path"]) },
        "create" => Tool::Write { path: at(&["path"]) },
        "grep" | "glob" => Tool::Search { pattern: at(&["pattern"]) },
        "web_fetch" | "web_search" => Tool::Fetch { what: at(&["url", "query"]) },
        "update_todo" => Tool::Tasks,
        "task" => Tool::Subagent { task: at(&["description", "prompt"]) },
        "exit_plan_mode" => Tool::Plan { text: at(&["summary", "plan"]) },
        "ask_user" => Tool::Question { text: at(&["question"]) },
        name => mcp_tool(name, "", "-").unwrap_or(Tool::Other),
    }
}

fn done(wire: &Wire<'_>, tool: &Tool) -> Done {
    let result = &wire.payload["toolResult"];
    let said = wire.view(&result["textResultForLlm"]);
    let (output, exit_code) = match tool {
        Tool::Shell { .. } => without_end(said),
        _ => (said, None),
    };
    let message = output.head().strip_prefix(SAVED);
    let saved = message.and_then(|said| between(said, "). Saved to: ", "\n")).and_then(own_file);
    Done {
        output: Output { text: output.to_text(), saved, ..Output::default() },
        exit_code,
        failed: result["resultType"] != "success" || exit_code.is_some_and(|code| code != 0),
        millis: None,
    }
}

/// Splits a command's output from the client's last line, and returns the exit code in that line.
fn without_end(said: TextView<'_>) -> (TextView<'_>, Option<i32>) {
    let last = said.last_line().unwrap_or_default();
    let code = last.strip_prefix("<shellId: ").and_then(|last| between(last, " completed with exit code ", ">"));
    match code.and_then(|code| code.parse().ok()) {
        // The line break before it is the client's too.
        Some(code) => (said.without_end(last.len() + 1), Some(code)),
        None => (said, None),
    }
}

/// Returns a path if its name is that of a saved output. A tool could print any path and make us read it.
fn own_file(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let name = path.file_name()?.to_str()?;
    let (time, rest) = name.split_once(OWN_FILE)?;
    let is_own = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit()) && rest.ends_with(".txt");
    (is_own && path.is_absolute()).then(|| path.to_owned())
}

fn failed(wire: &Wire<'_>) -> Done {
    let output = Output { text: wire.view(&wire.payload["error"]).to_text(), ..Output::default() };
    Done { output, failed: true, ..Done::default() }
}

fn reply(_: &Wire<'_>, _: &Hook, reply: &Reply) -> Option<Value> {
    match reply {
        Reply::Output(text) => Some(json!({ "modifiedResult": { "textResultForLlm": text, "resultType": "success" } })),
        Reply::Context(text) => Some(json!({ "additionalContext": text })),
        Reply::Command(_) | Reply::Keep(_) | Reply::Notice(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use weir_check::Checked;

    fn check(event: &str, payload: &str) -> Checked {
        let payload = serde_json::from_str(payload).unwrap();
        let hook = decode(&Wire::new(event, &payload)).unwrap();
        let told = match &hook.point {
            Point::AfterTool(call, done) => format!("{:?}\n{done:?}", call.tool),
            point => format!("{point:?} {} {:?}", hook.session, hook.subagent),
        };
        Checked(told)
    }

    #[test]
    fn what_tools_gave_back() {
        check("postToolUse", fixture!("copilot/postToolUse.bash-failing")).shows(&expect![[r#"
            Shell { command: "echo FAILING; exit 3" }
            Done { output: Output { text: Here("FAILING"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: Some(3), failed: true, millis: None }"#]]);
        check("postToolUse", fixture!("copilot/postToolUse.probe-echo")).shows(&expect![[r#"
            Mcp { server: "probe", tool: "echo" }
            Done { output: Output { text: Here("MCP-ECHO:ping"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
        check("postToolUse", fixture!("copilot/postToolUse.view")).shows(&expect![[r#"
            Read { path: "/home/dev/project/hello.txt", part: false }
            Done { output: Output { text: Here("hello file\n"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
        check("postToolUseFailure", fixture!("copilot/postToolUseFailure")).shows(&expect![[r#"
            Mcp { server: "probe", tool: "fail" }
            Done { output: Output { text: Here("MCP server 'probe': MCP-FAIL: asked to fail"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: true, millis: None }"#]]);
    }

    #[test]
    fn what_a_subagent_does_belongs_to_the_session() {
        check("subagentStop", fixture!("copilot/subagentStop")).shows(&expect![[
                r#"SubagentStop { result: "SUBAGENT-RESULT" } 1a67f22f-6089-4fc7-8d32-fd9b3ec76c73 Some(Subagent { key: "c96edaf3-e42f-4757-a87c-4b384e701bb9", kind: "general-purpose" })"#
            ]]);
    }

    fn after(tool: &str, input: Value, said: &str) -> Output {
        let result = json!({ "resultType": "success", "textResultForLlm": said });
        let payload = json!({ "cwd": "/p", "toolName": tool, "toolArgs": input, "toolResult": result });
        match decode(&Wire::new("postToolUse", &payload)).unwrap().point {
            Point::AfterTool(_, done) => done.output,
            point => panic!("{point:?}"),
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_saved_output_is_found_only_where_the_client_saves_one() {
        let said = |path: &str| {
            format!("{SAVED}164.9 KB). Saved to: {path}\nConsider using tools\n<shellId: 0 completed with exit code 0>")
        };
        let saved = |path: &str| after("bash", json!({ "command": "seq 1 30000" }), &said(path)).saved;
        let own = "/tmp/run/1794749591649-copilot-tool-output-17-8379e8f1-09b6-4aef-aaa0-222337f0ccfd.txt";
        assert_eq!(saved(own), Some(own.into()));
        for other in [
            "/etc/shadow", "/p/x-copilot-tool-output-1.txt", "1-copilot-tool-output-1.txt",
            "/p/1-copilot-tool-output-1",
        ] {
            assert_eq!(saved(other), None, "{other}");
        }
    }

    #[test]
    fn our_own_tools_are_known_by_their_server() {
        assert_eq!(tool("weir-ctx_get", &Value::Null), Tool::Ours);
    }
}
