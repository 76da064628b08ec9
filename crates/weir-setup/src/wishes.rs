//! What the user wants besides Weir's own entries: settings of the clients' own, and servers that move.

use clap::{Arg, ArgMatches};
use serde_json::{Value, json};
use weir_clients::setup::{Recipe, SetupScope, Window};
use weir_context::Context;
use weir_core::wording::quoted;
use weir_host::error::CommandError;
use weir_session::pauses::{Lifetime, LifetimesSet};

use super::gateway::Gateway;
use super::places::Places;
use super::plan::{SettingRequest, Wishes};

/// How often the client runs the command of the status line by itself.
const REFRESH_SECONDS: u64 = 20;

/// Returns the requested settings of the clients' own and the servers that are to move, and which of the named clients
/// have no such setting.
pub(super) fn wishes<'p>(
    context: &Context,
    places: &'p Places,
    recipes: &[&'static Recipe],
    arguments: &ArgMatches,
) -> Result<(Wishes<'p>, Vec<String>), CommandError> {
    let is_named = arguments.get_many::<String>("clients").is_some_and(|mut names| names.next().is_some());
    let (mut wishes, mut lacking) = (Vec::new(), Vec::new());
    for recipe in recipes {
        let mut lacks =
            |what: &str| lacking.extend(is_named.then(|| format!("{} has no {what} that can be set", recipe.title)));
        if let Some(length) = arguments.get_one::<u64>("window") {
            match &recipe.window {
                Some(window) => {
                    let value = safe_window(context, recipe, window, *length)?;
                    wishes.push(SettingRequest { setting: window.setting, value });
                }
                None => lacks("window"),
            }
        }
        let lifetimes = lifetimes_wished(arguments);
        match recipe.cache {
            Some(cache) => {
                let settings = [cache.main, cache.subagents].into_iter().zip(lifetimes);
                wishes.extend(settings.filter_map(|(setting, lifetime)| {
                    Some(SettingRequest { setting, value: json!(lifetime?.as_str()) })
                }));
            }
            None if lifetimes.iter().any(Option::is_some) => lacks("lifetime of the cache"),
            None => {}
        }
        if arguments.get_flag("status-line") {
            match recipe.status_line {
                Some(setting) => {
                    let command = format!("{} statusline", quoted(&places.our_program(SetupScope::User)?));
                    // The line counts minutes, so it has to be new while nothing happens.
                    let line = json!({ "type": "command", "command": command, "refreshInterval": REFRESH_SECONDS });
                    wishes.push(SettingRequest { setting, value: line });
                }
                None => lacks("status line"),
            }
        }
    }
    let options = ["window", "cache", "subagent-cache"];
    if wishes.is_empty()
        && (options.iter().any(|option| arguments.contains_id(option)) || arguments.get_flag("status-line"))
    {
        let why = lacking.first().cloned().unwrap_or_else(|| "leave it out".to_owned());
        return Err(CommandError::usage("none of these clients has that setting").hint(why));
    }
    let asked = || arguments.get_many("gateway").into_iter().flatten().cloned().collect();
    let is_gateway = arguments.value_source("gateway").is_some();
    let gateway = if is_gateway { Some(Gateway::new(places, asked())?) } else { None };
    Ok((Wishes { settings: wishes, gateway }, lacking))
}

/// Returns the options for how long the cache of conversations lives.
pub(super) fn lifetimes() -> [Arg; 2] {
    let lifetime = |name: &'static str, help: &'static str| {
        let values = Lifetime::ALL.map(Lifetime::as_str);
        Arg::new(name).long(name).value_name("LIFETIME").value_parser(values).conflicts_with("project").help(help)
    };
    [
        lifetime("cache", "Also set how long the provider's cache lives; `weir window` says what pauses cost"),
        lifetime("subagent-cache", "The same for subagents [default: as --cache]"),
    ]
}

/// Returns the lifetimes that the user wants for main conversations and for subagents.
fn lifetimes_wished(arguments: &ArgMatches) -> LifetimesSet {
    let wished = |name: &str| arguments.get_one::<String>(name).and_then(|text| Lifetime::parse(text));
    [wished("cache"), wished("subagent-cache").or_else(|| wished("cache"))]
}

/// Returns the setting that makes a client compact at a length, unless sessions would have no room to continue.
fn safe_window(context: &Context, recipe: &Recipe, window: &Window, length: u64) -> Result<Value, CommandError> {
    let cannot = |why: String| {
        CommandError::usage(format!("cannot have {} compact at {length} tokens: {why}", recipe.title))
            .hint("`weir window` shows what each length costs")
    };
    let value = window.value(length).ok_or_else(|| cannot(format!("its smallest length is {}", window.smallest)))?;
    match weir_session::window::too_small(context, recipe.name, length)? {
        (small, all) if weir_session::window::is_too_small(small, all) => {
            Err(cannot(format!("in {small} of your {all} longer sessions it would have to compact again at once")))
        }
        _ => Ok(value),
    }
}
