//! Finds sessions by the names that people and models use for them, and describes them.

use weir_context::LockedStores;
use weir_core::event::line as line_of;
use weir_core::prose::first_sentence;
use weir_core::wording::{counted, one_line};
use weir_core::{Level, Scope, SessionKey};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::when;
use weir_store::{SessionSummary, Store};

/// How many sessions are listed when a name is not found.
const MAX_LISTED_SESSIONS: usize = 5;

/// Says that there is no session before this one.
const NO_EARLIER: &str = "no earlier session";
/// Tells how to get sessions.
const NONE_RECORDED: &str = "no sessions are recorded here: `weir import` imports past sessions";

/// How much of a session's key a heading shows, in characters.
const MAX_KEY_CHARS: usize = 8;

/// Finds a session of the project by name: `current`, `last`, or a key or its prefix.
pub fn find_in(open: &mut LockedStores<'_>, scope: &Scope, name: &str) -> Result<SessionKey, CommandError> {
    if let Some(store) = open.existing(Level::Project)? {
        return find(store, scope, name);
    }
    let what = if name == "last" { NO_EARLIER.to_owned() } else { format!("unknown session `{name}`") };
    Err(CommandError::new(ErrorKind::NotFound, what).hint(NONE_RECORDED))
}

fn find(store: &Store, scope: &Scope, name: &str) -> Result<SessionKey, CommandError> {
    match name {
        "current" | "this" => scope.session.clone().ok_or_else(|| not_found(store, "this call has no session")),
        "last" => last(store, scope)?.ok_or_else(|| not_found(store, NO_EARLIER)),
        key => {
            let found = store.sessions(Some(key), usize::MAX)?;
            if let Some(exact) = found.iter().find(|session| session.key.key == key) {
                return Ok(exact.key.clone());
            }
            match &found[..] {
                [one] => Ok(one.key.clone()),
                [] => Err(not_found(store, &format!("unknown session `{key}`"))),
                _ => Err(not_found(store, &format!("`{key}` matches more than one session"))),
            }
        }
    }
}

/// Returns the newest session other than the caller's.
pub fn last(store: &Store, scope: &Scope) -> Result<Option<SessionKey>, CommandError> {
    let newest = store.sessions(None, 2)?;
    Ok(newest.into_iter().map(|session| session.key).find(|key| Some(key) != scope.session.as_ref()))
}

fn not_found(store: &Store, what: &str) -> CommandError {
    let newest = store.sessions(None, MAX_LISTED_SESSIONS).unwrap_or_default();
    let error = CommandError::new(ErrorKind::NotFound, what);
    match newest.is_empty() {
        true => error.hint(NONE_RECORDED),
        false => {
            error.hint(format!("the newest sessions:\n{}", newest.iter().map(place).collect::<Vec<_>>().join("\n")))
        }
    }
}

/// Describes a session in one line, including text that others wrote.
pub fn line(session: &SessionSummary) -> String {
    let work = session.work.as_deref().map(|work| format!(" ({})", one_line(work, 40))).unwrap_or_default();
    format!("{}{work}: {}", place(session), title(&session.requests))
}

/// Names a session in a few words, including text that others wrote.
pub fn heading(session: &SessionSummary) -> String {
    format!("{} ({} {})", title(&session.requests), one_line(&session.key.client, 40), short_key(session))
}

/// Describes a session in one line for a person, with its title first and the beginning of its key, which is enough to
/// name it.
pub fn titled(session: &SessionSummary) -> String {
    let work = session.work.as_deref().map(|work| format!(", {}", one_line(work, 40))).unwrap_or_default();
    let (time, events) = (span(session), session.events);
    let events = counted(usize::try_from(events).unwrap_or(usize::MAX), "event", "events");
    let client = one_line(&session.key.client, 40);
    format!("{time} {} ({client} {}, {events}{work})", title(&session.requests), short_key(session))
}

fn short_key(session: &SessionSummary) -> String {
    let key: String = session.key.key.chars().take(MAX_KEY_CHARS).collect();
    one_line(&key, MAX_KEY_CHARS)
}

/// Describes which session it is, and when it took place.
fn place(session: &SessionSummary) -> String {
    let SessionSummary { key, events, .. } = session;
    let events = counted(usize::try_from(*events).unwrap_or(usize::MAX), "event", "events");
    format!("{} {} {}, {events}", one_line(&key.key, 80), span(session), one_line(&key.client, 40))
}

fn span(session: &SessionSummary) -> String {
    let (from, to) = (when::show(session.from), when::show(session.to));
    // Most sessions end on the day they began.
    let to = if from[..10] == to[..10] { &to[11..] } else { to.as_str() };
    format!("{from} to {to}")
}

/// Returns what a session was about: the first sentence that the user wrote and that says something.
pub fn subject(requests: &[String]) -> Option<String> {
    let lines = requests.iter().map(|request| line_of(request, usize::MAX));
    let mut sentences = lines.filter_map(|line| first_sentence(&line).map(str::to_owned));
    let says = sentences.find(|sentence| !weir_core::guide::says_little(sentence));
    says.or_else(|| requests.first().cloned())
}

fn title(requests: &[String]) -> String {
    subject(requests).map_or_else(|| "no request".to_owned(), |subject| format!("\"{}\"", one_line(&subject, 80)))
}

/// A session, for programs.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct SessionData {
    session: String,
    client: String,
    from: String,
    to: String,
    /// The number of events.
    events: u64,
    /// The work that the session was last on.
    work: Option<String>,
    /// The first meaningful sentence that the user wrote.
    title: String,
}

impl SessionData {
    pub fn of(session: &SessionSummary) -> Self {
        Self {
            session: session.key.key.clone(),
            client: session.key.client.clone(),
            from: when::show(session.from),
            to: when::show(session.to),
            events: session.events,
            work: session.work.clone(),
            title: title(&session.requests),
        }
    }
}
