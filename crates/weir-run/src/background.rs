//! Runs in the background. A keeper process watches each run, which lives as long as its session or, if it is to be
//! kept, until it is ended.
//!
//! The output so far is in a redacted file next to the store, and a second file marks the run as in progress. The
//! keeper holds a lock on that second file while it lives; renaming the file ends the run. Invariant: no output is
//! lost. When the run is over, its output becomes an entry under the reference it had from the start; if the keeper was
//! killed, the next call that asks for the run stores the output.

use std::fs::File;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use weir_context::Context;
use weir_core::run::{Ended, RunFacts};
use weir_core::{EntryKind, Level, NewEntry, Origin, Reference, SessionKey, Timestamp};
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Face;
use weir_runner::runtimes::Language;
use weir_runner::{Stopper, Supervisor};
use weir_store::{BlobReader, private};

use super::{LayerWish, RunOptions, RunRequest, unfinished};

/// The first argument that starts this program as a keeper.
pub const KEEPER: &str = "background-run";
/// The interval at which the run's output file is updated, and at which the keeper checks whether the run is still
/// wanted.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);
/// How long a call waits for the output of a run that was told to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of bytes written to that file at once.
const MAX_WRITE_BYTES: usize = 1 << 20;
/// How much of the output can be read before the run is over, in bytes. Beyond that, the older half is dropped from the
/// file. The complete output is stored at the end.
const MAX_SHOWN_BYTES: u64 = 16 << 20;

/// The instructions for the keeper.
#[derive(Serialize, Deserialize)]
struct KeeperTask {
    reference: String,
    language: String,
    code: String,
    file: Option<PathBuf>,
    folder: PathBuf,
    seconds: u64,
    kept: bool,
    face: Face,
    session: Option<(String, String)>,
    called_in: PathBuf,
}

pub struct RunProgress {
    pub title: String,
    /// The output so far, or its end.
    pub text: BlobReader,
}

pub async fn start(context: &Context, order: RunRequest, kept: bool) -> Result<Reference, CommandError> {
    super::permit(context, &order).await?;
    super::runtime::locate(context, order.language)?;
    let context = context.clone();
    let started = tokio::task::spawn_blocking(move || start_here(&context, order, kept)).await;
    started.map_err(|error| CommandError::broken(&error.to_string()))?
}

fn start_here(context: &Context, order: RunRequest, kept: bool) -> Result<Reference, CommandError> {
    let reference = context.with_stores_here(|open| Ok(open.project()?.draw_reference()?))?;
    let session = context.scope().session.map(|SessionKey { client, key }| (client, key));
    let task = KeeperTask {
        reference: reference.as_str().to_owned(),
        language: order.language.name.to_owned(),
        code: order.code,
        file: order.file,
        folder: order.folder,
        seconds: order.timeout.as_secs(),
        kept,
        face: context.face(),
        session,
        called_in: context.env().folder.clone(),
    };
    let mut line = serde_json::to_vec(&task).map_err(|error| CommandError::broken(&error.to_string()))?;
    line.push(b'\n');
    let failed = |why: &str| CommandError::new(ErrorKind::Failed, format!("cannot start the background run: {why}"));
    match Supervisor::start(&weir_host::os::helper(), KEEPER, &line) {
        Ok((keeper, answer)) if answer.trim() == "started" => {
            context.running().keep(keeper);
            Ok(reference)
        }
        Ok((_, answer)) => Err(failed(answer.trim()).hint("run it in the foreground for details")),
        Err(error) => Err(failed(&error.to_string())),
    }
}

/// Runs this program as a keeper.
pub fn keeper_main() -> ExitCode {
    let mut line = String::new();
    let task = std::io::stdin().lock().read_line(&mut line).ok().and_then(|_| serde_json::from_str(&line).ok());
    let Some(task) = task else { return ExitCode::FAILURE };
    match look_after(task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The process that started the keeper reads this until the run has begun; after that, nothing does.
            let _ = writeln!(std::io::stdout(), "{}", error.message);
            ExitCode::FAILURE
        }
    }
}

fn look_after(task: KeeperTask) -> Result<(), CommandError> {
    let wrong = |what: &str| CommandError::broken(&format!("invalid background task: {what}"));
    let mut env = Env::capture()?;
    env.folder = task.called_in.clone();
    let session = task.session.clone().map(|(client, key)| SessionKey { client, key });
    let context = Context::new(&env, task.face)?.in_session(session);
    let reference = Reference::parse(&task.reference).map_err(|error| wrong(&error.to_string()))?;
    let order = RunRequest {
        language: Language::find(&task.language).ok_or_else(|| wrong("language"))?,
        code: task.code,
        file: task.file,
        folder: task.folder,
        timeout: Duration::from_secs(task.seconds),
        source: None,
        // A server or a watcher is to see what others change, and its changes are to be seen.
        layer: LayerWish::Direct,
    };
    if task.kept {
        // Without a terminal, there is no session to leave.
        let _ = weir_runner::leave_session();
    }
    let files = BackgroundFiles::of(&context, reference);
    let lock = files.make(&super::title(&order)).map_err(|error| unusable(&files.state, &error))?;
    let stopper = Stopper::new().map_err(|error| CommandError::broken(&error.to_string()))?;
    if !task.kept {
        end_with_session(stopper.clone());
    }
    let (send, receive) = sync_channel(64);
    let (spool, brake) = (files.output.clone(), stopper.clone());
    let state = files.state.clone();
    let writer = std::thread::spawn(move || write_out(&receive, &spool, &state, &brake));
    let _ = writeln!(std::io::stdout(), "started");
    let how = RunOptions { stopper: &stopper, reference: Some(reference), tee: Some(&send), live: None, input: None };
    let done = super::perform(&context, &order, &how);
    drop(send);
    let _ = writer.join();
    if let Ok(done) = &done {
        // No caller waits for this run, so the next call reports what it left.
        let _ = unfinished::leave_word(&context.paths().data, reference, &done.remarks);
    }
    // If the output could not be stored, the files stay for the next call, which stores it.
    let kept = done.and_then(|done| done.kept.map(drop));
    if kept.is_ok() {
        files.remove();
    }
    drop(lock);
    kept
}

/// Ends the run with the session, whose process holds the other end of standard input and closes it by exiting.
fn end_with_session(stopper: Stopper) {
    std::thread::spawn(move || {
        let mut line = String::new();
        while std::io::stdin().lock().read_line(&mut line).is_ok_and(|read| read > 0) {
            line.clear();
        }
        stopper.stop();
    });
}

/// Writes the output, redacted, to the file where it can be read while the run is in progress.
fn write_out(printed: &Receiver<Vec<u8>>, spool: &Path, state: &Path, brake: &Stopper) {
    let mut waiting = Vec::new();
    let mut last = Instant::now();
    loop {
        let ended = match printed.recv_timeout(UPDATE_INTERVAL.saturating_sub(last.elapsed())) {
            Ok(bytes) => {
                waiting.extend_from_slice(&bytes);
                if waiting.len() < MAX_WRITE_BYTES && last.elapsed() < UPDATE_INTERVAL {
                    continue;
                }
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        last = Instant::now();
        // Only whole lines, and nothing of a secret that is still incomplete.
        let until = if ended { waiting.len() } else { complete(&waiting) };
        let ready: Vec<u8> = waiting.drain(..until).collect();
        if !ready.is_empty() {
            // If this fails, the output cannot be read during the run, but it is still stored at the end.
            let _ = append(spool, &weir_core::redact::redact(&ready).text);
        }
        if ended {
            return;
        }
        if !state.exists() {
            brake.stop();
        }
    }
}

/// Returns how much of a text consists of whole lines outside any block that redaction treats as a unit.
fn complete(text: &[u8]) -> usize {
    let find = |what: &[u8]| text.windows(what.len()).position(|part| part == what);
    let open = [b"-----BEGIN".as_slice(), b"<private"].iter().filter_map(|mark| find(mark)).min();
    let text = &text[..open.unwrap_or(text.len())];
    text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

fn append(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let mut file = File::options().append(true).open(path)?;
    if file.metadata()?.len() + text.len() as u64 > MAX_SHOWN_BYTES {
        let old = std::fs::read(path)?;
        let half = &old[old.len() / 2..];
        let start = half.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        std::fs::write(path, &half[start..])?;
        file = File::options().append(true).open(path)?;
    }
    file.write_all(text)
}

/// Finds a background run in progress by its reference. Returns `None` if there is none, or if it is over.
///
/// If the run's keeper was killed, its output so far is stored now.
pub fn find(context: &Context, reference: Reference) -> Result<Option<RunProgress>, CommandError> {
    let files = BackgroundFiles::of(context, reference);
    let open = |path: &Path| File::options().read(true).open(path);
    // Soon, a run that was told to end is an entry like any other.
    let (state, path) = match (open(&files.state), open(&files.ending)) {
        (Ok(state), _) => (state, &files.state),
        (_, Ok(ending)) if wait_for_lock(&ending, END_TIMEOUT) => (ending, &files.ending),
        (_, Ok(ending)) => (ending, &files.ending),
        _ => return Ok(None),
    };
    let title = std::fs::read_to_string(path).unwrap_or_default();
    let text = std::fs::read(&files.output).unwrap_or_default();
    if state.try_lock().is_err() {
        return Ok(Some(RunProgress { title, text: BlobReader::of(text) }));
    }
    // The lock is free, so the keeper is gone. If the entry exists, only its cleanup was missing.
    let facts =
        RunFacts { exit_code: None, signal: None, millis: 0, sandbox: "unknown".to_owned(), ended: Ended::Lost };
    let entry = NewEntry {
        text,
        run: Some(facts),
        reference: Some(reference),
        ..NewEntry::new(EntryKind::Run, Origin::Tool, Level::Project, title)
    };
    let scope = context.scope();
    let kept = context.with_stores_here(|open| {
        let now = open.now;
        Ok(open.project()?.keep(&scope, entry, now))
    })?;
    match kept {
        Ok(_) | Err(weir_store::StoreError::ReferenceTaken { .. }) => {
            files.remove();
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Ends a run, and waits a moment until its output is stored like that of any other run. Returns whether it is.
pub fn end(context: &Context, reference: Reference) -> Result<bool, CommandError> {
    let files = BackgroundFiles::of(context, reference);
    std::fs::rename(&files.state, &files.ending).map_err(|_| {
        CommandError::new(ErrorKind::NotFound, format!("no background run with reference {reference}"))
            .hint(format!("it may have ended: check with {}", context.face().get()))
    })?;
    let ending = File::options().read(true).open(&files.ending);
    // The keeper may have removed the file by now.
    Ok(ending.map_or(true, |ending| wait_for_lock(&ending, END_TIMEOUT)))
}

/// Waits until the keeper of a run is gone, which holds a lock on the file. Returns whether it is.
fn wait_for_lock(file: &File, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    // Nothing is sent: the channel is a clock.
    let (_clock, ticks) = sync_channel::<()>(0);
    while file.try_lock_shared().is_err() {
        if Instant::now() > deadline {
            return false;
        }
        let _ = ticks.recv_timeout(UPDATE_INTERVAL / 10);
    }
    let _ = file.unlock();
    true
}

/// Returns the references of the runs that are in progress, or were when their keepers were killed.
pub fn list(context: &Context) -> Vec<Reference> {
    let entries = std::fs::read_dir(folder(context)).into_iter().flatten().flatten();
    let reference = |name: &str| name.strip_suffix(".run").or(name.strip_suffix(".ending")).map(str::to_owned);
    let names = entries.filter_map(|entry| reference(entry.file_name().to_str()?));
    names.filter_map(|name| Reference::parse(&name).ok()).collect()
}

/// A run in progress, without its output.
pub struct RunningCommand {
    pub reference: Reference,
    pub title: String,
    pub started: Timestamp,
}

pub fn running(context: &Context) -> Vec<RunningCommand> {
    let one = |reference: Reference| {
        let files = BackgroundFiles::of(context, reference);
        let state = File::options().read(true).open(&files.state).ok()?;
        // The keeper holds the lock for as long as it lives, and writes the file only once.
        state.try_lock().err()?;
        let modified = state.metadata().and_then(|about| about.modified()).ok()?;
        let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let started = Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        Some(RunningCommand { reference, title: std::fs::read_to_string(&files.state).unwrap_or_default(), started })
    };
    list(context).into_iter().filter_map(one).collect()
}

/// Returns the output of a run in progress so far, or its end.
pub fn output_of(context: &Context, reference: Reference) -> BlobReader {
    BlobReader::of(std::fs::read(BackgroundFiles::of(context, reference).output).unwrap_or_default())
}

fn folder(context: &Context) -> PathBuf {
    context.project_folder().join("runs")
}

struct BackgroundFiles {
    /// Marks the run as in progress.
    state: PathBuf,
    /// The name that the same file has once the run was told to end.
    ending: PathBuf,
    output: PathBuf,
}

impl BackgroundFiles {
    fn of(context: &Context, reference: Reference) -> Self {
        let path = |ending: &str| folder(context).join(format!("{}.{ending}", reference.as_str()));
        Self { state: path("run"), ending: path("ending"), output: path("out") }
    }

    /// Creates the files, and locks the one that marks the run as in progress.
    fn make(&self, title: &str) -> std::io::Result<File> {
        let folder = self.state.parent().unwrap_or(Path::new("/"));
        private::folder(folder)?;
        let private = |path: &Path| private::open(path, private::options().create_new(true));
        private(&self.output)?;
        // The file gets its name only once it is locked; unlocked, it would look like that of a killed keeper.
        let unnamed = self.state.with_extension("new");
        let mut state = private(&unnamed)?;
        state.lock()?;
        let title = weir_core::redact::redact(title.as_bytes());
        state.write_all(&title.text)?;
        std::fs::rename(&unnamed, &self.state)?;
        Ok(state)
    }

    fn remove(&self) {
        // The file that marks the run has one of two names.
        for path in [&self.output, &self.state, &self.ending] {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("cannot use {}: {error}", path.display()))
        .hint("make sure that you own the folder and that the disk has free space")
}

/// Passes on the output of a run.
pub(super) type Tee = SyncSender<Vec<u8>>;
