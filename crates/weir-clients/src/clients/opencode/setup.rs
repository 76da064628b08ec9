//! OpenCode. Its hooks are functions of a JavaScript plugin, which only calls our program.

use serde_json::{Value, json};

use super::OPENCODE;
use crate::setup::{Base, Basis, EntryContent, Place, Recipe, ServerForm, config, project, project_part, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    programs: &["opencode"],
    traces: &[config("opencode")],
    variables: &["OPENCODE"],
    transcript: Some(&super::transcript::FORMAT),
    parts: &[
        user_part(config("opencode/plugins/weir.js"), EntryContent::Plugin(PLUGIN)),
        user_part(
            Place { base: Base::Config, path: "opencode/opencode.json", or: Some("opencode/opencode.jsonc") },
            EntryContent::Server(&["mcp"], local),
        ),
        project_part(project(".opencode/plugins/weir.js"), EntryContent::Plugin(PLUGIN)),
        project_part(
            Place { base: Base::Project, path: "opencode.json", or: Some("opencode.jsonc") },
            EntryContent::Server(&["mcp"], local),
        ),
    ],
    servers: FORM,
    basis: Basis::Seen,
    ..Recipe::of(&OPENCODE)
};

/// How OpenCode and Kilo Code write servers.
pub(crate) const FORM: ServerForm = ServerForm {
    variables: "environment",
    // The time to list the tools.
    others: &["timeout"],
    tool_names: &["{}_"],
    permissions: &["tools", "permission"],
    unread: Some("the files of agents"),
    ..ServerForm::USUAL
};

const PLUGIN: &str = include_str!("../../../../../plugins/opencode/weir.js");

/// Returns an MCP server's entry in the form of OpenCode and of Kilo Code, which is based on it.
pub(crate) fn local(program: &str) -> Value {
    json!({ "type": "local", "command": [program, "mcp"], "enabled": true })
}
