//! Cursor. Its hooks are in a separate file, without groups. Events before a tool, at which an answer permits or denies
//! it, are left out.

use super::CURSOR;
use crate::setup::{Basis, EntryContent, Hooks, Recipe, ServerForm, home, project, project_part, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    programs: &["cursor", "cursor-agent"],
    traces: &[home(".cursor")],
    variables: &["CURSOR_AGENT"],
    rules: &[".cursorrules", "/.cursor/rules/"],
    parts: &[
        user_part(home(".cursor/hooks.json"), EntryContent::Hooks(&HOOKS)),
        user_part(home(".cursor/mcp.json"), EntryContent::USUAL_SERVER),
        project_part(project(".cursor/hooks.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".cursor/mcp.json"), EntryContent::USUAL_SERVER),
    ],
    servers: ServerForm {
        unread: Some("servers and tools turned off in Cursor's dialogs, and ~/.cursor/cli-config.json"),
        ..ServerForm::USUAL
    },
    then: Some("check that Settings, Hooks lists Weir's hooks"),
    basis: Basis::Documented,
    ..Recipe::of(&CURSOR)
};

const HOOKS: Hooks = Hooks {
    grouped: false,
    typed: false,
    version: Some(1),
    events: &[
        ("sessionStart", None),
        ("beforeSubmitPrompt", None),
        ("postToolUse", None),
        ("postToolUseFailure", None),
        ("preCompact", None),
        ("subagentStop", None),
        ("afterAgentResponse", None),
        ("sessionEnd", None),
    ],
    ..Hooks::OF_CLAUDE
};
