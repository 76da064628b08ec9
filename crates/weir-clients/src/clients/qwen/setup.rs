//! Qwen Code. It supports a part of Claude Code's hooks.

use super::QWEN;
use crate::setup::{
    Basis, EntryContent, Hooks, Packed, Recipe, Scale, ServerForm, Setting, Window, home, project, project_part,
    user_part,
};

pub(crate) const SETUP: Recipe = Recipe {
    programs: &["qwen"],
    traces: &[home(".qwen")],
    variables: &["QWEN_CODE"],
    transcript: Some(&super::transcript::FORMAT),
    rules: &["QWEN.md"],
    parts: &[
        user_part(home(".qwen/settings.json"), EntryContent::Hooks(&HOOKS)),
        user_part(home(".qwen/settings.json"), EntryContent::USUAL_SERVER),
        project_part(project(".qwen/settings.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".qwen/settings.json"), EntryContent::USUAL_SERVER),
    ],
    servers: ServerForm {
        addresses: &["httpUrl", "url"],
        sse: "url",
        filled_in: &["$"],
        others: &["description", "discoveryTimeoutMs", "excludeTools", "includeTools", "timeout", "trust"],
        ..ServerForm::USUAL
    },
    plugin: Some(Packed::Folder(home(".qwen/extensions/weir"))),
    window: Some(Window {
        version: "0.24.4",
        default: 170_000,
        note: "0.85 of a window of 200,000 tokens, by its documentation",
        smallest: 70_000,
        setting: Setting { place: home(".qwen/settings.json"), at: &["context", "autoCompactThreshold"] },
        scale: Scale::Share(200_000),
    }),
    basis: Basis::Seen,
    ..Recipe::of(&QWEN)
};

const HOOKS: Hooks = Hooks {
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
    ..Hooks::OF_CLAUDE
};
