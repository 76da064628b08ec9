//! Adds and removes our hooks in a client's JSON settings. They are recognised by their command, wherever they are.

use jsonc_parser::cst::{CstArray, CstNode, CstObject};
use serde_json::{Value, json};

use super::json::{check_once, edit, existing_object_at, input, is_bare, object_at, prune};
use super::ours::{hook_command, is_our_hook};
use super::{Call, Hooks, Unusable};

/// The key of the object with all hooks, and of the list of hooks in a group.
const HOOKS: &str = "hooks";

/// The keys that may hold a hook's command.
const COMMANDS: [&str; 2] = ["command", "bash"];

/// Adds our hooks: one for each event of `hooks`. Removes any others of ours.
pub(super) fn add(text: &str, hooks: &Hooks, call: Call<'_>) -> Result<String, Unusable> {
    edit(text, |root| {
        if let Some(version) = hooks.version.filter(|_| root.get("version").is_none()) {
            root.insert(0, "version", input(&json!(version)));
        }
        let all = object_at(root, &[HOOKS])?;
        for (event, found) in ours_by_event(&all) {
            let wanted = hooks.events.iter().any(|(name, _)| *name == event);
            found.into_iter().skip(usize::from(wanted)).for_each(|hook| remove_hook(&all, &event, hook));
        }
        for (event, matcher) in hooks.events {
            let command = hook_command(call, event);
            check_once(&all, event)?;
            let list = all.array_value_or_create(event);
            let list = list.ok_or_else(|| Unusable::new(format!("`{HOOKS}.{event}` is not a list")))?;
            match ours_in(&list).first() {
                Some(hook) => update_command(hook, &command),
                None => {
                    list.append(input(&written(hooks, event, &command, *matcher)));
                }
            }
        }
        Ok(())
    })
}

/// Removes our hooks, and the groups, lists and objects around them that become empty.
pub(super) fn remove(text: &str) -> Result<String, Unusable> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    edit(text, |root| {
        let Some(all) = existing_object_at(root, &[HOOKS]) else { return Ok(()) };
        let found = ours_by_event(&all);
        let any = !found.is_empty();
        for (event, hooks) in found {
            hooks.into_iter().for_each(|hook| remove_hook(&all, &event, hook));
        }
        if any {
            prune(root, &[HOOKS]);
        }
        Ok(())
    })
}

fn written(hooks: &Hooks, event: &str, command: &str, matcher: Option<&str>) -> Value {
    let (timeout, usual) = hooks.timeout;
    let after = hooks.limits.iter().find(|(limited, _)| *limited == event).map_or(usual, |(_, limit)| *limit);
    let mut hook = json!({});
    if hooks.typed {
        hook["type"] = json!("command");
    }
    hook[hooks.command] = json!(command);
    hook[timeout] = json!(after);
    match (hooks.grouped, matcher) {
        (false, None) => hook,
        (false, Some(matcher)) => {
            hook["matcher"] = json!(matcher);
            hook
        }
        (true, None) => json!({ HOOKS: [hook] }),
        (true, Some(matcher)) => json!({ "matcher": matcher, HOOKS: [hook] }),
    }
}

fn ours_by_event(all: &CstObject) -> Vec<(String, Vec<CstObject>)> {
    let properties = all.properties().into_iter();
    let lists = properties.filter_map(|property| Some((property.decoded_name()?, property.array_value()?)));
    lists.map(|(event, list)| (event, ours_in(&list))).filter(|(_, hooks)| !hooks.is_empty()).collect()
}

/// Returns our hooks in a list of hooks or of groups of hooks.
fn ours_in(list: &CstArray) -> Vec<CstObject> {
    let objects = list.elements().into_iter().filter_map(|element| element.as_object());
    let hooks = objects.flat_map(|object| match object.array_value(HOOKS) {
        Some(group) => group.elements().iter().filter_map(CstNode::as_object).collect(),
        None => vec![object],
    });
    hooks.filter(|hook| command_of(hook).is_some_and(|(_, command)| is_our_hook(&command))).collect()
}

fn command_of(hook: &CstObject) -> Option<(&'static str, String)> {
    COMMANDS.iter().find_map(|key| {
        let command = hook.get(key)?.value()?.as_string_lit()?.decoded_value().ok()?;
        Some((*key, command))
    })
}

/// Updates the command, which may name a path that our program has moved away from.
fn update_command(hook: &CstObject, command: &str) {
    let Some((key, present)) = command_of(hook) else { return };
    if let Some(property) = hook.get(key).filter(|_| present != command) {
        property.set_value(input(&json!(command)));
    }
}

/// Removes a hook, and its group and its event if they become empty.
fn remove_hook(all: &CstObject, event: &str, hook: CstObject) {
    let list = hook.parent().and_then(|parent| parent.as_array());
    let group = list.as_ref().and_then(|list| list.parent()?.as_object_prop()?.parent()?.as_object());
    hook.remove();
    let emptied = list.is_some_and(|list| is_bare(&list.children()));
    // The list of an event without groups is directly in the object of all hooks.
    if let Some(group) =
        group.filter(|group| emptied && group.get(HOOKS).is_some() && group.parent().is_some_and(|it| it.is_array()))
    {
        group.remove();
    }
    if let Some(property) = all.get(event)
        && property.array_value().is_some_and(|list| is_bare(&list.children()))
    {
        property.remove();
    }
}
