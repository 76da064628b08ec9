//! `weir statusline`: one line below the prompt of Claude Code with the fullness of the window, the minimum cost of the
//! next request, when the provider's cache goes cold, what Weir has made of large outputs, and whether a piece of work
//! has just ended, which is the best time to compact.
//!
//! Invariants: the client waits for this again and again, so nothing is set up that is not needed, two short statements
//! are all that is asked of the store, and nothing is written; failures and unknown values are left out of the line.

mod cache;

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Command;
use serde_json::Value;
use weir_clients::{Client, RECIPES};
use weir_core::{Event, EventKind, SessionKey, Timestamp};
use weir_hook::location::{SessionLocation, belongs_to};
use weir_host::env::{Env, Paths};
use weir_host::switch::Switch;
use weir_host::when;
use weir_operations::stats::account::{Account, short};
use weir_proxy::LastClearing;
use weir_session::replay::prices::{self, Prices};
use weir_store::Patience;

use cache::PromptCache;

/// The argument that selects this mode.
pub(crate) const STATUSLINE: &str = "statusline";

/// The largest input from a client, in bytes.
const MAX_INPUT_BYTES: u64 = 1 << 20;
const STORE_WAIT: Duration = Duration::from_millis(50);
/// The smallest window that is worth compacting, in tokens.
const MIN_WINDOW_TOKENS: u64 = 60_000;
/// How many of the newest events are checked for work that has just ended.
const MAX_RECENT_EVENTS: usize = 4;
/// How far back the account of the session reaches, in milliseconds.
const PERIOD_MILLIS: i64 = 31 * weir_core::time::DAY;

/// How long it is said what the proxy has cleared, in milliseconds.
const CLEARED_MILLIS: i64 = 10 * 60_000;

const LONG_ABOUT: &str = "\
Print one line for the status line of Claude Code: how full the window is, the minimum cost of the next request, when the \
provider's cache of the conversation expires and what the next request writes again if it has, how many tokens of output \
Weir has replaced by how many, and whether a commit or a fix makes this a good moment to compact.

It reads what the client sends on standard input and writes no files. To use it, add this to ~/.claude/settings.json:

  \"statusLine\": { \"type\": \"command\", \"command\": \"weir statusline\", \"refreshInterval\": 20 }";

pub(crate) fn command() -> Command {
    Command::new(STATUSLINE).about("Print Claude Code's status line").long_about(LONG_ABOUT)
}

pub(crate) fn main() -> ExitCode {
    if std::io::stdin().is_terminal() {
        let hint = "weir statusline expects input from Claude Code: see `weir statusline --help`";
        let _ = writeln!(std::io::stderr(), "{hint}");
        return ExitCode::from(2);
    }
    let mut input = Vec::new();
    let _ = std::io::stdin().lock().take(MAX_INPUT_BYTES).read_to_end(&mut input);
    let told: Value = serde_json::from_slice(&input).unwrap_or_default();
    let line = line(&told, when::now());
    if !line.is_empty() {
        // Writing fails only if the client has closed the pipe.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    ExitCode::SUCCESS
}

fn line(told: &Value, now: Timestamp) -> String {
    let env = Env::capture_in("/".into());
    let paths = env.paths();
    let window = told["context_window"]["total_input_tokens"].as_u64().filter(|tokens| *tokens > 0);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(window.map(|tokens| fullness(tokens, &told["context_window"])));
    let transcript = told["transcript_path"].as_str().map(Path::new);
    let newest = transcript.zip(client()).and_then(|(path, client)| weir_hook::cold::newest_request(client.name, path));
    let cache = PromptCache::find(told, newest);
    let cold = cache.and_then(|cache| cache.cold(now));
    parts.extend(window.and_then(|tokens| next_request(tokens, cold, told, paths.as_ref())));
    parts.extend(cache.and_then(|cache| cache.said(now, when::clock)));
    let session = paths.and_then(|paths| Some((SessionPlace::find(&env, &paths, told)?, paths)));
    parts.extend(session.as_ref().and_then(|(place, _)| cleared(&place.location.folder, now)));
    if session.as_ref().is_some_and(|(place, paths)| place.is_off(paths)) {
        parts.push("weir off".to_owned());
    } else if let Some(known) = session.and_then(|(place, paths)| SessionFacts::read(&place.location, &paths, now)) {
        parts.extend(known.account.in_short().map(|outputs| format!("weir {outputs}")));
        parts.extend(
            known
                .ended
                .filter(|_| window >= Some(MIN_WINDOW_TOKENS))
                .map(|what| format!("{what}: a good moment to /compact")),
        );
    }
    parts.join(" · ")
}

fn fullness(tokens: u64, window: &Value) -> String {
    match window["context_window_size"].as_u64().filter(|size| *size > 0) {
        Some(size) => format!("{} of {} ({} %)", short(tokens), short(size), tokens * 100 / size),
        None => format!("{} tokens", short(tokens)),
    }
}

/// Returns the minimum cost of the next request: the whole window, read from the cache, or what is cold of it written
/// to the cache again.
fn next_request(tokens: u64, cold: Option<u64>, told: &Value, paths: Option<&Paths>) -> Option<String> {
    let model = told["model"]["id"].as_str()?;
    let rates = match paths.and_then(prices::user_file) {
        Some(file) => Prices::read(Some(&file)).ok()?.of(model),
        None => prices::built_in_rates(model)?,
    };
    let written = cold.unwrap_or(0);
    let write = if told["prompt_cache"]["ttl"] == "1h" { rates.write_hour } else { rates.write };
    let input = tokens.saturating_sub(written) as f64 * rates.read + written as f64 * write;
    let dollars = input * rates.dollars?;
    Some(format!("next from ${dollars:.2}"))
}

/// Says what the proxy has cleared in this project just now.
fn cleared(store: &Path, now: Timestamp) -> Option<String> {
    let last = LastClearing::of(store).filter(|last| now.0.saturating_sub(last.at.0) < CLEARED_MILLIS)?;
    let (results, tokens) = (last.results, short(last.tokens));
    Some(format!("proxy cleared {results} old results, {tokens} tokens, at {}", when::clock(last.at)))
}

/// Returns the client that shows the line.
fn client() -> Option<&'static Client> {
    RECIPES.iter().find(|recipe| recipe.status_line.is_some())?.client
}

/// The session that the client shows.
struct SessionPlace<'a> {
    location: SessionLocation,
    folder: &'a Path,
}

impl<'a> SessionPlace<'a> {
    fn find(env: &Env, paths: &Paths, told: &'a Value) -> Option<Self> {
        let (started, current) = (&told["workspace"]["project_dir"], &told["workspace"]["current_dir"]);
        let current = Path::new(current.as_str().or(told["cwd"].as_str())?);
        let is_inside = |started: &&Path| belongs_to(started, current).unwrap_or(false);
        let folder = started.as_str().map(Path::new).filter(is_inside).unwrap_or(current);
        let key = told["session_id"].as_str()?.to_owned();
        let session = SessionKey { client: client()?.session.to_owned(), key };
        Some(Self { location: SessionLocation::find(env, paths, folder, session).ok()?, folder })
    }

    /// Whether the user turned Weir off for this session.
    fn is_off(&self, paths: &Paths) -> bool {
        let switch = Switch::read(paths);
        client().is_some_and(|client| switch.off_for(client.name).is_some())
            || self.location.is_off(&switch, &[self.folder])
    }
}

/// What the store knows about the session.
struct SessionFacts {
    /// What Weir did in it.
    account: Account,
    /// The work that has just ended.
    ended: Option<&'static str>,
}

impl SessionFacts {
    fn read(place: &SessionLocation, paths: &Paths, now: Timestamp) -> Option<Self> {
        if !place.folder.join("log.db").exists() {
            return None;
        }
        let store = place.open(paths, Patience::InAll(STORE_WAIT)).ok()?;
        let readings = store.metered_of(place.scope.session.as_ref()?, Timestamp(now.0 - PERIOD_MILLIS)).ok()?;
        let newest = store.newest_events(&place.scope, MAX_RECENT_EVENTS).ok()?;
        // A request or a failure since then means that the work goes on.
        let goes_on = |event: &&Event| matches!(event.kind, EventKind::Prompt | EventKind::Error);
        let ended = newest.iter().take_while(|event| !goes_on(event)).find_map(|event| match event.kind {
            EventKind::Git if event.text.starts_with("git commit") => Some("committed"),
            EventKind::Fix => Some("repaired"),
            _ => None,
        });
        Some(Self { account: Account::of(&readings), ended })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_known_is_not_shown() {
        let now = Timestamp(1_800_000_000_000);
        assert_eq!(line(&Value::Null, now), "");
        assert_eq!(line(&json!({ "context_window": { "total_input_tokens": 0 } }), now), "");
        let told = json!({
            "model": { "id": "nobody-knows-it" },
            "context_window": { "total_input_tokens": 62_400, "context_window_size": 1_000_000 },
        });
        assert_eq!(line(&told, now), "62k of 1.0M (6 %)");
    }
}
