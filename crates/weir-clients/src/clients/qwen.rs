//! Qwen Code. It uses Claude Code's field names, and wraps outputs as Gemini CLI does. It shows a part of a large
//! output and saves the whole. A replaced output reaches the model as the tool's error; the output of a command that
//! failed cannot be replaced.

pub(crate) mod setup;
pub(crate) mod transcript;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hook::{AcceptedReplies, Done, Hook, Output, Point, Tool, ToolCall};
use crate::text::TextView;
use crate::wire::{Wire, first_text, has_any, is_below, mcp_tool};
use crate::{Client, Compaction, Defers, OwnCut, Reply, Retention};

pub(crate) const QWEN: Client = Client {
    name: "qwen",
    title: "Qwen Code",
    session: "qwen-cli-mcp-client-weir",
    compaction: Compaction::Begins,
    cuts: &[OwnCut { above: 30_000, head: 800, tail: 3_200, around: CUT, ..OwnCut::NONE }],
    cut_marks: &["Tool output was too large and has been truncated."],
    // It clears old outputs after a pause, or once there are many, without a trace.
    retention: Retention::Unknown,
    overhead_tokens: 220,
    defers_tools: Defers::Always { tried: "0.24.4", since: None, per_tool: 30 },
    borrower: None,
    folder_variable: None,
    tool,
    decode,
    reply,
};

/// The beginning of an output that it shows only in part.
const CUT: &str = "Tool output was too large and has been truncated.\nThe full output has been saved to: ";
/// The message that it then shows to the user after the full output.
const SHOWN_WHOLE: &str = "\nOutput too long and was saved to: ";
/// The beginning of a file's text that it shows only in part.
const PART: &str = "Showing lines ";

fn decode(wire: &Wire<'_>) -> Option<Hook> {
    let point = match wire.event {
        "SessionStart" => Point::SessionStart(wire.start()),
        // It also calls this hook for every tool result, with an empty prompt.
        "UserPromptSubmit" if wire.text("prompt").is_empty() => return None,
        "UserPromptSubmit" => Point::Prompt { text: wire.text("prompt").to_owned() },
        "PreToolUse" => Point::BeforeTool(call(wire)),
        "PostToolUse" => {
            let call = call(wire);
            let done = done(wire, &call.tool);
            Point::AfterTool(call, done)
        }
        "PostToolUseFailure" => {
            let call = call(wire);
            let done = failed(wire, &call.tool);
            Point::AfterTool(call, done)
        }
        "PreCompact" => Point::BeforeCompaction,
        "PostCompact" => Point::AfterCompaction { summary: wire.text("compact_summary").to_owned() },
        "SubagentStart" => Point::SubagentStart,
        "SubagentStop" => Point::SubagentStop { result: wire.text("last_assistant_message").to_owned() },
        // Its own rules about the language to answer in, and those of extensions.
        "InstructionsLoaded" if wire.text("memory_type") == "extension" => return None,
        "InstructionsLoaded" => Point::Rules { path: wire.text("file_path").to_owned() },
        "Stop" => Point::Stop { last: wire.text("last_assistant_message").to_owned() },
        "SessionEnd" => Point::SessionEnd,
        _ => return None,
    };
    let takes = AcceptedReplies {
        context: point.takes_context(),
        output: wire.event == "PostToolUse",
        // It does not accept a rewritten command.
        command: false,
        keep: false,
        notice: false,
    };
    wire.hook(point, takes)
}

fn call(wire: &Wire<'_>) -> ToolCall {
    let call = wire.call(tool);
    ToolCall { background: call.input["is_background"] == true, ..call }
}

fn tool(name: &str, input: &Value) -> Tool {
    let at = |keys: &[&str]| first_text(input, keys).to_owned();
    match name {
        "run_shell_command" => Tool::Shell { command: at(&["command"]) },
        "read_file" => Tool::Read { path: at(&["file_path"]), part: has_any(input, &["offset", "limit"]) },
        "edit" | "notebook_edit" => Tool::Edit { path: at(&["file_path", "notebook_path"]) },
        "write_file" => Tool::Write { path: at(&["file_path"]) },
        "grep_search" | "glob" | "list_directory" => Tool::Search { pattern: at(&["pattern", "path"]) },
        "web_fetch" | "web_search" => Tool::Fetch { what: at(&["url", "query"]) },
        "todo_write" | "task_create" | "task_update" | "task_list" | "task_get" => Tool::Tasks,
        "agent" => Tool::Subagent { task: at(&["description", "prompt"]) },
        "exit_plan_mode" => Tool::Plan { text: at(&["plan"]) },
        "ask_user_question" => Tool::Question { text: first_text(&input["questions"][0], &["question"]).to_owned() },
        name => mcp_tool(name, "mcp__", "__").unwrap_or(Tool::Other),
    }
}

fn done(wire: &Wire<'_>, tool: &Tool) -> Done {
    let response = &wire.payload["tool_response"];
    let content = &response["llmContent"];
    let millis = wire.millis();
    // An output with an image is left as it is.
    if content.as_array().is_some_and(|parts| parts.iter().any(|part| part["text"].is_null())) {
        return Done { millis, ..Done::default() };
    }
    let content = wire.all_text(content);
    match tool {
        Tool::Shell { command } => {
            Done { millis, ..ran(wire, command, content.view(), wire.view(&response["returnDisplay"])) }
        }
        // The full text is in the file that it has just read.
        Tool::Read { path, .. } if is_part(content.view().head()) => {
            let output = Output { text: content, saved: Some(PathBuf::from(path)), ..Output::default() };
            Done { output, millis, ..Done::default() }
        }
        _ => Done { output: Output { text: content, ..Output::default() }, millis, ..Done::default() },
    }
}

/// Returns whether a file's text says that it is only a part.
fn is_part(content: &str) -> bool {
    let first = content.lines().next().unwrap_or_default();
    first.starts_with(PART) && first.ends_with(" total lines.")
}

fn failed(wire: &Wire<'_>, tool: &Tool) -> Done {
    let error = wire.view(&wire.payload["error"]);
    let done = match tool {
        Tool::Shell { command } => ran(wire, command, error, TextView::Here("")),
        _ => Done { output: Output { text: error.to_text(), ..Output::default() }, ..Done::default() },
    };
    Done { failed: true, millis: wire.millis(), ..done }
}

/// Decodes the output and the exit code of a command.
fn ran(wire: &Wire<'_>, command: &str, content: TextView<'_>, shown: TextView<'_>) -> Done {
    let (printed, exit_code) = printed(command, content);
    let saved = content.head().strip_prefix(CUT).and_then(|rest| rest.lines().next());
    let whole = saved.and_then(|path| shown.strip_suffix(path)?.strip_suffix(SHOWN_WHOLE));
    let output = match (whole, saved) {
        (Some(whole), _) => Output { text: whole.to_text(), ..Output::default() },
        (None, Some(path)) => {
            let saved = own_file(wire, Path::new(path));
            Output { text: content.to_text(), cut: saved.is_none(), saved, ..Output::default() }
        }
        (None, None) => Output { text: printed.to_text(), ..Output::default() },
    };
    Done { output, exit_code, failed: exit_code.is_some_and(|code| code != 0), millis: None }
}

/// Splits the output from the lines around it, and returns the exit code. The last such line is the client's own.
fn printed<'c>(command: &str, content: TextView<'c>) -> (TextView<'c>, Option<i32>) {
    const OUTPUT: &str = "\nOutput: ";
    let tail = content.tail();
    let Some((before, after)) = tail.rsplit_once("\nExit Code: ") else { return (content, None) };
    let exit_code = after.lines().next().and_then(|code| code.parse().ok());
    let before = before.rsplit_once("\nError: ").map_or(before, |(output, _)| output);
    let output = content.without_end(tail.len() - before.len());
    let rest = output.strip_prefix("Command: ").and_then(|rest| rest.strip_prefix(command));
    let printed = rest.and_then(|rest| Some(rest.without_start(rest.head().find(OUTPUT)? + OUTPUT.len())));
    (printed.unwrap_or(output), exit_code)
}

/// Returns a path if it is in the client's folder for saved outputs.
fn own_file(wire: &Wire<'_>, path: &Path) -> Option<PathBuf> {
    let transcript = wire.path("transcript_path")?;
    let own = transcript.ancestors().find(|folder| folder.ends_with("projects"))?.with_file_name("tmp");
    is_below(path, &own).then(|| path.to_owned())
}

fn reply(wire: &Wire<'_>, _: &Hook, reply: &Reply) -> Option<Value> {
    match reply {
        Reply::Output(text) => Some(json!({ "continue": false, "stopReason": text })),
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

    fn check(event: &str, payload: &str) -> Checked {
        let payload = serde_json::from_str(payload).unwrap();
        told(&decode(&Wire::new(event, &payload)).unwrap().point)
    }

    #[test]
    fn what_tools_gave_back_is_found_in_its_wrapping() {
        check("PostToolUse", fixture!("qwen/PostToolUse")).shows(&expect![[r#"
            Shell { command: "echo PLAIN" }
            Done { output: Output { text: Here("PLAIN"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: Some(0), failed: false, millis: Some(214) }"#]]);
        check("PostToolUseFailure", fixture!("qwen/PostToolUseFailure.run_shell_command-failing")).shows(&expect![[r#"
            Shell { command: "echo FAILING; exit 3" }
            Done { output: Output { text: Here("FAILING"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: Some(3), failed: true, millis: Some(33) }"#]]);
        check("PostToolUse", fixture!("qwen/PostToolUse.mcp__probe__echo")).shows(&expect![[r#"
            Mcp { server: "probe", tool: "echo" }
            Done { output: Output { text: Here("MCP-ECHO:ping"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: Some(40) }"#]]);
        check("PostToolUse", fixture!("qwen/PostToolUse.read_file")).shows(&expect![[r#"
            Read { path: "/home/dev/project/hello.txt", part: false }
            Done { output: Output { text: Here("hello file\n"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: Some(137) }"#]]);
    }

    fn large(path: &str, shown: &str) -> Output {
        let content = format!(
            "{CUT}{path}\nTo read the complete output\n\nTruncated part of the output:\nCommand: seq 1 9\nDirectory: (root)\n\
             Output: 1\n9\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)"
        );
        let payload = json!({
            "cwd": "/p", "transcript_path": "/home/dev/.qwen/projects/-p/chats/s.jsonl", "tool_name": "run_shell_command",
            "tool_input": { "command": "seq 1 9" }, "tool_response": { "llmContent": content, "returnDisplay": shown },
        });
        match decode(&Wire::new("PostToolUse", &payload)).unwrap().point {
            Point::AfterTool(_, done) => done.output,
            point => panic!("{point:?}"),
        }
    }

    #[test]
    fn a_large_output_is_what_the_user_was_shown_or_what_was_saved() {
        let own = "/home/dev/.qwen/tmp/8b77/run_shell_command_0b98.output";
        assert_eq!(large(own, &format!("1\n2\n9{SHOWN_WHOLE}{own}")).text.here(), Some("1\n2\n9"));
        assert_eq!(large(own, "1\n2").saved, Some(own.into()));
        for other in ["/etc/shadow", "/home/dev/.qwen/tmp/../oauth_creds.json", "/home/dev/.qwen/settings.json"] {
            let output = large(other, "1\n2");
            assert!(output.saved.is_none() && output.cut, "{other}");
        }
    }

    #[test]
    fn a_part_of_a_file_is_in_the_file_itself() {
        assert!(is_part("Showing lines 1-524 of 1501 total lines.\n\n---\n\n1 the quick"));
        assert!(!is_part("Showing lines of code\n"));
    }

    #[test]
    fn a_prompt_without_words_is_none() {
        let payload = json!({ "cwd": "/p", "prompt": "" });
        assert_eq!(decode(&Wire::new("UserPromptSubmit", &payload)), None);
    }
}
