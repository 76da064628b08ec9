//! The lines of a history: one for each event, and one for all files that were indexed at once.

use std::time::Duration;

use weir_core::run::{Ended, RunFacts};
use weir_core::{EntryKind, EventKind, Scope, WhyGone};
use weir_host::answer::{counted, duration, one_line};
use weir_host::error::CommandError;
use weir_host::when;
use weir_store::{HistoryFilter, Moment, Store};

/// How many events are read at once after the first page.
const PAGE_EVENTS: usize = 5_000;
const MAX_EVENTS: usize = 50_000;

pub(super) struct HistoryLine {
    /// The event, or the newest of several.
    pub(super) moment: Moment,
    /// How many files were indexed at once. 1 for any other event.
    pub(super) files: u64,
    /// The number of the oldest event.
    pub(super) last: i64,
}

/// Reads as many lines as the filter allows events.
pub(super) fn read(store: &Store, scope: &Scope, mut filter: HistoryFilter) -> Result<Vec<HistoryLine>, CommandError> {
    let (most, mut seen, mut lines) = (filter.limit, 0, Vec::<HistoryLine>::new());
    loop {
        let moments = store.history(scope, &filter)?;
        let is_end = moments.len() < filter.limit;
        seen += moments.len();
        for moment in moments {
            let last = moment.logged.seq;
            filter.before = Some(last);
            match lines.last_mut().filter(|line| line.has_room_for(&moment)) {
                Some(line) => (line.files, line.last) = (line.files + 1, last),
                None => lines.push(HistoryLine { moment, files: 1, last }),
            }
        }
        if is_end || lines.len() >= most || seen >= MAX_EVENTS {
            lines.truncate(most);
            return Ok(lines);
        }
        filter.limit = PAGE_EVENTS;
    }
}

impl HistoryLine {
    /// Whether an event is about a file that was indexed together with those of this line.
    fn has_room_for(&self, moment: &Moment) -> bool {
        is_indexed(&self.moment) && is_indexed(moment) && self.moment.logged.at == moment.logged.at
    }

    /// Returns the line as text. People see at a glance whether a run succeeded.
    pub(super) fn text(&self, is_for_person: bool) -> String {
        let Moment { logged, entry, gone, run, .. } = &self.moment;
        let what = match (entry, gone) {
            (Some((EntryKind::Document, title)), _) if self.files > 1 => {
                let files = counted(usize::try_from(self.files).unwrap_or(usize::MAX), "file", "files");
                format!("indexed {files}, the last is {}", one_line(title, 120))
            }
            (None, Some(_)) if self.files > 1 => format!("{} older versions of files replaced", self.files),
            (Some((kind, title)), _) => format!("{kind} {}", one_line(title, 120)),
            (None, Some(why)) => why.to_string(),
            (None, None) => one_line(&logged.event.text, 120),
        };
        let kind = match logged.event.kind {
            EventKind::Kept | EventKind::Gone => String::new(),
            other => format!("{other} "),
        };
        let (mark, ending) = run.as_ref().map(ending).unwrap_or_default();
        let mark = if is_for_person { mark } else { "" };
        let reference = logged.reference.filter(|_| self.files == 1).map(|reference| format!(" {reference}"));
        let reference = reference.unwrap_or_default();
        let work = logged.work.as_deref().map(|work| format!(" ({})", one_line(work, 40))).unwrap_or_default();
        format!("{} {} {mark}{kind}{what}{ending}{reference}{work}", logged.seq, when::show(logged.at))
    }
}

/// Whether an event is that a file was indexed, or that an older version of one was replaced.
fn is_indexed(moment: &Moment) -> bool {
    match &moment.entry {
        Some((kind, _)) => *kind == EntryKind::Document,
        None => moment.gone == Some(WhyGone::Replaced),
    }
}

/// Returns a mark for the result of a run, and how it ended.
fn ending(run: &RunFacts) -> (&'static str, String) {
    let took = duration(Duration::from_millis(run.millis));
    match (run.ended, run.exit_code) {
        (Ended::Exited, Some(0)) => ("✓ ", format!(" ({took})")),
        (Ended::Exited, Some(code)) => ("✗ ", format!(" (exit {code}, {took})")),
        (Ended::Lost, _) => ("✗ ", " (lost)".to_owned()),
        (ended, _) => ("✗ ", format!(" ({ended} after {took})")),
    }
}
