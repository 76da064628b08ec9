//! Claude Code. The user's MCP servers are in a separate file, which Claude Code itself writes while it runs.

use serde_json::{Value, json};

use super::{
    Basis, EntryContent, Hooks, Packed, Recipe, Scale, Setting, Window, home, project, project_part, user_part,
};

/// Claude Code.
pub(super) const CLAUDE: Recipe = Recipe {
    name: "claude",
    title: "Claude Code",
    programs: &["claude"],
    traces: &[home(".claude")],
    parts: &[
        user_part(home(".claude/settings.json"), EntryContent::Hooks(&HOOKS)),
        user_part(home(".claude.json"), EntryContent::Server(&["mcpServers"], plain)),
        project_part(project(".claude/settings.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".mcp.json"), EntryContent::Server(&["mcpServers"], plain)),
    ],
    then: None,
    plugin: Some(Packed::Key(home(".claude/settings.json"), "enabledPlugins")),
    trust: None,
    window: Some(Window {
        version: "2.1.325",
        default: 967_000,
        note: "on models with a window of a million tokens",
        smallest: 67_000,
        setting: Setting { place: home(".claude/settings.json"), at: &["autoCompactWindow"] },
        scale: Scale::Above(33_000),
    }),
    status_line: Some(Setting { place: home(".claude/settings.json"), at: &["statusLine"] }),
    basis: Basis::Seen,
};

const HOOKS: Hooks = Hooks {
    grouped: true,
    command: "command",
    typed: true,
    timeout: ("timeout", 10),
    limits: &[],
    version: None,
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
};

/// Returns an MCP server's entry in the form that most clients use.
pub(super) fn plain(program: &str) -> Value {
    json!({ "command": program, "args": ["mcp"] })
}
