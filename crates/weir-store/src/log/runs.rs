//! The results of the runs whose output is kept.

use rusqlite::{Connection, Transaction, params};
use weir_core::{Ended, RunFacts};
use weir_ledger::Sql as _;

use super::written;

pub(crate) fn insert(tx: &Transaction<'_>, entry_id: i64, run: &RunFacts) -> rusqlite::Result<()> {
    tx.sql("INSERT INTO runs (entry_id, exit_code, signal, millis, sandbox, ended) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        .run(params![
            entry_id,
            run.exit_code,
            run.signal,
            i64::try_from(run.millis).unwrap_or(i64::MAX),
            run.sandbox,
            run.ended.as_str()
        ])
}

pub(crate) fn load(db: &Connection, entry_id: i64) -> rusqlite::Result<Option<RunFacts>> {
    db.sql("SELECT exit_code, signal, millis, sandbox, ended FROM runs WHERE entry_id = ?1").find([entry_id], |row| {
        Ok(RunFacts {
            exit_code: row.get(0)?,
            signal: row.get(1)?,
            millis: row.get::<_, i64>(2)? as u64,
            sandbox: row.get(3)?,
            ended: written(row, 4, Ended::parse)?,
        })
    })
}
