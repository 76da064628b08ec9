//! VS Code with GitHub Copilot. It calls its servers `servers`, not `mcpServers`. Its hooks are in the folders of
//! Copilot CLI, in a separate file; each of the two ignores the calls of the other.

use serde_json::{Value, json};

use super::VSCODE;
use crate::setup::{
    Basis, EntryContent, Hooks, Recipe, ServerForm, application, home, project, project_part, user_part,
};

pub(crate) const SETUP: Recipe = Recipe {
    programs: &["code"],
    traces: &[application("Code/User")],
    parts: &[
        user_part(home(".copilot/hooks/weir-vscode.json"), EntryContent::Hooks(&HOOKS)),
        user_part(application("Code/User/mcp.json"), EntryContent::Server(&["servers"], stdio)),
        project_part(project(".github/hooks/weir-vscode.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".vscode/mcp.json"), EntryContent::Server(&["servers"], stdio)),
    ],
    servers: ServerForm {
        others: &["description", "gallery", "version"],
        unread: Some("approvals of single tools that VS Code keeps, and its tool sets"),
        ..ServerForm::USUAL
    },
    then: Some("check that Chat: Configure Hooks lists Weir's hooks"),
    basis: Basis::Documented,
    ..Recipe::of(&VSCODE)
};

const HOOKS: Hooks = Hooks {
    grouped: false,
    events: &[
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("PostToolUse", None),
        ("PreCompact", None),
        ("SubagentStart", None),
        ("SubagentStop", None),
    ],
    ..Hooks::OF_CLAUDE
};

fn stdio(program: &str) -> Value {
    json!({ "type": "stdio", "command": program, "args": ["mcp"] })
}
