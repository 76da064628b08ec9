//! Tests with input recorded from the real client.

use expect_test::expect;
use serde_json::Value;
use weir_check::Checked;

use super::shown;
use crate::capture::events;
use crate::{Wire, find};

fn check(event: &str, payload: &str) -> Checked {
    let payload: Value = serde_json::from_str(payload).unwrap();
    let decoded = (find("claude").unwrap().decode)(&Wire::new(event, &payload));
    Checked(decoded.map_or_else(|| "nothing".to_owned(), |hook| shown(&events(&hook))))
}

macro_rules! claude {
    ($name:literal) => {
        include_str!(concat!("../../../fixtures/claude/", $name, ".json"))
    };
}

#[test]
fn a_session_with_claude() {
    check("UserPromptSubmit", claude!("UserPromptSubmit")).shows(&expect!["prompt P1 | please do the thing |"]);
    check("PostToolUse", claude!("PostToolUse"))
        .shows(&expect![[r#"tool P4 | ran seq 1 5 | {"subject":"seq 1 5","ran":"echo REAL-BASH-OUTPUT; seq 1 5"}"#]]);
    check("PostToolUse", claude!("PostToolUse.Read"))
        .shows(&expect![[r#"file P4 | read hello.txt | {"path":"hello.txt","how":"read"}"#]]);
    check("PostToolUse", claude!("PostToolUse.Write"))
        .shows(&expect![[r#"file P2 | wrote new.txt | {"path":"new.txt","how":"wrote"}"#]]);
    check("PostToolUse", claude!("PostToolUse.Edit"))
        .shows(&expect![[r#"file P2 | edited new.txt | {"path":"new.txt","how":"edited"}"#]]);
    check("PostToolUse", claude!("PostToolUse.mcp__probe__echo")).shows(&expect!["tool P4 | mcp probe/echo |"]);
    check("PostToolUseFailure", claude!("PostToolUseFailure"))
        .shows(&expect![[r#"error P2 | mcp probe/fail: MCP-FAIL: asked to fail | {"subject":"mcp probe/fail"}"#]]);
    check("PostToolUseFailure", claude!("PostToolUseFailure.Bash")).shows(&expect![[
        r#"error P2 | exit 4: CASE-failout | {"subject":"exit 4","exit":4,"ran":"echo CASE-failout; exit 4"}"#
    ]]);
    check("PostToolUseFailure", claude!("PostToolUseFailure.Bash-failing"))
        .shows(&expect![[r#"error P2 | exit 3: exit code 3 | {"subject":"exit 3","exit":3,"ran":"exit 3"}"#]]);
    check("InstructionsLoaded", claude!("InstructionsLoaded"))
        .shows(&expect![[r#"rule P3 | rules of CLAUDE.md | {"path":"CLAUDE.md"}"#]]);
    check("Stop", claude!("Stop")).shows(&expect!["said P3 | ALL-DONE |"]);
}

#[test]
fn a_subagent_of_claude() {
    check("SubagentStart", claude!("SubagentStart"))
        .shows(&expect![[r#"subagent P3 | subagent general-purpose began | {"agent":"general-purpose"}"#]]);
    check("PostToolUse", claude!("PostToolUse.Bash-general-purpose"))
        .shows(&expect![[r#"tool P4 | ran echo SUB-BASH | {"subject":"","agent":"general-purpose"}"#]]);
    check("SubagentStop", claude!("SubagentStop.general-purpose")).shows(&expect![[
            r#"subagent P2 | subagent general-purpose: SUBAGENT-RESULT | {"agent":"general-purpose","result":"SUBAGENT-RESULT"}"#
        ]]);
    check("PostToolUse", claude!("PostToolUse.Agent"))
        .shows(&expect![[r#"subagent P2 | subagent for "probe": SUBAGENT-RESULT | {"result":"SUBAGENT-RESULT"}"#]]);
    check("SubagentStop", claude!("SubagentStop")).shows(&expect![""]);
}

#[test]
fn points_at_which_nothing_happened() {
    check("PreCompact", claude!("PreCompact")).shows(&expect![""]);
    check("SessionStart", claude!("SessionStart.compact")).shows(&expect![""]);
}
