//! `weir sync --watch`: syncs whenever there is something new.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::Value;
use weir_context::Context;
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::paint;
use weir_sync::NewsListener;

use super::run;

/// Adds the option. It is for a project that is connected: what else is asked for would be asked for again at each
/// exchange.
pub(super) fn with_options(command: Command) -> Command {
    let others = ["server", "include", "dry-run", "git", "seal", "key", "admit", "revoke", "forget"];
    let watch = Arg::new("watch").long("watch").action(ArgAction::SetTrue).conflicts_with_all(others);
    command.arg(watch.help("Stay, and sync whenever the server or this project has something new"))
}

/// Syncs, and again whenever there is something new, until it is interrupted. `print` is given what happened. Returns
/// why it ended by itself.
pub(crate) fn watch(
    context: &Context,
    arguments: &ArgMatches,
    mut print: impl FnMut(Answer) -> Result<(), CommandError>,
) -> CommandError {
    let begun = run(context, arguments).and_then(|answer| {
        answer.map_or(Ok(()), &mut print)?;
        NewsListener::try_new(context)?.ok_or_else(|| {
            CommandError::new(ErrorKind::Failed, "cannot listen for news: another process does already")
                .hint("a client with `weir mcp` listens while it is open; `weir sync` syncs now")
        })
    });
    let exchange = || match run(context, arguments)? {
        Some(answer) if has_news(&answer.data) => print(answer),
        _ => Ok(()),
    };
    match begun {
        Ok(listener) => listener.listen(exchange, |error| paint::warn(&error.to_string())),
        Err(error) => error,
    }
}

/// Whether an exchange has sent or received something.
fn has_news(data: &Value) -> bool {
    let is_some = |name: &str| data[name].as_array().is_some_and(|list| !list.is_empty());
    data["sent"] != 0 || is_some("received") || is_some("removed")
}
