//! Changes to the index that one commit makes true. Nothing here commits.

use tantivy::{IndexWriter, Searcher};
use weir_records::{RecordId, Step};

use super::fields::{Fact, Fields, IndexedDocument, Place};
use super::lookup::{existing, segments_with};
use super::progress::{Changes, Progress};

/// What a call wants to have written.
pub(super) enum Work {
    /// To follow the log from one position to another.
    Apply { changes: Vec<Change>, step: Step },
    /// To remove a project.
    RemoveProject,
    /// To remove a tenant.
    RemoveTenant,
}

/// A change to one record, of which there is one for each record.
pub(super) struct Change {
    pub(super) id: RecordId,
    /// What the index has of it from now on, if anything.
    pub(super) document: Option<IndexedDocument>,
}

/// Changes that are not committed yet.
pub(super) struct Edit<'a> {
    pub(super) fields: &'a Fields,
    pub(super) searcher: &'a Searcher,
    pub(super) writer: &'a IndexWriter,
    /// The state before the commit.
    pub(super) progress: &'a Progress,
    /// What the commit changes of it.
    pub(super) changes: Changes,
    /// Whether there is anything to commit.
    pub(super) is_changed: bool,
    /// Whether something is removed.
    pub(super) removes: bool,
}

impl Edit<'_> {
    /// Adds the work of one call, and returns whether it applies. No two calls of an edit are about the same project.
    pub(super) fn add(&mut self, place: &Place, work: Work) -> tantivy::Result<bool> {
        match work {
            Work::Apply { changes, step } => self.apply(place, changes, step),
            Work::RemoveProject => {
                self.forget(self.progress.known(place).map(|_| place.clone()));
                self.remove_all(Fact::Project(place))
            }
            Work::RemoveTenant => {
                self.forget(self.progress.projects_of(&place.tenant));
                self.remove_all(Fact::Tenant(place))
            }
        }
    }

    fn apply(&mut self, place: &Place, changes: Vec<Change>, step: Step) -> tantivy::Result<bool> {
        let mut state = self.progress.project(place);
        if state.position != step.from.0 {
            return Ok(false);
        }
        let segments = segments_with(self.searcher, self.fields, &self.fields.fact(Fact::Project(place)))?;
        for Change { id, document } in changes {
            let term = self.fields.fact(Fact::Record(place, id));
            let old = existing(&segments, self.fields, &term)?;
            if old.documents > 0 {
                self.writer.delete_term(term);
                self.removes = true;
                state.documents = state.documents.saturating_sub(old.documents);
                state.words = state.words.saturating_sub(old.words);
            }
            if let Some(new) = document {
                self.writer.add_document(new.document)?;
                state.documents += 1;
                state.words += new.words;
            }
        }
        state.position = step.to.0;
        self.changes.insert(place.clone(), Some(state));
        self.is_changed = true;
        Ok(true)
    }

    /// Notes that projects are not known any more.
    fn forget(&mut self, projects: impl IntoIterator<Item = Place>) {
        for place in projects {
            self.changes.insert(place, None);
            self.is_changed = true;
        }
    }

    fn remove_all(&mut self, fact: Fact<'_>) -> tantivy::Result<bool> {
        let term = self.fields.fact(fact);
        if self.searcher.doc_freq(&term)? > 0 {
            self.writer.delete_term(term);
            (self.is_changed, self.removes) = (true, true);
        }
        Ok(true)
    }
}
