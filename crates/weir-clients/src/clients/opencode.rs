//! OpenCode. Its hooks are functions of a JavaScript plugin; ours passes on their arguments and assigns the results.
//! Context for the start of a session goes into the system prompt of every request, so the plugin asks for it once, and
//! again after a compaction.

pub(crate) mod setup;
pub(crate) mod transcript;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hook::{AcceptedReplies, Done, Hook, Output, Point, Start, Subagent, Tool, ToolCall};
use crate::text::Text;
use crate::wire::{Wire, first_text, has_any, mcp_tool, text};
use crate::{Client, Compaction, Defers, OwnCut, Reply, Retention};

pub(crate) const OPENCODE: Client = Client {
    name: "opencode",
    title: "OpenCode",
    session: "opencode",
    compaction: Compaction::Waits,
    cuts: &[OwnCut { above: 51_200, tail: 51_200, ..OwnCut::NONE }],
    // Newer versions show the end of a command's output and say so first, older ones the beginning.
    cut_marks: &["...output truncated...", "output was truncated. Full output saved to: ", "\n(Output capped at "],
    // After a turn, it clears outputs that are further back.
    retention: Retention::Turn(&[]),
    overhead_tokens: 679,
    defers_tools: Defers::Never { tried: "1.18.33" },
    borrower: None,
    folder_variable: None,
    tool,
    decode,
    reply,
};

/// The folder below its data folder in which it saves outputs.
const OWN_FOLDER: &str = "opencode/tool-output";

fn decode(wire: &Wire<'_>) -> Option<Hook> {
    let (input, output) = (&wire.payload["input"], &wire.payload["output"]);
    let point = match wire.event {
        "experimental.chat.system.transform" => Point::SessionStart(match text(&input["source"]) {
            "compact" => Start::Compact,
            "resume" => Start::Resume,
            _ => Start::New,
        }),
        "chat.message" => Point::Prompt { text: words(&output["parts"]) },
        "tool.execute.before" => Point::BeforeTool(call(wire, input, &output["args"])),
        "tool.execute.after" => {
            let call = call(wire, input, &input["args"]);
            let done = done(wire, output, &call.tool);
            Point::AfterTool(call, done)
        }
        "experimental.session.compacting" => Point::BeforeCompaction,
        "event.session.idle" => Point::Stop { last: String::new() },
        "event.session.deleted" => Point::SessionEnd,
        _ => return None,
    };
    let own = first_text(input, &["sessionID"]);
    let own = if own.is_empty() { text(&input["properties"]["sessionID"]) } else { own };
    // A subagent is a session with a parent, which the plugin remembers.
    let parent = Some(wire.text("parent")).filter(|parent| !parent.is_empty());
    Some(Hook {
        session: parent.unwrap_or(own).to_owned(),
        folder: wire.path("directory")?,
        shell: None,
        transcript: None,
        subagent: parent.map(|_| Subagent { key: own.to_owned(), kind: String::new() }),
        takes: AcceptedReplies {
            context: matches!(point, Point::SessionStart(_) | Point::Prompt { .. }),
            output: wire.event == "tool.execute.after",
            // It does not say whether it would ask the user.
            command: false,
            keep: false,
            notice: false,
        },
        point,
    })
}

/// Returns the user's own text: the parts of a message that no program added.
fn words(parts: &Value) -> String {
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    let own = parts.iter().filter(|part| part["type"] == "text" && part["synthetic"] != true);
    own.map(|part| unquoted(text(&part["text"]))).collect::<Vec<_>>().join("\n")
}

/// Removes the quotes around a prompt from the command line.
fn unquoted(prompt: &str) -> &str {
    let bare = prompt.strip_prefix('"').and_then(|prompt| prompt.strip_suffix('"'));
    bare.filter(|bare| !bare.contains('"')).unwrap_or(prompt)
}

fn call(wire: &Wire<'_>, about: &Value, input: &Value) -> ToolCall {
    let name = text(&about["tool"]);
    ToolCall {
        key: about["callID"].as_str().map(str::to_owned),
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
        "bash" => Tool::Shell { command: at(&["command"]) },
        "read" => Tool::Read { path: at(&["filePath"]), part: has_any(input, &["offset", "limit"]) },
        "edit" | "multiedit" | "patch" | "apply_patch" => Tool::Edit { path: at(&["filePath"]) },
        "write" => Tool::Write { path: at(&["filePath"]) },
        "grep" | "glob" | "list" | "codesearch" => Tool::Search { pattern: at(&["pattern", "query", "path"]) },
        "webfetch" | "websearch" => Tool::Fetch { what: at(&["url", "query"]) },
        "todowrite" | "todoread" => Tool::Tasks,
        "task" => Tool::Subagent { task: at(&["description", "prompt"]) },
        "question" => Tool::Question { text: first_text(&input["questions"][0], &["question"]).to_owned() },
        "plan_enter" | "plan_exit" | "skill" | "batch" | "invalid" => Tool::Other,
        name => mcp_tool(name, "", "_").unwrap_or(Tool::Other),
    }
}

fn done<'a>(wire: &Wire<'a>, output: &'a Value, tool: &Tool) -> Done {
    let about = &output["metadata"];
    let exit_code = about["exit"].as_i64().and_then(|code| code.try_into().ok());
    let failed = exit_code.is_some_and(|code: i32| code != 0) || output["isError"] == true;
    let file = &about["display"];
    let output = match tool {
        // The text shown to the user has no line numbers. If it is truncated, the rest is in the file itself.
        Tool::Read { path, .. } if file["type"] == "file" => {
            let saved = (file["truncated"] == true).then(|| PathBuf::from(path));
            Output { text: wire.view(&file["text"]).to_text(), saved, ..Output::default() }
        }
        // An image or a folder.
        Tool::Read { .. } => Output::default(),
        _ if output["content"].is_array() => Output { text: texts(wire, &output["content"]), ..Output::default() },
        _ => {
            let saved = own_file(&about["outputPath"]);
            let cut = about["truncated"] == true && saved.is_none();
            Output { text: wire.view(&output["output"]).to_text(), saved, cut, ..Output::default() }
        }
    };
    Done { output, exit_code, failed, millis: None }
}

/// Returns the text of an MCP tool's output; empty if it contains an image.
fn texts<'a>(wire: &Wire<'a>, content: &'a Value) -> Text {
    let pictures = content.as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] != "text"));
    if pictures { Text::default() } else { wire.all_text(content) }
}

/// Returns a path if it is in the folder of saved outputs.
fn own_file(path: &Value) -> Option<PathBuf> {
    let path = Path::new(path.as_str()?);
    let name = path.file_name()?.to_str()?;
    let is_own = path.is_absolute() && path.parent()?.ends_with(OWN_FOLDER) && name.starts_with("tool_");
    is_own.then(|| path.to_owned())
}

fn reply(wire: &Wire<'_>, _: &Hook, reply: &Reply) -> Option<Value> {
    match reply {
        Reply::Output(text) if wire.payload["output"]["content"].is_array() => Some(json!({ "content": text })),
        Reply::Output(text) => Some(json!({ "output": text })),
        Reply::Context(text) => Some(json!({ "context": [text] })),
        Reply::Command(_) | Reply::Keep(_) | Reply::Notice(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::told;
    use expect_test::expect;
    use weir_check::Checked;

    /// A payload as the plugin sends it.
    fn decoded(event: &str, fixture: &str) -> Hook {
        let mut payload: Value = serde_json::from_str(fixture).unwrap();
        payload["directory"] = json!("/home/dev/project");
        decode(&Wire::new(event, &payload)).unwrap()
    }

    fn check(event: &str, fixture: &str) -> Checked {
        told(&decoded(event, fixture).point)
    }

    #[test]
    fn what_tools_gave_back() {
        check("tool.execute.after", fixture!("opencode/tool.execute.after.bash-failing")).shows(&expect![[r#"
            Shell { command: "echo FAILING; exit 3" }
            Done { output: Output { text: Here("FAILING\n"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: Some(3), failed: true, millis: None }"#]]);
        check("tool.execute.after", fixture!("opencode/tool.execute.after.probe_echo")).shows(&expect![[r#"
            Mcp { server: "probe", tool: "echo" }
            Done { output: Output { text: Here("MCP-ECHO:CASE-mcpout"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
        check("tool.execute.after", fixture!("opencode/tool.execute.after.read")).shows(&expect![[r#"
            Read { path: "/home/dev/project/CASE-readout.txt", part: false }
            Done { output: Output { text: Here("orig"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
    }

    #[cfg(unix)]
    #[test]
    fn a_saved_output_is_found_only_where_the_client_saves_one() {
        let hook = decoded("tool.execute.after", fixture!("opencode/tool.execute.after.bash-large"));
        let Point::AfterTool(_, done) = hook.point else { panic!() };
        let own = "/home/dev/.local/share/opencode/tool-output/tool_1dc4ca717001yPO2Umnv4aNTb7";
        assert_eq!(done.output.saved, Some(own.into()));
        for other in
            ["/etc/shadow", "/opencode/tool-output/../tool_x", "opencode/tool-output/tool_x", "/p/tool-output/tool_x"]
        {
            assert_eq!(own_file(&json!(other)), None, "{other}");
        }
    }

    #[test]
    fn prompts_without_what_programs_put_there() {
        check("chat.message", fixture!("opencode/chat.message")).shows(&expect![[r#"Prompt { text: "do it" }"#]]);
        let parts = json!([{ "type": "text", "text": "mine" }, { "type": "text", "text": "not", "synthetic": true }]);
        assert_eq!(words(&parts), "mine");
    }

    #[test]
    fn what_a_subagent_does_belongs_to_the_session() {
        let payload = json!({
            "directory": "/p", "parent": "ses_1", "input": { "sessionID": "ses_2", "tool": "weir_ctx_get" }, "output": {},
        });
        let hook = decode(&Wire::new("tool.execute.before", &payload)).unwrap();
        assert_eq!((hook.session.as_str(), hook.subagent.unwrap().key.as_str()), ("ses_1", "ses_2"));
        let Point::BeforeTool(call) = hook.point else { panic!() };
        assert_eq!(call.tool, Tool::Ours);
    }
}
