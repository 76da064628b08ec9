//! Codex. It rejects a whole answer if one of its fields is unknown, and silently skips hooks that the user has not
//! trusted. Its hook receives only a part of a large output and the rest is lost, so the command is rewritten
//! beforehand.

pub(crate) mod setup;
pub(crate) mod transcript;

use serde_json::{Value, json};

use crate::hook::{AcceptedReplies, Done, Hook, Output, Point, Shown, Tool};
use crate::wire::{Wire, first_text, mcp_tool, text};
use crate::{Client, Compaction, Defers, OwnCut, Reply, Retention};

pub(crate) const CODEX: Client = Client {
    name: "codex",
    title: "Codex",
    session: "codex-mcp-client",
    compaction: Compaction::Begins,
    // For its own models it shows four times as much.
    cuts: &[OwnCut { above: 10_000, head: 5_000, tail: 5_000, around: CUT, ..OwnCut::NONE }],
    cut_marks: &[CUT, " tokens truncated…"],
    // A conversation in which the user has gone back continues in another transcript.
    retention: Retention::Session(&[r#""type":"compacted""#]),
    overhead_tokens: 647,
    // For the model gpt-5.5. In code mode, as with its newer models, a tool costs nothing.
    defers_tools: Defers::OwnModels { tried: "0.166.0", prefix: "gpt-", per_tool: 4 },
    borrower: None,
    folder_variable: None,
    tool,
    decode,
    reply,
};

/// The beginning of an output that Codex has truncated.
pub(crate) const CUT: &str = "Warning: truncated output (original token count: ";
/// The beginning of the identifier of a call by a script of its code mode.
const CALL_OF_SCRIPT: &str = "exec-";
/// The fields of a shell tool's input that may have the command.
const COMMAND: [&str; 2] = ["command", "cmd"];

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
    // A script needs the bytes, not what a model would be shown of them.
    let is_for_model = !wire.text("tool_use_id").starts_with(CALL_OF_SCRIPT);
    let takes = AcceptedReplies {
        context: point.takes_context(),
        output: wire.event == "PostToolUse" && is_for_model,
        // It accepts a rewritten command only together with permission to run it.
        command: wire.text("permission_mode") == "bypassPermissions" && is_for_model,
        keep: false,
        notice: false,
    };
    wire.hook(point, takes)
}

fn tool(name: &str, input: &Value) -> Tool {
    let at = |keys: &[&str]| first_text(input, keys).to_owned();
    match name {
        "Bash" | "shell" | "exec_command" => Tool::Shell { command: at(&COMMAND) },
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
    let response = &wire.payload["tool_response"];
    let text = wire.all_text(response);
    let cut = text.view().head().starts_with(CUT);
    // The output of a command is a string, and what the model sees. That of an MCP tool is cut later.
    let shown = if response.is_string() { Shown::Text } else { Shown::Cut };
    Done { output: Output { text, cut, shown, ..Output::default() }, ..Done::default() }
}

fn reply(wire: &Wire<'_>, hook: &Hook, reply: &Reply) -> Option<Value> {
    Some(match reply {
        Reply::Output(text) => json!({ "decision": "block", "reason": text }),
        Reply::Context(text) => wire.context_reply(text),
        Reply::Command(command) => {
            let Point::BeforeTool(call) = &hook.point else { return None };
            let mut input = call.input.clone();
            let key = COMMAND.into_iter().find(|key| !text(&input[*key]).is_empty())?;
            input.as_object_mut()?.insert(key.to_owned(), json!(command));
            json!({ "hookSpecificOutput": {
                "hookEventName": wire.event, "permissionDecision": "allow", "updatedInput": input,
            } })
        }
        Reply::Keep(_) | Reply::Notice(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::told;
    use expect_test::expect;
    use weir_check::Checked;

    macro_rules! recorded {
        ($name:literal) => {
            serde_json::from_str::<Value>(include_str!(concat!("../../fixtures/codex/", $name, ".json"))).unwrap()
        };
    }

    fn decoded(event: &str, payload: &Value) -> Hook {
        decode(&Wire::new(event, payload)).unwrap()
    }

    fn replied(event: &str, payload: &Value, answer: &Reply) -> Option<Value> {
        reply(&Wire::new(event, payload), &decoded(event, payload), answer)
    }

    fn check(event: &str, payload: &Value) -> Checked {
        told(&decoded(event, payload).point)
    }

    #[test]
    fn a_session_is_told_from_its_beginning_to_its_end() {
        check("SessionStart", &recorded!("SessionStart.resume")).shows(&expect!["SessionStart(Resume)"]);
        check("SessionStart", &recorded!("SessionStart.compact")).shows(&expect!["SessionStart(Compact)"]);
        check("UserPromptSubmit", &recorded!("UserPromptSubmit")).shows(&expect![[r#"Prompt { text: "go" }"#]]);
        check("PreToolUse", &recorded!("PreToolUse")).shows(&expect![[r#"Shell { command: "echo ONE" }"#]]);
        check("PreCompact", &recorded!("PreCompact")).shows(&expect!["BeforeCompaction"]);
        check("PostCompact", &recorded!("PostCompact")).shows(&expect![[r#"AfterCompaction { summary: "" }"#]]);
        check("SubagentStart", &recorded!("SubagentStart")).shows(&expect!["SubagentStart"]);
        check("SubagentStop", &recorded!("SubagentStop")).shows(&expect![[r#"SubagentStop { result: "END-TWO" }"#]]);
        check("Stop", &recorded!("Stop")).shows(&expect![[r#"Stop { last: "SCRIPTED-SUMMARY of the work" }"#]]);
        check("SessionEnd", &recorded!("SessionEnd")).shows(&expect!["SessionEnd"]);
        assert_eq!(decode(&Wire::new("PreModelRequest", &recorded!("PreCompact"))), None);
    }

    /// Codex says nothing about how a command ended.
    #[test]
    fn what_tools_gave_back_is_the_text_that_the_model_gets() {
        check("PostToolUse", &recorded!("PostToolUse")).shows(&expect![[r#"
            Shell { command: "echo ONE" }
            Done { output: Output { text: Here("ONE\n"), saved: None, cut: false, shown: Text, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
        check("PostToolUse", &recorded!("PostToolUse.Bash-failing")).shows(&expect![[r#"
            Shell { command: "echo FAILING; exit 3" }
            Done { output: Output { text: Here("FAILING\n"), saved: None, cut: false, shown: Text, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
        check("PostToolUse", &recorded!("PostToolUse.mcp__probe__echo")).shows(&expect![[r#"
            Mcp { server: "probe", tool: "echo" }
            Done { output: Output { text: Here("MCP-ECHO:ping"), saved: None, cut: false, shown: Cut, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
        check("PostToolUse", &recorded!("PostToolUse.spawn_agent")).shows(&expect![[r#"
            Subagent { task: "SUBAGENT-PROMPT-X" }
            Done { output: Output { text: Here("{\"agent_id\":\"01a1dc44-cdf9-7bb3-8fce-41a0377ebf88\",\"nickname\":\"Hilbert\"}"), saved: None, cut: false, shown: Text, numbered: None }, exit_code: None, failed: false, millis: None }"#]]);
    }

    #[test]
    fn a_large_output_is_known_to_be_cut() {
        let Point::AfterTool(_, done) = decoded("PostToolUse", &recorded!("PostToolUse.Bash-large")).point else {
            panic!("no tool has run")
        };
        assert!(done.output.cut, "{done:?}");
    }

    #[test]
    fn a_prompt_of_a_subagent_is_its_own() {
        let hook = decoded("UserPromptSubmit", &recorded!("UserPromptSubmit.default"));
        expect![[r#"Some(Subagent { key: "01a1dc44-cdf9-7bb3-8fce-41a0377ebf88", kind: "default" })"#]]
            .assert_eq(&format!("{:?}", hook.subagent));
    }

    #[test]
    fn a_patch_names_its_first_file() {
        let patch = "*** Begin Patch\n*** Add File: src/new.rs\n+fn a() {}\n*** Update File: src/old.rs\n*** End Patch";
        for (name, key) in [("apply_patch", "command"), ("apply_patch", "input"), ("Edit", "patch")] {
            assert_eq!(
                tool(name, &json!({ key: patch })),
                Tool::Edit { path: "src/new.rs".to_owned() },
                "{name} {key}"
            );
        }
    }

    #[test]
    fn a_rewritten_command_keeps_every_other_field_of_the_input() {
        let mut payload = recorded!("PreToolUse");
        for key in COMMAND {
            payload["tool_input"] = json!({ key: "echo ONE", "workdir": "src", "timeout_ms": 1000 });
            let expected = json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "allow",
                "updatedInput": { key: "echo TWO", "workdir": "src", "timeout_ms": 1000 },
            } });
            assert_eq!(replied("PreToolUse", &payload, &Reply::Command("echo TWO".to_owned())), Some(expected));
        }
        payload["tool_input"] = json!({ "text": "ping" });
        assert_eq!(
            replied("PreToolUse", &payload, &Reply::Command("echo TWO".to_owned())),
            None,
            "there is no command"
        );
        let after = recorded!("PostToolUse");
        assert_eq!(replied("PostToolUse", &after, &Reply::Command("echo TWO".to_owned())), None, "it has run already");
    }

    #[test]
    fn a_command_is_rewritten_only_where_nobody_is_asked() {
        let mut payload = recorded!("PreToolUse");
        assert!(decoded("PreToolUse", &payload).takes.command);
        for mode in ["default", "acceptEdits", "plan"] {
            payload["permission_mode"] = json!(mode);
            assert!(!decoded("PreToolUse", &payload).takes.command, "{mode}");
        }
    }

    #[test]
    fn what_a_script_reads_is_left_as_it_is() {
        for (event, mut payload) in [("PreToolUse", recorded!("PreToolUse")), ("PostToolUse", recorded!("PostToolUse"))]
        {
            let takes = decoded(event, &payload).takes;
            assert!(takes.command || takes.output);
            payload["tool_use_id"] = json!("exec-6f9619ff-8b86-4d01-b42d-00cf4fc964ff");
            let takes = decoded(event, &payload).takes;
            assert!(!takes.command && !takes.output, "{event}");
        }
    }

    /// An unknown field voids the whole answer, so each is compared as a whole.
    #[test]
    fn answers_have_the_fields_that_codex_knows() {
        let after = recorded!("PostToolUse");
        assert_eq!(
            replied("PostToolUse", &after, &Reply::Output("a digest".to_owned())),
            Some(json!({ "decision": "block", "reason": "a digest" }))
        );
        let start = recorded!("SessionStart.compact");
        let expected =
            json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": "a guide" } });
        assert_eq!(replied("SessionStart", &start, &Reply::Context("a guide".to_owned())), Some(expected));
        assert_eq!(replied("PreCompact", &recorded!("PreCompact"), &Reply::Keep("this".to_owned())), None);
    }
}
