//! Cursor. Its hooks are in a separate file, without groups. Events before a tool, at which an answer permits or denies
//! it, are left out.

use super::claude::plain;
use super::{Basis, EntryContent, Hooks, Recipe, home, project, project_part, user_part};

/// Cursor.
pub(super) const CURSOR: Recipe = Recipe {
    name: "cursor",
    title: "Cursor",
    programs: &["cursor", "cursor-agent"],
    traces: &[home(".cursor")],
    parts: &[
        user_part(home(".cursor/hooks.json"), EntryContent::Hooks(&HOOKS)),
        user_part(home(".cursor/mcp.json"), EntryContent::Server(&["mcpServers"], plain)),
        project_part(project(".cursor/hooks.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".cursor/mcp.json"), EntryContent::Server(&["mcpServers"], plain)),
    ],
    then: Some("check that Settings, Hooks lists Weir's hooks"),
    plugin: None,
    trust: None,
    window: None,
    status_line: None,
    basis: Basis::Documented,
};

const HOOKS: Hooks = Hooks {
    grouped: false,
    command: "command",
    typed: false,
    timeout: ("timeout", 10),
    limits: &[],
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
};
