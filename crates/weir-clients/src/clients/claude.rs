//! Claude Code. It accepts a replaced output only in the shape of the tool's own output, and silently ignores any other
//! shape. It never accepts one for a command that failed.

mod newest;
pub(crate) mod setup;
pub(crate) mod transcript;

use std::path::PathBuf;

use serde_json::{Value, json};

use super::copilot;
use crate::hook::{AcceptedReplies, Done, Hook, Output, Point, Shown, Tool, ToolCall};
use crate::text::{Text, TextView};
use crate::wire::{Wire, between, first_text, has_any, is_below, mcp_tool};
use crate::{Client, Compaction, CutOutput, Defers, OwnCut, Reply, Retention};

pub(crate) const CLAUDE: Client = Client {
    name: "claude",
    title: "Claude Code",
    session: "claude-code",
    compaction: Compaction::Begins,
    cuts: &[
        OwnCut { of: CutOutput::Shell, above: 30_000, ..PERSISTED },
        OwnCut { of: CutOutput::FailedShell, above: 10_000, within: 30_000, head: 5_000, tail: 5_000, ..OwnCut::NONE },
        OwnCut { of: CutOutput::Search, above: 20_000, ..PERSISTED },
        OwnCut { of: CutOutput::Mcp, above: 50_000, ..PERSISTED },
    ],
    cut_marks: &["<persisted-output>", TRUNCATED, TOO_LARGE],
    // The API may clear tool results, older versions cleared them themselves, and a conversation that went on elsewhere
    // may have been compacted there.
    retention: Retention::Session(&[
        r#""applied_edits":[{"#, r#""subtype":"microcompact_boundary""#, r#""subtype":"compact_boundary""#,
        r#""isCompactSummary":true"#,
    ]),
    overhead_tokens: 250,
    // Until 2.1.303 it did so only for first-party hosts.
    defers_tools: Defers::Always { tried: "2.1.325", since: Some("2.1.304"), per_tool: 11 },
    borrower: Some(&copilot::BORROWER),
    folder_variable: Some("CLAUDE_PROJECT_DIR"),
    tool,
    decode,
    reply,
};

/// What it writes after the number of characters that it has left out of the middle of an output.
const TRUNCATED: &str = " characters truncated] ...";
/// The beginning of its message about an MCP output that it does not show at all.
const TOO_LARGE: &str = "Error: result (";
/// How it shows an output that it has saved to a file.
const PERSISTED: OwnCut = OwnCut {
    head: 2_000,
    around: "<persisted-output>\nOutput too large (). Full output saved to: \n\nPreview (first 2KB):\n...\n</persisted-output>",
    ..OwnCut::NONE
};

fn decode(wire: &Wire<'_>) -> Option<Hook> {
    // These run the hooks of Claude Code's settings in addition to their own, which answer.
    if wire.is_of_vscode() || wire.is_of_cursor() {
        return None;
    }
    let point = match wire.event {
        "SessionStart" => Point::SessionStart(wire.start()),
        "UserPromptSubmit" => Point::Prompt { text: wire.text("prompt").to_owned() },
        "PreToolUse" => Point::BeforeTool(call(wire)),
        "PostToolUse" => Point::AfterTool(call(wire), done(wire)),
        "PostToolUseFailure" => Point::AfterTool(call(wire), failed(wire)),
        "PreCompact" => Point::BeforeCompaction,
        "PostCompact" => Point::AfterCompaction { summary: wire.text("compact_summary").to_owned() },
        "SubagentStart" => Point::SubagentStart,
        // A subagent without a type writes the summary. It stops before the session continues.
        "SubagentStop" if wire.text("agent_type").is_empty() => {
            Point::AfterCompaction { summary: wire.text("last_assistant_message").to_owned() }
        }
        "SubagentStop" => Point::SubagentStop { result: wire.text("last_assistant_message").to_owned() },
        "InstructionsLoaded" => Point::Rules { path: wire.text("file_path").to_owned() },
        "Stop" => Point::Stop { last: wire.text("last_assistant_message").to_owned() },
        "SessionEnd" => Point::SessionEnd,
        _ => return None,
    };
    let takes = AcceptedReplies {
        context: point.takes_context(),
        output: wire.event == "PostToolUse" && is_replaceable(&wire.payload["tool_response"]),
        // Otherwise permission rules and prompts would see our command instead of the model's. In the mode `auto`, a
        // rewritten command loses the verdict of the server's safety check, as do the calls after it.
        command: wire.text("permission_mode") == "bypassPermissions",
        keep: wire.event == "PreCompact",
        notice: wire.event == "UserPromptSubmit",
    };
    let mut hook = wire.hook(point, takes)?;
    if matches!(hook.point, Point::AfterCompaction { .. }) {
        hook.subagent = None;
    }
    Some(hook)
}

fn call(wire: &Wire<'_>) -> ToolCall {
    let call = wire.call(tool);
    // A command that takes too long goes on in the background, and so does one that the user sends there.
    let is_moved = wire.payload["tool_response"]["backgroundTaskId"].is_string();
    ToolCall { background: is_moved || call.input["run_in_background"] == true, ..call }
}

fn tool(name: &str, input: &Value) -> Tool {
    let at = |keys: &[&str]| first_text(input, keys).to_owned();
    match name {
        "Bash" => Tool::Shell { command: at(&["command"]) },
        "Read" | "NotebookRead" => {
            Tool::Read { path: at(&["file_path", "notebook_path"]), part: has_any(input, &["offset", "limit"]) }
        }
        "Edit" | "MultiEdit" | "NotebookEdit" => Tool::Edit { path: at(&["file_path", "notebook_path"]) },
        "Write" => Tool::Write { path: at(&["file_path"]) },
        "Grep" | "Glob" | "LS" => Tool::Search { pattern: at(&["pattern", "path"]) },
        "WebFetch" | "WebSearch" => Tool::Fetch { what: at(&["url", "query"]) },
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" => Tool::Tasks,
        "Agent" | "Task" => Tool::Subagent { task: at(&["description", "prompt"]) },
        "ExitPlanMode" => Tool::Plan { text: at(&["plan"]) },
        "AskUserQuestion" => Tool::Question { text: first_text(&input["questions"][0], &["question"]).to_owned() },
        name => mcp_tool(name, "mcp__", "__").unwrap_or(Tool::Other),
    }
}

fn done(wire: &Wire<'_>) -> Done {
    let mut output = output(wire, &wire.payload["tool_response"]);
    // A tool could print any path and make us read it, but the client saves outputs next to its transcript.
    let own = wire.path("transcript_path").map(|path| path.with_extension(""));
    let is_saved = output.saved.is_some();
    output.saved = output.saved.filter(|path| own.is_some_and(|own| is_below(path, &own)));
    output.cut = is_saved && output.saved.is_none();
    Done { output, exit_code: None, failed: false, millis: wire.millis() }
}

fn output<'a>(wire: &Wire<'a>, response: &'a Value) -> Output {
    if response["isImage"] == true {
        return Output::default();
    }
    if response["stdout"].is_string() {
        let streams = [&response["stdout"], &response["stderr"]].map(|stream| wire.view(stream));
        let text = Text::join(streams.into_iter().filter(|stream| !stream.is_empty()).map(TextView::to_text));
        let saved: Option<PathBuf> = response["persistedOutputPath"].as_str().map(Into::into);
        // The text is the beginning of what was saved, and the client shows the beginning of that.
        let preview = |path: &PathBuf| {
            let cut = OwnCut { above: 0, ..PERSISTED };
            Shown::Part(format!("{}{}", cut.shown(text.view().head()), path.display()))
        };
        let shown = saved.as_ref().map(preview).unwrap_or_default();
        return Output { text, saved, shown, ..Output::default() };
    }
    let content = &response["file"]["content"];
    if content.is_string() {
        let numbered = Some(response["file"]["startLine"].as_u64().unwrap_or(1));
        return Output { text: wire.view(content).to_text(), numbered, ..Output::default() };
    }
    // The tools for tasks answer with data, and the model gets a sentence in its place.
    if has_any(response, &["task", "tasks", "taskId"]) {
        return Output { text: Text::Here(response.to_string()), ..Output::default() };
    }
    let all = wire.all_text(response);
    // An MCP output above the client's own limit is replaced by a message that says where it was saved.
    let said = all.view().head().strip_prefix(TOO_LARGE);
    let saved = said.and_then(|said| between(said, "has been saved to ", "\n"));
    Output { saved: saved.map(|path| path.trim_end_matches('.').into()), text: all, ..Output::default() }
}

/// Decodes a failure, which is a single text that begins with the exit code of the command.
fn failed(wire: &Wire<'_>) -> Done {
    let error = wire.view(&wire.payload["error"]);
    let first = error.head().split('\n').next().unwrap_or_default();
    let exit_code = first.strip_prefix("Exit code ").and_then(|code| code.parse().ok());
    let text = if exit_code.is_some() { error.without_start(first.len() + 1) } else { error };
    let cut = text.head().contains(TRUNCATED);
    Done {
        output: Output { text: text.to_text(), cut, ..Output::default() },
        exit_code,
        failed: true,
        millis: wire.millis(),
    }
}

fn reply(wire: &Wire<'_>, hook: &Hook, reply: &Reply) -> Option<Value> {
    let (key, value) = match reply {
        Reply::Context(text) => ("additionalContext", json!(text)),
        Reply::Command(command) => {
            let Point::BeforeTool(call) = &hook.point else { return None };
            let mut input = call.input.clone();
            input["command"] = json!(command);
            ("updatedInput", input)
        }
        Reply::Output(text) => ("updatedToolOutput", in_shape(&wire.payload["tool_response"], text)),
        // Plain text is appended to the instructions for the summary. JSON would be appended too, unparsed.
        Reply::Keep(text) => return Some(json!(text)),
        Reply::Notice(text) => return Some(json!({ "systemMessage": text })),
    };
    Some(json!({ "hookSpecificOutput": { "hookEventName": wire.event, key: value } }))
}

/// Returns whether the text of an output can be replaced within its shape.
fn is_replaceable(response: &Value) -> bool {
    let texts = [&response["stdout"], &response["file"]["content"], &response["content"]];
    !response.is_object() || texts.iter().any(|text| text.is_string())
}

/// Puts a text into the shape of the tool's own output.
fn in_shape(response: &Value, shown: &str) -> Value {
    let mut shape = response.clone();
    if shape["stdout"].is_string() {
        shape["stdout"] = json!(shown);
        shape["stderr"] = json!("");
        if let Some(object) = shape.as_object_mut() {
            // Otherwise the client shows a part of the saved file instead of our text.
            object.retain(|key, _| !key.starts_with("persistedOutput"));
        }
        return shape;
    }
    if shape["file"]["content"].is_string() {
        shape["file"]["content"] = json!(shown);
        shape["file"]["numLines"] = json!(shown.lines().count());
        return shape;
    }
    // The result of a search.
    if shape["content"].is_string() {
        shape["content"] = json!(shown);
        if shape["numLines"].is_number() {
            shape["numLines"] = json!(shown.lines().count());
        }
        return shape;
    }
    match response {
        Value::Array(_) => json!([{ "type": "text", "text": shown }]),
        _ => json!(shown),
    }
}
