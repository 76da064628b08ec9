//! Notes: their topics, revisions, files and citations. Invariant: an older revision is marked, never overwritten.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Rows, Transaction, params};
use weir_core::note::BoundFile;
use weir_core::{Entry, EntryKind, Level, NewEntry, Note, NoteKind, Reference, Timestamp};
use weir_ledger::Sql as _;

use super::entries::{self, read_reference};
use super::scopes::ScopeIds;
use super::written;
use crate::error::{Fault, Result, StoreError};

/// What changed in other entries when a note was kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NoteEffects {
    pub(crate) revision: u32,
    pub(crate) superseded: Vec<Reference>,
    pub(crate) pinned: Vec<Reference>,
}

/// Writes the fields that make an entry a note, marks the notes it supersedes and pins the entries it cites.
pub(crate) fn insert(
    tx: &Transaction<'_>,
    id: i64,
    scope_ids: ScopeIds,
    entry: &NewEntry,
    note: &Note,
) -> Result<NoteEffects, Fault> {
    let mut related = NoteEffects { revision: 1, ..NoteEffects::default() };
    let mut older = Vec::new();
    if let Some(topic) = &note.topic {
        for head in heads_on(tx, topic, entry.level, scope_ids)? {
            related.revision = related.revision.max(head.revision + 1);
            older.push(head.id);
        }
    }
    for &reference in &note.supersedes {
        let found = entries::by_reference(tx, scope_ids, reference)?.filter(|stored| stored.entry.note.is_some());
        older.push(found.ok_or(StoreError::NoSuchNote { reference })?.id);
    }
    tx.sql("INSERT INTO notes (entry_id, kind, topic, revision, commit_id, branch) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        .run(params![id, note.kind.as_str(), note.topic, related.revision, note.commit, note.branch])?;
    for file in &note.files {
        tx.sql("INSERT OR REPLACE INTO note_files (entry_id, path, hash) VALUES (?1, ?2, ?3)")
            .run(params![id, file.path, file.hash])?;
    }
    older.sort_unstable();
    older.dedup();
    for old in older {
        related.superseded.extend(supersede(tx, old, id)?);
    }
    for reference in Reference::cited_in(&String::from_utf8_lossy(&entry.text)) {
        if pin(tx, id, scope_ids, reference)? {
            related.pinned.push(reference);
        }
    }
    Ok(related)
}

/// Returns the newest notes that are visible in a scope and not superseded.
pub(crate) fn newest(db: &Connection, scope_ids: ScopeIds, most: usize) -> rusqlite::Result<Vec<Entry>> {
    let mut statement = db.prepare_cached(
        "SELECT entry_id FROM notes WHERE entry_id <= (SELECT max(entry_id) FROM notes) AND superseded_by IS NULL
         ORDER BY entry_id DESC",
    )?;
    visible(db, scope_ids, statement.query([])?, most)
}

/// Returns the newest notes of one level that are visible in a scope and not superseded.
pub(crate) fn newest_at(
    db: &Connection,
    scope_ids: ScopeIds,
    level: Level,
    most: usize,
) -> rusqlite::Result<Vec<Entry>> {
    let mut statement = db.prepare_cached(
        "SELECT n.entry_id FROM notes n CROSS JOIN entries e ON e.id = n.entry_id
         WHERE n.entry_id <= (SELECT max(entry_id) FROM notes) AND n.superseded_by IS NULL AND e.level = ?1
         ORDER BY n.entry_id DESC",
    )?;
    visible(db, scope_ids, statement.query([level.as_str()])?, most)
}

/// Returns a note that has a text with this hash, is visible in a scope and is not superseded.
pub(crate) fn with_text(
    db: &Connection,
    scope_ids: ScopeIds,
    hash: blake3::Hash,
) -> rusqlite::Result<Option<Reference>> {
    let blob: Option<i64> = db.sql("SELECT id FROM blobs WHERE hash = ?1").find_value([hash.as_bytes()])?;
    let Some(blob) = blob else { return Ok(None) };
    for label in entries::with_text(db, blob)?.iter().filter(|label| label.kind == EntryKind::Note) {
        if let Some(stored) = entries::by_id(db, scope_ids, label.id)?
            && stored.entry.superseded_by.is_none()
        {
            return Ok(Some(label.reference));
        }
    }
    Ok(None)
}

fn visible(db: &Connection, scope_ids: ScopeIds, mut ids: Rows<'_>, most: usize) -> rusqlite::Result<Vec<Entry>> {
    let mut notes = Vec::new();
    while notes.len() < most
        && let Some(row) = ids.next()?
    {
        notes.extend(entries::by_id(db, scope_ids, row.get(0)?)?.map(|stored| stored.entry));
    }
    Ok(notes)
}

pub(crate) fn load(db: &Connection, id: i64) -> rusqlite::Result<(Option<Note>, Option<Reference>)> {
    let found = db
        .sql(
            "SELECT n.kind, n.topic, n.revision, n.commit_id, n.branch, n.confirmed_at, s.reference
             FROM notes n LEFT JOIN entries s ON s.id = n.superseded_by WHERE n.entry_id = ?1",
        )
        .find([id], |row| {
            let note = Note {
                kind: written(row, 0, NoteKind::parse)?,
                topic: row.get(1)?,
                revision: row.get(2)?,
                supersedes: superseded_by(db, id)?,
                files: files(db, id)?,
                commit: row.get(3)?,
                branch: row.get(4)?,
                confirmed_at: row.get::<_, Option<i64>>(5)?.map(Timestamp),
            };
            let successor: Option<String> = row.get(6)?;
            Ok((Some(note), successor.and_then(|text| Reference::parse(&text).ok())))
        })?;
    Ok(found.unwrap_or_default())
}

/// Records that the user confirmed a note. Only the first time counts.
pub(crate) fn confirm(tx: &Transaction<'_>, id: i64, now: Timestamp) -> rusqlite::Result<()> {
    tx.sql("UPDATE notes SET confirmed_at = coalesce(confirmed_at, ?2) WHERE entry_id = ?1").run([id, now.0])
}

/// Records that nobody has confirmed a note.
pub(crate) fn unconfirm(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    tx.sql("UPDATE notes SET confirmed_at = NULL WHERE entry_id = ?1").run([id])
}

/// Unpins entries that only this note cited. Called before the note is removed.
pub(crate) fn release_citations(tx: &Transaction<'_>, note_id: i64) -> rusqlite::Result<()> {
    tx.sql(
        "UPDATE entries SET pinned = 0 WHERE id IN (SELECT entry_id FROM citations WHERE note_id = ?1)
         AND NOT EXISTS (SELECT 1 FROM citations c WHERE c.entry_id = entries.id AND c.note_id <> ?1)",
    )
    .run([note_id])
}

/// A revision of a topic that nothing supersedes.
pub(crate) struct TopicHead {
    pub(crate) id: i64,
    pub(crate) revision: u32,
}

/// Returns the current revisions on a topic, at the same level and in the same scope, newest first. There are several
/// only if several people revised the same one.
pub(crate) fn heads_on(
    db: &Connection,
    topic: &str,
    level: Level,
    scope_ids: ScopeIds,
) -> rusqlite::Result<Vec<TopicHead>> {
    let parameters = params![scope_ids.session, scope_ids.work, topic, level.as_str()];
    db.sql(
        "SELECT n.entry_id, n.revision FROM notes n JOIN entries e ON e.id = n.entry_id
         WHERE n.topic = ?3 AND n.superseded_by IS NULL AND e.level = ?4
             AND (?4 <> 'work' OR e.work_id = ?2) AND (?4 <> 'session' OR e.session_id = ?1)
         ORDER BY n.entry_id DESC",
    )
    .all(parameters, |row| Ok(TopicHead { id: row.get(0)?, revision: row.get(1)? }))
}

/// Completes a note that was received: it has a topic, but took no other note's place, and its author decided whether a
/// person stands behind it.
pub(crate) fn complete_received(
    tx: &Transaction<'_>,
    id: i64,
    topic: Option<&str>,
    confirmed_at: Option<Timestamp>,
) -> rusqlite::Result<()> {
    tx.sql("UPDATE notes SET topic = ?2, confirmed_at = ?3 WHERE entry_id = ?1").run(params![
        id,
        topic,
        confirmed_at.map(|at| at.0)
    ])
}

/// Marks a note as superseded by another, which is a later revision then. Returns false if it has a successor already,
/// or if it succeeds the other one: notes that superseded each other would both be out of sight.
pub(crate) fn supersede_later(tx: &Transaction<'_>, old: i64, new: i64) -> rusqlite::Result<bool> {
    let is_marked = !succeeds(tx, old, new)? && supersede(tx, old, new)?.is_some();
    if is_marked {
        tx.sql(
            "UPDATE notes SET revision = max(revision, 1 + (SELECT revision FROM notes WHERE entry_id = ?1))
             WHERE entry_id = ?2",
        )
        .run([old, new])?;
    }
    Ok(is_marked)
}

/// Returns whether a note has taken the place of another one, directly or after others.
fn succeeds(tx: &Transaction<'_>, note: i64, earlier: i64) -> rusqlite::Result<bool> {
    let mut statement = tx.prepare_cached("SELECT superseded_by FROM notes WHERE entry_id = ?1")?;
    let mut seen = HashSet::new();
    let mut at = earlier;
    while seen.insert(at) {
        match statement.query_row([at], |row| row.get::<_, Option<i64>>(0)).optional()?.flatten() {
            Some(successor) if successor == note => return Ok(true),
            Some(successor) => at = successor,
            None => break,
        }
    }
    Ok(false)
}

/// Makes a note current again that another one superseded. One that has another successor keeps it.
pub(crate) fn unsupersede(tx: &Transaction<'_>, old: i64, new: i64) -> rusqlite::Result<()> {
    tx.sql("UPDATE notes SET superseded_by = NULL WHERE entry_id = ?1 AND superseded_by = ?2").run([old, new])
}

fn supersede(tx: &Transaction<'_>, old: i64, new: i64) -> rusqlite::Result<Option<Reference>> {
    let marked = tx
        .sql("UPDATE notes SET superseded_by = ?2 WHERE entry_id = ?1 AND superseded_by IS NULL")
        .execute([old, new])?;
    if marked == 0 {
        // The note already has a successor and keeps it.
        return Ok(None);
    }
    tx.sql("SELECT reference FROM entries WHERE id = ?1").find([old], |row| read_reference(row, 0))
}

fn pin(tx: &Transaction<'_>, note_id: i64, scope_ids: ScopeIds, reference: Reference) -> rusqlite::Result<bool> {
    let Some(cited) = entries::by_reference(tx, scope_ids, reference)? else { return Ok(false) };
    tx.sql("INSERT OR IGNORE INTO citations (note_id, entry_id) VALUES (?1, ?2)").run([note_id, cited.id])?;
    tx.sql("UPDATE entries SET pinned = 1 WHERE id = ?1").run([cited.id])?;
    Ok(true)
}

fn superseded_by(db: &Connection, id: i64) -> rusqlite::Result<Vec<Reference>> {
    db.sql(
        "SELECT e.reference FROM notes n JOIN entries e ON e.id = n.entry_id
         WHERE n.superseded_by = ?1 ORDER BY n.entry_id",
    )
    .all([id], |row| read_reference(row, 0))
}

fn files(db: &Connection, id: i64) -> rusqlite::Result<Vec<BoundFile>> {
    db.sql("SELECT path, hash FROM note_files WHERE entry_id = ?1 ORDER BY path")
        .all([id], |row| Ok(BoundFile { path: row.get(0)?, hash: row.get(1)? }))
}
