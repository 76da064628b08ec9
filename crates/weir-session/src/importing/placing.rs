//! Puts rows of an export into the stores that they belong to.
//!
//! Invariants: a row is imported into the project that it belongs to, or is counted as left out; at most
//! [`MAX_WAITING_BYTES`] of text are held in memory.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use weir_context::{Context, cancelled};
use weir_core::{Level, Timestamp};
use weir_host::error::CommandError;
use weir_knowledge::projects;
use weir_store::{ForeignRow, FreshRows, RowMemory, Store};

use super::export_report::{LeftBecause, USER};
use super::{ImportJob, ImportScope};
use crate::replay::places::TranscriptLocation;

/// The maximum text of rows that wait to be written, in bytes.
const MAX_WAITING_BYTES: usize = 4 << 20;
const MAX_WAITING_ROWS: usize = 1_000;

/// Which store rows go to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct StoreName {
    level: Level,
    /// The key of the project; empty for the user's own store.
    project: String,
}

/// Rows of one project of the export that go to the same store.
struct Batch {
    context: Context,
    rows: Vec<ForeignRow>,
}

/// How much waits to be written.
#[derive(Default)]
struct WaitingRows {
    bytes: usize,
    count: usize,
}

enum Placement {
    Into(Box<Context>),
    Left(LeftBecause),
}

/// An export that is being imported.
pub(super) struct ExportImport<'a, 'b> {
    pub job: &'a mut ImportJob<'b>,
    pub found: &'a TranscriptLocation,
    /// The rows that wait to be written, by store and by the name of their project in the export.
    batches: BTreeMap<(StoreName, String), Batch>,
    waiting: WaitingRows,
    memories: HashMap<StoreName, RowMemory>,
    rows: usize,
}

impl<'a, 'b> ExportImport<'a, 'b> {
    pub(super) fn new(job: &'a mut ImportJob<'b>, found: &'a TranscriptLocation) -> Self {
        let (batches, memories) = (BTreeMap::new(), HashMap::new());
        Self { job, found, batches, waiting: WaitingRows::default(), memories, rows: 0 }
    }

    /// Adds a row to those that wait to be written, or counts it as left out. `project` is the name of its project in
    /// the export, and `folder` the folder that it says it is in.
    pub(super) fn put(
        &mut self,
        row: ForeignRow,
        project: String,
        folder: Option<PathBuf>,
    ) -> Result<(), CommandError> {
        self.rows += 1;
        if self.job.order.since.is_some_and(|since| row.at < since) {
            return Ok(());
        }
        let context = match self.placement(&project, folder) {
            Placement::Into(context) => *context,
            Placement::Left(because) => {
                self.job.report.export.leave(&project, because);
                return Ok(());
            }
        };
        if let Some((session, _)) = &row.session {
            self.job.report.exported_session(session);
        }
        self.waiting.bytes += row.entry.as_ref().map_or(0, |entry| entry.text.len());
        self.waiting.count += 1;
        let level = row.entry.as_ref().map_or(Level::Project, |entry| entry.level);
        let key = if level == Level::User { String::new() } else { context.project().key.0.clone() };
        let batch = (StoreName { level, project: key }, project);
        self.batches.entry(batch).or_insert_with(|| Batch { context, rows: Vec::new() }).rows.push(row);
        match self.waiting.bytes >= MAX_WAITING_BYTES || self.waiting.count >= MAX_WAITING_ROWS {
            true => self.write(),
            false => Ok(()),
        }
    }

    /// Returns the time of a row: the one that it has, or that of the file.
    pub(super) fn time(&self, at: Option<Timestamp>) -> Timestamp {
        // A time in the future would rank above everything else forever.
        at.unwrap_or_else(|| self.found.changed_at()).clamp(Timestamp(0), self.job.now)
    }

    /// Returns where a row belongs: its folder decides, then the name of its project.
    fn placement(&mut self, project: &str, folder: Option<PathBuf>) -> Placement {
        let into = |context: Option<Context>| {
            context.map_or(Placement::Left(LeftBecause::NoFolder), |context| Placement::Into(Box::new(context)))
        };
        let is_asked_for = |wanted: &String| is_same_name(wanted.trim(), project);
        if self.job.order.whose == ImportScope::Here || self.job.order.project_name.as_ref().is_some_and(is_asked_for) {
            return into(self.job.here());
        }
        match folder.map_or(Ok(None), |folder| self.job.open(&folder)) {
            Ok(Some(context)) => {
                let is_here = context.project().key == self.job.context.project().key;
                match is_here || self.job.order.whose == ImportScope::All {
                    true => into(Some(context)),
                    false => Placement::Left(LeftBecause::OtherProject),
                }
            }
            Ok(None) if self.is_this_project(project) => into(self.job.here()),
            // A folder that cannot be read now may be that of another project. The next import looks again.
            Ok(None) | Err(_) => Placement::Left(LeftBecause::NoFolder),
        }
    }

    fn is_this_project(&self, wanted: &str) -> bool {
        let project = self.job.context.project();
        let root = project.root.file_name().map(|name| name.to_string_lossy());
        !wanted.is_empty()
            && (is_same_name(&projects::name(project.own_key()), wanted)
                || root.is_some_and(|root| is_same_name(&root, wanted)))
    }

    /// Writes the rows that wait.
    pub(super) fn write(&mut self) -> Result<(), CommandError> {
        self.waiting = WaitingRows::default();
        for ((store, project), batch) in std::mem::take(&mut self.batches) {
            self.write_batch(&store, &project, batch)?;
        }
        self.job.context.report_progress(&format!("importing the export: {} rows", self.rows));
        match self.job.context.cancelled().is_cancelled() {
            true => Err(cancelled()),
            false => Ok(()),
        }
    }

    fn write_batch(&mut self, store: &StoreName, project: &str, batch: Batch) -> Result<(), CommandError> {
        let Batch { context, rows } = batch;
        let (scope, level, dry_run) = (context.scope(), store.level, self.job.order.dry_run);
        let memory = self.memories.entry(store.clone()).or_default();
        let folder = if level == Level::User { context.user_folder() } else { context.project_folder() };
        // A dry run creates no store.
        let fresh = match dry_run && !folder.join("log.db").exists() {
            true => FreshRows::of(None, &scope, rows, memory)?,
            false => context.with_stores_here(|open| {
                let store: &Store = open.store(level)?;
                Ok(FreshRows::of(Some(store), &scope, rows, memory)?)
            })?,
        };
        let into = match level {
            Level::User => USER.to_owned(),
            _ => context.project().root.display().to_string(),
        };
        let report = &mut self.job.report;
        fresh.rows().for_each(|row| report.count_row(row, project, &into));
        report.known += fresh.known();
        if !dry_run {
            let now = self.job.now;
            let write = context.with_stores_here(|open| Ok(open.store(level)?.import_rows(&scope, fresh, now)?));
            self.job.report.export.without_topic += write?;
        }
        Ok(())
    }
}

/// Whether two names mean the same project. Names in engram are in lower case.
pub(super) fn is_same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
