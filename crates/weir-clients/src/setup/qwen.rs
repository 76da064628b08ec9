//! Qwen Code. Its hooks are those of Claude Code, where it has them.

use super::claude::plain;
use super::{Basis, Hooks, Packed, Recipe, What, home, project, project_part, user_part};

/// Qwen Code.
pub(super) const QWEN: Recipe = Recipe {
    name: "qwen",
    title: "Qwen Code",
    programs: &["qwen"],
    traces: &[home(".qwen")],
    parts: &[
        user_part(home(".qwen/settings.json"), What::Hooks(&HOOKS)),
        user_part(home(".qwen/settings.json"), What::Server(&["mcpServers"], plain)),
        project_part(project(".qwen/settings.json"), What::Hooks(&HOOKS)),
        project_part(project(".qwen/settings.json"), What::Server(&["mcpServers"], plain)),
    ],
    then: None,
    plugin: Some(Packed::Folder(home(".qwen/extensions/weir"))),
    trust: None,
    basis: Basis::Seen,
};

const HOOKS: Hooks = Hooks {
    grouped: true,
    command: "command",
    typed: true,
    timeout: ("timeout", 10),
    version: None,
    events: &[
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("PreToolUse", None),
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
