//! Looks through notes for what needs the user. Invariant: looking at a note does not count as using it.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use weir_core::time::DAY;
use weir_core::{Entry, Origin};
use weir_host::error::CommandError;
use weir_knowledge::staleness::{self, Doubt};
use weir_store::NoteUse;

use super::super::known::{ViewedProject, Visit};
use super::super::view::View;

/// The maximum number of notes of a store that are looked at, the newest; fewer of each project if there are many.
const MAX_NOTES: usize = 2_000;
const MAX_NOTES_OF_MANY: usize = 300;
/// A note that was not read for this many milliseconds is worth a look.
const UNUSED_AFTER_MILLIS: i64 = 30 * DAY;

/// The notes that were looked at, newest first.
pub(super) struct Review {
    pub(super) notes: Vec<ReviewedNote>,
    /// How many of the newest of each store were looked at, if not all.
    pub(super) looked_at: Option<u64>,
    /// The stores that could not be read, in whole sentences.
    pub(super) unread: Vec<String>,
}

/// A note, and what speaks against it.
pub(super) struct ReviewedNote {
    /// The project of its store; none is the user's store.
    pub(super) project: Option<Arc<ViewedProject>>,
    pub(super) entry: Entry,
    pub(super) doubts: Vec<Doubt>,
    /// Whether nobody has read it since it was kept.
    pub(super) is_unused: bool,
    is_old: bool,
}

impl ReviewedNote {
    pub(super) fn is_superseded(&self) -> bool {
        self.entry.superseded_by.is_some()
    }

    pub(super) fn is_doubtful(&self) -> bool {
        !self.is_superseded() && !self.doubts.is_empty()
    }

    /// Whether a model wrote it and the user has not confirmed it.
    pub(super) fn is_waiting(&self) -> bool {
        let is_confirmed = self.entry.note.as_ref().is_some_and(|note| note.confirmed_at.is_some());
        !self.is_superseded() && !self.is_doubtful() && self.entry.origin == Origin::Model && !is_confirmed
    }

    pub(super) fn is_current(&self) -> bool {
        !self.is_superseded() && !self.is_doubtful() && !self.is_waiting()
    }

    pub(super) fn is_never_read(&self) -> bool {
        !self.is_superseded() && self.is_unused && self.is_old
    }
}

impl Review {
    /// Returns how many subjects the notes have that hold.
    pub(super) fn topics(&self) -> u64 {
        let current = self.notes.iter().filter(|note| !note.is_superseded());
        let topics = current.filter_map(|note| {
            let project = note.project.as_ref().map(|project| project.address_key());
            Some((project, note.entry.note.as_ref()?.topic.as_deref()?))
        });
        topics.collect::<HashSet<_>>().len() as u64
    }
}

/// Looks through the notes of a view's projects and of the user.
pub(super) async fn all(view: &View<'_>) -> Result<Review, CommandError> {
    let most = if view.places().len() > 1 { MAX_NOTES_OF_MANY } else { MAX_NOTES };
    let mut review = Review { notes: Vec::new(), looked_at: None, unread: Vec::new() };
    for project in view.places() {
        let visit = project.visit().await;
        let scope = visit.scope();
        let notes = visit.with_stores(move |open| Ok(open.project()?.notes(&scope, most + 1)?)).await;
        let Some(notes) = view.if_readable(project, notes, &mut review.unread)? else { continue };
        let is_there = project.root().is_dir();
        add(&mut review, view, &visit, Found { project: Some(project), notes, most, is_there }).await;
    }
    let visit = view.ui.projects.visit().await;
    let scope = visit.scope();
    let notes = visit.with_stores(move |open| Ok(open.user()?.notes(&scope, most + 1)?)).await?;
    add(&mut review, view, &visit, Found { project: None, notes, most, is_there: true }).await;
    review.notes.sort_by_key(|note| (Reverse(note.entry.at), note.entry.reference));
    Ok(review)
}

/// The notes of one store.
struct Found<'a> {
    project: Option<&'a Arc<ViewedProject>>,
    notes: Vec<NoteUse>,
    /// How many are looked at; one more was asked for.
    most: usize,
    /// Whether the project's files are where they were.
    is_there: bool,
}

async fn add(review: &mut Review, view: &View<'_>, visit: &Visit, mut found: Found<'_>) {
    if found.notes.len() > found.most {
        found.notes.truncate(found.most);
        review.looked_at = Some(found.most as u64);
    }
    let is_current = |note: &&NoteUse| note.entry.superseded_by.is_none();
    let current: Vec<&Entry> = found.notes.iter().filter(is_current).map(|note| &note.entry).collect();
    let mut doubts = match found.is_there {
        true => staleness::labels(visit, &current, staleness::GIT_TIMEOUT).await,
        // Every file of a project that is gone is gone, which says nothing about the notes.
        false => vec![Vec::new(); current.len()],
    }
    .into_iter();
    for note in found.notes {
        let doubts = if note.entry.superseded_by.is_none() { doubts.next() } else { None };
        review.notes.push(ReviewedNote {
            project: found.project.cloned(),
            doubts: doubts.unwrap_or_default(),
            is_unused: note.is_unused(),
            is_old: view.clock.now.0 - note.entry.at.0 > UNUSED_AFTER_MILLIS,
            entry: note.entry,
        });
    }
}
