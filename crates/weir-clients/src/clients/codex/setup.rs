//! Codex. It skips hooks that the user has not reviewed, and asks for that only at a terminal.

use toml_edit::Document;

use super::CODEX;
use crate::setup::{
    Base, Basis, EntryContent, Hooks, Packed, Place, Recipe, Scale, ServerForm, Setting, Trust, Window, project,
    project_part, user_part,
};

pub(crate) const SETUP: Recipe = Recipe {
    programs: &["codex"],
    traces: &[folder("")],
    variables: &["CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"],
    transcript: Some(&super::transcript::FORMAT),
    rules: &["AGENTS.override.md"],
    parts: &[
        user_part(folder("hooks.json"), EntryContent::Hooks(&HOOKS)),
        user_part(folder("config.toml"), EntryContent::ServerTable("mcp_servers")),
        project_part(project(".codex/hooks.json"), EntryContent::Hooks(&HOOKS)),
        project_part(project(".codex/config.toml"), EntryContent::ServerTable("mcp_servers")),
    ],
    servers: ServerForm {
        headers: "http_headers",
        others: &[
            "default_tools_approval_mode", "disabled_tools", "enabled_tools", "name", "omit_tools_from", "required",
            "startup_readiness", "startup_timeout_ms", "startup_timeout_sec", "supports_parallel_tool_calls",
            "tool_input_schema_max_bytes", "tool_timeout_sec", "tools",
        ],
        ..ServerForm::USUAL
    },
    then: Some("start Codex and trust Weir's hooks when it asks, or later with `/hooks`; until then, Codex skips them"),
    plugin: Some(Packed::Key(folder("config.toml"), "plugins")),
    trust: Some(Trust { place: folder("config.toml"), lacking: untrusted }),
    window: Some(Window {
        version: "0.166.0",
        default: 244_000,
        note: "for a model that it does not know",
        smallest: 8_000,
        setting: Setting { place: folder("config.toml"), at: &["model_auto_compact_token_limit"] },
        scale: Scale::Above(0),
    }),
    blind_spot: Some("in code mode, which most of its models use, hooks do not see what a script prints"),
    basis: Basis::Seen,
    ..Recipe::of(&CODEX)
};

const fn folder(path: &'static str) -> Place {
    Place { base: Base::Variable("CODEX_HOME", ".codex"), path, or: None }
}

const HOOKS: Hooks = Hooks {
    limits: &[("SessionEnd", 3)],
    events: &[
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("PreToolUse", None),
        ("PostToolUse", None),
        ("PreCompact", None),
        ("PostCompact", None),
        ("SubagentStart", None),
        ("SubagentStop", None),
        ("Stop", None),
        ("SessionEnd", None),
    ],
    ..Hooks::OF_CLAUDE
};

/// Returns the events whose hook Codex does not trust. It keeps a hash of each trusted hook, under a key made of the
/// hooks file, the event in snake case and two numbers. Only Codex can tell whether the hash matches the current hook.
fn untrusted(config: &str, hooks: &str) -> Vec<&'static str> {
    let document = Document::parse(config).ok();
    let state = document.as_ref().and_then(|document| document.get("hooks")?.get("state")?.as_table_like());
    let keys: Vec<&str> = state.map(|state| state.iter().map(|(key, _)| key).collect()).unwrap_or_default();
    let trusted = |event: &str| keys.iter().any(|key| key.starts_with(&format!("{hooks}:{}:", snake(event))));
    HOOKS.events.iter().map(|(event, _)| *event).filter(|event| !trusted(event)).collect()
}

fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_that_nobody_trusts_are_named() {
        let config = "[hooks.state.\"/h/.codex/hooks.json:session_start:0:0\"]\ntrusted_hash = \"sha256:00\"\n";
        let lacking = untrusted(config, "/h/.codex/hooks.json");
        assert_eq!((lacking.len(), lacking[0]), (HOOKS.events.len() - 1, "UserPromptSubmit"));
        assert_eq!(untrusted("", "/h/.codex/hooks.json").len(), HOOKS.events.len());
    }
}
