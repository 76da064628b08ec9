//! A client's rules about the tools of a server, as Weir follows them once it stands in front of that server.
//!
//! Invariant: nothing becomes wider. A rule that allows may be lost; one that asks or denies is taken over, or the
//! server stays where it is.

use serde_json::Value;

use super::form::{ServerForm, ToolRule, texts};
use super::ours::NAME;

/// The rules of a client about the tools of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolRules {
    /// The tools that may be called without asking, or `*`.
    pub allow: Vec<String>,
    /// The tools that there are. None means all.
    pub only: Vec<String>,
    /// The tools that there are not, or `*` for all that `allow` does not name.
    pub deny: Vec<String>,
    /// The rules as the settings have them.
    pub said: Vec<String>,
}

/// All tools of a server.
const ALL: &str = "*";

impl ToolRules {
    /// Adds what the entry of a server says. Returns `None` if it is not understood.
    pub(super) fn add(&mut self, rule: ToolRule, value: &Value) -> Option<()> {
        if rule == ToolRule::Trust {
            self.allow.extend(value.as_bool()?.then(|| ALL.to_owned()));
            return Some(());
        }
        let names = texts(value)?;
        // Weir's rules name tools one by one.
        if names.iter().any(|name| name != ALL && name.contains(['*', '?'])) {
            return None;
        }
        match rule {
            ToolRule::Allow | ToolRule::Trust => self.allow.extend(names),
            ToolRule::Deny => self.deny.extend(names),
            ToolRule::Only if names.is_empty() => return None,
            ToolRule::Only if names.iter().any(|name| name == ALL) => {}
            ToolRule::Only => self.only.extend(names),
        }
        Some(())
    }

    /// Adds the rules in the settings outside this list of servers. Returns why Weir cannot follow them, if it cannot.
    pub(super) fn add_settings(
        &mut self,
        form: &ServerForm,
        (settings, servers): (&Value, &str),
        server: &str,
    ) -> Result<(), String> {
        let prefixes: Vec<String> = form.tool_names.iter().map(|name| name.replace("{}", server)).collect();
        for key in form.permissions {
            let Some(rules) = settings[*key].as_object() else { continue };
            let is_freed = |(pattern, action): (&String, &Value)| pattern.starts_with(NAME) && is_permitted(action);
            if rules.get(ALL).is_some_and(|action| !is_permitted(action)) && rules.iter().any(is_freed) {
                return Err(format!("the rule `{key}.{ALL}` would no longer hold for its tools"));
            }
            for (pattern, action) in rules {
                if prefixes.iter().any(|prefix| matches(pattern, prefix)) {
                    self.add_pattern(pattern, action, &prefixes)
                        .ok_or_else(|| format!("Weir cannot take over the rule `{key}.{}`", pattern.escape_debug()))?;
                }
            }
        }
        for (key, value) in settings.as_object().into_iter().flatten() {
            if key == servers || form.permissions.contains(&key.as_str()) {
                continue;
            }
            let is_named =
                |text: &str| form.named_in.contains(&key.as_str()) && text.trim().eq_ignore_ascii_case(server);
            let is_about = |text: &str| is_named(text) || prefixes.iter().any(|prefix| matches(text, prefix));
            if mentions(value, &is_about) {
                return Err(format!("`{}` has a rule about it that Weir cannot take over", key.escape_debug()));
            }
        }
        Ok(())
    }

    /// Adds a rule about tools by a pattern. The last one that fits counts. Returns `None` if Weir cannot follow it.
    fn add_pattern(&mut self, pattern: &str, action: &Value, prefixes: &[String]) -> Option<()> {
        let tool = prefixes.iter().find_map(|prefix| pattern.strip_prefix(prefix.as_str()));
        let plain = tool.filter(|tool| *tool == ALL || !tool.contains(['*', '?']));
        let denies = match action {
            // What a pattern allows beyond that is asked for.
            Value::String(action) if action == "allow" => false,
            Value::Bool(true) => return Some(()),
            Value::String(action) if action == "deny" => true,
            Value::Bool(false) => true,
            _ => return None,
        };
        let Some(tool) = plain else { return if denies { None } else { Some(()) } };
        for list in [&mut self.allow, &mut self.deny] {
            list.retain(|name| tool != ALL && name != tool);
        }
        if denies { &mut self.deny } else { &mut self.allow }.push(tool.to_owned());
        self.said.push(format!("{pattern}: {action}"));
        Some(())
    }
}

fn is_permitted(action: &Value) -> bool {
    action == "allow" || *action == true
}

/// Whether a pattern may stand for a tool whose name has this prefix. The pattern `*` also stands for Weir's.
fn matches(pattern: &str, prefix: &str) -> bool {
    let start = pattern.split(['*', '?']).next().unwrap_or_default();
    // Other texts with these signs are globs and commands.
    let is_pattern = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '*' | '?');
    let is_wide = start.len() < pattern.len() && pattern != ALL && pattern.chars().all(is_pattern);
    pattern.starts_with(prefix) || is_wide && prefix.starts_with(start)
}

fn mentions(value: &Value, is_about: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => !text.starts_with(['*', '?']) && is_about(text),
        Value::Array(items) => items.iter().any(|item| mentions(item, is_about)),
        Value::Object(object) => object.iter().any(|(key, value)| is_about(key) || mentions(value, is_about)),
        _ => false,
    }
}
