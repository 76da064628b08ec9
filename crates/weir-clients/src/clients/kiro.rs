//! Kiro, the editor and the command line.

use crate::setup::{Basis, EntryContent, Recipe, home, project, project_part, user_part};

/// Kiro.
pub(crate) const SETUP: Recipe = Recipe {
    name: "kiro",
    title: "Kiro",
    programs: &["kiro", "kiro-cli"],
    traces: &[home(".kiro")],
    parts: &[
        user_part(home(".kiro/settings/mcp.json"), EntryContent::USUAL_SERVER),
        project_part(project(".kiro/settings/mcp.json"), EntryContent::USUAL_SERVER),
    ],
    basis: Basis::Documented,
    ..Recipe::BLANK
};
