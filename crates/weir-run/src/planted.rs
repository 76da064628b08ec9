//! Finds files that a run plants to be executed later outside the sandbox: checks before, during and after the run, and
//! moves them away.
//!
//! Invariant: the state before the run is recorded outside the run's reach before the run begins, so that another
//! process can finish the audit if this one is killed ([`super::unfinished`]).

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use weir_context::Context;
use weir_host::answer::one_line;
use weir_host::error::CommandError;
use weir_host::mutex::lock;
use weir_host::os::{self, Awaited};
use weir_policy::audit::names::INSTRUCTIONS;
use weir_policy::audit::{self, Before, Found, Kind, Planted, Written};
use weir_policy::masks::Tree;
use weir_runner::{Level, Spec, Stopper};

use super::environment::search_path;
use super::masks::{too_large, tree};
use super::unfinished::{AuditDepth, Journal, Quarantine};

/// The interval at which the top level of the folders that a run may change is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The time of the first check. To stop watching a folder takes the kernel longer than a short run.
const FIRST_CHECK: Duration = Duration::from_millis(30);
/// The shortest time between two checks.
const MIN_PAUSE: Duration = Duration::from_millis(2);
/// Complete checks are spaced so that they take at most this fraction (1/20) of the time.
const CHECK_SPACING: u32 = 20;
const MAX_REMARKS: usize = 5;
const MAX_NAMES: usize = 8;

/// Watches for planted files from before a run begins until it is over.
pub(super) struct Watch {
    context: Context,
    before: Arc<Before>,
    began: SystemTime,
    quarantine: Quarantine,
    journal: std::io::Result<Journal>,
    seen: Arc<Mutex<Seen>>,
    /// The checking thread, which ends when the other part is dropped.
    looking: Option<(Box<dyn Send>, JoinHandle<()>)>,
}

/// What was found so far.
#[derive(Default)]
struct Seen {
    moved: Vec<QuarantinedFile>,
    /// Folders that the run had closed, and why they could not be opened, if they could not.
    closed: BTreeMap<PathBuf, std::io::Result<()>>,
}

/// A planted file that was moved away, or could not be.
struct QuarantinedFile {
    planted: Planted,
    to: std::io::Result<PathBuf>,
}

/// The file that was made again after it had been moved away, if there is one.
pub(super) type PlantedAgain = Arc<OnceLock<PathBuf>>;

impl Watch {
    /// Checks before the run, and records what exists.
    pub(super) fn begin(context: &Context, writable: &[PathBuf]) -> Result<Self, CommandError> {
        let before = audit::take(&mut tree(context), writable, SystemTime::now()).map_err(too_large)?;
        let quarantine = Quarantine::of(context);
        let journal = Journal::begin(&context.paths().data, &quarantine, &before);
        Ok(Self {
            context: context.clone(),
            before: Arc::new(before),
            began: audit::clock(SystemTime::now()),
            quarantine,
            journal,
            seen: Arc::default(),
            looking: None,
        })
    }

    /// Starts to check: the top of the folders as soon as something appears there, everything at intervals. A run that
    /// makes a file again that was moved away is stopped, since nothing honest does that.
    pub(super) fn start_watching(&mut self, stopper: &Stopper) -> PlantedAgain {
        let again = PlantedAgain::default();
        let Ok((stop, mut watch)) = os::watch_folders() else { return again };
        let (context, before) = (self.context.clone(), Arc::clone(&self.before));
        let (quarantine, seen) = (self.quarantine.clone(), Arc::clone(&self.seen));
        let (stopper, found_again) = (stopper.clone(), Arc::clone(&again));
        let look = move || {
            let mut next = Instant::now() + CHECK_INTERVAL;
            // A run that is over by then is checked only once.
            if watch.pause(FIRST_CHECK) == Awaited::Stop {
                return;
            }
            watch.begin(before.roots());
            move_away(&quarantine, audit::glance(&before), &seen);
            while watch.wait(CHECK_INTERVAL) == Awaited::Look {
                let started = Instant::now();
                let found = match started >= next {
                    true => look_everywhere(&before, &mut tree(&context), &seen).planted,
                    false => audit::glance(&before),
                };
                if started >= next {
                    next = Instant::now() + (started.elapsed() * CHECK_SPACING).max(CHECK_INTERVAL);
                }
                move_away(&quarantine, found, &seen);
                if let Some(path) = planted_again(&lock(&seen).moved) {
                    let _ = found_again.set(path.to_owned());
                    stopper.stop();
                }
                if watch.pause(MIN_PAUSE) == Awaited::Stop {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("audit".to_owned()).spawn(look);
        // Without a thread, the only check is at the end of the run.
        self.looking = thread.ok().map(|thread| (Box::new(stop) as Box<dyn Send>, thread));
        again
    }

    /// Checks after the run, moves away what would be executed outside later, and returns remarks for the caller.
    pub(super) fn end(mut self, spec: &Spec) -> Vec<String> {
        if let Some((stop, thread)) = self.looking.take() {
            drop(stop);
            let _ = thread.join();
        }
        let Found { planted, incomplete, .. } = look_everywhere(&self.before, &mut tree(&self.context), &self.seen);
        let left = move_away(&self.quarantine, planted, &self.seen);
        let seen = std::mem::take(&mut *lock(&self.seen));
        let say = AuditRemarks { root: &self.context.project().root, spec: Some(spec) };
        let mut remarks = say.all(&seen);
        remarks.extend(say.left(&left));
        remarks.extend(say.written(&self.written()));
        remarks.extend(incomplete.map(|error| {
            format!("{error}: the deepest folders could not be checked; remove what the run created and check the rest")
        }));
        match self.journal {
            Ok(journal) => journal.end(),
            Err(error) => remarks.push(format!(
                "cannot record the state before the run: {error}; if the run had been killed, its leftovers would not \
                 have been checked"
            )),
        }
        remarks
    }
}

impl Watch {
    /// Finds what was written during the run that no list names.
    fn written(&self) -> Written {
        let path = search_path(&self.context);
        let folders: Vec<PathBuf> = std::env::split_paths(&path).filter_map(|it| it.canonicalize().ok()).collect();
        audit::written_since(&mut tree(&self.context), self.before.roots(), self.began, &folders)
    }
}

/// Finishes an interrupted audit. Returns remarks on what was found.
pub(super) fn finish(before: &Before, quarantine: &Quarantine, depth: AuditDepth) -> Vec<String> {
    let seen = Mutex::default();
    let found = match depth {
        AuditDepth::Full => {
            // The first look finds what is to be opened for the second.
            open_closed(&audit::compare_from_scratch(before, SystemTime::now()).closed, before, &seen);
            audit::compare_from_scratch(before, SystemTime::now()).planted
        }
        AuditDepth::TopLevel => audit::glance(before),
    };
    move_away(quarantine, found, &seen);
    let root = before.roots().first().cloned().unwrap_or_default();
    AuditRemarks { root: &root, spec: None }.all(&seen.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Checks everything. A folder that the run closed is opened first: what is in it could be used by name.
fn look_everywhere(before: &Before, tree: &mut Tree, seen: &Mutex<Seen>) -> Found {
    // Behind a closed folder there may be another.
    const MAX_ROUNDS: usize = 16;
    let mut found = audit::compare(before, tree, SystemTime::now());
    for _ in 0..MAX_ROUNDS {
        if !open_closed(&found.closed, before, seen) {
            break;
        }
        found = audit::compare(before, tree, SystemTime::now());
    }
    found
}

/// Opens folders that the run closed. Returns whether one was opened.
fn open_closed(closed: &[PathBuf], before: &Before, seen: &Mutex<Seen>) -> bool {
    let mut has_opened = false;
    for folder in closed {
        let inside = |folder: &&Path| before.roots().iter().any(|root| folder.starts_with(root) && *folder != root);
        let above: Vec<&Path> = folder.ancestors().filter(inside).collect();
        let opened = above.into_iter().rev().try_for_each(|folder| {
            has_opened |= os::open_up(folder)?.is_some();
            Ok(())
        });
        lock(seen).closed.insert(folder.clone(), opened);
    }
    has_opened
}

/// Moves away the files that must be moved, and returns the rest.
fn move_away(quarantine: &Quarantine, found: Vec<Planted>, seen: &Mutex<Seen>) -> Vec<Planted> {
    let mut left = Vec::new();
    for planted in found {
        if planted.kind != Kind::Quarantine || planted.changed {
            left.push(planted);
            continue;
        }
        let to = quarantine.take(&planted.path);
        let moved = &mut lock(seen).moved;
        // A file that could not be moved is found again at the next check.
        moved.retain(|known| known.to.is_ok() || known.planted.path != planted.path);
        moved.push(QuarantinedFile { planted, to });
    }
    left
}

/// Returns a path from which something was moved away twice.
fn planted_again(moved: &[QuarantinedFile]) -> Option<&Path> {
    let mut known = HashSet::new();
    moved
        .iter()
        .filter(|moved| moved.to.is_ok())
        .map(|moved| moved.planted.path.as_path())
        .find(|path| !known.insert(*path))
}

/// Words the remarks on what was found.
struct AuditRemarks<'a> {
    root: &'a Path,
    /// The specification of the run, if known.
    spec: Option<&'a Spec>,
}

impl AuditRemarks<'_> {
    fn all(&self, seen: &Seen) -> Vec<String> {
        let mut remarks = self.moved(&seen.moved);
        if let Some(path) = planted_again(&seen.moved) {
            remarks.push(format!(
                "the run was ended because it made {} again after Weir had moved it away; files that other programs run \
                 by themselves cannot be made in a run",
                self.shown(path)
            ));
        }
        let named = |is_open: bool| {
            let folders = seen.closed.iter().filter(|(_, opened)| opened.is_ok() == is_open);
            folders.take(MAX_NAMES).map(|(folder, _)| self.shown(folder)).collect::<Vec<_>>().join(", ")
        };
        let (open, closed) = (named(true), named(false));
        if !open.is_empty() {
            remarks.push(format!("the run had closed folders to readers, which were opened to check them: {open}"));
        }
        if !closed.is_empty() {
            remarks.push(format!("folders that the run closed to readers could not be checked; remove them: {closed}"));
        }
        remarks
    }

    fn moved(&self, moved: &[QuarantinedFile]) -> Vec<String> {
        let mut remarks: Vec<String> = moved.iter().take(MAX_REMARKS).map(|moved| self.moved_one(moved)).collect();
        let rest = &moved[moved.len().min(MAX_REMARKS)..];
        if !rest.is_empty() {
            let failed = rest.iter().filter(|moved| moved.to.is_err()).count();
            let failed = if failed > 0 { format!(", of which {failed} could not be moved") } else { String::new() };
            remarks.push(format!("and {} more like this{failed}", rest.len()));
        }
        remarks
    }

    fn moved_one(&self, QuarantinedFile { planted, to }: &QuarantinedFile) -> String {
        let (shown, what) = (self.shown(&planted.path), &planted.what);
        match to {
            Ok(to) => format!("{shown} ({what}) appeared during the run: moved to {}", to.display()),
            Err(error) => {
                format!("{shown} ({what}) appeared during the run and could not be moved away: {error}; remove it")
            }
        }
    }

    /// Returns a line about changes by others, and a line about what the run created or may have changed.
    fn left(&self, left: &[Planted]) -> Vec<String> {
        let (others, run): (Vec<&Planted>, Vec<&Planted>) = left.iter().partition(|found| self.is_not_the_runs(found));
        let mut lines = Vec::new();
        if !others.is_empty() {
            lines.push(format!(
                "changed during the run, but not by the run, which could only read it: {}",
                self.list(&others)
            ));
        }
        if !run.is_empty() {
            let list = self.list(&run);
            lines.push(format!("the run created or may have changed files that other programs run or act on: {list}"));
        }
        lines
    }

    /// Returns a line about programs, scripts and hidden files that no list names.
    fn written(&self, written: &Written) -> Option<String> {
        let all = audit::summary(&written.files, |path| self.shown(path))?;
        let cut = if written.is_cut { "; there was too much to look at everything" } else { "" };
        Some(format!("programs, scripts and hidden files written during the run: {all}{cut}"))
    }

    /// Lists the first files, and all that speak to a model.
    fn list(&self, found: &[&Planted]) -> String {
        let (speaking, others): (Vec<&Planted>, Vec<&Planted>) =
            found.iter().partition(|found| found.what == INSTRUCTIONS);
        let first = others.iter().take(MAX_NAMES).copied();
        let one = |found: &Planted| {
            let new = if found.changed { "" } else { "new, " };
            format!("{} ({new}{})", self.shown(&found.path), found.what)
        };
        let named: Vec<String> = speaking.into_iter().chain(first).map(one).collect();
        let more = match others.len().saturating_sub(MAX_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", named.join(", "))
    }

    /// Whether the run certainly could not change a file: the file was mounted read-only and has no other name.
    fn is_not_the_runs(&self, found: &Planted) -> bool {
        let Some(spec) = self.spec.filter(|spec| spec.level == Level::Full && found.changed) else { return false };
        let one_name = found.path.symlink_metadata().is_ok_and(|about| about.is_file() && os::link_count(&about) == 1);
        one_name && spec.read_only.iter().any(|path| found.path.starts_with(path))
    }

    /// Shortens a path to one line. The run chooses the name, which must not look like lines of ours.
    fn shown(&self, path: &Path) -> String {
        one_line(&path.strip_prefix(self.root).unwrap_or(path).display().to_string(), 120)
    }
}
