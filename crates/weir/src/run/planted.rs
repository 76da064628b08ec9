//! Finds files that a run plants to be executed later outside the sandbox: checks before, during and after the run, and
//! moves them away.
//!
//! Invariant: the state before the run is recorded outside the run's reach before the run begins, so that another
//! process can finish the audit if this one is killed ([`super::unfinished`]).

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use weir_policy::audit::{self, Before, Found, Kind, Planted};
use weir_runner::{Level, Spec};

use super::masks::{too_large, tree};
use super::unfinished::{AuditDepth, Journal, Quarantine};
use crate::answer::one_line;
use crate::context::Context;
use crate::error::CommandError;
use crate::mutex::lock;
use crate::os;

/// The interval at which the top level of the folders that a run may change is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Complete checks are spaced so that they take at most this fraction (1/20) of the time.
const CHECK_SPACING: u32 = 20;
/// The maximum number of remarks about planted files.
const MAX_REMARKS: usize = 5;
/// The maximum number of changed files that are named.
const MAX_NAMES: usize = 8;

/// Watches for planted files from before a run begins until it is over.
pub(super) struct Watch {
    context: Context,
    before: Arc<Before>,
    quarantine: Quarantine,
    journal: std::io::Result<Journal>,
    moved: Arc<Mutex<Vec<QuarantinedFile>>>,
    /// The checking thread, which ends when the sender is dropped.
    looking: Option<(Sender<()>, JoinHandle<()>)>,
}

/// A planted file that was moved away, or could not be.
struct QuarantinedFile {
    planted: Planted,
    to: std::io::Result<PathBuf>,
}

impl Watch {
    /// Checks before the run, and records what exists.
    pub(super) fn begin(context: &Context, writable: &[PathBuf]) -> Result<Self, CommandError> {
        let before = audit::take(&mut tree(context), writable, SystemTime::now()).map_err(too_large)?;
        let quarantine = Quarantine::of(context);
        let journal = Journal::begin(&context.paths().data, &quarantine, &before);
        Ok(Self {
            context: context.clone(),
            before: Arc::new(before),
            quarantine,
            journal,
            moved: Arc::default(),
            looking: None,
        })
    }

    /// Starts to check at intervals.
    pub(super) fn start_watching(&mut self) {
        let (stop, stopped) = channel();
        let (context, before) = (self.context.clone(), Arc::clone(&self.before));
        let (quarantine, moved) = (self.quarantine.clone(), Arc::clone(&self.moved));
        let look = move || {
            let mut next = Instant::now() + CHECK_INTERVAL;
            while stopped.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let mut found = audit::glance(&before);
                let started = Instant::now();
                if started >= next {
                    found = audit::compare(&before, &mut tree(&context), SystemTime::now()).planted;
                    next = Instant::now() + (started.elapsed() * CHECK_SPACING).max(CHECK_INTERVAL);
                }
                move_away(&quarantine, found, &moved);
            }
        };
        let thread = std::thread::Builder::new().name("audit".to_owned()).spawn(look);
        // Without a thread, the only check is at the end of the run.
        self.looking = thread.ok().map(|thread| (stop, thread));
    }

    /// Checks after the run, moves away what would be executed outside later, and returns remarks for the caller.
    pub(super) fn end(mut self, spec: &Spec) -> Vec<String> {
        if let Some((stop, thread)) = self.looking.take() {
            drop(stop);
            let _ = thread.join();
        }
        let Found { planted, incomplete } = audit::compare(&self.before, &mut tree(&self.context), SystemTime::now());
        let left = move_away(&self.quarantine, planted, &self.moved);
        let mut moved = lock(&self.moved);
        let say = AuditRemarks { root: &self.context.project().root, spec: Some(spec) };
        let mut remarks = say.moved(&moved.split_off(0));
        remarks.extend(say.left(&left));
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

/// Finishes an interrupted audit. Returns remarks on what was found.
pub(super) fn finish(before: &Before, quarantine: &Quarantine, depth: AuditDepth) -> Vec<String> {
    let found = match depth {
        AuditDepth::Full => audit::compare_from_scratch(before, SystemTime::now()).planted,
        AuditDepth::TopLevel => audit::glance(before),
    };
    let moved = Mutex::default();
    move_away(quarantine, found, &moved);
    let root = before.roots().first().cloned().unwrap_or_default();
    AuditRemarks { root: &root, spec: None }.moved(&moved.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Moves away the files that must be moved, and returns the rest.
fn move_away(quarantine: &Quarantine, found: Vec<Planted>, moved: &Mutex<Vec<QuarantinedFile>>) -> Vec<Planted> {
    let mut left = Vec::new();
    for planted in found {
        if planted.kind != Kind::Quarantine || planted.changed {
            left.push(planted);
            continue;
        }
        let to = quarantine.take(&planted.path);
        let mut moved = lock(moved);
        // A file that could not be moved is found again at the next check.
        moved.retain(|known| known.to.is_ok() || known.planted.path != planted.path);
        moved.push(QuarantinedFile { planted, to });
    }
    left
}

/// Words the remarks on what was found.
struct AuditRemarks<'a> {
    root: &'a Path,
    /// The specification of the run, if known.
    spec: Option<&'a Spec>,
}

impl AuditRemarks<'_> {
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

    fn list(&self, found: &[&Planted]) -> String {
        let one = |found: &&Planted| {
            let new = if found.changed { "" } else { "new, " };
            format!("{} ({new}{})", self.shown(&found.path), found.what)
        };
        let named: Vec<String> = found.iter().take(MAX_NAMES).map(one).collect();
        let more = match found.len().saturating_sub(MAX_NAMES) {
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
