//! Claude Code. The user's MCP servers are in a separate file, which Claude Code itself writes while it runs.

use super::CLAUDE;
use crate::setup::{
    Base, Basis, EntryContent, Hooks, Packed, Place, Recipe, Scale, Setting, Window, project, project_part, user_part,
};

/// Claude Code.
pub(crate) const SETUP: Recipe = Recipe {
    programs: &["claude"],
    traces: &[folder("")],
    variables: &["CLAUDECODE"],
    session_variable: Some("CLAUDE_CODE_SESSION_ID"),
    transcript: Some(&super::transcript::FORMAT),
    rules: &["CLAUDE.md", "CLAUDE.local.md"],
    parts: &[
        user_part(folder("settings.json"), EntryContent::Hooks(&HOOKS)),
        user_part(SERVERS, EntryContent::USUAL_SERVER),
        project_part(project(".claude/settings.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".mcp.json"), EntryContent::USUAL_SERVER),
    ],
    plugin: Some(Packed::Key(folder("settings.json"), "enabledPlugins")),
    window: Some(Window {
        version: "2.1.325",
        default: 967_000,
        note: "on models with a window of a million tokens",
        smallest: 67_000,
        setting: Setting { place: folder("settings.json"), at: &["autoCompactWindow"] },
        scale: Scale::Above(33_000),
    }),
    status_line: Some(Setting { place: folder("settings.json"), at: &["statusLine"] }),
    basis: Basis::Seen,
    ..Recipe::of(&CLAUDE)
};

/// The variable that names another folder for its settings.
const VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// The file with the user's servers: next to the folder with its settings, or in the folder that the variable names.
const SERVERS: Place = Place { base: Base::Variable(VARIABLE, ""), path: ".claude.json", or: None };

const fn folder(path: &'static str) -> Place {
    Place { base: Base::Variable(VARIABLE, ".claude"), path, or: None }
}

const HOOKS: Hooks = Hooks {
    events: &[
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("PreToolUse", Some("Bash")),
        ("PostToolUse", None),
        ("PostToolUseFailure", None),
        ("PreCompact", None),
        ("PostCompact", None),
        ("SubagentStart", None),
        ("SubagentStop", None),
        ("InstructionsLoaded", None),
        ("Stop", None),
        ("SessionEnd", None),
    ],
    ..Hooks::OF_CLAUDE
};
