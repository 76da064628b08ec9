//! Zed. Its MCP servers are among its other settings.

use super::server::plain;
use super::{Basis, EntryContent, Recipe, config, project, project_part, user_part};

/// Zed.
pub(super) const ZED: Recipe = Recipe {
    name: "zed",
    title: "Zed",
    programs: &["zed", "zeditor"],
    traces: &[config("zed")],
    parts: &[
        user_part(config("zed/settings.json"), EntryContent::Server(&["context_servers"], plain)),
        project_part(project(".zed/settings.json"), EntryContent::Server(&["context_servers"], plain)),
    ],
    basis: Basis::Documented,
    ..Recipe::BLANK
};
