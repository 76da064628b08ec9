//! Finds the settings that make a client send the descriptions of all tools in every request, although it could defer
//! them, and says what that costs. Invariant: no value of a setting is shown but those of switches.

use std::ops::ControlFlow;

use serde_json::Value;
use weir_clients::setup::{Deferral, EntryContent, Recipe, Setting, SetupScope};
use weir_clients::{Client, RECIPES};
use weir_context::Context;
use weir_core::wording::one_line;
use weir_session::prefix::{InlineCause, PartKind, Starts};
use weir_session::replay::places;
use weir_setup::setting_value;

use super::{Check, parts};

/// How many of the newest transcripts are looked at for the version of a client.
const MAX_TRANSCRIPTS: usize = 20;
/// The longest value of a switch. A longer one is an address or a secret.
const MAX_SWITCH_CHARS: usize = 12;
/// A version that is older than all.
const OLDEST: &str = "0";
/// The event whose hooks can add to the first request.
const SESSION_START: &str = "SessionStart";
/// How Weir's own commands in hooks can be told.
const OUR_HOOK: &str = "weir hook";

/// A setting that keeps a client from deferring descriptions.
pub(super) struct Finding {
    /// The name of the client, and that for people.
    pub(super) client: &'static str,
    title: &'static str,
    pub(super) cause: InlineCause,
}

/// Says what such settings cost.
pub(super) fn check(context: &Context) -> Vec<Check> {
    let findings = findings(context);
    if findings.is_empty() {
        return Vec::new();
    }
    let counted = parts::server_parts(context, Starts::Nothing);
    let check = |found: Finding| {
        let servers = || counted.iter().filter(|part| part.client == found.client && part.kind == PartKind::Server);
        let tokens: u64 = servers().filter_map(|part| part.tokens).sum();
        let names: Vec<String> =
            servers().filter(|part| part.tokens.is_some()).map(|part| one_line(&part.name, 30)).collect();
        let unknown = servers().filter(|part| part.tokens.is_none()).count();
        let of_servers = match names.is_empty() {
            true => String::new(),
            false => format!("{tokens} tokens of {}, and ", names.join(", ")),
        };
        let more = match unknown {
            0 => "",
            _ => "; servers not counted yet come on top: `weir doctor --mcp` counts them",
        };
        let text = format!(
            "{} makes it send the descriptions of all tools in every request: {of_servers}about {} tokens of its own \
             tools{more}",
            found.cause.setting, found.cause.own_tokens
        );
        Check::wrong(found.title, text, found.cause.fix)
    };
    findings.into_iter().map(check).collect()
}

/// Returns the settings that keep clients on this machine from deferring descriptions.
pub(super) fn findings(context: &Context) -> Vec<Finding> {
    RECIPES.iter().filter_map(|recipe| finding(context, recipe.client?, recipe.deferral?)).collect()
}

fn finding(context: &Context, client: &'static Client, deferral: &Deferral) -> Option<Finding> {
    let value = |name: &str| value(context, deferral, name).map(|(value, _)| value);
    let cause = |version: Option<&str>| (deferral.prevented_by)(&value, version);
    // Most settings count in every version. Looking at transcripts takes longer.
    let of_old = || cause(Some(OLDEST)).and_then(|_| cause(Some(&version(context, client)?)));
    let (name, is_old) = cause(None).map(|name| (name, false)).or_else(|| Some((of_old()?, true)))?;
    let (_, place) = self::value(context, deferral, name)?;
    let shown = value(name).filter(|value| value.chars().count() <= MAX_SWITCH_CHARS);
    let written =
        shown.map_or_else(|| name.to_owned(), |value| format!("{name}={}", one_line(&value, MAX_SWITCH_CHARS)));
    let fix = match (is_old, &place) {
        (true, _) => deferral.for_old.to_owned(),
        (false, Some(place)) => format!("remove {name} from `env` in {place}"),
        (false, None) => format!("remove {name} where your shell sets it"),
    };
    let place = place.unwrap_or_else(|| "the environment".to_owned());
    let cause = InlineCause { setting: format!("{written} in {place}"), fix, own_tokens: deferral.own_tokens };
    Some(Finding { client: client.name, title: client.title, cause })
}

/// Returns the value that a client gets of a variable, and the settings that set it; none are the environment.
fn value(context: &Context, deferral: &Deferral, name: &str) -> Option<(String, Option<String>)> {
    let set = deferral.variables.iter().find_map(|setting| {
        let (variables, place) = setting_value(context, setting)?;
        let value = match variables.get(name)? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some((value, Some(place)))
    });
    set.or_else(|| Some((context.env().value(name)?.to_str()?.to_owned(), None)))
}

/// Returns the version of a client in its newest transcript, if it is among the newest of all.
fn version(context: &Context, client: &Client) -> Option<String> {
    let found = places::find(context.env(), &[]).ok()?.found;
    found.iter().take(MAX_TRANSCRIPTS).find_map(|transcript| {
        let mut version = None;
        let _ = transcript.stream(&mut |part| {
            let is_its = part.session.client().name == client.name && !part.session.version.is_empty();
            version = is_its.then(|| part.session.version.clone());
            ControlFlow::Break(())
        });
        version
    })
}

/// Returns the clients with commands of other programs that run when a session starts, and how many there are.
pub(super) fn start_hooks(context: &Context) -> Vec<(&'static str, usize)> {
    let count = |recipe: &&'static Recipe| {
        let client = recipe.client?;
        let part = recipe.parts_for(SetupScope::User).find(|part| matches!(part.what, EntryContent::Hooks(_)))?;
        let (hooks, _) = setting_value(context, &Setting { place: part.place, at: &["hooks"] })?;
        let groups = hooks.get(SESSION_START)?.as_array()?;
        let commands = groups.iter().flat_map(|group| match group["hooks"].as_array() {
            Some(hooks) => hooks.iter().collect::<Vec<_>>(),
            None => vec![group],
        });
        let is_other = |hook: &&Value| hook["command"].as_str().is_some_and(|command| !command.contains(OUR_HOOK));
        let others = commands.filter(is_other).count();
        (others > 0).then_some((client.name, others))
    };
    RECIPES.iter().filter_map(count).collect()
}
