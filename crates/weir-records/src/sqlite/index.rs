//! The index in SQLite's FTS5: one database for each project, so that a search reads the words of no other project, and
//! removing what is left of a forgotten text rewrites that of one project only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Transaction, params};
use weir_core::query::{self, Term};
use weir_core::{Scope, words};
use weir_ledger::Sql as _;
use weir_ledger::{Migration, private};

use super::db::{Database, Fault, from_system};
use crate::error::Result;
use crate::id::{HostId, RecordId};
use crate::names::name_of;
use crate::ports::{Index, IndexChange, IndexHit, IndexHits, IndexedRecord, Position, SearchQuery, Step};

const MIGRATIONS: &[Migration] =
    &[Migration { name: "0001_index", sql: include_str!("index/migrations/0001_index.sql") }];

/// How many databases are open at once.
const MAX_OPEN: usize = 64;

/// The index in SQLite.
pub struct SqliteIndex {
    folder: PathBuf,
    open: Mutex<BTreeMap<String, Arc<Database>>>,
}

impl SqliteIndex {
    /// Opens the indexes in a folder, which is created if it does not exist.
    pub fn open(folder: &Path) -> Result<Self> {
        private::folder(folder).map_err(|error| from_system(&error, "create the folder of the index"))?;
        Ok(Self { folder: folder.to_owned(), open: Mutex::default() })
    }

    fn database(&self, scope: &Scope) -> Result<Arc<Database>> {
        let name = name_of(&[&scope.tenant.0, &scope.project.0]);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = open.get(&name) {
            return Ok(Arc::clone(database));
        }
        let database = Arc::new(Database::open(&self.folder.join(format!("{name}.db")), MIGRATIONS)?);
        if open.len() >= MAX_OPEN {
            open.pop_first();
        }
        open.insert(name, Arc::clone(&database));
        Ok(database)
    }
}

impl Index for SqliteIndex {
    fn position(&self, scope: &Scope) -> Result<Position> {
        self.database(scope)?.read("read the position of the index", |tx| Ok(position(tx)?))
    }

    fn apply(&self, scope: &Scope, changes: &[IndexChange], step: Step) -> Result<bool> {
        let doing = "index records";
        let database = self.database(scope)?;
        let removes = changes.iter().any(|change| matches!(change, IndexChange::Remove(_)));
        let applied = database.write(doing, |tx| {
            if position(tx)? != step.from {
                return Ok(false);
            }
            for change in changes {
                match change {
                    IndexChange::Put(record) => put(tx, record)?,
                    IndexChange::Remove(id) => remove(tx, *id)?,
                }
            }
            if removes {
                // Otherwise the words of a removed record stay in the pages of the postings.
                tx.execute_batch("INSERT INTO words (words) VALUES ('optimize')")?;
            }
            tx.execute("UPDATE progress SET position = ?1 WHERE id = 1", [step.to.0 as i64])?;
            Ok(true)
        })?;
        if applied && removes {
            database.wipe_write_ahead_log(doing)?;
        }
        Ok(applied)
    }

    fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<IndexHits> {
        let expression: Vec<String> = query::terms(&query.text).iter().map(expression_of).collect();
        if query.limit == 0 || expression.is_empty() {
            return Ok(IndexHits::default());
        }
        let source = query.source.as_deref().map(|source| source.trim_end_matches('/'));
        let mut hits = self.database(scope)?.read("search", |tx| {
            // The engine returns rows in the order of their rank, so the join runs only for the rows that are taken.
            let mut statement = tx.prepare_cached(
                "SELECT d.host, d.number, -words.rank, d.at FROM words CROSS JOIN documents d ON d.id = words.rowid
                 WHERE words MATCH ?1 AND (d.audience = 'team' OR d.author = ?2)
                     AND (?3 IS NULL OR d.kind = ?3) AND (?4 IS NULL OR d.author = ?4)
                     AND (?5 IS NULL OR d.source = ?5 OR substr(d.source, 1, length(?5) + 1) = ?5 || '/')
                     AND (?6 IS NULL OR d.at >= ?6)
                 ORDER BY words.rank LIMIT ?7",
            )?;
            let values = params![
                expression.join(" OR "),
                scope.user.0,
                query.kind.map(weir_core::EntryKind::as_str),
                query.author.as_ref().map(|author| author.0.as_str()),
                source,
                query.since.map(|since| since.0),
                i64::try_from(query.limit).unwrap_or(i64::MAX),
            ];
            let rows = statement.query_map(values, |row| {
                let id = RecordId { host: HostId::from_bytes(row.get(0)?), index: row.get::<_, i64>(1)? as u64 };
                Ok((IndexHit { id, score: row.get(2)? }, row.get::<_, i64>(3)?))
            })?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })?;
        // Of equally good ones, the newest first.
        hits.sort_by(|(a, a_at), (b, b_at)| b.score.total_cmp(&a.score).then(b_at.cmp(a_at)).then(a.id.cmp(&b.id)));
        Ok(IndexHits { hits: hits.into_iter().map(|(hit, _)| hit).collect(), used_vector: false })
    }

    fn holds(&self, scope: &Scope, ids: &[RecordId]) -> Result<u64> {
        self.database(scope)?.read("count records in the index", |tx| {
            let mut count = 0;
            for id in ids {
                count += u64::from(document(tx, *id)?.is_some());
            }
            Ok(count)
        })
    }

    fn clear(&self, scope: &Scope) -> Result<()> {
        let (database, doing) = (self.database(scope)?, "clear the index");
        database.write(doing, |tx| {
            tx.execute_batch(
                "DELETE FROM documents;
                 INSERT INTO words (words) VALUES ('delete-all');
                 UPDATE progress SET position = 0 WHERE id = 1;",
            )?;
            Ok(())
        })?;
        database.wipe_write_ahead_log(doing)
    }
}

fn position(tx: &Transaction<'_>) -> rusqlite::Result<Position> {
    let position: i64 = tx.sql("SELECT position FROM progress WHERE id = 1").value([])?;
    Ok(Position(position as u64))
}

fn document(tx: &Transaction<'_>, id: RecordId) -> rusqlite::Result<Option<i64>> {
    tx.sql("SELECT id FROM documents WHERE host = ?1 AND number = ?2")
        .find_value(params![id.host.as_bytes(), id.index as i64])
}

fn put(tx: &Transaction<'_>, record: &IndexedRecord) -> Result<(), Fault> {
    remove(tx, record.id)?;
    let id = tx
        .sql(
            "INSERT INTO documents (host, number, kind, author, audience, source, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .insert(params![
            record.id.host.as_bytes(),
            record.id.index as i64,
            record.kind.as_str(),
            record.author.0,
            record.audience.as_str(),
            record.source,
            record.at.0,
        ])?;
    let hidden = words::hidden_words(&format!("{}\n{}", record.title, record.text));
    tx.sql("INSERT INTO words (rowid, body, title, hidden) VALUES (?1, ?2, ?3, ?4)")
        .run(params![id, record.text, record.title, hidden])?;
    Ok(())
}

fn remove(tx: &Transaction<'_>, id: RecordId) -> Result<(), Fault> {
    if let Some(id) = document(tx, id)? {
        tx.sql("DELETE FROM words WHERE rowid = ?1").run([id])?;
        tx.sql("DELETE FROM documents WHERE id = ?1").run([id])?;
    }
    Ok(())
}

/// Returns a term in the engine's syntax. Words consist of letters and digits only, so none of them can be an operator.
fn expression_of(term: &Term) -> String {
    let star = if term.prefix { " *" } else { "" };
    format!("\"{}\"{star}", term.words.join(" "))
}
