//! Cline. The file is that of its command line; the extension keeps its own among the editor's files.

use crate::setup::{Basis, EntryContent, Recipe, ServerForm, ToolRule, home, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    name: "cline",
    title: "Cline",
    programs: &["cline"],
    traces: &[home(".cline")],
    variables: &["CLINE_ACTIVE"],
    rules: &[".clinerules"],
    parts: &[user_part(home(".cline/data/settings/cline_mcp_settings.json"), EntryContent::USUAL_SERVER)],
    servers: ServerForm {
        sse: "url",
        timeout: Some(("timeout", 1)),
        rules: &[("alwaysAllow", ToolRule::Allow), ("autoApprove", ToolRule::Allow)],
        ..ServerForm::USUAL
    },
    then: Some("for the extension in an editor, copy the entry to MCP Servers, Configure, Configure MCP Servers"),
    basis: Basis::Documented,
    ..Recipe::BLANK
};
