//! VS Code with GitHub Copilot. It calls its servers `servers`, not `mcpServers`, and uses the hooks of Copilot CLI or
//! Claude Code in the project.

use serde_json::{Value, json};

use super::{Basis, EntryContent, Recipe, config, project, project_part, user_part};

/// VS Code with GitHub Copilot.
pub(super) const VSCODE: Recipe = Recipe {
    name: "vscode",
    title: "VS Code",
    programs: &["code"],
    traces: &[config("Code/User")],
    parts: &[
        user_part(config("Code/User/mcp.json"), EntryContent::Server(&["servers"], stdio)),
        project_part(project(".vscode/mcp.json"), EntryContent::Server(&["servers"], stdio)),
    ],
    then: None,
    plugin: None,
    trust: None,
    window: None,
    status_line: None,
    basis: Basis::Documented,
};

fn stdio(program: &str) -> Value {
    json!({ "type": "stdio", "command": program, "args": ["mcp"] })
}
