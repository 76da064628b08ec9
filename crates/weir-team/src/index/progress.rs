//! How far the index has come in each project, and what ranking needs to know of a project.
//!
//! It is stored in two places, so that a commit costs what it changes and not what there is: a small database beside the
//! index ([`ProgressFile`]), and the payload of each commit, with what has changed since the database was written.
//!
//! Invariants: the payload says what is true of its commit, so no crash can separate the two; the database is written
//! after the commit that it speaks of, so it is never ahead of the index. An index whose payload does not fit its
//! database is made again.

mod file;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tantivy::TantivyError;
use tantivy::error::DataCorruption;

pub(super) use self::file::{PROGRESS_FILE, ProgressFile};
use super::fields::Place;

/// The format of the index: of the payload, of the tokens and of what the documents have. An index of another format is
/// made again.
pub(super) const FORMAT: u32 = 3;
/// How many projects a payload names before they are moved to the database.
const MAX_UNSAVED: usize = 512;

/// The states that a commit changes, by project; `None` for a project that is removed.
pub(super) type Changes = BTreeMap<Place, Option<ProjectState>>;

/// The state of every project in the index.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    /// The model of the vectors; empty if there are none.
    model: String,
    /// The number of the last commit.
    commit: u64,
    /// The number of the commit that the database speaks of.
    saved: u64,
    /// What has changed since then.
    unsaved: Changes,
    /// The projects of each tenant, by their names in the index.
    tenants: BTreeMap<String, BTreeMap<String, ProjectState>>,
}

/// The state of one project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProjectState {
    /// The position in the log up to which the index has followed it.
    #[serde(rename = "p")]
    pub(super) position: u64,
    /// How many documents it has.
    #[serde(rename = "d")]
    pub(super) documents: u64,
    /// How many words they have together.
    #[serde(rename = "w")]
    pub(super) words: u64,
}

/// The payload of a commit.
#[derive(Serialize, Deserialize)]
struct Payload {
    format: u32,
    model: String,
    commit: u64,
    saved: u64,
    /// The tenant, the project and its state.
    changed: Vec<(String, String, Option<ProjectState>)>,
}

impl Progress {
    /// Returns the state of an empty index, whose vectors will be of this model.
    pub(super) fn new(model: &str, file: &mut ProgressFile) -> tantivy::Result<Self> {
        file.clear()?;
        let model = model.to_owned();
        Ok(Self { model, commit: 0, saved: 0, unsaved: Changes::new(), tenants: BTreeMap::new() })
    }

    /// Reads the payload of the last commit, and the database. If a model is given, the vectors must be of this one.
    pub(super) fn read(payload: Option<&str>, model: Option<&str>, file: &ProgressFile) -> tantivy::Result<Self> {
        let payload = payload.ok_or_else(|| wrong("the last commit has no payload"))?;
        let payload: Payload = serde_json::from_str(payload).map_err(|_| wrong("the payload cannot be read"))?;
        if payload.format != FORMAT {
            return Err(wrong("the payload has another format"));
        }
        if model.is_some_and(|model| model != payload.model) {
            return Err(wrong("the vectors are of another model"));
        }
        let (saved, projects) = file.read()?;
        // The database may have been written after the commit, and then has some of these changes already.
        if !(payload.saved..=payload.commit).contains(&saved) {
            return Err(wrong("the positions are not those of the last commit"));
        }
        let Payload { model, commit, .. } = payload;
        let mut progress = Self { model, commit, saved, unsaved: Changes::new(), tenants: BTreeMap::new() };
        for (place, state) in projects {
            progress.set(&place, Some(state));
        }
        let changed = payload.changed.into_iter();
        progress.unsaved = changed.map(|(tenant, project, state)| (Place { tenant, project }, state)).collect();
        for (place, state) in progress.unsaved.clone() {
            progress.set(&place, state);
        }
        Ok(progress)
    }

    /// Returns the payload of the next commit, which makes these changes.
    pub(super) fn payload_with(&self, changes: &Changes) -> tantivy::Result<String> {
        let old = self.unsaved.iter().filter(|(place, _)| !changes.contains_key(place));
        let changed = old.chain(changes).map(|(place, state)| (place.tenant.clone(), place.project.clone(), *state));
        let (format, model, saved) = (FORMAT, self.model.clone(), self.saved);
        let payload = Payload { format, model, commit: self.commit + 1, saved, changed: changed.collect() };
        Ok(serde_json::to_string(&payload)?)
    }

    /// Takes in the changes of a commit that was made.
    pub(super) fn follow(&mut self, changes: Changes) {
        self.commit += 1;
        for (place, state) in changes {
            self.set(&place, state);
            self.unsaved.insert(place, state);
        }
    }

    /// Returns whether the database should be written, because the payload grows long.
    pub(super) fn is_to_be_saved(&self) -> bool {
        self.unsaved.len() >= MAX_UNSAVED
    }

    /// Writes the changes that are not in the database yet. The last commit must be on the disk.
    pub(super) fn write(&self, file: &mut ProgressFile) -> tantivy::Result<()> {
        file.write(self.commit, &self.unsaved)
    }

    /// Notes that the changes are in the database.
    pub(super) fn saved(&mut self) {
        self.saved = self.commit;
        self.unsaved.clear();
    }

    /// Returns the state of a project.
    pub(super) fn project(&self, place: &Place) -> ProjectState {
        self.known(place).unwrap_or_default()
    }

    /// Returns the state of a project, if it is known.
    pub(super) fn known(&self, place: &Place) -> Option<ProjectState> {
        self.tenants.get(&place.tenant)?.get(&place.project).copied()
    }

    /// Returns the projects of a tenant.
    pub(super) fn projects_of(&self, tenant: &str) -> impl Iterator<Item = Place> {
        let projects = self.tenants.get(tenant).into_iter().flat_map(BTreeMap::keys);
        projects.map(move |project| Place { tenant: tenant.to_owned(), project: project.clone() })
    }

    /// Returns how many projects there are.
    pub(super) fn projects(&self) -> u64 {
        self.tenants.values().map(|projects| projects.len() as u64).sum()
    }

    fn set(&mut self, place: &Place, state: Option<ProjectState>) {
        if let Some(state) = state {
            self.tenants.entry(place.tenant.clone()).or_default().insert(place.project.clone(), state);
        } else if let Some(projects) = self.tenants.get_mut(&place.tenant) {
            projects.remove(&place.project);
            if projects.is_empty() {
                self.tenants.remove(&place.tenant);
            }
        }
    }
}

fn wrong(reason: &str) -> TantivyError {
    TantivyError::DataCorruption(DataCorruption::comment_only(reason))
}
