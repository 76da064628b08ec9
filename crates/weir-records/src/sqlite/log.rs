//! The log in SQLite. Invariants: a position is given in the transaction that appends, under the engine's one write
//! lock; no statement scans a project. Where the engine would choose to, `INDEXED BY` names the index, and a statement
//! that cannot use it fails.

use std::path::Path;

use rusqlite::{Row, Transaction, params};
use weir_core::{Reference, Scope};
use weir_ledger::Migration;
use weir_ledger::Sql as _;

use super::db::{Database, Fault};
use super::heads;
use super::hosts;
use super::moving::check_unlocked;
use super::requests;
use crate::erased::{Imprint, KnownContent};
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{HostId, RecordId, TextKey};
use crate::ports::{Batch, HeadPage, HeadWalk, KeptTexts, Log, MAX_READ_BYTES, Once, Position, Readers, StoredRecord};
use crate::record::{Body, Record};
use crate::requests::RequestKey;
use crate::sealed::GRANTS;

/// The migrations of the database, which also has the accounts.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_records", sql: include_str!("log/migrations/0001_records.sql") },
    Migration { name: "0002_requests", sql: include_str!("log/migrations/0002_requests.sql") },
    Migration { name: "0003_invitations", sql: include_str!("log/migrations/0003_invitations.sql") },
];

/// The log in SQLite.
pub struct SqliteLog {
    pub(super) database: Database,
}

impl SqliteLog {
    /// Opens the log in a file, which is created if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { database: Database::open(path, MIGRATIONS)? })
    }
}

impl Log for SqliteLog {
    fn append(&self, scope: &Scope, records: &[Record]) -> Result<Vec<Position>> {
        records.iter().try_for_each(|record| record.check(scope))?;
        let doing = "append to the log";
        let positions = self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            let before = head(tx, scope)?;
            let positions = records.iter().map(|record| append(tx, record)).collect::<Result<Vec<_>, _>>()?;
            audit(tx, scope, before, records.iter().zip(&positions))?;
            Ok(positions)
        })?;
        if records.iter().any(|record| matches!(record.body, Body::Removed { .. })) {
            self.database.wipe_write_ahead_log(doing)?;
        }
        Ok(positions)
    }

    fn append_once(&self, scope: &Scope, record: &Record, key: &RequestKey) -> Result<Once> {
        record.check(scope)?;
        let doing = "append to the log";
        self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            if let Some(known) = requests::find(tx, scope, key)? {
                return Ok(known);
            }
            let before = head(tx, scope)?;
            let position = append(tx, record)?;
            audit(tx, scope, before, [(record, &position)].into_iter())?;
            requests::keep(tx, scope, key, record.id)?;
            Ok(Once::Appended(position))
        })
    }

    fn max_kept_text(&self) -> usize {
        0
    }

    fn kept_texts(&self, _: &Scope, _: &[TextKey]) -> Result<KeptTexts> {
        Ok(KeptTexts::new())
    }

    fn request(&self, scope: &Scope, key: &RequestKey) -> Result<Option<Once>> {
        self.database.read("look up a request", |tx| Ok(requests::find(tx, scope, key)?))
    }

    fn bind_hosts(&self, scope: &Scope, hosts: &[HostId]) -> Result<Vec<HostId>> {
        hosts::bind(&self.database, scope, hosts)
    }

    fn read_since(&self, scope: &Scope, after: Position, limit: usize, readers: Readers) -> Result<Batch> {
        self.database.read("read the log", |tx| {
            let head = head(tx, scope)?;
            if after > head {
                return Err(PortError::new(ErrorKind::Ahead, "read the log").into());
            }
            let mut statement = tx.prepare_cached(
                "SELECT position, json FROM records
                 WHERE tenant = ?1 AND project = ?2 AND position > ?3 AND json IS NOT NULL
                     AND (?4 OR audience = 'team' OR author = ?5) ORDER BY position LIMIT ?6",
            )?;
            let (all, limit) = (readers == Readers::Index, i64::try_from(limit).unwrap_or(i64::MAX));
            let values = params![scope.tenant.0, scope.project.0, after.0 as i64, all, scope.user.0, limit];
            let (mut records, mut bytes, mut is_full) = (Vec::new(), 0, limit == 0);
            let mut rows = statement.query(values)?;
            while !is_full && let Some(row) = rows.next()? {
                let (position, json) = raw(row)?;
                bytes += json.len();
                records.push(StoredRecord { position: Position(position as u64), record: Record::from_json(&json)? });
                is_full = records.len() as i64 == limit || bytes >= MAX_READ_BYTES;
            }
            Ok(Batch::new(records, is_full, after, head))
        })
    }

    fn head(&self, scope: &Scope) -> Result<Position> {
        self.database.read("read the head of the log", |tx| Ok(head(tx, scope)?))
    }

    fn moved_heads(&self, walk: HeadWalk, _: usize) -> Result<HeadPage> {
        heads::moved(&self.database, walk)
    }

    fn records(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        self.database.read("read records", |tx| {
            let mut statement = tx.prepare_cached(
                "SELECT position, json FROM records WHERE tenant = ?1 AND host = ?4 AND number = ?5
                     AND project = ?2 AND json IS NOT NULL AND (audience = 'team' OR author = ?3)",
            )?;
            let mut found = Vec::new();
            for id in ids {
                let values =
                    params![scope.tenant.0, scope.project.0, scope.user.0, id.host.as_bytes(), id.index as i64];
                found.extend(collect(statement.query_map(values, raw)?)?);
            }
            Ok(found)
        })
    }

    fn about(&self, scope: &Scope, ids: &[RecordId], limit: usize) -> Result<Vec<StoredRecord>> {
        self.database.read("read records", |tx| {
            let mut statement = tx.prepare_cached(
                "SELECT position, json FROM records INDEXED BY records_about
                 WHERE tenant = ?1 AND project = ?2 AND about_host = ?4 AND about_number = ?5 AND json IS NOT NULL
                     AND (audience = 'team' OR author = ?3) ORDER BY position DESC LIMIT ?6",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut found = Vec::new();
            for id in ids {
                let values =
                    params![scope.tenant.0, scope.project.0, scope.user.0, id.host.as_bytes(), id.index as i64, limit];
                found.extend(collect(statement.query_map(values, raw)?)?);
            }
            found.sort_by_key(|stored| stored.position);
            Ok(found)
        })
    }

    fn named(&self, scope: &Scope, reference: Reference, limit: usize) -> Result<Vec<StoredRecord>> {
        self.database.read("look up a reference", |tx| {
            let mut statement = tx.prepare_cached(
                "SELECT position, json FROM records INDEXED BY records_reference
                 WHERE tenant = ?1 AND project = ?2 AND reference = ?3
                     AND json IS NOT NULL AND (audience = 'team' OR author = ?4) ORDER BY position LIMIT ?5",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let values = params![scope.tenant.0, scope.project.0, reference.as_str(), scope.user.0, limit];
            collect(statement.query_map(values, raw)?)
        })
    }

    fn on_topics(&self, scope: &Scope, topics: &[&str], limit: usize) -> Result<Vec<StoredRecord>> {
        self.database.read("look up a topic", |tx| {
            let mut statement = tx.prepare_cached(
                "SELECT position, json FROM records INDEXED BY records_topic
                 WHERE tenant = ?1 AND project = ?2 AND json_extract(json, '$.body.kept.note.topic') = ?3
                     AND json_extract(json, '$.body.kept.note.topic') IS NOT NULL
                     AND (audience = 'team' OR author = ?4) ORDER BY position DESC LIMIT ?5",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut found = Vec::new();
            for topic in topics {
                let values = params![scope.tenant.0, scope.project.0, topic, scope.user.0, limit];
                found.extend(collect(statement.query_map(values, raw)?)?);
            }
            found.sort_by_key(|stored| stored.position);
            Ok(found)
        })
    }

    fn text_uses(&self, scope: &Scope, key: &TextKey) -> Result<u64> {
        self.database.read("count the uses of a text", |tx| {
            let uses: i64 = tx
                .sql("SELECT count(*) FROM records WHERE tenant = ?1 AND text = ?2")
                .value(params![scope.tenant.0, key.as_bytes()])?;
            Ok(uses as u64)
        })
    }
}

fn append(tx: &Transaction<'_>, record: &Record) -> Result<Position, Fault> {
    let json = record.to_json()?;
    if let Some(known) = find(tx, record)? {
        known.check(record, &json)?;
        return Ok(known.position);
    }
    if let Body::Removed { record: target, .. } = &record.body {
        erase(tx, record, *target)?;
    }
    if record.body.kept().is_some() {
        record.check_sealed(&earlier(tx, record, Said { about: GRANTS, body: "$.body.granted", by: None })?)?;
    }
    let removed = Said { about: record.id, body: "$.body.removed", by: Some(record.author.user.0.as_str()) };
    let is_erased = earlier(tx, record, removed)?.is_some_and(|earlier| earlier.erases_on_arrival(record));
    let bytes = if is_erased { 0 } else { size(record, &json) };
    let position: i64 = tx
        .sql(
            "INSERT INTO heads (tenant, project, position, bytes) VALUES (?1, ?2, 1, ?3)
             ON CONFLICT (tenant, project) DO UPDATE SET position = position + 1, bytes = bytes + excluded.bytes
             RETURNING position",
        )
        .value(params![record.tenant.0, record.project.0, bytes])?;
    insert(tx, record, position, &json, is_erased)?;
    Ok(Position(position as u64))
}

/// Adds to the audit what an append did: the range of positions that are new, and each record that was removed.
fn audit<'a>(
    tx: &Transaction<'_>,
    scope: &Scope,
    before: Position,
    appended: impl Iterator<Item = (&'a Record, &'a Position)>,
) -> rusqlite::Result<()> {
    let new: Vec<(&Record, &Position)> = appended.filter(|(_, position)| **position > before).collect();
    // In a request that repeats a record, the last one need not be the newest.
    let positions = || new.iter().map(|(_, position)| position.0);
    let (Some(first), Some(last)) = (positions().min(), positions().max()) else { return Ok(()) };
    let mut done = vec![("append", format!("{first}-{last}"))];
    done.extend(
        new.iter().filter_map(|(record, _)| record.body.removal()).map(|(action, id)| (action, id.to_string())),
    );
    let mut statement = tx.prepare_cached(
        "INSERT INTO audit (tenant, project, actor, action, target, token) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let token = scope.session.as_ref().map(|session| session.key.as_str()).filter(|key| !key.is_empty());
    for (action, target) in done {
        statement.execute(params![scope.tenant.0, scope.project.0, scope.user.0, action, target, token])?;
    }
    Ok(())
}

/// Returns the bytes that a record counts for, as the engine stores them.
fn size(record: &Record, json: &str) -> i64 {
    i64::try_from(record.stored_bytes(json)).unwrap_or(i64::MAX)
}

/// Adds the row of a record. One that is erased already keeps the imprint of its JSON instead of its content.
fn insert(tx: &Transaction<'_>, record: &Record, position: i64, json: &str, is_erased: bool) -> rusqlite::Result<()> {
    let live = !is_erased;
    let kept = record.body.kept().filter(|_| live);
    let about = record.body.about().filter(|_| live);
    tx.sql(
        "INSERT INTO records (tenant, project, position, host, number, author, audience, reference, about_host,
             about_number, text, json, imprint)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )
    .run(params![
        record.tenant.0,
        record.project.0,
        position,
        record.id.host.as_bytes(),
        record.id.index as i64,
        if live { record.author.user.0.as_str() } else { "" },
        record.audience.as_str(),
        kept.map(|kept| kept.reference.as_str()),
        about.map(|about| *about.host.as_bytes()),
        about.map(|about| about.index as i64),
        kept.map(|kept| *kept.text.as_bytes()),
        live.then_some(json),
        is_erased.then(|| Imprint::of(json).number()),
    ])
}

fn erase(tx: &Transaction<'_>, removal: &Record, target: RecordId) -> Result<(), Fault> {
    let values = params![removal.tenant.0, removal.project.0, target.host.as_bytes(), target.index as i64];
    let known: Option<String> = tx
        .sql(
            "SELECT json FROM records WHERE tenant = ?1 AND host = ?3 AND number = ?4 AND project = ?2
                 AND json IS NOT NULL",
        )
        .find_value(values)?;
    let Some(known) = known else { return Ok(()) };
    let target = Record::from_json(&known)?;
    removal.check_removal_of(&target)?;
    tx.sql("UPDATE heads SET bytes = bytes - ?3 WHERE tenant = ?1 AND project = ?2").run(params![
        removal.tenant.0,
        removal.project.0,
        size(&target, &known)
    ])?;
    tx.sql(
        "UPDATE records SET author = '', reference = NULL, about_host = NULL, about_number = NULL, text = NULL,
             json = NULL, imprint = ?5 WHERE tenant = ?1 AND host = ?3 AND number = ?4 AND project = ?2",
    )
    .run(params![
        removal.tenant.0,
        removal.project.0,
        target.id.host.as_bytes(),
        target.id.index as i64,
        Imprint::of(&known).number()
    ])?;
    Ok(())
}

/// What a tenant has under an id.
struct KnownRow {
    project: String,
    position: Position,
    /// Its JSON, unless it is erased.
    json: Option<String>,
    imprint: Option<Imprint>,
}

impl KnownRow {
    fn check(&self, record: &Record, json: &str) -> Result<()> {
        let known = match self.project == record.project.0 {
            true => KnownContent::of_row(self.json.as_deref(), self.imprint),
            false => KnownContent::Elsewhere,
        };
        known.check_same(record.id, json)
    }
}

fn find(tx: &Transaction<'_>, record: &Record) -> rusqlite::Result<Option<KnownRow>> {
    tx.sql("SELECT project, position, json, imprint FROM records WHERE tenant = ?1 AND host = ?2 AND number = ?3").find(
        params![record.tenant.0, record.id.host.as_bytes(), record.id.index as i64],
        |row| {
            Ok(KnownRow {
                project: row.get(0)?,
                position: Position(row.get::<_, i64>(1)? as u64),
                json: row.get(2)?,
                imprint: row.get::<_, Option<i64>>(3)?.and_then(Imprint::from_number),
            })
        },
    )
}

/// What an earlier record of a project says.
struct Said<'a> {
    about: RecordId,
    /// The path of its body in JSON.
    body: &'static str,
    /// Its author, if only one counts.
    by: Option<&'a str>,
}

/// Returns the first record of a project that says this, private ones too. There may be any number of others about the
/// same record.
fn earlier(tx: &Transaction<'_>, record: &Record, said: Said<'_>) -> Result<Option<Record>, Fault> {
    let Said { about, body, by } = said;
    let mut statement = tx.prepare_cached(
        "SELECT position, json FROM records INDEXED BY records_about
         WHERE tenant = ?1 AND project = ?2 AND about_host = ?3 AND about_number = ?4 AND json IS NOT NULL
             AND (?5 IS NULL OR author = ?5) AND json_extract(json, ?6) IS NOT NULL ORDER BY position LIMIT 1",
    )?;
    let (host, number) = (about.host.as_bytes(), about.index as i64);
    let values = params![record.tenant.0, record.project.0, host, number, by, body];
    Ok(collect(statement.query_map(values, raw)?)?.pop().map(|stored| stored.record))
}

fn head(tx: &Transaction<'_>, scope: &Scope) -> rusqlite::Result<Position> {
    let head: Option<i64> = tx
        .sql("SELECT position FROM heads WHERE tenant = ?1 AND project = ?2")
        .find_value(params![scope.tenant.0, scope.project.0])?;
    Ok(Position(head.unwrap_or_default() as u64))
}

fn raw(row: &Row<'_>) -> rusqlite::Result<(i64, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

fn collect(rows: impl Iterator<Item = rusqlite::Result<(i64, String)>>) -> Result<Vec<StoredRecord>, Fault> {
    rows.map(|row| {
        let (position, json) = row?;
        Ok(StoredRecord { position: Position(position as u64), record: Record::from_json(&json)? })
    })
    .collect()
}
