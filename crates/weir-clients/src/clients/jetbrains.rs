//! JetBrains. Junie reads a file; AI Assistant's MCP servers are set in a dialogue.

use crate::setup::{Basis, EntryContent, Recipe, home, project, project_part, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    name: "jetbrains",
    title: "JetBrains Junie",
    programs: &["junie"],
    traces: &[home(".junie")],
    parts: &[
        user_part(home(".junie/mcp/mcp.json"), EntryContent::USUAL_SERVER),
        project_part(project(".junie/mcp/mcp.json"), EntryContent::USUAL_SERVER),
    ],
    then: Some("for AI Assistant, copy the entry to Settings, Tools, AI Assistant, Model Context Protocol"),
    basis: Basis::Documented,
    ..Recipe::BLANK
};
