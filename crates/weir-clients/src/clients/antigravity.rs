//! Antigravity, the editor and the command line. They share one file of MCP servers since version 2.

use crate::setup::{Basis, EntryContent, Recipe, ServerForm, ToolRule, home, project, project_part, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    name: "antigravity",
    title: "Antigravity",
    programs: &["agy", "antigravity"],
    traces: &[home(".gemini/antigravity"), home(".gemini/config")],
    variables: &["ANTIGRAVITY_AGENT"],
    parts: &[
        user_part(home(".gemini/config/mcp_config.json"), EntryContent::USUAL_SERVER),
        project_part(project(".agents/mcp_config.json"), EntryContent::USUAL_SERVER),
    ],
    servers: ServerForm {
        addresses: &["serverUrl", "url"],
        rules: &[("disabledTools", ToolRule::Deny)],
        ..ServerForm::USUAL
    },
    then: Some("versions before 2 read ~/.gemini/antigravity/mcp_config.json instead; copy the entry there"),
    basis: Basis::Documented,
    ..Recipe::BLANK
};
