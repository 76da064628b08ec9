//! Hooks: a client calls at a point in its own work, and waits for the answer. Weir captures what happened, holds back
//! big outputs, and shows guides.
//!
//! `payload` reads what the client sends, `weir-clients` decodes it into a `Hook`, and from there on nothing knows the
//! client's wire format or checks for a client by name. What a client accepts (`AcceptedReplies`), how it cuts outputs
//! (`OwnCut`) and how long it keeps what it has shown (`Retention`) are data in its file there. [`HookContext::answer`]
//! applies the same rules to past sessions, and [`RequestedResult`] to the requests of the proxy. The text of a guide
//! comes from `weir-core`, and digests from `weir-digest`.
//!
//! # Invariants
//!
//! - Nothing is set up that a hook does not need, and nothing is written to the client's terminal. No hook computes a
//!   vector.
//! - Every failure is Weir's fault, never the client's: the answer is empty, the exit code is 0, and `hook-faults.log`
//!   gets one line, which `weir doctor` shows.
//! - Time and memory are bounded for any input. A hook waits at most a second in total for other processes; what it
//!   cannot write by then goes to the spool. At its deadline a signal ends it without an answer.
//! - Events are in the log or in the spool before the answer. If holding an output back may miss the deadline, they are
//!   recorded first.
//! - The replacement of a command's output, a search or a file is no longer than what the client itself would show. The
//!   full output is stored before the answer goes out.
//! - A path that a tool could have printed is never read; only files that the client itself writes, where it writes
//!   them.
//! - A line is left out as shown before only if it is certainly still in the conversation.
//! - A rewritten command does what it did: same shell, folder and exit code. Its output is never lost, even if it is
//!   killed.
//! - A line for the user costs the model nothing.
//! - Nothing is put into a subagent's prompt. A guide stays within its budget, and says whose words it repeats.

mod client_view;
pub mod cold;
pub mod compaction;
mod conversation;
mod deadline;
pub mod faults;
mod file_state;
mod forks;
pub mod guides;
pub mod hold;
pub mod location;
mod meter;
pub mod metering;
mod payload;
mod recording;
mod report;
pub mod rewrite;
mod seen;
mod shown;
mod trial;

use std::cell::OnceCell;
use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use weir_clients::{Client, Hook, Point, Reply, Start, Wire};
use weir_core::{Limits, Scope, SessionKey, Timestamp};
use weir_host::config::Config;
use weir_host::env::{self, Env, Paths};
use weir_host::error::{CommandError, store_message};
use weir_host::face::Face;
use weir_host::switch::{Off, Switch};
use weir_host::trust;
use weir_host::when;
use weir_run::unfinished::{self, AuditDepth};
use weir_store::{Outcome, Patience, ShownLines, Spool, SpoolRecord, Store};

use client_view::CountedView;
pub use conversation::forget_shown;
use conversation::loses_texts;
pub use file_state::FileState;
use hold::HoldDecision;
use location::SessionLocation;
use payload::Payload;
use recording::put_off;
use report::HookReport;
use rewrite::RewriteStatus;
pub use seen::{RequestedResult, WholeResult};

/// The argument that selects this mode.
pub const HOOK: &str = "hook";
/// Anywhere in a command, this text makes hooks leave the command and its output alone.
const OPT_OUT_MARK: &str = "weir:off";

/// How long a hook waits for other processes in total. Clients give up on a hook after a few seconds and lose its
/// answer.
const STORE_WAIT: Duration = Duration::from_secs(1);

/// The longest title of a held output.
const MAX_TITLE_CHARS: usize = 200;

pub fn main(arguments: &[OsString]) -> ExitCode {
    let started = Instant::now();
    if env::is_off() {
        return ExitCode::SUCCESS;
    }
    // The terminal belongs to the client.
    std::panic::set_hook(Box::new(|_| ()));
    let name = |at: usize| arguments.get(at).and_then(|name| name.to_str()).unwrap_or_default();
    let (client, event) = (name(0), name(1));
    // A client that borrows the hooks of another has an entry of its own, which answers.
    if weir_clients::find(client).and_then(|client| client.borrower).is_some_and(env::is_called_by) {
        return ExitCode::SUCCESS;
    }
    let answered = catch_unwind(AssertUnwindSafe(|| answer(client, event, started)));
    deadline::end();
    let fault = match answered {
        Ok(Ok(None)) => None,
        Ok(Ok(Some(answer))) => write(&answer).err().map(|error| format!("the answer was not taken: {error}")),
        Ok(Err(error)) => Some(error.to_string()),
        Err(panic) => Some(format!("broken: {}", faults::panic_message(&*panic))),
    };
    if let Some(fault) = fault {
        faults::note(&format!("{client} {event}"), &fault);
    }
    if let Some(ended) = ENDED.get()
        && let Err(error) = weir_sync::sync_after_session(&ended.store, &ended.project)
    {
        faults::note("starting a sync", &error.to_string());
    }
    ExitCode::SUCCESS
}

/// Where the session is that this hook ends, if it does. What follows is done after the answer.
static ENDED: OnceLock<EndedSession> = OnceLock::new();

struct EndedSession {
    store: PathBuf,
    project: PathBuf,
}

fn write(answer: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match answer {
        // A plain string is for a client that takes the text as it is.
        Value::String(text) => out.write_all(text.as_bytes())?,
        answer => out.write_all(answer.to_string().as_bytes())?,
    }
    out.flush()
}

/// Answers the hook that this process was started for.
fn answer(client: &str, event: &str, started: Instant) -> Result<Option<Value>, CommandError> {
    let Some(client) = weir_clients::find(client) else {
        return Err(CommandError::usage(format!("there is no client `{client}`")));
    };
    let (env, paths) = environment()?;
    trust::check_data(&paths)?;
    let switch = Switch::read(&paths);
    match switch.off_for(client.name) {
        Some(off @ Off::Unknown(_)) => return Err(off.error()),
        Some(_) => return Ok(None),
        None => {}
    }
    weir_store::private::folder(&paths.data).map_err(unreadable)?;
    deadline::begin(&paths, &format!("{} {event}", client.name));
    for remark in unfinished::finish(&paths, AuditDepth::TopLevel) {
        faults::note("audit", &remark);
    }
    let at = HookContext { env: &env, paths, switch, now: when::now(), started, files: FileState::AsTheyAre };
    let answered = at.answer(client, event, &mut std::io::stdin().lock())?;
    Ok(answered.and_then(|(_, reply)| reply))
}

/// The circumstances in which a hook is answered.
pub struct HookContext<'a> {
    pub env: &'a Env,
    /// The locations of the data and the configuration.
    pub paths: Paths,
    /// Where the user turned Weir off.
    pub switch: Switch,
    pub now: Timestamp,
    pub started: Instant,
    /// The state of the files that tools have read.
    pub files: FileState,
}

impl HookContext<'_> {
    /// Answers one hook, using the payload that the client sent. Returns the reply and its encoding for the client, if
    /// the client has a way to accept it.
    pub fn answer(
        self,
        client: &'static Client,
        event: &str,
        input: &mut dyn Read,
    ) -> Result<Option<(Reply, Option<Value>)>, CommandError> {
        let Self { env, paths, switch, now, started, files } = self;
        let payload = Payload::read(input, &paths.data).map_err(unreadable)?;
        let long = payload.long_strings();
        let wire = Wire { event, payload: &payload.value, long: &long };
        let Some(mut hook) = (client.decode)(&wire) else { return Ok(None) };
        let shell_folder = hook.folder.clone();
        match files == FileState::OfThePast {
            true => file_state::forget_files(&mut hook),
            false => location::settle(client, &mut hook)?,
        }
        let rewritten = rewrite::complete(&paths, &mut hook);
        let session = SessionKey { client: client.session.to_owned(), key: hook.session.clone() };
        let place = SessionLocation::find(env, &paths, &hook.folder, session)?;
        if place.is_off(&switch, &[&hook.folder, &shell_folder]) {
            return Ok(None);
        }
        // Clearing needs no store and must not wait for one: lines left here would be taken for lines that the model
        // still has.
        if loses_texts(client, &hook.point)
            && let Err(error) = ShownLines::clear(&place.folder, &conversation::name(client, &hook))
        {
            faults::note("forgetting what was shown", &error.to_string());
        }
        let report = HookReport { client, hook: &hook, event, started };
        let store = match place.open(&paths, Patience::InAll(STORE_WAIT)) {
            Ok(store) => store,
            // The store cannot be read either, but the hook's events still go to the spool.
            Err(failed) if failed.error.may_pass() => {
                let (told, seen) = (report.events(None), Some(report.run(now, None)));
                let texts_lost = loses_texts(client, &hook.point);
                let spooled = SpoolRecord { told, seen, texts_lost, ..SpoolRecord::default() };
                let put = place.spool().put(&place.scope, &spooled, &Limits::default(), now);
                return put.map(|()| None).map_err(|error| CommandError::from(error).in_store(&place.folder));
            }
            Err(failed) => return Err(failed.into()),
        };
        let is_end = matches!(hook.point, Point::SessionEnd | Point::Stop { .. }) && hook.subagent.is_none();
        if is_end && files == FileState::AsTheyAre {
            let _ = ENDED.set(EndedSession { store: place.folder.clone(), project: PathBuf::from(&hook.folder) });
        }
        let call = Call {
            client,
            hook: &hook,
            payload: &payload,
            paths,
            switch,
            config: OnceCell::new(),
            scope: place.scope.clone(),
            folder: place.folder.clone(),
            shell_folder,
            store,
            now,
            files,
            face: Face::Mcp,
            aside: SpoolRecord::default(),
            outcome: None,
            given: None,
        };
        let said = call.run(&report, rewritten).map_err(|error| error.in_store(&place.folder))?;
        let Some(said) = said else { return Ok(None) };
        let reply = (client.reply)(&wire, &hook, &said);
        Ok(Some((said, reply)))
    }
}

/// A hook with everything needed to answer it.
struct Call<'a> {
    client: &'static Client,
    hook: &'a Hook,
    payload: &'a Payload,
    paths: Paths,
    switch: Switch,
    /// The user's configuration, once it is needed.
    config: OnceCell<Config>,
    scope: Scope,
    folder: PathBuf,
    /// The folder that the client reports, which may not be the session's.
    shell_folder: PathBuf,
    store: Store,
    now: Timestamp,
    /// The state of the files that tools have read.
    files: FileState,
    /// How the model can read more than it is shown.
    face: Face,
    /// The data that could not be written to the store.
    aside: SpoolRecord,
    /// What became of the output that the hook reports, once that is known.
    outcome: Option<Outcome>,
    /// What the client shows of that output by itself, once it is counted.
    given: Option<CountedView>,
}

impl Call<'_> {
    /// Answers the hook, and records it and its events. Returns the reply, if there is one and it is to be given.
    fn run(mut self, report: &HookReport<'_>, rewritten: RewriteStatus) -> Result<Option<Reply>, CommandError> {
        // The events are recorded regardless of the answer, and before it if the answer may miss the deadline.
        let mut told = report.events(Some((&self.store, &self.scope)));
        if self.may_take_long() {
            self.append(std::mem::take(&mut told))?;
        }
        let said = self.answer(rewritten);
        let is_untouched = matches!(said, Ok(Some(_))) && trial::is_untouched(&self);
        if is_untouched && self.outcome == Some(Outcome::Held) {
            self.outcome = Some(Outcome::Compared);
        }
        self.record(told, report.run(self.now, self.outcome))?;
        if let Ok(Some(said)) = &said {
            meter::note(&mut self, said, is_untouched);
        }
        // What cannot be recorded does not cost the answer: a guide is read from the store, and nothing is held back
        // that could not be stored.
        let put = match self.aside.is_empty() {
            true => Ok(()),
            false => Spool::beside(&self.folder).put(&self.scope, &self.aside, self.store.limits(), self.now),
        };
        if let Err(error) = put.and_then(|()| self.store.close_after_hook()) {
            faults::note("recording", &store_message(&error, &self.folder));
        }
        Ok(said?.filter(|_| !is_untouched))
    }

    fn conversation(&self) -> String {
        conversation::name(self.client, self.hook)
    }

    fn config(&self) -> Result<&Config, CommandError> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = self.switch.config(&self.paths.config)?;
        Ok(self.config.get_or_init(|| config))
    }

    /// Returns the reply, if there is one. If a command was killed, the client has not shown its output.
    fn answer(&mut self, rewritten: RewriteStatus) -> Result<Option<Reply>, CommandError> {
        let hook = self.hook;
        match &hook.point {
            Point::SessionStart(start) if hook.subagent.is_none() => {
                if *start == Start::Compact {
                    compaction::record_last_messages(self)?;
                }
                guides::at_start(self, *start)
            }
            Point::BeforeCompaction => {
                let is_conversation = compaction::record_last_messages(self)?;
                let moments = guides::keep(self)?;
                Ok(if is_conversation { compaction::to_keep(self, &moments)?.map(Reply::Keep) } else { None })
            }
            Point::AfterCompaction { summary } => {
                compaction::record_last_messages(self)?;
                compaction::keep_summary(self, summary)?;
                guides::keep(self).map(|_| None)
            }
            Point::BeforeTool(call) => Ok(rewrite::command(self, call).map(Reply::Command)),
            Point::AfterTool(call, done) if rewritten == RewriteStatus::Killed => {
                let shown = hold::killed(self, call, done)?;
                rewrite::clear(self, call);
                self.outcome = Some(Outcome::Held);
                Ok(Some(if hook.takes.output { Reply::Output(shown) } else { Reply::Context(shown) }))
            }
            Point::AfterTool(call, done) => match hold::output(self, call, done, rewritten)? {
                HoldDecision::Replaced(shown) => {
                    self.outcome = Some(Outcome::Held);
                    Ok(Some(Reply::Output(shown)))
                }
                HoldDecision::LeftAlone(outcome) => {
                    self.outcome = Some(outcome);
                    match hold::remark(self, call, done, rewritten) {
                        Some(remark) => Ok(Some(Reply::Context(remark))),
                        None => guides::waiting(self),
                    }
                }
            },
            Point::Prompt { .. } => Ok(guides::waiting(self)?.or_else(|| cold::notice(self))),
            _ => Ok(None),
        }
    }

    /// Whether the answer may take long because an output is held back.
    fn may_take_long(&self) -> bool {
        match &self.hook.point {
            Point::AfterTool(used, done) => hold::may_take_long(used, done),
            _ => false,
        }
    }
}

fn environment() -> Result<(Env, Paths), CommandError> {
    let env = Env::capture_in("/".into());
    let paths = env.paths().ok_or_else(|| CommandError::usage("there is no home folder"))?;
    Ok((env, paths))
}

fn unreadable(error: std::io::Error) -> CommandError {
    CommandError::broken(&error.to_string())
}
