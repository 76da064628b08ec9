//! Lists notes for a review, and confirms them. Invariant: being listed is no use.

use rusqlite::Connection;
use weir_core::{Entry, Reference, Scope, Timestamp};

use super::Store;
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::places::Place;
use crate::log::{entries, notes};

/// A note, and when it was last used.
#[derive(Debug, Clone)]
pub struct NoteSeen {
    /// The note.
    pub entry: Entry,
    /// When it was last read; when it was kept, if never.
    pub used_at: Timestamp,
}

impl NoteSeen {
    /// Whether nobody has read it since it was kept.
    pub fn is_unused(&self) -> bool {
        self.used_at <= self.entry.at
    }
}

impl Store {
    /// The notes that the scope sees, newest first, with those that others have superseded.
    pub fn notes(&self, scope: &Scope, most: usize) -> Result<Vec<NoteSeen>> {
        let place = self.place(scope)?;
        self.log.read(|c| newest(c, place, most))
    }

    /// Writes down that the user confirmed a note; none where the scope sees no such note.
    pub fn confirm(&mut self, scope: &Scope, reference: Reference, now: Timestamp) -> Result<Option<Entry>> {
        let place = self.place(scope)?;
        self.log.write(Durability::Power, |tx| {
            let found = entries::by_reference(tx, place, reference)?.filter(|stored| stored.entry.note.is_some());
            let Some(stored) = found else { return Ok(None) };
            notes::confirm(tx, stored.id, now)?;
            Ok::<_, Fault>(entries::by_id(tx, place, stored.id)?.map(|stored| stored.entry))
        })
    }
}

fn newest(connection: &Connection, place: Place, most: usize) -> rusqlite::Result<Vec<NoteSeen>> {
    // By id, and read only as far as is asked for.
    let mut statement = connection.prepare_cached(
        "SELECT entry_id FROM notes WHERE entry_id <= (SELECT max(entry_id) FROM notes) ORDER BY entry_id DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut notes = Vec::new();
    while notes.len() < most
        && let Some(row) = rows.next()?
    {
        let stored = entries::by_id(connection, place, row.get(0)?)?;
        notes.extend(stored.map(|stored| NoteSeen { entry: stored.entry, used_at: stored.used_at }));
    }
    Ok(notes)
}
