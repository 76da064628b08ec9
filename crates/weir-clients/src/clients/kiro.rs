//! Kiro, the editor and the command line.

use crate::setup::{Basis, EntryContent, Recipe, ServerForm, ToolRule, home, project, project_part, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    name: "kiro",
    title: "Kiro",
    programs: &["kiro", "kiro-cli"],
    traces: &[home(".kiro")],
    parts: &[
        user_part(home(".kiro/settings/mcp.json"), EntryContent::USUAL_SERVER),
        project_part(project(".kiro/settings/mcp.json"), EntryContent::USUAL_SERVER),
    ],
    servers: ServerForm {
        others: &["description", "timeout"],
        rules: &[("autoApprove", ToolRule::Allow), ("disabledTools", ToolRule::Deny)],
        ..ServerForm::USUAL
    },
    basis: Basis::Documented,
    ..Recipe::BLANK
};
