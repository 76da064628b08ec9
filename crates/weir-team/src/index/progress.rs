//! How far the index has come in each project, and what ranking needs to know of a project.
//!
//! Invariant: this is the payload of the commit that made it true, so that no crash can separate the two.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tantivy::TantivyError;
use tantivy::error::DataCorruption;

use super::fields::Place;

/// The format of the index: of the payload, of the tokens and of what the documents have. An index of another format is
/// made again.
pub(super) const FORMAT: u32 = 2;

/// The state of every project in the index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Progress {
    format: u32,
    /// The model of the vectors; empty if there are none.
    model: String,
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

impl Progress {
    /// Returns the state of an empty index, whose vectors will be of this model.
    pub(super) fn new(model: &str) -> Self {
        Self { format: FORMAT, model: model.to_owned(), tenants: BTreeMap::new() }
    }

    /// Reads the payload of a commit. If a model is given, the vectors must be of this one.
    pub(super) fn parse(payload: Option<&str>, model: Option<&str>) -> tantivy::Result<Self> {
        let wrong = |reason: &str| TantivyError::DataCorruption(DataCorruption::comment_only(reason));
        let payload = payload.ok_or_else(|| wrong("the last commit has no payload"))?;
        let progress: Self = serde_json::from_str(payload).map_err(|_| wrong("the payload cannot be read"))?;
        if progress.format != FORMAT {
            return Err(wrong("the payload has another format"));
        }
        if model.is_some_and(|model| model != progress.model) {
            return Err(wrong("the vectors are of another model"));
        }
        Ok(progress)
    }

    /// Returns the payload of a commit.
    pub(super) fn to_payload(&self) -> tantivy::Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// Returns the state of a project.
    pub(super) fn project(&self, place: &Place) -> ProjectState {
        self.tenants.get(&place.tenant).and_then(|projects| projects.get(&place.project)).copied().unwrap_or_default()
    }

    /// Sets the state of a project.
    pub(super) fn set(&mut self, place: &Place, state: ProjectState) {
        self.tenants.entry(place.tenant.clone()).or_default().insert(place.project.clone(), state);
    }

    /// Removes a project, and returns whether it was known.
    pub(super) fn remove(&mut self, place: &Place) -> bool {
        let Some(projects) = self.tenants.get_mut(&place.tenant) else { return false };
        let was_known = projects.remove(&place.project).is_some();
        if projects.is_empty() {
            self.tenants.remove(&place.tenant);
        }
        was_known
    }

    /// Removes all projects of a tenant, and returns whether there were any.
    pub(super) fn remove_tenant(&mut self, tenant: &str) -> bool {
        self.tenants.remove(tenant).is_some()
    }

    /// Returns how many projects there are.
    pub(super) fn projects(&self) -> u64 {
        self.tenants.values().map(|projects| projects.len() as u64).sum()
    }
}
