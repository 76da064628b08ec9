//! Windsurf. It has one file of MCP servers, for the user.

use crate::setup::{Basis, EntryContent, Recipe, ServerForm, ToolRule, home, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    name: "windsurf",
    title: "Windsurf",
    programs: &["windsurf"],
    traces: &[home(".codeium/windsurf")],
    rules: &[".windsurfrules"],
    parts: &[user_part(home(".codeium/windsurf/mcp_config.json"), EntryContent::USUAL_SERVER)],
    servers: ServerForm {
        addresses: &["serverUrl", "url"],
        rules: &[("alwaysAllow", ToolRule::Allow), ("disabledTools", ToolRule::Deny)],
        ..ServerForm::USUAL
    },
    then: Some("press the refresh button in Windsurf's list of MCP servers"),
    basis: Basis::Documented,
    ..Recipe::BLANK
};
