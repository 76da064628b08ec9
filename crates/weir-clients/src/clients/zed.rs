//! Zed. Its MCP servers are among its other settings.

use crate::setup::server::plain;
use crate::setup::{Basis, EntryContent, Recipe, ServerForm, config, project, project_part, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    name: "zed",
    title: "Zed",
    programs: &["zed", "zeditor"],
    traces: &[config("zed")],
    parts: &[
        user_part(config("zed/settings.json"), EntryContent::Server(&["context_servers"], plain)),
        project_part(project(".zed/settings.json"), EntryContent::Server(&["context_servers"], plain)),
    ],
    servers: ServerForm { others: &["source"], tool_names: &["mcp:{}:"], named_in: &["agent"], ..ServerForm::USUAL },
    basis: Basis::Documented,
    ..Recipe::BLANK
};
