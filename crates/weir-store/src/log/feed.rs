//! The log as its index sees it.

use rusqlite::Connection;
use weir_core::{EventKind, WhyGone};
use weir_ledger::Sql as _;

use crate::blobs::Blobs;
use crate::db::Db;
use crate::error::{Result, Unreadable};
use crate::feed::{Change, ChangeKind, Feed, IndexedEntry};

/// Number of times an entry whose text is lost is looked up again. Another process may have removed it since the first
/// lookup; then the next one does not find it.
const MAX_TRIES: usize = 5;

pub(crate) struct LogFeed<'a> {
    pub(crate) log: &'a Db,
    pub(crate) blobs: &'a Blobs,
}

impl Feed for LogFeed<'_> {
    fn identity(&self) -> Result<String> {
        self.log.read(|c| c.sql("SELECT value FROM identity WHERE id = 1").value([]))
    }

    fn head(&self) -> Result<i64> {
        self.log.read(head)
    }

    fn changes_after(&self, position: i64, most: usize) -> Result<Vec<Change>> {
        self.log.read(|c| after(c, position, most))
    }

    fn reference(&self, entry_id: i64) -> Result<Option<String>> {
        self.log.read(|c| {
            c.sql(
                "SELECT reference FROM entries WHERE id = ?1 UNION ALL SELECT reference FROM gone WHERE entry_id = ?1",
            )
            .find_value([entry_id])
        })
    }

    fn has_change(&self, position: i64, entry_id: i64) -> Result<bool> {
        let event: Option<Option<i64>> =
            self.log.read(|c| c.sql("SELECT entry_id FROM events WHERE id = ?1").find_value([position]))?;
        Ok(match event {
            Some(entry) => entry == Some(entry_id),
            // The event that kept an entry is removed with it. An entry has the id of that event.
            None => position == entry_id,
        })
    }

    fn entry(&self, id: i64) -> Result<Option<IndexedEntry>> {
        for tries in 0.. {
            let Some((entry, blob_id)) = self.log.read(|c| load(c, id))? else { return Ok(None) };
            let opened = self.log.read(|c| self.blobs.open_at(c, blob_id));
            let text = match opened.map(|text| text.ok_or(Unreadable::Lost)) {
                Ok(text) => text,
                Err(error) => Err(error.unreadable_text().ok_or(error)?),
            };
            if text.as_ref().err() != Some(&Unreadable::Lost) || tries == MAX_TRIES {
                return Ok(Some(IndexedEntry { text, ..entry }));
            }
        }
        Ok(None)
    }
}

/// Returns the position of the newest change, or 0 if there is none.
pub(super) fn head(db: &Connection) -> rusqlite::Result<i64> {
    db.sql("SELECT max(id) FROM events INDEXED BY events_changes WHERE entry_id IS NOT NULL")
        .one([], |row| row.get::<_, Option<i64>>(0))
        .map(Option::unwrap_or_default)
}

fn after(db: &Connection, position: i64, most: usize) -> rusqlite::Result<Vec<Change>> {
    db.sql(
        "SELECT v.id, v.entry_id, v.kind, g.why FROM events v INDEXED BY events_changes
             LEFT JOIN gone g ON g.entry_id = v.entry_id
         WHERE v.id > ?1 AND v.entry_id IS NOT NULL ORDER BY v.id LIMIT ?2",
    )
    .all([position, most as i64], |row| {
        let event_kind: String = row.get(2)?;
        let why: Option<String> = row.get(3)?;
        let kind = match why {
            _ if event_kind == EventKind::Kept.as_str() => ChangeKind::Kept,
            Some(why) if why == WhyGone::Forgotten.as_str() => ChangeKind::Forgotten,
            _ => ChangeKind::OtherwiseGone,
        };
        Ok(Change { position: row.get(0)?, entry_id: row.get(1)?, kind })
    })
}

/// Reads an entry without its text, and the id of the text.
fn load(db: &Connection, entry_id: i64) -> rusqlite::Result<Option<(IndexedEntry, i64)>> {
    let read = |row: &rusqlite::Row<'_>| {
        let entry = IndexedEntry {
            kind: row.get(0)?,
            level: row.get(1)?,
            client: row.get(2)?,
            session: row.get(3)?,
            work: row.get(4)?,
            source: row.get(5)?,
            at: row.get(6)?,
            title: row.get(7)?,
            text: Err(Unreadable::Lost),
        };
        Ok((entry, row.get(8)?))
    };
    db.sql(
        "SELECT e.kind, e.level, s.client, s.key, w.name, e.source, e.at, e.title, e.blob_id
         FROM entries e LEFT JOIN sessions s ON s.id = e.session_id LEFT JOIN works w ON w.id = e.work_id
         WHERE e.id = ?1",
    )
    .find([entry_id], read)
}
