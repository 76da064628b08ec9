//! Runs code: checks the user's rules, runs the code in the sandbox, stores its output, and renders the answer.
//!
//! The crate decides what a run may see and change (`environment`, `homes`, [`masks`]), which hosts and programs it may
//! reach outside (`outside`), and what becomes of what it wrote (`planted`, [`layered`]). It also runs Weir's own
//! queries, such as those to git, with the same masks ([`masked`], [`output_of`]).
//!
//! The sandbox itself is `weir-runner`, verdicts on scripts and paths are `weir-policy`, and carrying over the changes
//! of a layer is `weir-layer`. The operations that start runs are in `weir-operations`.
//!
//! # Invariants
//!
//! - Nothing runs that the rules deny, and a run that must have a layer never runs without one.
//! - The output of a run is stored in full, redacted as it arrives, however the run ended; the answer shows what fits.
//!   The one exception is a run that lost a mask: its output is dropped.
//! - A run works on its own thread, so a long run blocks no other call. Cancelling the call ends the run.
//! - Credentials never enter the sandbox. Outside it, Weir neither runs nor loads anything that a run can write.
//! - Failing to understand something is never a reason to be more lenient: a script, a rule, a folder that cannot be
//!   listed.
//! - The state before a run is recorded before the run begins. If its process is killed, the next call of any kind
//!   finishes the audit ([`unfinished`]); a hook does the most important part, and leaves the rest to the next call
//!   that has time.
//! - What a run on a layer wrote is in the project only after it was judged. The next command finishes or takes back an
//!   apply that was interrupted.
//!
//! # A run, step by step
//!
//! ```text
//! permit           may it? weir_context::permission, and the user's consent
//! perform          opens a writer of the store first: its folder must exist in order to be hidden
//!   runtime        the program for the language
//!   environment    Spec: what the run sees, what it may change, its variables; masks and homes say what is hidden
//!   execution      weir_runner::run, in the best sandbox there is; planted watches, layered judges
//!   keep           the output as an entry
//!   blame          whether a failure looks like the sandbox's doing
//! render           how it ended; the output in full if it is short, else its digest and its reference
//! ```
//!
//! A background run has a process of its own ([`background`]), with a lifeline to its session.

pub mod background;
mod blame;
mod cause;
mod environment;
mod execution;
pub mod health;
mod homes;
pub mod layered;
mod locations;
pub mod masks;
mod modules;
#[cfg_attr(not(target_os = "linux"), path = "outside_elsewhere.rs")]
mod outside;
mod planted;
mod render;
mod runtime;
pub mod unfinished;

use std::path::PathBuf;
use std::time::Duration;

use weir_context::permission::{self, Consent, Deed};
use weir_context::{Context, LiveOutput, cancelled};
use weir_core::run::{Ended, RunFacts};
use weir_core::{Entry, EntryKind, Level, NewEntry, Origin, Reference};
use weir_host::answer::one_line;
use weir_host::config::Sandbox;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::{Face, Reader};
use weir_host::os;
use weir_policy::gate::{Action, Request};
use weir_runner::runtimes::Language;
use weir_runner::{Input, Outcome, Run, RunError, Spec, Stopper, Streams};
use weir_store::{BlobReader, Found, Patience, TextWriter};

pub use environment::{new_scratch, search_path};
use execution::{Executed, execute};
pub use layered::LayerWish;
pub use outside::{STAND_IN, stand_in};
pub use render::{
    DisplayOptions, MAX_WHOLE_TOKENS, RunData, answer, answer_after_live, brief, looked_for, printed, show,
};

/// The tool that runs code. Rules about it hold for every way to run something.
pub const TOOL: &str = "ctx_execute";

/// Longer than this nobody waits for a run that is not in the background.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The time limit of a run that a person starts without one: none, as far as a clock can tell.
pub const NO_TIMEOUT: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The time limit for a program that is queried about itself.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for another process that holds the store, before the output of a run is shown without being stored.
const STORE_WAIT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct RunRequest {
    pub language: &'static Language,
    pub code: String,
    pub file: Option<PathBuf>,
    pub folder: PathBuf,
    pub timeout: Duration,
    pub source: Option<String>,
    /// What is asked with regard to layers.
    pub layer: LayerWish,
}

pub struct FinishedRun {
    /// The stored entry, or why nothing was stored.
    pub kept: Result<Box<Entry>, CommandError>,
    pub title: String,
    pub text: BlobReader,
    pub outcome: Outcome,
    pub steps: usize,
    /// The limits on the output and on the memory, in bytes.
    pub caps: (u64, u64),
    /// Remarks for the caller.
    pub remarks: Vec<String>,
    /// What a dry run would have changed.
    pub diff: Option<String>,
    /// The face that the run was asked for through, and who reads its answer.
    pub caller: (Face, Reader),
}

struct RunOptions<'a> {
    stopper: &'a Stopper,
    /// The reference under which the output is stored. A new one if `None`.
    reference: Option<Reference>,
    /// A second receiver of the output.
    tee: Option<&'a background::Tee>,
    /// What shows the output while it arrives.
    live: Option<&'a LiveOutput>,
    /// Its standard input, if it is not empty.
    input: Option<&'a Input>,
}

/// Lets a run pass, or says why not.
async fn permit(context: &Context, order: &RunRequest) -> Result<(), CommandError> {
    let action = match order.language.name {
        "shell" => Action::Script(&order.code),
        // Code in another language counts as a use of its runtime; masks contain what it starts.
        name => Action::Program(order.language.runtimes.first().map_or(name, |runtime| runtime.program)),
    };
    let language = Some(order.language.name).filter(|name| *name != "shell").map(|name| format!(" as {name}"));
    let file = order.file.as_ref().map(|file| format!(" on {}", file.display()));
    let folder = Some(&order.folder).filter(|folder| **folder != context.env().folder);
    let folder = folder.map(|folder| format!(" in {}", folder.display()));
    let details = [language, file, folder].into_iter().flatten().collect();
    let tool = permission::client_name(TOOL);
    let consent = Consent { deed: Deed::Run, details, about: &order.code };
    permission::require(context, Request { tool: &tool, action }, consent).await
}

/// Runs it, unless the rules are against it. Cancelling the call ends the run; what it printed is kept all the same.
pub async fn run(context: &Context, order: RunRequest) -> Result<FinishedRun, CommandError> {
    run_attended(context, order, Attendance::default()).await
}

/// What connects a run with a person at a terminal.
#[derive(Default)]
pub struct Attendance {
    /// What shows the output while it arrives.
    pub live: Option<LiveOutput>,
    pub input: Option<Input>,
}

/// Like [`run`], for a run that a person watches or gives input to.
pub async fn run_attended(
    context: &Context,
    order: RunRequest,
    attendance: Attendance,
) -> Result<FinishedRun, CommandError> {
    permit(context, &order).await?;
    let stopper = Stopper::new().map_err(|error| failed(&format!("cannot prepare a run: {error}")))?;
    let (send, receive) = tokio::sync::oneshot::channel();
    let number = context.running().enter(&stopper);
    let (own, brake) = (context.clone(), stopper.clone());
    let thread = std::thread::Builder::new().name("run".to_owned()).spawn(move || {
        let Attendance { live, input } = &attendance;
        let (live, input) = (live.as_ref(), input.as_ref());
        let how = RunOptions { stopper: &brake, reference: None, tee: None, live, input };
        let done = perform(&own, &order, &how);
        own.running().leave(number);
        // The caller may be gone; the output is stored by now.
        let _ = send.send(done);
        // A model that runs something is likely to run something again.
        if !own.face().is_person() && own.config().sandbox != Sandbox::Off {
            own.running().prepare_next();
        }
    });
    thread.map_err(|error| {
        context.running().leave(number);
        failed(&format!("cannot start a thread: {error}"))
    })?;
    let mut receive = receive;
    let done = tokio::select! {
        done = &mut receive => done,
        () = context.cancelled().cancelled() => {
            stopper.stop();
            receive.await
        }
    };
    let done = done.map_err(|_| CommandError::broken("the run failed unexpectedly"))??;
    if context.cancelled().is_cancelled() { Err(cancelled()) } else { Ok(done) }
}

/// Runs code on the current thread and stores its output.
fn perform(context: &Context, order: &RunRequest, how: &RunOptions<'_>) -> Result<FinishedRun, CommandError> {
    // The store is opened first, because its folder must exist in order to be hidden.
    let new_writer = || context.with_stores_here(|open| Ok(open.project()?.writer()?));
    let mut writer = new_writer()?;
    let found = runtime::locate(context, order.language)?;
    let writable = environment::writable(context);
    let mut place = environment::prepare(context, order, &found, &writable)?;
    let Executed { outcome, farewell, mut remarks, diff } =
        execute(context, order, how, &writable, (&mut place, &mut writer))?;
    if outcome.ended == Ended::Unmasked {
        // The run may have printed what it was not allowed to see.
        writer = new_writer()?;
        remarks.push("its output was dropped".to_owned());
    }
    let facts = RunFacts {
        exit_code: outcome.exit_code,
        signal: outcome.signal,
        millis: outcome.took.as_millis() as u64,
        sandbox: outcome.level.as_str().to_owned(),
        ended: outcome.ended,
    };
    let new = NewEntry {
        source: order.source.clone(),
        run: Some(facts),
        reference: how.reference,
        ..NewEntry::new(EntryKind::Run, Origin::Tool, Level::Project, title(order))
    };
    let (kept, text) = keep(context, new, writer);
    if let Some(show) = how.live {
        show(&[]);
    }
    remarks.extend(blame::remarks(context, &outcome, place.spec.overlay.is_some(), &text));
    drop(farewell);
    let caps = (context.config().run.output_bytes, place.spec.caps.memory_bytes);
    let (title, steps) = (title(order), place.spec.steps.len());
    let caller = (context.face(), context.session().reader);
    Ok(FinishedRun { kept, title, text, outcome, steps, caps, remarks, diff, caller })
}

/// Returns the spec with everything masked that a run in its folder may not see or start, or `None` if that cannot be
/// determined.
pub fn masked(context: &Context, spec: Spec) -> Option<Spec> {
    let masks::Masks { hidden, programs, .. } =
        masks::masks(context, &permission::rules(context), &spec.folder).ok()?;
    Some(Spec { hidden, programs, ..spec })
}

/// Runs one of our own programs and returns its output, within a time limit. Nothing is stored.
pub fn output_of(spec: &Spec, patience: Duration) -> Result<Vec<u8>, RunError> {
    output_of_with_limit(spec, patience, 4096)
}

/// Like [`output_of`], with a limit on the output.
pub fn output_of_with_limit(spec: &Spec, patience: Duration, most_output: u64) -> Result<Vec<u8>, RunError> {
    let stopper = Stopper::new().map_err(RunError::Helper)?;
    let run = Run {
        spec,
        helper: os::helper(),
        timeout: patience,
        most_output,
        streams: Streams::Merged,
        input: None,
        stopper: &stopper,
        ready: None,
        serve: None,
    };
    let mut said = Vec::new();
    weir_runner::run(run, &mut |_, bytes| {
        said.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(said)
}

/// Stores the output of a run. The run is over, so the caller gets the output even if storing it fails.
fn keep(context: &Context, new: NewEntry, writer: TextWriter) -> (Result<Box<Entry>, CommandError>, BlobReader) {
    let scope = context.scope();
    let mut output = None;
    let kept = context.with_stores_here(|open| {
        let now = open.now;
        open.set_patience(Patience::Each(STORE_WAIT))?;
        let store = open.project()?;
        let kept = match store.keep_and_open(&scope, new, writer, now) {
            Ok((kept, text)) => {
                output = Some(text);
                kept
            }
            Err(failed) => {
                output = failed.text.map(|text| *text);
                return Err(failed.error.into());
            }
        };
        match store.get(&scope, kept.reference, now)? {
            Found::Here(entry) => Ok(entry),
            _ => Err(failed("another process removed it immediately").hint("raise quota_mb in the configuration")),
        }
    });
    let _ = context.with_stores_here(|open| open.set_patience(Patience::default()));
    (kept, output.unwrap_or_else(|| BlobReader::of(Vec::new())))
}

/// Returns the title of a run in lists: its first line.
fn title(order: &RunRequest) -> String {
    let first = order.code.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(nothing)");
    let about = order.file.as_ref().map(|file| format!(" on {}", file.display())).unwrap_or_default();
    match order.language.name {
        "shell" => format!("{}{about}", one_line(first, 160)),
        name => format!("{name}: {}{about}", one_line(first, 160)),
    }
}

fn unusable(context: &Context, error: RunError) -> CommandError {
    let kind = match &error {
        RunError::Sandbox(_) => ErrorKind::Sandbox,
        _ => ErrorKind::Failed,
    };
    let full = CommandError::new(kind, error.to_string());
    let RunError::Sandbox(problem) = &error else { return full.hint("run `weir doctor`") };
    if problem.refused {
        return full.hint("nothing was run; fix it, or add the path to `readable` in the configuration");
    }
    let full = cause::ways_out(problem).into_iter().fold(full, CommandError::hint);
    match context.config().sandbox {
        // Here "best-effort" would not help.
        _ if !cfg!(target_os = "linux") => full.hint("nothing was run; docs/platforms.md says what works on this system"),
        Sandbox::Required => full
            .hint("nothing was run: a full sandbox is required, but this system does not provide one; see docs/sandbox.md")
            .hint(format!("to accept less, set sandbox = \"best-effort\" in {}", context.paths().config.display())),
        _ => full.hint("nothing was run; docs/sandbox.md explains what the sandbox needs"),
    }
}

fn failed(message: &str) -> CommandError {
    CommandError::new(ErrorKind::Failed, message)
}
