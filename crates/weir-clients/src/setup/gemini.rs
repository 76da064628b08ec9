//! Gemini CLI. Its hook timeouts are in milliseconds.

use super::claude::plain;
use super::{
    Basis, EntryContent, Hooks, Packed, Recipe, Scale, Setting, Window, home, project, project_part, user_part,
};

/// Gemini CLI.
pub(super) const GEMINI: Recipe = Recipe {
    name: "gemini",
    title: "Gemini CLI",
    programs: &["gemini"],
    traces: &[home(".gemini/settings.json"), home(".gemini/tmp")],
    parts: &[
        user_part(home(".gemini/settings.json"), EntryContent::Hooks(&HOOKS)),
        user_part(home(".gemini/settings.json"), EntryContent::Server(&["mcpServers"], plain)),
        project_part(project(".gemini/settings.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".gemini/settings.json"), EntryContent::Server(&["mcpServers"], plain)),
    ],
    then: None,
    plugin: Some(Packed::Folder(home(".gemini/extensions/weir"))),
    trust: None,
    window: Some(Window {
        version: "0.61.0",
        default: 524_288,
        note: "half of a window of 1,048,576 tokens",
        smallest: 62_915,
        setting: Setting { place: home(".gemini/settings.json"), at: &["model", "compressionThreshold"] },
        scale: Scale::Share(1_048_576),
    }),
    status_line: None,
    basis: Basis::Seen,
};

const HOOKS: Hooks = Hooks {
    grouped: true,
    command: "command",
    typed: true,
    timeout: ("timeout", 10_000),
    limits: &[],
    version: None,
    events: &[
        ("SessionStart", None),
        ("BeforeAgent", None),
        ("AfterTool", None),
        ("PreCompress", None),
        ("AfterAgent", None),
        ("SessionEnd", None),
    ],
};
