//! Claude Code. The user's MCP servers are in a separate file, which Claude Code itself writes while it runs.

use super::CLAUDE;
use crate::setup::{
    Base, Basis, CacheSettings, Deferral, EntryContent, Hooks, Packed, Place, Recipe, Scale, ServerForm, Setting,
    Window, project, project_part, user_part,
};

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
    servers: ServerForm { others: &["description", "alwaysLoad", "timeout"], ..ServerForm::USUAL },
    plugin: Some(Packed::Key(folder("settings.json"), "enabledPlugins")),
    window: Some(Window {
        version: "2.1.325",
        default: 967_000,
        note: "on models with a window of a million tokens",
        smallest: 67_000,
        setting: Setting { place: folder("settings.json"), at: &["autoCompactWindow"] },
        scale: Scale::Above(33_000),
    }),
    cache: Some(CacheSettings {
        version: "2.1.325",
        main: Setting { place: folder("settings.json"), at: &["promptCacheTtl"] },
        subagents: Setting { place: folder("settings.json"), at: &["subagentPromptCacheTtl"] },
        newest: super::newest::newest,
    }),
    deferral: Some(&Deferral {
        variables: &[
            Setting { place: project(".claude/settings.local.json"), at: &["env"] },
            Setting { place: project(".claude/settings.json"), at: &["env"] },
            Setting { place: folder("settings.json"), at: &["env"] },
        ],
        prevented_by,
        own_tokens: 6_700,
        for_old: "update Claude Code to 2.1.304 or newer, or set ENABLE_TOOL_SEARCH=true",
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

/// The variable that says whether it defers the descriptions of tools.
const TOOL_SEARCH: &str = "ENABLE_TOOL_SEARCH";
const NO_BETAS: &str = "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS";
const BASE_URL: &str = "ANTHROPIC_BASE_URL";
/// The server to which every version defers.
const FIRST_PARTY: &str = "https://api.anthropic.com";

fn prevented_by(value: &dyn Fn(&str) -> Option<String>, version: Option<&str>) -> Option<&'static str> {
    let is_off = |text: &str| ["0", "false", "no", "off"].contains(&text);
    let search = value(TOOL_SEARCH).unwrap_or_default().trim().to_ascii_lowercase();
    // `auto` defers only what is longer than a share of the window, and windows are long.
    if search == "auto" || search.starts_with("auto:") || is_off(&search) {
        return Some(TOOL_SEARCH);
    }
    let is_set = |text: String| !text.is_empty() && !is_off(&text.trim().to_ascii_lowercase());
    if value(NO_BETAS).is_some_and(is_set) {
        return Some(NO_BETAS);
    }
    let is_foreign = value(BASE_URL).is_some_and(|url| !url.is_empty() && !url.starts_with(FIRST_PARTY));
    let is_old = version.is_some_and(|version| CLAUDE.defers_tools.applies(Some(version), None) == Some(false));
    (is_foreign && is_old && search.is_empty()).then_some(BASE_URL)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(set: &[(&str, &str)], version: Option<&str>, expected: Option<&str>) {
        let value = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        assert_eq!(prevented_by(&value, version), expected, "{set:?} {version:?}");
    }

    #[test]
    fn what_prevents_deferral_is_as_it_was_seen() {
        check(&[], Some("2.1.70"), None);
        for value in ["auto", "auto:20", "false", "0", "AUTO"] {
            check(&[(TOOL_SEARCH, value)], None, Some(TOOL_SEARCH));
        }
        check(&[(TOOL_SEARCH, "true")], None, None);
        check(&[(NO_BETAS, "1")], Some("2.1.325"), Some(NO_BETAS));
        check(&[(NO_BETAS, "0")], Some("2.1.325"), None);
        let foreign = (BASE_URL, "http://127.0.0.1:4000");
        check(&[foreign], Some("2.1.240"), Some(BASE_URL));
        check(&[foreign, (TOOL_SEARCH, "true")], Some("2.1.240"), None);
        check(&[foreign], Some("2.1.325"), None);
        check(&[foreign], None, None);
        check(&[(BASE_URL, "https://api.anthropic.com/")], Some("2.1.240"), None);
    }
}
