//! Reads and writes entries, by reference and by id.

use rusqlite::{Connection, Row, Transaction, params};
use weir_core::{Entry, EntryKind, Gone, Level, NewEntry, Origin, Reference, SessionKey, Timestamp, WhyGone};
use weir_ledger::Sql as _;

use super::scopes::{ScopeIds, VISIBLE};
use super::{notes, runs, written};
use crate::error::{Fault, Result, StoreError};
use crate::layout::StorePart;

/// The row of a new entry: the entry itself and what the store adds to it.
pub(crate) struct NewRow<'a> {
    pub(crate) id: i64,
    pub(crate) scope_ids: ScopeIds,
    pub(crate) blob_id: i64,
    pub(crate) redactions: u32,
    pub(crate) now: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) entry: &'a NewEntry,
}

/// An entry with the ids that the store needs.
pub(crate) struct EntryRow {
    pub(crate) id: i64,
    pub(crate) blob_id: i64,
    pub(crate) used_at: Timestamp,
    pub(crate) entry: Entry,
}

/// Writes an entry under the reference drawn for it, or under a new one.
pub(crate) fn insert(tx: &Transaction<'_>, row: &NewRow<'_>) -> Result<Reference, Fault> {
    let reference = match row.entry.reference {
        Some(reference) if is_used(tx, reference)? => return Err(StoreError::ReferenceTaken { reference }.into()),
        Some(reference) => reference,
        None => unused_reference(tx)?,
    };
    tx.sql(
        "INSERT INTO entries (id, reference, kind, origin, level, session_id, work_id, title, source, blob_id,
             redactions, pinned, at, used_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, ?12, ?13)",
    )
    .run(params![
        row.id,
        reference.as_str(),
        row.entry.kind.as_str(),
        row.entry.origin.as_str(),
        row.entry.level.as_str(),
        row.scope_ids.session,
        row.scope_ids.work,
        row.entry.title,
        row.entry.source,
        row.blob_id,
        row.redactions,
        row.now.0,
        row.expires_at.map(|at| at.0),
    ])?;
    if let Some(run) = &row.entry.run {
        runs::insert(tx, row.id, run)?;
    }
    tx.sql(
        "UPDATE totals SET entries = entries + 1,
             runs = runs + CASE WHEN ?2 = 'run' THEN (SELECT stored FROM blobs WHERE id = ?1) ELSE 0 END WHERE id = 1",
    )
    .run(params![row.blob_id, row.entry.kind.as_str()])?;
    Ok(reference)
}

pub(crate) fn set_expiry(tx: &Transaction<'_>, id: i64, expires_at: Option<Timestamp>) -> rusqlite::Result<()> {
    let at = expires_at.map(|at| at.0);
    tx.sql("UPDATE entries SET expires_at = ?2 WHERE id = ?1").run(params![id, at])
}

pub(crate) fn set_time(tx: &Transaction<'_>, id: i64, at: Timestamp) -> rusqlite::Result<()> {
    tx.sql("UPDATE entries SET at = ?2 WHERE id = ?1").run([id, at.0])
}

pub(crate) fn by_reference(
    db: &Connection,
    scope_ids: ScopeIds,
    reference: Reference,
) -> rusqlite::Result<Option<EntryRow>> {
    let sql = format!("{SELECT} WHERE e.reference = ?3 AND {VISIBLE}");
    one(db, &sql, params![scope_ids.session, scope_ids.work, reference.as_str()])
}

/// Returns the references that begin with these characters, with the titles of their entries, if they are visible in
/// this scope.
pub(crate) fn beginning_with(
    db: &Connection,
    scope_ids: ScopeIds,
    beginning: &str,
    limit: usize,
) -> rusqlite::Result<Vec<(Reference, String)>> {
    // The alphabet of references ends with `z`, and `{` follows it.
    let sql = format!(
        "SELECT e.reference, e.title FROM entries e WHERE e.reference >= ?3 AND e.reference < ?3 || '{{' AND {VISIBLE}
         ORDER BY e.reference LIMIT ?4"
    );
    db.sql(&sql).all(params![scope_ids.session, scope_ids.work, beginning, limit as i64], |row| {
        Ok((written(row, 0, |text| Reference::parse(text).ok())?, row.get(1)?))
    })
}

pub(crate) fn by_id(db: &Connection, scope_ids: ScopeIds, id: i64) -> rusqlite::Result<Option<EntryRow>> {
    let sql = format!("{SELECT} WHERE e.id = ?3 AND {VISIBLE}");
    one(db, &sql, params![scope_ids.session, scope_ids.work, id])
}

#[derive(Debug, Clone)]
pub struct EntryFilter {
    pub kinds: Vec<EntryKind>,
    /// Only entries kept at or after this time.
    pub since: Timestamp,
    pub limit: usize,
}

/// A list of entries, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryList {
    pub entries: Vec<Entry>,
    /// Whether these are all that the filter lets through.
    pub is_whole: bool,
}

/// Number of the newest entries that are looked at for those of some kinds.
const MAX_LOOKED_AT: usize = 5_000;

pub(crate) fn list(db: &Connection, scope_ids: ScopeIds, filter: &EntryFilter) -> rusqlite::Result<EntryList> {
    let mut statement =
        db.prepare_cached("SELECT id, kind FROM entries WHERE at >= ?1 ORDER BY at DESC, id DESC LIMIT ?2")?;
    let mut rows = statement.query(params![filter.since.0, MAX_LOOKED_AT.cast_signed() + 1])?;
    let (mut entries, mut looked_at) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        looked_at += 1;
        if entries.len() == filter.limit || looked_at > MAX_LOOKED_AT {
            return Ok(EntryList { entries, is_whole: false });
        }
        if filter.kinds.contains(&written(row, 1, EntryKind::parse)?) {
            entries.extend(by_id(db, scope_ids, row.get(0)?)?.map(|stored| stored.entry));
        }
    }
    Ok(EntryList { entries, is_whole: true })
}

pub(crate) fn session_of(db: &Connection, id: i64) -> rusqlite::Result<Option<SessionKey>> {
    db.sql("SELECT s.client, s.key FROM entries e CROSS JOIN sessions s ON s.id = e.session_id WHERE e.id = ?1")
        .find([id], |row| Ok(SessionKey { client: row.get(0)?, key: row.get(1)? }))
}

/// The data that identifies an entry to a person.
pub(crate) struct EntryLabel {
    pub(crate) id: i64,
    pub(crate) reference: Reference,
    pub(crate) kind: EntryKind,
    pub(crate) title: String,
    pub(crate) source: Option<String>,
}

pub(crate) fn with_text(db: &Connection, blob_id: i64) -> rusqlite::Result<Vec<EntryLabel>> {
    db.sql("SELECT id, reference, kind, title, source FROM entries WHERE blob_id = ?1 ORDER BY id").all(
        [blob_id],
        |row| {
            Ok(EntryLabel {
                id: row.get(0)?,
                reference: read_reference(row, 1)?,
                kind: written(row, 2, EntryKind::parse)?,
                title: row.get(3)?,
                source: row.get(4)?,
            })
        },
    )
}

pub(crate) fn are_none(db: &Connection) -> rusqlite::Result<bool> {
    db.sql("SELECT NOT EXISTS (SELECT 1 FROM entries)").value([])
}

pub(crate) fn gone(db: &Connection, reference: Reference) -> rusqlite::Result<Option<Gone>> {
    db.sql("SELECT why, at, kind FROM gone WHERE reference = ?1").find([reference.as_str()], |row| {
        Ok(Gone {
            why: written(row, 0, WhyGone::parse)?,
            at: Timestamp(row.get(1)?),
            kind: written(row, 2, EntryKind::parse)?,
        })
    })
}

/// Records that an entry was used, so that it is evicted later than others.
pub(crate) fn touch(tx: &Transaction<'_>, id: i64, now: Timestamp) -> rusqlite::Result<()> {
    tx.sql("UPDATE entries SET used_at = ?2 WHERE id = ?1").run([id, now.0])
}

const SELECT: &str =
    "SELECT e.id, e.blob_id, e.used_at, e.reference, e.kind, e.origin, e.level, e.title, e.source, e.at,
    e.expires_at, e.pinned, b.bytes, e.redactions FROM entries e JOIN blobs b ON b.id = e.blob_id";

fn one(db: &Connection, sql: &str, parameters: impl rusqlite::Params) -> rusqlite::Result<Option<EntryRow>> {
    let found = db.sql(sql).find(parameters, read)?;
    let Some(mut stored) = found else { return Ok(None) };
    if stored.entry.kind == EntryKind::Note {
        (stored.entry.note, stored.entry.superseded_by) = notes::load(db, stored.id)?;
    }
    if stored.entry.kind == EntryKind::Run {
        stored.entry.run = runs::load(db, stored.id)?;
    }
    Ok(Some(stored))
}

fn read(row: &Row<'_>) -> rusqlite::Result<EntryRow> {
    let pinned: bool = row.get(11)?;
    let expires_at: Option<i64> = row.get(10)?;
    let entry = Entry {
        reference: read_reference(row, 3)?,
        kind: written(row, 4, EntryKind::parse)?,
        origin: written(row, 5, Origin::parse)?,
        level: written(row, 6, Level::parse)?,
        title: row.get(7)?,
        source: row.get(8)?,
        at: Timestamp(row.get(9)?),
        expires_at: expires_at.filter(|_| !pinned).map(Timestamp),
        pinned,
        bytes: row.get::<_, i64>(12)? as u64,
        redactions: row.get(13)?,
        note: None,
        superseded_by: None,
        run: None,
    };
    Ok(EntryRow { id: row.get(0)?, blob_id: row.get(1)?, used_at: Timestamp(row.get(2)?), entry })
}

pub(crate) fn read_reference(row: &Row<'_>, column: usize) -> rusqlite::Result<Reference> {
    written(row, column, |text| Reference::parse(text).ok())
}

/// Returns a reference that no entry has or ever had.
pub(crate) fn unused_reference(db: &Connection) -> Result<Reference, Fault> {
    loop {
        let unusable = |error| StoreError::unusable(StorePart::RandomSource, &std::io::Error::other(error));
        let bits = getrandom::u64().map_err(unusable)?;
        let reference = Reference::from_bits(bits);
        if !is_used(db, reference)? {
            return Ok(reference);
        }
    }
}

fn is_used(db: &Connection, reference: Reference) -> rusqlite::Result<bool> {
    db.sql("SELECT 1 FROM entries WHERE reference = ?1 UNION ALL SELECT 1 FROM gone WHERE reference = ?1")
        .has([reference.as_str()])
}
