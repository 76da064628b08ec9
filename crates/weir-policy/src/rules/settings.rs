//! The settings files of Claude Code: their locations, and the rules in them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{
    CommandPattern, PathPattern, Rule, RuleProblem, Rules, Source, SourceKind, Subject, Verdict, join_lexically,
};

/// The systems whose settings locations are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    Linux,
    MacOs,
    Windows,
}

/// The variable that names another folder than `~/.claude` for the user's settings.
pub const SETTINGS_VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// Returns where settings may be, each with the folder that its patterns are relative to. `named` is the folder that
/// [`SETTINGS_VARIABLE`] names. The caller reads those that exist.
pub fn locations(
    home: &Path,
    named: Option<&Path>,
    project: &Path,
    platform: Platform,
) -> Vec<(PathBuf, PathBuf, SourceKind)> {
    let managed = match platform {
        Platform::Linux => "/etc/claude-code",
        Platform::MacOs => "/Library/Application Support/ClaudeCode",
        Platform::Windows => "C:\\Program Files\\ClaudeCode",
    };
    let managed = PathBuf::from(managed);
    let user = home.join(".claude");
    let own = project.join(".claude");
    let mut found = vec![
        (managed.join("managed-settings.json"), managed, SourceKind::Managed),
        (user.join("settings.json"), user, SourceKind::User),
        (own.join("settings.json"), project.to_path_buf(), SourceKind::Project),
        (own.join("settings.local.json"), project.to_path_buf(), SourceKind::Local),
    ];
    found.extend(named.map(|named| (named.join("settings.json"), named.to_path_buf(), SourceKind::Named)));
    found
}

/// The file that contains a rule.
pub(super) struct RuleOrigin<'a> {
    pub(super) path: &'a Path,
    pub(super) base: &'a Path,
    pub(super) kind: SourceKind,
}

pub(super) fn read(source: &Source, rules: &mut Rules) {
    let origin = RuleOrigin { path: &source.path, base: &source.base, kind: source.kind };
    let text = source.text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return;
    }
    let settings: Value = match serde_json::from_str(text) {
        Ok(settings) => settings,
        Err(error) => return unreadable(rules, &origin, format!("The file is not JSON: {error}.")),
    };
    let permissions = match (&settings, settings.get("permissions")) {
        (Value::Object(_), None | Some(Value::Null)) => return,
        (Value::Object(_), Some(Value::Object(permissions))) => permissions,
        (Value::Object(_), Some(_)) => return unreadable(rules, &origin, "`permissions` is not an object.".to_owned()),
        _ => return unreadable(rules, &origin, "The file is not a JSON object.".to_owned()),
    };
    for (name, verdict) in [("deny", Verdict::Deny), ("ask", Verdict::Ask), ("allow", Verdict::Allow)] {
        let list = match permissions.get(name) {
            None | Some(Value::Null) => continue,
            Some(Value::Array(list)) => list,
            Some(_) => {
                rules.problem(&origin, verdict, None, format!("`permissions.{name}` is not a list."));
                continue;
            }
        };
        for entry in list {
            match entry {
                Value::String(text) => rules.add(&origin, verdict, text),
                other => {
                    rules.problem(&origin, verdict, Some(&other.to_string()), "The rule is not a string.".to_owned());
                }
            }
        }
    }
    additional(permissions.get("additionalDirectories"), &origin, rules);
}

fn unreadable(rules: &mut Rules, origin: &RuleOrigin<'_>, wrong: String) {
    rules.problem(origin, Verdict::Deny, None, wrong);
}

fn additional(folders: Option<&Value>, origin: &RuleOrigin<'_>, rules: &mut Rules) {
    let Some(folders) = folders.filter(|_| origin.kind.may_widen()) else { return };
    let texts = folders.as_array().map(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    let Some(Some(texts)) = texts else {
        rules.problems.push(RuleProblem {
            path: origin.path.to_owned(),
            rule: None,
            wrong: "`permissions.additionalDirectories` is not a list of strings.".to_owned(),
            fix: "Fix it; until then it adds no folder.".to_owned(),
            asks: false,
        });
        return;
    };
    for text in texts {
        let path = Path::new(text);
        let kept = path.is_absolute() || text.starts_with('~');
        rules.additional.push(if kept { path.to_path_buf() } else { join_lexically(origin.base, text) });
    }
}

/// Parses one rule: `Tool` or `Tool(specifier)`.
pub(super) fn rule(origin: &RuleOrigin<'_>, verdict: Verdict, text: &str) -> Result<Rule, String> {
    let trimmed = text.trim();
    let (tool, specifier) = match trimmed.split_once('(') {
        None => (trimmed, None),
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(specifier) => (tool.trim_end(), Some(specifier)),
            None => return Err("The rule has no closing parenthesis.".to_owned()),
        },
    };
    let named = !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || "_-*.:/@".contains(c));
    if !named {
        return Err("The rule does not start with a tool name.".to_owned());
    }
    let subject = match tool.to_ascii_lowercase().as_str() {
        "bash" => Subject::Command(CommandPattern::parse(specifier.unwrap_or("*"))?),
        "read" => Subject::Read(path_pattern(specifier, origin)?),
        "edit" | "write" | "multiedit" | "notebookedit" => Subject::Edit(path_pattern(specifier, origin)?),
        // A rule about a parameter of another tool does not affect runs, but a rule about one of Weir's tools must be
        // understood.
        _ if specifier.is_some() && (tool.starts_with("mcp__weir") || tool.starts_with("ctx_")) => {
            return Err("A rule about one of Weir's tools takes no parentheses.".to_owned());
        }
        _ if specifier.is_some() => Subject::Tool(trimmed.to_owned()),
        _ => Subject::Tool(tool.to_owned()),
    };
    Ok(Rule { text: text.to_owned(), verdict, path: origin.path.to_owned(), kind: origin.kind, subject })
}

fn path_pattern(specifier: Option<&str>, origin: &RuleOrigin<'_>) -> Result<PathPattern, String> {
    match specifier {
        // The whole tool, so every path.
        None => PathPattern::parse("//**", origin.base),
        Some(text) => PathPattern::parse(text, origin.base),
    }
}
