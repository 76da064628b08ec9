//! The hook fast path: a client calls at a point of its own work, waits, and goes on.
//!
//! Invariants: nothing is set up here that a hook does not need; whatever goes wrong is our fault, never the client's, so
//! the answer is then empty, the exit code 0, and one line in a log that `weir doctor` shows; nothing is written to the
//! client's terminal; what was told is in the log before the answer is given.

pub(crate) mod faults;
mod guides;
mod hold;
mod payload;
pub(crate) mod rewrite;

use std::ffi::OsString;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::Value;
use weir_clients::{Client, Done, Hook, Point, Reply, Start, Tool, ToolCall, Wire, capture};
use weir_core::{Event, Limits, Scope, SessionKey, Timestamp};
use weir_store::{HookSeen, KnownProject, Owner, Store};

use crate::env::{self, Env, Paths};
use crate::error::CommandError;
use crate::project::Project;
use crate::when;
use payload::Payload;

/// The argument that leads here.
pub(crate) const HOOK: &str = "hook";
/// Anywhere in a command, this leaves it and its output alone.
const LEAVE: &str = "weir:off";

/// The longest title of what is held.
const TITLE: usize = 200;

/// Answers one hook.
pub(crate) fn main(arguments: &[OsString]) -> ExitCode {
    let started = Instant::now();
    if env::is_off() {
        return ExitCode::SUCCESS;
    }
    // The terminal is the client's.
    std::panic::set_hook(Box::new(|_| ()));
    let name = |at: usize| arguments.get(at).and_then(|name| name.to_str()).unwrap_or_default();
    let (client, event) = (name(0), name(1));
    if client == "claude" && env::is_copilot() {
        return ExitCode::SUCCESS;
    }
    let answered = catch_unwind(AssertUnwindSafe(|| answer(client, event, started)));
    let fault = match answered {
        Ok(Ok(None)) => return ExitCode::SUCCESS,
        Ok(Ok(Some(answer))) => write(&answer).err().map(|error| format!("the answer was not taken: {error}")),
        Ok(Err(error)) => Some(error.to_string()),
        Err(panic) => Some(format!("broken: {}", faults::said(&*panic))),
    };
    if let Some(fault) = fault {
        faults::note(&format!("{client} {event}"), &fault);
    }
    ExitCode::SUCCESS
}

fn write(answer: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(answer.to_string().as_bytes())?;
    out.flush()
}

fn answer(client: &str, event: &str, started: Instant) -> Result<Option<Value>, CommandError> {
    let Some(client) = weir_clients::find(client) else {
        return Err(CommandError::usage(format!("there is no client `{client}`")));
    };
    let (env, paths) = environment()?;
    private_folder(&paths.data).map_err(unreadable)?;
    let payload = Payload::read(&mut std::io::stdin().lock(), &paths.data).map_err(unreadable)?;
    let wire = Wire { event, payload: &payload.value };
    let Some(mut hook) = (client.decode)(&wire) else { return Ok(None) };
    let killed = rewrite::complete(&paths, &mut hook);
    let session = SessionKey { client: client.session.to_owned(), key: hook.session.clone() };
    let (store, scope) = open_store(&env, &paths, &hook.folder, session)?;
    let mut call = Call { client, hook: &hook, payload: &payload, paths, scope, store, now: when::now() };
    // What happened is written down, whatever becomes of the answer.
    let said = call.answer(killed);
    call.record(event, started)?;
    call.store.close_after_hook()?;
    Ok(said?.and_then(|said| (client.reply)(&wire, &hook, &said.as_reply())))
}

/// What we say, with its words.
enum Said {
    Context(String),
    Output(String),
    Command(String),
}

impl Said {
    fn as_reply(&self) -> Reply<'_> {
        match self {
            Self::Context(text) => Reply::Context(text),
            Self::Output(text) => Reply::Output(text),
            Self::Command(text) => Reply::Command(text),
        }
    }
}

/// A hook with everything that is needed to answer it.
struct Call<'a> {
    client: &'static Client,
    hook: &'a Hook,
    payload: &'a Payload,
    paths: Paths,
    scope: Scope,
    store: Store,
    now: Timestamp,
}

impl Call<'_> {
    /// What there is to say, if anything. Of a command that was killed, the client has not shown what it printed.
    fn answer(&mut self, killed: bool) -> Result<Option<Said>, CommandError> {
        let hook = self.hook;
        match &hook.point {
            Point::SessionStart(start) if hook.subagent.is_none() => guides::at_start(self, *start),
            Point::BeforeCompaction | Point::AfterCompaction => guides::keep(self).map(|()| None),
            Point::BeforeTool(call) => Ok(rewrite::command(self, call).map(Said::Command)),
            Point::AfterTool(call, done) if killed => {
                let shown = hold::killed(self, call, done)?;
                rewrite::clear(self, call);
                Ok(Some(if hook.takes.output { Said::Output(shown) } else { Said::Context(shown) }))
            }
            Point::AfterTool(call, done) => match hold::output(self, call, done)? {
                Some(shown) => Ok(Some(Said::Output(shown))),
                None => guides::waiting(self),
            },
            Point::Prompt { .. } => guides::waiting(self),
            _ => Ok(None),
        }
    }

    /// Writes down what the hook told.
    fn record(&mut self, event: &str, started: Instant) -> Result<(), CommandError> {
        let hook = brief(self.hook, self.payload);
        let mut told: Vec<Event> = capture::events(&hook);
        told.extend(self.repaired(&hook)?);
        let seen = HookSeen {
            client: self.client.name.to_owned(),
            event: event.to_owned(),
            at: self.now,
            micros: started.elapsed().as_micros() as u64,
            count: 1,
        };
        self.store.record(&self.scope, &told, &seen)?;
        if loses_texts(&hook.point) {
            self.store.session_lost_texts(&self.scope)?;
        }
        Ok(())
    }

    /// The repair of an earlier failure, if that is what this is.
    fn repaired(&self, hook: &Hook) -> Result<Option<Event>, CommandError> {
        match &hook.point {
            Point::AfterTool(ToolCall { tool: Tool::Shell { .. }, .. }, Done { failed: false, .. }) => {
                Ok(capture::fix(hook, &self.store.failures(&self.scope)?))
            }
            _ => Ok(None),
        }
    }
}

/// Whether whoever reads next no longer has what was read before: after a compaction, and in a subagent or after one, which
/// goes by the name of its session.
fn loses_texts(point: &Point) -> bool {
    match point {
        Point::SessionStart(start) => *start != Start::Resume,
        Point::BeforeCompaction | Point::AfterCompaction | Point::SubagentStart | Point::SubagentStop { .. } => true,
        _ => false,
    }
}

/// The store of the project that a folder lies in, and where the session stands there. A new store is made known to the
/// user's.
fn open_store(env: &Env, paths: &Paths, folder: &Path, session: SessionKey) -> Result<(Store, Scope), CommandError> {
    let project = Project::discover(folder).map_err(unreadable)?;
    let folder = paths.data.join("projects").join(project.folder_name());
    let is_new = !folder.join("log.db").exists();
    // To append an event needs no limits; whoever keeps a text sets the user's.
    let limits = Limits::default();
    let store = Store::open_for_hook(&folder, Owner::Project(project.key.clone()), limits.clone())?;
    if is_new {
        let root = project.root.display().to_string();
        let (key, folder) = (project.key.0.clone(), project.folder_name());
        let known = KnownProject { key, root, folder, used_at: when::now() };
        Store::open(&paths.data.join("user"), Owner::User, limits)?.remember_project(&known)?;
    }
    let work = env.work.clone().or_else(|| project.head().branch);
    Ok((store, Scope { project: project.key, work, session: Some(session) }))
}

/// A hook with only the beginnings of texts that are too long to be here.
fn brief(hook: &Hook, payload: &Payload) -> Hook {
    let mut hook = hook.clone();
    match &mut hook.point {
        Point::Prompt { text } | Point::SubagentStop { result: text } | Point::Stop { last: text } => {
            *text = payload.brief(text);
        }
        Point::AfterTool(_, done) => done.output.text = payload.brief(&done.output.text),
        _ => {}
    }
    hook
}

/// The environment, and where things lie.
fn environment() -> Result<(Env, Paths), CommandError> {
    let env = Env::capture_in("/".into());
    let paths = env.paths().ok_or_else(|| CommandError::usage("there is no home folder"))?;
    Ok((env, paths))
}

/// Makes a folder that only its owner can enter.
fn private_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn unreadable(error: std::io::Error) -> CommandError {
    CommandError::broken(&error.to_string())
}
