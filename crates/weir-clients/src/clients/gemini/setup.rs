//! Gemini CLI. Its hook timeouts are in milliseconds.

use super::GEMINI;
use crate::setup::{
    Basis, EntryContent, Hooks, Packed, Recipe, Scale, ServerForm, Setting, ToolRule, Window, home, project,
    project_part, user_part,
};

pub(crate) const SETUP: Recipe = Recipe {
    programs: &["gemini"],
    traces: &[home(".gemini/settings.json"), home(".gemini/tmp")],
    variables: &["GEMINI_CLI"],
    transcript: Some(&super::transcript::FORMAT),
    rules: &["GEMINI.md"],
    parts: &[
        user_part(home(".gemini/settings.json"), EntryContent::Hooks(&HOOKS)),
        user_part(home(".gemini/settings.json"), EntryContent::USUAL_SERVER),
        project_part(project(".gemini/settings.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".gemini/settings.json"), EntryContent::USUAL_SERVER),
    ],
    servers: ServerForm {
        addresses: &["httpUrl", "url"],
        filled_in: &["$"],
        timeout: Some(("timeout", 1_000)),
        rules: &[("trust", ToolRule::Trust), ("includeTools", ToolRule::Only), ("excludeTools", ToolRule::Deny)],
        tool_names: &["mcp_{}_", "mcp__{}__", "{}__"],
        named_in: &["allowMCPServers", "excludeMCPServers", "mcp"],
        switched_off: Some(home(".gemini/mcp-server-enablement.json")),
        unread: Some("~/.gemini/policies"),
        ..ServerForm::USUAL
    },
    plugin: Some(Packed::Folder(home(".gemini/extensions/weir"))),
    window: Some(Window {
        version: "0.61.0",
        default: 524_288,
        note: "half of a window of 1,048,576 tokens",
        smallest: 62_915,
        setting: Setting { place: home(".gemini/settings.json"), at: &["model", "compressionThreshold"] },
        scale: Scale::Share(1_048_576),
    }),
    basis: Basis::Seen,
    ..Recipe::of(&GEMINI)
};

const HOOKS: Hooks = Hooks {
    timeout: ("timeout", 10_000),
    events: &[
        ("SessionStart", None),
        ("BeforeAgent", None),
        ("AfterTool", None),
        ("PreCompress", None),
        ("AfterAgent", None),
        ("SessionEnd", None),
    ],
    ..Hooks::OF_CLAUDE
};
