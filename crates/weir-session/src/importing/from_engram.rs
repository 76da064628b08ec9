//! Imports an export of engram: observations as notes, prompts as events of their session, and summaries of sessions.
//!
//! Invariants: an observation is what a model wrote, and only what engram recorded as a prompt is the user's; of the
//! export, only the sessions are held in memory.

mod rows;

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use weir_core::Timestamp;
use weir_host::answer::one_line;
use weir_host::error::CommandError;
use weir_store::ForeignRow;

use super::ImportJob;
use super::placing::{ExportImport, is_same_name};
use crate::engram::export::{self, ExportRow, Section, SessionRow};
use crate::replay::places::TranscriptLocation;
use rows::ConvertedRow;

const MAX_SESSIONS: usize = 200_000;
/// The maximum length of a path, in bytes. A longer one names no folder.
const MAX_PATH_BYTES: usize = 4 << 10;
/// The maximum length of the names of sessions and projects, in characters.
const MAX_NAME_CHARS: usize = 200;

pub(super) fn import(job: &mut ImportJob<'_>, found: &TranscriptLocation) -> Result<(), CommandError> {
    job.report.export.program = "engram";
    let sessions = match sessions_of(found) {
        Ok(sessions) => sessions,
        Err(error) => {
            job.report.unreadable.push(format!("{}: {error}", found.path.display()));
            return Ok(());
        }
    };
    let mut import = EngramImport { import: ExportImport::new(job, found), sessions };
    let mut failed = None;
    let read = found.open().and_then(|input| {
        export::read(input, &mut |row| match import.take(row) {
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
    import.import.write()?;
    if let Err(error) = read {
        // Everything before the error is imported.
        import.import.job.report.unreadable.push(format!("{} to its end: {error}", found.path.display()));
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

struct EngramImport<'a, 'b> {
    import: ExportImport<'a, 'b>,
    sessions: HashMap<String, ExportedSession>,
}

impl EngramImport<'_, '_> {
    fn take(&mut self, row: ExportRow) -> Result<(), CommandError> {
        let place = format!("{}[{}]", row.section.as_str(), row.position);
        match rows::convert(row, &self.import) {
            ConvertedRow::Nothing => Ok(()),
            ConvertedRow::Deleted => {
                self.import.job.report.export.deleted += 1;
                Ok(())
            }
            ConvertedRow::Unknown => {
                self.import.job.report.skipped_row(self.import.found, &place);
                Ok(())
            }
            ConvertedRow::Row { row, project } => self.put(*row, &project),
        }
    }

    fn put(&mut self, mut row: ForeignRow, project: &str) -> Result<(), CommandError> {
        let session = row.session.as_ref().and_then(|(session, _)| self.sessions.get(&session.key));
        let of_session = session.map(|session| session.project.clone());
        let project = if project.is_empty() { of_session.unwrap_or_default() } else { name(project) };
        // The folder of a session says nothing about what it saved for another project.
        let own = session.filter(|session| is_same_name(&session.project, &project));
        let folder = own.and_then(|session| session.folder.clone());
        let began = session.and_then(|session| session.began);
        if let Some((_, at)) = &mut row.session {
            *at = began.unwrap_or(row.at).min(row.at).max(Timestamp(0));
        }
        self.import.put(row, project, folder)
    }
}
