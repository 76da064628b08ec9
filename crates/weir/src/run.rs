//! Runs code: the user's rules first, then the sandbox, then the store. What was printed is kept whole; the answer
//! shows what fits.
//!
//! Invariants: nothing runs that the rules deny; what a run printed is kept, also when it was ended before its time;
//! a run works on a thread of its own, so that a long one holds up nobody.

pub(crate) mod background;
mod cause;
pub(crate) mod health;
mod homes;
pub(crate) mod masks;
mod outside;
mod place;
mod planted;
mod running;
mod runtime;
mod shown;
pub(crate) mod unfinished;

use std::path::PathBuf;
use std::time::Duration;

use weir_core::run::{Ended, RunFacts};
use weir_core::{Entry, EntryKind, Level, NewEntry, Origin, Reference};
use weir_policy::gate::{Action, Request};
use weir_runner::runtimes::Language;
use weir_runner::{Farewell, Outcome, Run, RunError, Spec, Stopper, Streams};
use weir_store::{BlobReader, Found, Patience, TextWriter};

use crate::answer::one_line;
use crate::config::Sandbox;
use crate::context::{Context, cancelled};
use crate::error::{CommandError, ErrorKind};
use crate::permission::{self, Consent, Deed};
pub(crate) use outside::{STAND_IN, stand_in};
pub(crate) use place::{new_scratch, search_path};
pub(crate) use running::Running;
pub(crate) use shown::{Want, answer, brief, data, looked_for, read_on, show};

/// The tool that runs code. Rules about it hold for every way to run something.
pub(crate) const TOOL: &str = "ctx_execute";

/// Longer than this nobody waits for a run that is not in the background.
pub(crate) const LONGEST: Duration = Duration::from_secs(60 * 60);

/// A program that is asked about itself has a moment.
const A_MOMENT: Duration = Duration::from_secs(5);

/// How long the output of a run waits for another process that holds the store, before it is shown without being kept.
const KEEP_WAIT: Duration = Duration::from_secs(5);

/// The helper of a run is this program itself, whatever has become of its file.
pub(crate) const HELPER: &str = "/proc/self/exe";

/// Code to be run.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// The language it is in.
    pub language: &'static Language,
    /// The code.
    pub code: String,
    /// The file it is about.
    pub file: Option<PathBuf>,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// When it is ended at the latest.
    pub timeout: Duration,
    /// Where its output is said to come from.
    pub source: Option<String>,
}

/// A run that is over.
pub(crate) struct Done {
    /// What is kept of it, or why nothing is.
    pub kept: Result<Box<Entry>, CommandError>,
    /// What it is called in lists.
    pub title: String,
    /// What it printed.
    pub text: BlobReader,
    /// How it went.
    pub outcome: Outcome,
    /// How many steps it had.
    pub steps: usize,
    /// How much it might have printed, and how much memory it might have had.
    pub caps: (u64, u64),
    /// What whoever asked should know.
    pub remarks: Vec<String>,
}

/// How a run is made.
struct How<'a> {
    /// Ends it.
    stopper: &'a Stopper,
    /// The reference its output is kept under; a new one if there is none.
    reference: Option<Reference>,
    /// Who else gets what it prints.
    tee: Option<&'a background::Tee>,
}

/// Lets a run pass, or says why not.
async fn permit(context: &Context, order: &Order) -> Result<(), CommandError> {
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
pub(crate) async fn run(context: &Context, order: Order) -> Result<Done, CommandError> {
    permit(context, &order).await?;
    let stopper = Stopper::new().map_err(|error| failed(&format!("cannot prepare a run: {error}")))?;
    let (send, receive) = tokio::sync::oneshot::channel();
    let number = context.running().enter(&stopper);
    let (own, brake) = (context.clone(), stopper.clone());
    let thread = std::thread::Builder::new().name("run".to_owned()).spawn(move || {
        let done = perform(&own, &order, &How { stopper: &brake, reference: None, tee: None });
        own.running().leave(number);
        // Whoever asked may have gone away; the output is kept by now.
        let _ = send.send(done);
        // A model that runs something mostly runs something again.
        if own.origin == Origin::Model && own.config().sandbox != Sandbox::Off {
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

/// Runs it on this thread and keeps what it prints.
fn perform(context: &Context, order: &Order, how: &How<'_>) -> Result<Done, CommandError> {
    // The store first, since its folder has to be there to be hidden.
    let new_writer = || context.with_stores_here(|open| Ok(open.project()?.writer()?));
    let mut writer = new_writer()?;
    let found = runtime::locate(context, order.language)?;
    let mut place = place::prepare(context, order, &found)?;
    let mut watch = planted::Watch::begin(context, &place::writable(context))?;
    watch.look_on();
    let attempted = attempt(context, order, how, &mut place, &mut writer);
    let planted = watch.end(&place.spec);
    let (outcome, farewell) = attempted?;
    let mut remarks = std::mem::take(&mut place.remarks);
    remarks.extend(planted);
    if outcome.ended == Ended::Unmasked {
        // It may have printed what it was not to see.
        writer = new_writer()?;
        remarks.push("its output was dropped".to_owned());
    }
    let facts = RunFacts {
        exit_code: outcome.exit_code,
        signal: outcome.signal,
        millis: outcome.took.as_millis() as u64,
        sandbox: outcome.level.as_str().to_owned(),
        ended: outcome.ended,
        pieces: Default::default(),
    };
    let new = NewEntry {
        source: order.source.clone(),
        run: Some(facts),
        reference: how.reference,
        ..NewEntry::new(EntryKind::Run, Origin::Tool, Level::Project, title(order))
    };
    let (kept, text) = keep(context, new, writer);
    drop(farewell);
    let caps = (context.config().run.output_bytes, place.spec.caps.memory_bytes);
    Ok(Done { kept, title: title(order), text, outcome, steps: place.spec.steps.len(), caps, remarks })
}

/// Runs it in the best sandbox that is to be had and that the user accepts.
fn attempt(
    context: &Context,
    order: &Order,
    how: &How<'_>,
    place: &mut place::Place,
    writer: &mut TextWriter,
) -> Result<(Outcome, Farewell), CommandError> {
    let outside = place.outside.clone();
    let serve = |listeners| outside.serve(listeners);
    let mut make = |spec: &Spec| {
        let run = Run {
            spec,
            helper: PathBuf::from(HELPER),
            timeout: order.timeout,
            most_output: context.config().run.output_bytes,
            streams: Streams::Merged,
            stopper: how.stopper,
            ready: context.running().take_ready(),
            serve: Some(&serve),
        };
        weir_runner::run(run, &mut |_, bytes| {
            if let Some(tee) = how.tee {
                // Whoever it is only shows it; that must not hold up the run.
                let _ = tee.send(bytes.to_vec());
            }
            // Whatever becomes of the store, the run goes on, and its output is shown.
            let _ = writer.write(bytes);
            Ok(())
        })
    };
    match make(&place.spec) {
        Err(RunError::Sandbox(problem)) if !problem.refused && context.config().sandbox == Sandbox::BestEffort => {
            place.lower(context, &problem)?;
            make(&place.spec).map_err(|error| unusable(context, error))
        }
        other => other.map_err(|error| unusable(context, error)),
    }
}

/// The same spec with what a run in its folder may not see or start; none where that cannot be told.
pub(crate) fn masked(context: &Context, spec: Spec) -> Option<Spec> {
    let masks::Masks { hidden, programs, .. } = masks::masks(context, &spec.folder).ok()?;
    Some(Spec { hidden, programs, ..spec })
}

/// What a program of ours says in the time it has. Nothing of it is kept.
pub(crate) fn ask(spec: &Spec, patience: Duration) -> Result<Vec<u8>, RunError> {
    ask_at_length(spec, patience, 4096)
}

/// The same of a program that may say more.
pub(crate) fn ask_at_length(spec: &Spec, patience: Duration, most_output: u64) -> Result<Vec<u8>, RunError> {
    let stopper = Stopper::new().map_err(RunError::Helper)?;
    let run = Run {
        spec,
        helper: PathBuf::from(HELPER),
        timeout: patience,
        most_output,
        streams: Streams::Merged,
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

/// Keeps the output of a run. The run is over: whatever fails here, the caller gets the output.
fn keep(context: &Context, new: NewEntry, writer: TextWriter) -> (Result<Box<Entry>, CommandError>, BlobReader) {
    let scope = context.scope();
    let mut output = None;
    let kept = context.with_stores_here(|open| {
        let now = open.now;
        open.set_patience(Patience::Each(KEEP_WAIT))?;
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

/// A word as a shell takes it literally.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What the run is called in lists: its first line.
fn title(order: &Order) -> String {
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
        Sandbox::Required => full
            .hint("nothing was run: a full sandbox is required, but this system does not provide one; see docs/sandbox.md")
            .hint(format!("to accept less, set sandbox = \"best-effort\" in {}", context.paths().config.display())),
        _ => full.hint("nothing was run; docs/sandbox.md explains what the sandbox needs"),
    }
}

fn failed(message: &str) -> CommandError {
    CommandError::new(ErrorKind::Failed, message)
}
