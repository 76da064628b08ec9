//! Cursor. Formats from its public documentation (<https://cursor.com/docs/hooks>, read in November 2026); they were
//! not tested with Cursor. It accepts a replacement for the output of MCP tools only, and context after a tool call or
//! at the start of a session. It does not say whether it would ask the user about a command, so no command is
//! rewritten.

pub(crate) mod setup;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::hook::{AcceptedReplies, Done, Hook, Output, Point, Start, Subagent, Tool, ToolCall};
use crate::text::Text;
use crate::wire::{Wire, first_text, has_any, text};
use crate::{Client, Compaction, Defers, Reply, Retention, json};

pub(crate) const CURSOR: Client = Client {
    name: "cursor",
    title: "Cursor",
    session: "cursor-vscode",
    compaction: Compaction::Waits,
    cuts: &[],
    cut_marks: &[],
    retention: Retention::Unknown,
    overhead_tokens: 0,
    defers_tools: Defers::Unknown,
    borrower: None,
    folder_variable: None,
    tool,
    decode,
    reply,
};

/// The beginning of the names of MCP tools. Newer versions name the tool, some also name its server before it.
const MCP: &str = "MCP:";

fn decode(wire: &Wire<'_>) -> Option<Hook> {
    let point = match wire.event {
        "sessionStart" => Point::SessionStart(Start::New),
        "beforeSubmitPrompt" => Point::Prompt { text: wire.text("prompt").to_owned() },
        "postToolUse" => Point::AfterTool(wire.call(tool), done(wire)),
        "postToolUseFailure" => Point::AfterTool(wire.call(tool), failed(wire)),
        "preCompact" => Point::BeforeCompaction,
        "subagentStop" => Point::SubagentStop { result: first_text(wire.payload, &["summary", "result"]).to_owned() },
        // The end of a turn itself, `stop`, does not come with the text.
        "afterAgentResponse" => Point::Stop { last: wire.text("text").to_owned() },
        "sessionEnd" => Point::SessionEnd,
        _ => return None,
    };
    let takes = AcceptedReplies {
        context: matches!(wire.event, "sessionStart" | "postToolUse"),
        output: is_replaceable(&point),
        command: false,
        keep: false,
        notice: false,
    };
    Some(Hook {
        session: first_text(wire.payload, &["conversation_id", "session_id"]).to_owned(),
        folder: folder(wire)?,
        shell: None,
        transcript: wire.path("transcript_path"),
        subagent: subagent(wire),
        point,
        takes,
    })
}

/// Returns the folder of the session: the first one that is open, else the one that the tool worked in.
fn folder(wire: &Wire<'_>) -> Option<PathBuf> {
    let opened = text(&wire.payload["workspace_roots"][0]);
    if opened.is_empty() { wire.path("cwd") } else { Some(PathBuf::from(opened)) }
}

/// Returns the subagent that has finished. Nothing else says which subagent it comes from.
fn subagent(wire: &Wire<'_>) -> Option<Subagent> {
    let kind = Some(wire.text("subagent_type")).filter(|kind| !kind.is_empty())?;
    Some(Subagent { key: wire.text("subagent_id").to_owned(), kind: kind.to_owned() })
}

/// Returns whether an output may be replaced: that of an MCP tool that did not fail and whose text could be decoded.
fn is_replaceable(point: &Point) -> bool {
    match point {
        Point::AfterTool(ToolCall { tool: Tool::Mcp { .. }, .. }, done) => {
            !done.failed && done.output.text.here().is_some_and(|text| !text.is_empty())
        }
        _ => false,
    }
}

fn tool(name: &str, input: &Value) -> Tool {
    let at = |keys: &[&str]| first_text(input, keys).to_owned();
    match name {
        "Shell" => Tool::Shell { command: at(&["command"]) },
        "Read" => {
            Tool::Read { path: at(&["file_path", "path", "target_file"]), part: has_any(input, &["offset", "limit"]) }
        }
        "Write" => Tool::Write { path: at(&["file_path", "path"]) },
        "Edit" | "StrReplace" | "Delete" => Tool::Edit { path: at(&["file_path", "path"]) },
        "Grep" | "Glob" | "SemanticSearch" => Tool::Search { pattern: at(&["pattern", "query", "glob_pattern"]) },
        "WebFetch" | "WebSearch" => Tool::Fetch { what: at(&["url", "search_term", "query"]) },
        "TodoWrite" => Tool::Tasks,
        "Task" => Tool::Subagent { task: at(&["description", "prompt"]) },
        name => name.strip_prefix(MCP).map_or(Tool::Other, mcp),
    }
}

fn mcp(name: &str) -> Tool {
    let (server, tool) = name.rsplit_once(':').unwrap_or(("mcp", name));
    let is_ours = server == "weir" || tool.starts_with("ctx_") || tool.starts_with("context_");
    if is_ours { Tool::Ours } else { Tool::Mcp { server: server.to_owned(), tool: tool.to_owned() } }
}

/// Decodes the output, which is a JSON document as a string. One that is too long for memory stays as it is.
fn done(wire: &Wire<'_>) -> Done {
    let millis = wire.payload["duration"].as_u64();
    let raw = wire.view(&wire.payload["tool_output"]).to_text();
    let Some(decoded) = raw.here().and_then(|raw| json::parse(raw.as_bytes()).ok()) else {
        return Done { output: Output { text: raw, ..Output::default() }, millis, ..Done::default() };
    };
    let exit_code = decoded["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
    let failed = decoded["isError"] == true || exit_code.is_some_and(|code| code != 0);
    Done { output: Output { text: printed(&decoded), ..Output::default() }, exit_code, failed, millis }
}

/// Returns the text in a decoded output: what a command printed, the content of an MCP result, or a plain string.
fn printed(decoded: &Value) -> Text {
    let streams = ["output", "stdout", "stderr"].map(|key| text(&decoded[key]));
    if streams.iter().any(|stream| !stream.is_empty()) {
        let printed = streams.into_iter().filter(|stream| !stream.is_empty());
        return Text::join(printed.map(|stream| Text::Here(stream.to_owned())));
    }
    Wire::new("", decoded).all_text(decoded)
}

fn failed(wire: &Wire<'_>) -> Done {
    let output = Output { text: wire.view(&wire.payload["error_message"]).to_text(), ..Output::default() };
    Done { output, failed: true, millis: wire.payload["duration"].as_u64(), ..Done::default() }
}

fn reply(_: &Wire<'_>, hook: &Hook, reply: &Reply) -> Option<Value> {
    match reply {
        Reply::Context(text) if hook.takes.context => Some(json!({ "additional_context": text })),
        Reply::Output(text) if hook.takes.output => {
            Some(json!({ "updated_mcp_tool_output": { "content": [{ "type": "text", "text": text }] } }))
        }
        Reply::Context(_) | Reply::Output(_) | Reply::Command(_) | Reply::Keep(_) | Reply::Notice(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use weir_check::Checked;

    macro_rules! documented {
        ($name:literal) => {
            serde_json::from_str::<Value>(include_str!(concat!("../../fixtures/cursor/", $name, ".json"))).unwrap()
        };
    }

    fn decoded(event: &str, payload: &Value) -> Hook {
        decode(&Wire::new(event, payload)).unwrap()
    }

    fn check(event: &str, payload: &Value) -> Checked {
        let hook = decoded(event, payload);
        assert_eq!((hook.session.as_str(), hook.folder), ("668320d2-2fd8-4888-b33c-2a466fec86e7", "/project".into()));
        let told = match hook.point {
            Point::AfterTool(call, done) => format!("{:?}\n{done:?}", call.tool),
            point => format!("{point:?} {:?}", hook.subagent),
        };
        Checked(told)
    }

    #[test]
    fn a_session_is_told_from_its_beginning_to_its_end() {
        check("sessionStart", &documented!("sessionStart")).shows(&expect!["SessionStart(New) None"]);
        check("beforeSubmitPrompt", &documented!("beforeSubmitPrompt"))
            .shows(&expect![[r#"Prompt { text: "Fix the failing test" } None"#]]);
        check("preCompact", &documented!("preCompact")).shows(&expect!["BeforeCompaction None"]);
        check("subagentStop", &documented!("subagentStop")).shows(&expect![[
            r#"SubagentStop { result: "Found three callers" } Some(Subagent { key: "", kind: "generalPurpose" })"#
        ]]);
        check("afterAgentResponse", &documented!("afterAgentResponse"))
            .shows(&expect![[r#"Stop { last: "The test passes now." } None"#]]);
        check("sessionEnd", &documented!("sessionEnd")).shows(&expect!["SessionEnd None"]);
        assert_eq!(decode(&Wire::new("beforeShellExecution", &documented!("sessionEnd"))), None);
    }

    #[test]
    fn what_tools_gave_back_is_found_in_its_wrapping() {
        check("postToolUse", &documented!("postToolUse.Shell")).shows(&expect![[r#"
            Shell { command: "npm test" }
            Done { output: Output { text: Here("All tests passed"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: Some(0), failed: false, millis: Some(5432) }"#]]);
        check("postToolUse", &documented!("postToolUse.MCP")).shows(&expect![[r#"
            Mcp { server: "mcp", tool: "query" }
            Done { output: Output { text: Here("three rows"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: Some(250) }"#]]);
        check("postToolUseFailure", &documented!("postToolUseFailure")).shows(&expect![[r#"
            Shell { command: "npm test" }
            Done { output: Output { text: Here("Command timed out after 30s"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: true, millis: Some(5000) }"#]]);
    }

    #[test]
    fn only_what_it_accepts_is_answered() {
        let answers = |event: &str, payload: &Value| {
            let hook = decoded(event, payload);
            let replies = [Reply::Context, Reply::Output, Reply::Command, Reply::Keep];
            replies.map(|form| reply(&Wire::new(event, payload), &hook, &form("said".to_owned())))
        };
        let context = Some(json!({ "additional_context": "said" }));
        let output = Some(json!({ "updated_mcp_tool_output": { "content": [{ "type": "text", "text": "said" }] } }));
        for (event, payload, expected) in [
            ("sessionStart", documented!("sessionStart"), [context.clone(), None, None, None]),
            ("beforeSubmitPrompt", documented!("beforeSubmitPrompt"), [None, None, None, None]),
            ("postToolUse", documented!("postToolUse.Shell"), [context.clone(), None, None, None]),
            ("postToolUse", documented!("postToolUse.MCP"), [context, output, None, None]),
            ("postToolUseFailure", documented!("postToolUseFailure"), [None, None, None, None]),
            ("preCompact", documented!("preCompact"), [None, None, None, None]),
        ] {
            assert_eq!(answers(event, &payload), expected, "{event}");
        }
    }

    #[test]
    fn our_own_tools_are_known_with_and_without_their_server() {
        for name in ["MCP:ctx_get", "MCP:weir:ctx_get", "MCP:context_read"] {
            assert_eq!(tool(name, &Value::Null), Tool::Ours, "{name}");
        }
        let other = Tool::Mcp { server: "db".to_owned(), tool: "query".to_owned() };
        assert_eq!(tool("MCP:db:query", &Value::Null), other);
    }

    #[test]
    fn an_output_of_an_unknown_form_is_shown_as_it_is() {
        let mut payload = documented!("postToolUse.MCP");
        for odd in [json!("not json"), json!(null), json!("{\"isError\":true,\"content\":[]}")] {
            payload["tool_output"] = odd.clone();
            let hook = decoded("postToolUse", &payload);
            assert_eq!(hook.takes.output, odd == json!("not json"), "{odd}");
        }
    }
}
