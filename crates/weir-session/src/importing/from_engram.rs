//! Imports an export of engram: observations as notes, prompts as events of their session, and summaries of sessions.
//!
//! Invariants: an observation is what a model wrote, and only what engram recorded as a prompt is the user's; a row is
//! imported into the project that it belongs to, or is counted as left out; at most [`MAX_WAITING_BYTES`] of text and
//! the sessions are held in memory.

mod rows;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use weir_context::{Context, cancelled};
use weir_core::{Level, Timestamp};
use weir_host::answer::one_line;
use weir_host::error::CommandError;
use weir_knowledge::projects;
use weir_store::{ForeignRow, FreshRows, RowMemory, Store};

use super::export_report::{LeftBecause, USER};
use super::{ImportJob, ImportScope};
use crate::engram::export::{self, ExportRow, Section, SessionRow};
use crate::replay::places::TranscriptLocation;
use rows::ConvertedRow;

/// The maximum text of rows that wait to be written, in bytes.
const MAX_WAITING_BYTES: usize = 4 << 20;
const MAX_WAITING_ROWS: usize = 1_000;
const MAX_SESSIONS: usize = 200_000;
/// The maximum length of a path, in bytes. A longer one names no folder.
const MAX_PATH_BYTES: usize = 4 << 10;
/// The maximum length of the names of sessions and projects, in characters.
const MAX_NAME_CHARS: usize = 200;

pub(super) fn import(job: &mut ImportJob<'_>, found: &TranscriptLocation) -> Result<(), CommandError> {
    let sessions = match sessions_of(found) {
        Ok(sessions) => sessions,
        Err(error) => {
            job.report.unreadable.push(format!("{}: {error}", found.path.display()));
            return Ok(());
        }
    };
    let mut import = ExportImport { job, found, sessions, batches: BTreeMap::new(), memories: HashMap::new(), rows: 0 };
    let mut waiting = WaitingRows::default();
    let mut failed = None;
    let read = found.open().and_then(|input| {
        export::read(input, &mut |row| match import.take(row, &mut waiting) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    import.write()?;
    if let Err(error) = read {
        // Everything before the error is imported.
        import.job.report.unreadable.push(format!("{} to its end: {error}", found.path.display()));
    }
    Ok(())
}

fn sessions_of(found: &TranscriptLocation) -> io::Result<HashMap<String, ExportedSession>> {
    let mut sessions = HashMap::new();
    let mut is_full = false;
    export::read(found.open()?, &mut |row| {
        if row.section != Section::Sessions {
            // There is one list of sessions.
            return if sessions.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        }
        is_full = sessions.len() >= MAX_SESSIONS;
        if is_full {
            return ControlFlow::Break(());
        }
        if let Some(row) = row.parse::<SessionRow>() {
            sessions.insert(name(&row.id), ExportedSession::of(&row));
        }
        ControlFlow::Continue(())
    })?;
    match is_full {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, format!("it has more than {MAX_SESSIONS} sessions"))),
        false => Ok(sessions),
    }
}

/// Returns a name of the export as it is used here.
fn name(text: &str) -> String {
    one_line(text.trim(), MAX_NAME_CHARS)
}

struct ExportedSession {
    project: String,
    folder: Option<PathBuf>,
    began: Option<Timestamp>,
}

impl ExportedSession {
    fn of(row: &SessionRow) -> Self {
        let folder = row.directory.as_deref().filter(|path| path.len() <= MAX_PATH_BYTES).map(PathBuf::from);
        Self {
            project: row.project.as_deref().map(name).unwrap_or_default(),
            folder: folder.filter(|folder| folder.is_absolute()),
            began: row.began(),
        }
    }
}

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

struct ExportImport<'a, 'b> {
    job: &'a mut ImportJob<'b>,
    found: &'a TranscriptLocation,
    sessions: HashMap<String, ExportedSession>,
    /// The rows that wait to be written, by store and by the name of their project in the export.
    batches: BTreeMap<(StoreName, String), Batch>,
    memories: HashMap<StoreName, RowMemory>,
    rows: usize,
}

impl ExportImport<'_, '_> {
    fn take(&mut self, row: ExportRow, waiting: &mut WaitingRows) -> Result<(), CommandError> {
        self.rows += 1;
        let place = format!("{}[{}]", row.section.as_str(), row.position);
        match rows::convert(row, self) {
            ConvertedRow::Nothing => {}
            ConvertedRow::Deleted => self.job.report.export.deleted += 1,
            ConvertedRow::Unknown => self.job.report.skipped_row(self.found, &place),
            ConvertedRow::Row { row, project } => {
                waiting.bytes += row.entry.as_ref().map_or(0, |entry| entry.text.len());
                waiting.count += 1;
                self.put(*row, &project);
            }
        }
        if waiting.bytes >= MAX_WAITING_BYTES || waiting.count >= MAX_WAITING_ROWS {
            *waiting = WaitingRows::default();
            self.write()?;
        }
        Ok(())
    }

    /// Adds a row to those that wait to be written, or counts it as left out.
    fn put(&mut self, mut row: ForeignRow, project: &str) {
        if self.job.order.since.is_some_and(|since| row.at < since) {
            return;
        }
        let key = row.session.as_ref().map(|(session, _)| session.key.clone());
        let session = key.as_ref().and_then(|key| self.sessions.get(key));
        let (began, of_session) = (session.and_then(|session| session.began), session.map(|session| &session.project));
        let project = if project.is_empty() { of_session.cloned().unwrap_or_default() } else { name(project) };
        let context = match self.placement(key.as_deref(), &project) {
            Placement::Into(context) => *context,
            Placement::Left(because) => return self.job.report.export.leave(&project, because),
        };
        if let Some((session, at)) = &mut row.session {
            *at = began.unwrap_or(row.at).min(row.at).max(Timestamp(0));
            self.job.report.exported_session(&session.key);
        }
        let level = row.entry.as_ref().map_or(Level::Project, |entry| entry.level);
        let key = if level == Level::User { String::new() } else { context.project().key.0.clone() };
        let batch = (StoreName { level, project: key }, project);
        self.batches.entry(batch).or_insert_with(|| Batch { context, rows: Vec::new() }).rows.push(row);
    }

    /// Returns where a row belongs: the folder of its session decides, then the name of its project.
    fn placement(&mut self, session: Option<&str>, project: &str) -> Placement {
        let into = |context: Option<Context>| {
            context.map_or(Placement::Left(LeftBecause::NoFolder), |context| Placement::Into(Box::new(context)))
        };
        let is_asked_for = |wanted: &String| is_same_name(wanted.trim(), project);
        if self.job.order.whose == ImportScope::Here || self.job.order.project_name.as_ref().is_some_and(is_asked_for) {
            return into(self.job.here());
        }
        let session = session.and_then(|key| self.sessions.get(key));
        // The folder of a session says nothing about what it saved for another project.
        let own = session.filter(|session| is_same_name(&session.project, project));
        let folder = own.and_then(|session| session.folder.clone());
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

    fn write(&mut self) -> Result<(), CommandError> {
        for ((store, project), batch) in std::mem::take(&mut self.batches) {
            self.write_batch(&store, &project, batch)?;
        }
        self.job.context.report_progress(&format!("importing engram's export: {} rows", self.rows));
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
fn is_same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
