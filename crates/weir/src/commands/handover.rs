//! `weir handover`: a text for the beginning of a new session, from what hooks recorded in an earlier one.

use clap::{Arg, ArgMatches, Command};
use serde_json::json;
use weir_context::Context;
use weir_core::Level;
use weir_hook::guides;
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_host::when;
use weir_session::sessions;
use weir_store::HistoryFilter;

pub(crate) const HANDOVER: &str = "handover";

pub(crate) fn command() -> Command {
    let session = Arg::new("session")
        .long("session")
        .value_name("SESSION")
        .help("Session: last or a session key [default: last]");
    Command::new(HANDOVER)
        .about("Print a text to begin a new session with: where the last one stood")
        .long_about(
            "Print a text to begin a new session with: the guide that the last session would be given if it were compacted \
             now, with its requests, decisions, open tasks, last commands and names.",
        )
        .after_long_help(
            "Examples:\n  weir handover                       the last session in this project\n  \
             ! weir handover                     in Claude Code after /clear: the conversation gets the text\n  \
             weir handover --session 5d4c1f02    another one, as `weir history --sessions` lists them\n\n\
             The text has at most as many tokens as `tokens` under [guide] says. `weir reflect` sums up a session for a person.",
        )
        .arg(session)
}

pub(crate) fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let name = arguments.get_one::<String>("session").map_or("last", String::as_str);
    let scope = context.scope();
    let (session, moments) = context.with_stores_here(|open| {
        let session = sessions::find_in(open, &scope, name)?;
        let filter = HistoryFilter {
            session: Some(session.key.clone()),
            client: Some(session.client.clone()),
            limit: guides::MAX_EVENTS,
            ..HistoryFilter::default()
        };
        let store = open.existing(Level::Project)?;
        let mut moments = store.map(|store| store.history(&scope, &filter)).transpose()?.unwrap_or_default();
        moments.reverse();
        Ok((session, moments))
    })?;
    let text = guides::handover(&moments, context.config().guide.tokens_after(0), when::now());
    let data = json!({ "session": session.key, "client": session.client, "text": text });
    match text.is_empty() {
        true => Ok(Answer::nothing(
            "nothing is known of that session but its events: `weir history` lists them".to_owned(),
            data,
        )),
        false => Ok(Answer::new(text, data)),
    }
}
