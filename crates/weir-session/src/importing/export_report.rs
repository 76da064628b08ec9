//! What became of the rows of an export: where they went, and which were left out.

use std::collections::BTreeMap;

use weir_core::wording::{counted, one_line};

/// The maximum number of projects that are named among those that were left out.
const MAX_NAMED_PROJECTS: usize = 10;

/// The name of the place of the user's own notes.
pub(super) const USER: &str = "user";

#[derive(Default)]
pub(super) struct ExportReport {
    /// The program that wrote the export.
    pub program: &'static str,
    /// The number of rows that the other program has deleted.
    pub deleted: usize,
    /// The number of notes that newer ones in the export have superseded.
    pub superseded: usize,
    /// The number of notes that were imported without their topic.
    pub without_topic: usize,
    /// What was imported, by the name of the project in the export and where it went.
    places: BTreeMap<(String, String), RowCounts>,
    /// The number of rows that were left out, by the name of the project and the reason.
    left: BTreeMap<(String, LeftBecause), usize>,
}

/// The numbers of imported rows.
#[derive(Default)]
pub(super) struct RowCounts {
    pub notes: usize,
    pub prompts: usize,
    pub summaries: usize,
}

/// Why a row was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeftBecause {
    /// Its folder belongs to another project on this machine.
    OtherProject,
    /// Its folder is not on this machine, and this project has another name.
    NoFolder,
}

/// Where rows of an export went.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct ImportedPlace {
    /// The name of the project in the export.
    project: String,
    /// The folder of the project here, or `user` for the user's own notes.
    into: String,
    notes: usize,
    prompts: usize,
    summaries: usize,
}

/// Rows of an export that were left out.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct LeftRows {
    /// The name of the project in the export.
    project: String,
    rows: usize,
    /// Whether the folder is on this machine, in another project.
    is_other_project: bool,
}

impl ExportReport {
    pub(super) fn at(&mut self, project: &str, into: &str) -> &mut RowCounts {
        self.places.entry((project.to_owned(), into.to_owned())).or_default()
    }

    /// Counts a row that is left out.
    pub(super) fn leave(&mut self, project: &str, because: LeftBecause) {
        *self.left.entry((project.to_owned(), because)).or_default() += 1;
    }

    pub(super) fn notes(&self) -> usize {
        self.places.values().map(|place| place.notes).sum()
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let place =
            self.places.iter().filter_map(|((project, into), counts)| counts.line(&named(self.program, project), into));
        let mut lines: Vec<String> = place.collect();
        if self.deleted > 0 {
            let rows = counted(self.deleted, "row", "rows");
            lines.push(format!("left out {rows} that engram has deleted"));
        }
        if self.superseded > 0 {
            lines.push(format!("left out {}", counted(self.superseded, "superseded note", "superseded notes")));
        }
        if self.without_topic > 0 {
            let notes = counted(self.without_topic, "note was", "notes were");
            lines.push(format!("{notes} imported without the topic, because another note has it"));
        }
        let left = self.left.iter().take(MAX_NAMED_PROJECTS);
        lines.extend(left.map(|((project, because), rows)| because.line(&named(self.program, project), *rows)));
        if self.left.len() > MAX_NAMED_PROJECTS {
            let more = counted(self.left.len() - MAX_NAMED_PROJECTS, "other project", "other projects");
            lines.push(format!("left out rows of {more}; `--json` names them all"));
        }
        lines
    }

    /// Returns where rows went and which were left out, for programs.
    pub(super) fn data(self) -> (Vec<ImportedPlace>, Vec<LeftRows>) {
        let places = self.places.into_iter().map(|((project, into), counts)| {
            let RowCounts { notes, prompts, summaries } = counts;
            ImportedPlace { project, into, notes, prompts, summaries }
        });
        let left = self.left.into_iter().map(|((project, because), rows)| {
            let is_other_project = because == LeftBecause::OtherProject;
            LeftRows { project, rows, is_other_project }
        });
        (places.collect(), left.collect())
    }
}

impl RowCounts {
    fn line(&self, project: &str, into: &str) -> Option<String> {
        let rows = [
            (self.notes, "note", "notes"),
            (self.prompts, "prompt", "prompts"),
            (self.summaries, "summary", "summaries"),
        ];
        let counts = rows.into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> = counts.map(|(count, one, many)| counted(count, one, many)).collect();
        let into = if into == USER { "your own notes, which every project sees" } else { into };
        (!parts.is_empty()).then(|| format!("{project} into {into}: {}", parts.join(", ")))
    }
}

impl LeftBecause {
    /// Says what was left out, and how to import it.
    fn line(self, project: &str, rows: usize) -> String {
        let rows = counted(rows, "row", "rows");
        match self {
            Self::OtherProject => {
                format!("left out {rows} of {project}, which has a folder of its own; `--all` imports them there")
            }
            Self::NoFolder => format!(
                "left out {rows} of {project}: its folder does not exist here; `--project-name NAME` imports a project \
                 into this one, `--here` everything"
            ),
        }
    }
}

/// Names a project of an export.
fn named(program: &str, project: &str) -> String {
    match project.is_empty() {
        true => format!("{program}'s rows without a project"),
        false => format!("{program}'s project `{}`", one_line(project, 60)),
    }
}
