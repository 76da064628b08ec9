//! The report on an import.

use std::collections::{BTreeMap, BTreeSet};

use weir_clients::transcript::{Session, Skipped};
use weir_core::wording::counted;
use weir_core::{EntryKind, Event, EventKind, SessionKey, Timestamp};
use weir_host::answer::Answer;
use weir_host::when;
use weir_store::{ForeignRow, Past};

use super::ImportScope;
use super::export_report::{ExportReport, ImportedPlace, LeftRows};
use crate::replay::places::TranscriptLocation;

const MAX_NAMED_LINES: usize = 10;

#[derive(Default)]
pub(super) struct ImportReport {
    /// Whether it was a dry run.
    dry_run: bool,
    /// The number of items that were already recorded.
    pub known: usize,
    /// The number of sessions of other projects.
    pub elsewhere: usize,
    /// The number of sessions whose folder no longer exists.
    pub gone: usize,
    /// The number of sessions in projects or with clients for which Weir is off.
    pub off: usize,
    /// The number of files that are not transcripts.
    pub others: usize,
    /// Transcripts that could not be read, with the reason.
    pub unreadable: Vec<String>,
    /// What became of the rows of exports.
    pub export: ExportReport,
    sessions: BTreeSet<(String, String)>,
    kinds: BTreeMap<&'static str, usize>,
    summaries: usize,
    times: Option<(Timestamp, Timestamp)>,
    skipped: u64,
    lines: Vec<String>,
}

/// The result of an import, for programs.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ImportData {
    /// The number of sessions.
    sessions: usize,
    from: Option<String>,
    to: Option<String>,
    /// The number of events of each kind, and of outputs and pages of an export.
    kinds: BTreeMap<&'static str, usize>,
    /// The number of summaries that clients wrote.
    summaries: usize,
    /// The number of notes of an export.
    notes: usize,
    /// The number of events, summaries and notes.
    new: usize,
    already_there: usize,
    /// The number of transcripts of other projects.
    other_projects: usize,
    /// The number of transcripts whose folder no longer exists.
    folder_gone: usize,
    /// The number of transcripts of projects and clients for which Weir is off.
    off: usize,
    rows_skipped: u64,
    /// The first of these rows, as path and line, or as path and place in an export.
    lines_skipped: Vec<String>,
    /// The number of rows that an export marks as deleted.
    deleted: usize,
    /// Where the rows of an export went.
    places: Vec<ImportedPlace>,
    /// The rows of an export that were left out.
    left_out: Vec<LeftRows>,
    /// The number of files that are not transcripts.
    not_transcripts: usize,
    /// Transcripts that could not be read, with the reason.
    unreadable: Vec<String>,
    /// Whether nothing was imported because only a report was asked for.
    dry_run: bool,
}

/// The kinds that are reported by name.
const TOLD: &[(EventKind, &str, &str)] = &[
    (EventKind::Prompt, "prompt", "prompts"),
    (EventKind::Decision, "decision", "decisions"),
    (EventKind::Correction, "correction", "corrections"),
    (EventKind::Error, "error", "errors"),
    (EventKind::Fix, "fix", "fixes"),
    (EventKind::Git, "git command", "git commands"),
];

impl ImportReport {
    pub(super) fn new(dry_run: bool) -> Self {
        Self { dry_run, ..Self::default() }
    }

    pub(super) fn session(&mut self, session: &Session) {
        self.sessions.insert((session.client().name.to_owned(), session.key.clone()));
    }

    pub(super) fn count(&mut self, past: &[Past]) {
        for Past { at, events, summary } in past {
            if events.is_empty() && summary.is_none() {
                continue;
            }
            self.count_moment(*at, events);
            self.summaries += usize::from(summary.is_some());
        }
    }

    /// Counts a new row of an export, which belongs to `project` there and goes into a folder here.
    pub(super) fn count_row(&mut self, row: &ForeignRow, project: &str, into: &str) {
        if row.events.is_empty() && row.entry.is_none() {
            return;
        }
        self.count_moment(row.at, &row.events);
        let counts = self.export.at(project, into);
        counts.prompts += row.events.iter().filter(|event| event.kind == EventKind::Prompt).count();
        match &row.entry {
            Some(entry) if entry.note.is_some() => counts.notes += 1,
            Some(entry) if entry.kind == EntryKind::Said => {
                counts.summaries += 1;
                self.summaries += 1;
            }
            Some(entry) => *self.kinds.entry(entry.kind.as_str()).or_default() += 1,
            None => {}
        }
    }

    pub(super) fn exported_session(&mut self, session: &SessionKey) {
        self.sessions.insert((session.client.clone(), session.key.clone()));
    }

    /// Counts a row of an export that is not understood.
    pub(super) fn skipped_row(&mut self, found: &TranscriptLocation, place: &str) {
        self.skipped += 1;
        if self.lines.len() < MAX_NAMED_LINES {
            self.lines.push(format!("{}:{place}", found.path.display()));
        }
    }

    fn count_moment(&mut self, at: Timestamp, events: &[Event]) {
        let (first, last) = self.times.unwrap_or((at, at));
        self.times = Some((first.min(at), last.max(at)));
        for event in events {
            *self.kinds.entry(event.kind.as_str()).or_default() += 1;
        }
    }

    pub(super) fn skipped(&mut self, found: &TranscriptLocation, skipped: &Skipped) {
        self.skipped += skipped.count;
        let room = MAX_NAMED_LINES.saturating_sub(self.lines.len());
        let named = skipped.lines.iter().take(room).map(|line| format!("{}:{line}", found.path.display()));
        self.lines.extend(named);
    }

    pub(super) fn answer(self, whose: ImportScope) -> Answer<ImportData> {
        let mut lines = vec![self.headline()];
        if self.known > 0 {
            lines.push(format!("already recorded: {}", self.known));
        }
        lines.extend(self.export.lines());
        if self.elsewhere > 0 && whose == ImportScope::Project {
            let sessions = counted(self.elsewhere, "transcript", "transcripts");
            lines.push(format!("skipped {sessions} of other projects; `weir import --all` imports them too"));
        }
        if self.gone > 0 {
            let sessions = counted(self.gone, "transcript", "transcripts");
            lines.push(format!(
                "skipped {sessions}, because the folder they worked in does not exist; `weir import --here PATH` imports \
                 them into this project"
            ));
        }
        if self.off > 0 {
            let sessions = counted(self.off, "transcript", "transcripts");
            lines.push(format!("skipped {sessions}, because Weir is off for their project or client"));
        }
        if self.skipped > 0 {
            let rows = counted(self.skipped as usize, "row was", "rows were");
            lines.push(format!("{rows} not understood: {}", self.lines.join(", ")));
        }
        lines.extend(self.unreadable.iter().map(|why| format!("cannot read {why}")));
        let text = lines.join("\n");
        let (new, notes, deleted) = (self.all() + self.export.notes(), self.export.notes(), self.export.deleted);
        let (places, left_out) = self.export.data();
        let data = ImportData {
            sessions: self.sessions.len(),
            from: self.times.map(|(from, _)| when::show(from)),
            to: self.times.map(|(_, to)| when::show(to)),
            new,
            kinds: self.kinds,
            summaries: self.summaries,
            notes,
            already_there: self.known,
            other_projects: self.elsewhere,
            folder_gone: self.gone,
            off: self.off,
            rows_skipped: self.skipped,
            lines_skipped: self.lines,
            deleted,
            places,
            left_out,
            not_transcripts: self.others,
            unreadable: self.unreadable,
            dry_run: self.dry_run,
        };
        Answer::new(text, data)
    }

    fn all(&self) -> usize {
        self.kinds.values().sum::<usize>() + self.summaries
    }

    fn headline(&self) -> String {
        let sessions = counted(self.sessions.len(), "session", "sessions");
        let Some((from, to)) = self.times else {
            return match self.sessions.len() {
                0 => "no sessions to import".to_owned(),
                _ => format!("nothing new in {sessions}"),
            };
        };
        let kind = |(kind, one, many): &(EventKind, &str, &str)| {
            let count = self.kinds.get(kind.as_str()).copied().unwrap_or_default();
            (count > 0).then(|| counted(count, one, many))
        };
        let mut parts: Vec<String> = TOLD.iter().filter_map(kind).collect();
        if self.summaries > 0 {
            parts.push(counted(self.summaries, "summary", "summaries"));
        }
        if self.export.notes() > 0 {
            parts.push(counted(self.export.notes(), "note", "notes"));
        }
        if self.all() > 0 {
            parts.push(format!("{} in total", counted(self.all(), "event", "events")));
        }
        let verb = if self.dry_run { "would import" } else { "imported" };
        format!("{verb} {sessions}, {} to {}: {}", when::day(from), when::day(to), parts.join(", "))
    }
}
