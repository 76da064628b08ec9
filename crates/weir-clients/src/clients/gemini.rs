//! Gemini CLI. Its hook receives the full output, wrapped in tags that mark it as data. A replaced output reaches the
//! model as the tool's error, which takes no further request and no consent; a tail call to one of our tools would need
//! the user's permission wherever our server is not trusted.
//!
//! It announces a compaction before every request to the model, whether it compacts or not. The transcript records
//! whether it actually compacted.

pub(crate) mod setup;
pub(crate) mod transcript;

use serde_json::{Value, json};

use crate::hook::{AcceptedReplies, Done, Hook, Output, Point, Tool, ToolCall};
use crate::text::{Text, TextView};
use crate::wire::{Wire, first_text, has_any, mcp_tool, text};
use crate::{Client, Compaction, Defers, OwnCut, Reply, Retention};

pub(crate) const GEMINI: Client = Client {
    name: "gemini",
    title: "Gemini CLI",
    session: "gemini-cli-mcp-client",
    compaction: Compaction::WaitsUntil(COMPACTED),
    cuts: &[OwnCut { above: 40_000, head: 8_000, tail: 32_000, around: SHORTENED, ..OwnCut::NONE }],
    cut_marks: &[SHORTENED, CUT],
    // It masks old outputs, and does not say when it has compacted.
    retention: Retention::Unknown,
    overhead_tokens: 901,
    defers_tools: Defers::Never { tried: "0.61.0" },
    borrower: None,
    folder_variable: None,
    tool,
    decode,
    reply,
};

/// The text that its transcript contains once it has compacted.
const COMPACTED: &str = "\"content\":[{\"text\":\"<state_snapshot>"; // tidy: allow(snapshot): the client's word
/// The tags around external content.
const WRAPPED: (&str, &str) = ("<untrusted_context>\n", "\n</untrusted_context>");
/// The beginning of its message when it shows only the two ends of an output.
const SHORTENED: &str = "Output too large. Showing first ";
/// The beginning of its message when it shows only the beginning of a file.
const CUT: &str = "\nIMPORTANT: The file content has been truncated.\n";

fn decode(wire: &Wire<'_>) -> Option<Hook> {
    let point = match wire.event {
        "SessionStart" => Point::SessionStart(wire.start()),
        "BeforeAgent" => Point::Prompt { text: words(wire.text("prompt")).to_owned() },
        "BeforeTool" => Point::BeforeTool(call(wire)),
        "AfterTool" => {
            let call = call(wire);
            let done = done(wire, &call.tool);
            Point::AfterTool(call, done)
        }
        "PreCompress" => Point::BeforeCompaction,
        "AfterAgent" => Point::Stop { last: wire.text("prompt_response").to_owned() },
        "SessionEnd" => Point::SessionEnd,
        _ => return None,
    };
    let takes = AcceptedReplies {
        context: point.takes_context(),
        output: wire.event == "AfterTool",
        // It does not say whether it would ask the user.
        command: false,
        keep: false,
        notice: false,
    };
    wire.hook(point, takes)
}

/// Returns the user's own text. In the first prompt of a session, the output of hooks precedes it.
fn words(prompt: &str) -> &str {
    let rest = prompt.strip_prefix("<hook_context>").and_then(|rest| rest.split_once("</hook_context>"));
    rest.map_or(prompt, |(_, words)| words.trim_start())
}

fn call(wire: &Wire<'_>) -> ToolCall {
    let mut call = wire.call(tool);
    call.background = call.input["is_background"] == true;
    let from = &wire.payload["mcp_context"];
    if let (Some(server), Some(tool)) = (from["server_name"].as_str(), from["tool_name"].as_str()) {
        call.tool = match server {
            "weir" => Tool::Ours,
            _ => Tool::Mcp { server: server.to_owned(), tool: tool.to_owned() },
        };
    }
    call
}

fn tool(name: &str, input: &Value) -> Tool {
    let at = |keys: &[&str]| first_text(input, keys).to_owned();
    match name {
        "run_shell_command" => Tool::Shell { command: at(&["command"]) },
        "read_file" => Tool::Read { path: at(&["file_path"]), part: has_any(input, &["start_line", "end_line"]) },
        "read_many_files" => Tool::Read { path: text(&input["include"][0]).to_owned(), part: false },
        "replace" => Tool::Edit { path: at(&["file_path"]) },
        "write_file" => Tool::Write { path: at(&["file_path"]) },
        "grep_search" | "glob" | "list_directory" => Tool::Search { pattern: at(&["pattern", "dir_path"]) },
        "web_fetch" | "google_web_search" => Tool::Fetch { what: at(&["url", "query", "prompt"]) },
        "write_todos" | "tracker_create_task" | "tracker_update_task" | "tracker_list_tasks" | "tracker_get_task" => {
            Tool::Tasks
        }
        "invoke_agent" => Tool::Subagent { task: at(&["prompt"]) },
        "exit_plan_mode" => Tool::Plan { text: at(&["plan_filename"]) },
        "ask_user" => Tool::Question { text: first_text(&input["questions"][0], &["question"]).to_owned() },
        name => mcp_tool(name, "mcp_", "_").unwrap_or(Tool::Other),
    }
}

fn done(wire: &Wire<'_>, tool: &Tool) -> Done {
    let response = &wire.payload["tool_response"];
    let content = &response["llmContent"];
    let failed = !response["error"].is_null();
    // An output with an image is left as it is.
    if content.as_array().is_some_and(|parts| parts.iter().any(|part| part["text"].is_null())) {
        return Done { failed, ..Done::default() };
    }
    let content = match content {
        Value::Array(parts) => Text::join(parts.iter().map(|part| bare(wire.view(&part["text"])).to_text())),
        content => bare(wire.all_text(content).view()).to_text(),
    };
    match tool {
        Tool::Shell { .. } => ran(content.view(), wire.view(&response["returnDisplay"]), failed),
        // The full text is in the file that it has just read.
        Tool::Read { path, .. } if content.view().head().starts_with(CUT) => {
            let saved = wire.path("cwd").map(|folder| folder.join(path));
            Done { output: Output { text: content, saved, ..Output::default() }, failed, ..Done::default() }
        }
        _ => Done { output: Output { text: content, ..Output::default() }, failed, ..Done::default() },
    }
}

/// Strips the tags around a text.
fn bare(text: TextView<'_>) -> TextView<'_> {
    text.strip_prefix(WRAPPED.0).and_then(|text| text.strip_suffix(WRAPPED.1)).unwrap_or(text)
}

/// Splits a command's output from the lines about how it ended. If the client shows the user the same output, that
/// tells where those lines begin; otherwise they are searched from the end, since a command may print such lines too.
fn ran(content: TextView<'_>, shown: TextView<'_>, failed: bool) -> Done {
    let Some(rest) = content.strip_prefix("Output: ") else {
        return Done { output: Output { text: content.to_text(), ..Output::default() }, failed, ..Done::default() };
    };
    let known = rest.after(shown).filter(|about| !shown.is_empty() && about.starts_with('\n'));
    let about = match known {
        Some(about) => about,
        None => about_at_end(rest.tail()),
    };
    let output = rest.without_end(about.len());
    let line = |name: &str| about.lines().find_map(|line| line.strip_prefix(name));
    let exit_code = match line("Exit Code: ") {
        Some(code) => code.parse().ok(),
        None if line("Signal: ").is_some() || line("Error: ").is_some() => None,
        None => Some(0),
    };
    let text = match output {
        TextView::Here("(empty)") => Text::default(),
        output => output.to_text(),
    };
    Done {
        output: Output { text, ..Output::default() },
        exit_code,
        failed: failed || exit_code != Some(0),
        millis: None,
    }
}

/// Returns the lines about a command that follow its output, with the line break before them.
fn about_at_end(text: &str) -> &str {
    let mut end = text.len();
    for name in ["Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: "] {
        let begin = text[..end].rfind('\n').filter(|&begin| text[begin + 1..end].starts_with(name));
        end = begin.unwrap_or(end);
    }
    &text[end..]
}

fn reply(wire: &Wire<'_>, _: &Hook, reply: &Reply) -> Option<Value> {
    match reply {
        Reply::Output(text) => Some(json!({ "decision": "deny", "reason": text })),
        Reply::Context(text) => Some(wire.context_reply(text)),
        Reply::Command(_) | Reply::Keep(_) | Reply::Notice(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::told;
    use expect_test::expect;
    use weir_check::Checked;

    fn decoded(event: &str, payload: &Value) -> Hook {
        decode(&Wire::new(event, payload)).unwrap()
    }

    fn check(event: &str, payload: &str) -> Checked {
        told(&decoded(event, &serde_json::from_str(payload).unwrap()).point)
    }

    #[test]
    fn what_tools_gave_back_is_found_in_its_wrapping() {
        check("AfterTool", fixture!("gemini/AfterTool")).shows(&expect![[r#"
            Shell { command: "echo REAL-BASH-OUTPUT" }
            Done { output: Output { text: Here("REAL-BASH-OUTPUT"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: Some(0), failed: false, millis: None }"#]]);
        check("AfterTool", fixture!("gemini/AfterTool.run_shell_command-failing")).shows(&expect![[r#"
            Shell { command: "echo FAILING; exit 3" }
            Done { output: Output { text: Here("FAILING"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: Some(3), failed: true, millis: None }"#]]);
        check("AfterTool", fixture!("gemini/AfterTool.mcp_probe_echo")).shows(&expect![[r#"
            Mcp { server: "probe", tool: "echo" }
            Done { output: Output { text: Here("MCP-ECHO:ping"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
        check("AfterTool", fixture!("gemini/AfterTool.read_file")).shows(&expect![[r#"
            Read { path: "hello.txt", part: false }
            Done { output: Output { text: Here("hello file\n"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
    }

    #[test]
    fn sessions_and_prompts() {
        check("SessionStart", fixture!("gemini/SessionStart.resume")).shows(&expect!["SessionStart(Resume)"]);
        check("BeforeAgent", fixture!("gemini/BeforeAgent")).shows(&expect![[r#"Prompt { text: "do it" }"#]]);
        assert_eq!(words("<hook_context>told by us</hook_context>\n\ndo it"), "do it");
    }

    /// A command that prints lines like the client's own.
    #[test]
    fn a_command_cannot_make_up_how_it_ended() {
        let printed = "ok\nExit Code: 9\nProcess Group PGID: 1";
        let content = format!("Output: {printed}\nProcess Group PGID: 402");
        let done = ran(TextView::Here(&content), TextView::Here(printed), false);
        assert_eq!((done.output.text.here(), done.exit_code, done.failed), (Some(printed), Some(0), false));
        // If the user was shown something else, the last lines are taken for the client's.
        let content = TextView::Here("Output: ok\nExit Code: 9\nProcess Group PGID: 1");
        let done = ran(content, TextView::Here(""), false);
        assert_eq!((done.output.text.here(), done.exit_code, done.failed), (Some("ok"), Some(9), true));
    }

    #[test]
    fn a_cut_file_is_read_where_it_is_and_a_picture_is_left_alone() {
        let read = |content: Value| {
            decoded(
                "AfterTool",
                &json!({
                    "session_id": "s", "cwd": "/home/dev/project", "tool_name": "read_file",
                    "tool_input": { "file_path": "big.txt" }, "tool_response": { "llmContent": content },
                }),
            )
        };
        let Point::AfterTool(_, done) = read(json!(format!("{CUT}Status: Showing lines 1-2000 of 9000"))).point else {
            panic!()
        };
        assert_eq!(done.output.saved, Some("/home/dev/project/big.txt".into()));
        let Point::AfterTool(_, done) = read(json!([{ "inlineData": { "data": "aGk=" } }])).point else { panic!() };
        assert_eq!(done.output, Output::default());
    }

    #[test]
    fn our_own_tools_are_known_by_their_server() {
        let payload = json!({
            "cwd": "/p", "tool_name": "mcp_weir_ctx_get", "mcp_context": { "server_name": "weir", "tool_name": "ctx_get" },
        });
        let Point::BeforeTool(call) = decoded("BeforeTool", &payload).point else { panic!() };
        assert_eq!(call.tool, Tool::Ours);
    }
}
