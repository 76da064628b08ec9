//! Copilot CLI. A single unknown handler disables a whole hooks file, so ours are in a separate file.

use serde_json::{Value, json};

use super::COPILOT;
use crate::setup::{
    Base, Basis, EntryContent, Hooks, Packed, Place, Recipe, ServerForm, ToolRule, project, project_part, user_part,
};

pub(crate) const SETUP: Recipe = Recipe {
    programs: &["copilot"],
    traces: &[folder("")],
    variables: &["COPILOT_CLI"],
    transcript: Some(&super::transcript::FORMAT),
    rules: &["copilot-instructions.md"],
    parts: &[
        user_part(folder("hooks/weir.json"), EntryContent::Hooks(&HOOKS)),
        user_part(folder("mcp-config.json"), EntryContent::Server(&["mcpServers"], local)),
        project_part(project(".github/hooks/weir.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".mcp.json"), EntryContent::USUAL_SERVER),
    ],
    servers: ServerForm {
        filled_in: &["$"],
        rules: &[("tools", ToolRule::Only)],
        others: &["description", "timeout"],
        unread: Some("approvals that Copilot CLI keeps, and `--deny-tool` on its command line"),
        ..ServerForm::USUAL
    },
    plugin: Some(Packed::Key(folder("settings.json"), "enabledPlugins")),
    basis: Basis::Seen,
    ..Recipe::of(&COPILOT)
};

const fn folder(path: &'static str) -> Place {
    Place { base: Base::Variable("COPILOT_HOME", ".copilot"), path, or: None }
}

const HOOKS: Hooks = Hooks {
    grouped: false,
    command: "bash",
    timeout: ("timeoutSec", 10),
    version: Some(1),
    events: &[
        ("sessionStart", None),
        ("userPromptSubmitted", None),
        ("preToolUse", None),
        ("postToolUse", None),
        ("postToolUseFailure", None),
        ("preCompact", None),
        ("subagentStart", None),
        ("subagentStop", None),
        ("agentStop", None),
        ("sessionEnd", None),
    ],
    ..Hooks::OF_CLAUDE
};

fn local(program: &str) -> Value {
    json!({ "type": "local", "command": program, "args": ["mcp"], "tools": ["*"] })
}
