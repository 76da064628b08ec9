//! Lists notes for review, and confirms them. Invariant: listing a note does not update its last-used time.

use rusqlite::Connection;
use weir_core::{Entry, Reference, Scope, Timestamp};

use super::{Store, redacted_text};
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::scopes::ScopeIds;
use crate::log::{entries, notes};

/// A note with the time it was last used.
#[derive(Debug, Clone)]
pub struct NoteUse {
    pub entry: Entry,
    /// When the note was last read, or when it was kept if it was never read.
    pub used_at: Timestamp,
}

impl NoteUse {
    /// Returns whether the note has not been read since it was kept.
    pub fn is_unused(&self) -> bool {
        self.used_at <= self.entry.at
    }
}

impl Store {
    /// Returns at most `most` notes that are visible in the scope, newest first, including superseded ones.
    pub fn notes(&self, scope: &Scope, most: usize) -> Result<Vec<NoteUse>> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.read(|c| newest(c, scope_ids, most))
    }

    /// Returns a note with just this text, if one is visible in the scope and not superseded.
    pub fn note_with_text(&self, scope: &Scope, text: &str) -> Result<Option<Reference>> {
        let scope_ids = self.scope_ids(scope)?;
        // What is stored of a text is redacted.
        let hash = blake3::hash(redacted_text(text).as_bytes());
        self.log.read(|c| notes::with_text(c, scope_ids, hash))
    }

    /// Records that the user confirmed a note. Returns `None` if no such note is visible in the scope.
    pub fn confirm(&mut self, scope: &Scope, reference: Reference, now: Timestamp) -> Result<Option<Entry>> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.write(Durability::Power, |tx| {
            let found = entries::by_reference(tx, scope_ids, reference)?.filter(|stored| stored.entry.note.is_some());
            let Some(stored) = found else { return Ok(None) };
            notes::confirm(tx, stored.id, now)?;
            Ok::<_, Fault>(entries::by_id(tx, scope_ids, stored.id)?.map(|stored| stored.entry))
        })
    }
}

fn newest(db: &Connection, scope_ids: ScopeIds, most: usize) -> rusqlite::Result<Vec<NoteUse>> {
    // By id, and without reading more rows than asked for.
    let mut statement = db.prepare_cached(
        "SELECT entry_id FROM notes WHERE entry_id <= (SELECT max(entry_id) FROM notes) ORDER BY entry_id DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut notes = Vec::new();
    while notes.len() < most
        && let Some(row) = rows.next()?
    {
        let stored = entries::by_id(db, scope_ids, row.get(0)?)?;
        notes.extend(stored.map(|stored| NoteUse { entry: stored.entry, used_at: stored.used_at }));
    }
    Ok(notes)
}
