//! Amp. Its settings are one flat object with dots in the keys.

use crate::setup::server::plain;
use crate::setup::{Base, Basis, EntryContent, Place, Recipe, ServerForm, ToolRule, config, project_part, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    name: "amp",
    title: "Amp",
    programs: &["amp"],
    traces: &[config("amp")],
    parts: &[
        user_part(
            Place { base: Base::Config, path: "amp/settings.json", or: Some("amp/settings.jsonc") },
            EntryContent::Server(&["amp.mcpServers"], plain),
        ),
        project_part(
            Place { base: Base::Project, path: ".amp/settings.json", or: Some(".amp/settings.jsonc") },
            EntryContent::Server(&["amp.mcpServers"], plain),
        ),
    ],
    servers: ServerForm { rules: &[("includeTools", ToolRule::Only)], tool_names: &["mcp__{}__"], ..ServerForm::USUAL },
    then: Some("Amp asks you to approve a project's servers"),
    basis: Basis::Documented,
    ..Recipe::BLANK
};
