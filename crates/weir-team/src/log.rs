//! The log on PostgreSQL: one database for all tenants, and for any number of servers at once.
//!
//! Invariants: a position is given under the lock on the project's head, which is held until the transaction commits,
//! so that records become visible in the order of their positions; each call names its tenant to the statement and,
//! independently, to the row-level security of the database; no statement scans a project.
//!
//! A removal erases the content of a record in its row. PostgreSQL keeps the old version of the row, where no statement
//! finds it, until a vacuum has freed its space and something else is written there, and in its write-ahead log,
//! replicas and backups until those are replaced.

mod accounts;
mod append;
mod database;
mod deletion;
mod erasure;
mod fault;
mod heads;
mod hosts;
mod invitations;
mod look_up;
mod moving;
pub(crate) mod notices;
mod options;
mod owner;
mod places;
mod plan;
pub(crate) mod presence;
mod queries;
mod requests;
mod retention;
mod schema;
mod tls;
mod transaction;
mod values;

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio_postgres::Row;
use weir_core::{Reference, Scope};
use weir_records::{
    Batch, ErrorKind, HeadPage, HeadWalk, HostId, KeptTexts, Log, LookUps, MAX_READ_BYTES, Once, PortError, Position,
    Readers, Record, RecordId, RequestKey, Result, StoredRecord, TextKey, Texts,
};

pub use self::accounts::PostgresAccounts;
use self::append::{Appended, Appending};
pub(crate) use self::database::Database;
pub use self::deletion::{delete_tenant, delete_tokens};
pub use self::erasure::erase_name;
pub(crate) use self::fault::Fault;
use self::look_up::{TransactionLookUps, look_up};
pub(crate) use self::options::DEFAULT_CONNECTIONS;
pub use self::options::{PostgresOptions, Statements};
pub(crate) use self::owner::as_owner;
pub(crate) use self::queries::Query;
use self::queries::{HEAD, NAMED, READ_SINCE, TEXT_USES, USED_TEXTS};
use self::requests::FIND_REQUEST;
pub use self::retention::expire_audit;
pub(crate) use self::schema::Schema;
pub use self::schema::{SCHEMA, end_update, migrate};
use crate::bridge::Bridge;
use crate::connections::ConnectionWatch;

/// How large a text may be that is kept in the row of its record, in bytes. PostgreSQL compresses it, and moves what is
/// larger than 2 KiB out of the row.
pub(crate) const MAX_KEPT_TEXT: usize = 8 << 10;

/// The log on PostgreSQL.
pub struct PostgresLog {
    database: Arc<Database>,
}

impl PostgresLog {
    /// Opens the log. The schema must be that of this version (see [`migrate`]), and row-level security must apply to
    /// the role.
    pub fn open(options: &PostgresOptions, bridge: &Bridge) -> Result<Self> {
        Ok(Self { database: Arc::new(Database::open(options, bridge)?) })
    }

    /// Returns what says how the connections are used.
    pub fn connection_watch(&self) -> ConnectionWatch {
        let database = Arc::clone(&self.database);
        Arc::new(move || database.figures())
    }

    /// Returns look-ups as [`Log::look_ups`] does, which do not borrow the log.
    pub(crate) fn own_look_ups<'a>(&self, scope: &'a Scope) -> Box<dyn LookUps + 'a> {
        Box::new(TransactionLookUps::new(&self.database, scope))
    }

    /// Returns the accounts in the same database, which share the connections of the log.
    pub fn accounts(&self) -> PostgresAccounts {
        PostgresAccounts::new(Arc::clone(&self.database))
    }
}

impl Log for PostgresLog {
    fn append(&self, scope: &Scope, records: &[Record]) -> Result<Vec<Position>> {
        self.append_with_texts(scope, records, &Texts::new())
    }

    fn max_kept_text(&self) -> usize {
        if self.database.keeps_texts() { MAX_KEPT_TEXT } else { 0 }
    }

    fn append_with_texts(&self, scope: &Scope, records: &[Record], texts: &Texts<'_>) -> Result<Vec<Position>> {
        records.iter().try_for_each(|record| record.check(scope))?;
        if records.is_empty() {
            return Ok(Vec::new());
        }
        match append::append(&self.database, scope, Appending { records, texts, key: None })? {
            Appended::At(positions) => Ok(positions),
            Appended::Nothing(_) => Ok(Vec::new()),
        }
    }

    fn append_once(&self, scope: &Scope, record: &Record, key: &RequestKey) -> Result<Once> {
        self.append_once_with_texts(scope, record, key, &Texts::new())
    }

    fn append_once_with_texts(
        &self,
        scope: &Scope,
        record: &Record,
        key: &RequestKey,
        texts: &Texts<'_>,
    ) -> Result<Once> {
        record.check(scope)?;
        let appending = Appending { records: std::slice::from_ref(record), texts, key: Some(key) };
        Ok(match append::append(&self.database, scope, appending)? {
            Appended::At(positions) => Once::Appended(positions.first().copied().unwrap_or_default()),
            Appended::Nothing(known) => known,
        })
    }

    fn kept_texts(&self, scope: &Scope, keys: &[TextKey]) -> Result<KeptTexts> {
        TransactionLookUps::new(&self.database, scope).kept_texts(keys)
    }

    fn request(&self, scope: &Scope, key: &RequestKey) -> Result<Option<Once>> {
        let (doing, name, oldest) = ("look up a request", key.name.as_slice(), key.oldest().0);
        let rows = self.database.read(doing, scope, &FIND_REQUEST, &[&scope.tenant.0, &name, &oldest])?;
        rows.first().map(|row| requests::stands_for(row, key)).transpose().map_err(|fault| fault.at(doing))
    }

    fn bind_hosts(&self, scope: &Scope, hosts: &[HostId]) -> Result<Vec<HostId>> {
        hosts::bind(&self.database, scope, hosts)
    }

    fn read_since(&self, scope: &Scope, after: Position, limit: usize, readers: Readers) -> Result<Batch> {
        let doing = "read the log";
        let (all, most) = (readers == Readers::Index, i64::try_from(limit).unwrap_or(i64::MAX));
        let (user, first, most_bytes) = (&scope.user.0, after.0 as i64, MAX_READ_BYTES as i64);
        let rows = look_up(&self.database, doing, scope, &READ_SINCE, &[user, &first, &most, &most_bytes, &all])?;
        batch(&rows, after, limit).map_err(|fault| fault.at(doing))
    }

    fn head(&self, scope: &Scope) -> Result<Position> {
        let doing = "read the head of the log";
        let rows = look_up(&self.database, doing, scope, &HEAD, &[])?;
        Ok(Position(number(&rows).map_err(|fault| fault.at(doing))?))
    }

    fn moved_heads(&self, walk: HeadWalk, limit: usize) -> Result<HeadPage> {
        heads::moved(&self.database, walk, limit)
    }

    fn records(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        TransactionLookUps::new(&self.database, scope).records(ids)
    }

    fn about(&self, scope: &Scope, ids: &[RecordId], limit: usize) -> Result<Vec<StoredRecord>> {
        TransactionLookUps::new(&self.database, scope).about(ids, limit)
    }

    fn named(&self, scope: &Scope, reference: Reference, limit: usize) -> Result<Vec<StoredRecord>> {
        let (doing, name) = ("look up a reference", reference.as_str());
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = look_up(&self.database, doing, scope, &NAMED, &[&scope.user.0, &name, &most])?;
        collect(&rows, 0).map_err(|fault| fault.at(doing))
    }

    fn on_topics(&self, scope: &Scope, topics: &[&str], limit: usize) -> Result<Vec<StoredRecord>> {
        TransactionLookUps::new(&self.database, scope).on_topics(topics, limit)
    }

    fn look_ups<'a>(&'a self, scope: &'a Scope) -> Box<dyn LookUps + 'a> {
        Box::new(TransactionLookUps::new(&self.database, scope))
    }

    fn text_uses(&self, scope: &Scope, key: &TextKey) -> Result<u64> {
        let (doing, key) = ("count the uses of a text", key.as_bytes().as_slice());
        let rows = look_up(&self.database, doing, scope, &TEXT_USES, &[&key])?;
        number(&rows).map_err(|fault| fault.at(doing))
    }

    fn used_texts(&self, scope: &Scope, keys: &[TextKey]) -> Result<BTreeSet<TextKey>> {
        let doing = "look for the uses of texts";
        let wanted: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes().as_slice()).collect();
        let rows = look_up(&self.database, doing, scope, &USED_TEXTS, &[&wanted])?;
        let used: Result<Vec<Option<&[u8]>>, Fault> = rows.iter().map(|row| Ok(row.try_get(0)?)).collect();
        let used: BTreeSet<&[u8]> = used.map_err(|fault| fault.at(doing))?.into_iter().flatten().collect();
        Ok(keys.iter().filter(|key| used.contains(key.as_bytes().as_slice())).copied().collect())
    }
}

/// Reads the head and the records after a position from rows that have both.
fn batch(rows: &[Row], after: Position, limit: usize) -> Result<Batch, Fault> {
    let head = Position(number(rows)?);
    if after > head {
        return Err(PortError::new(ErrorKind::Ahead, "read the log").into());
    }
    let (records, mut bytes) = (collect(rows, 1)?, 0);
    for row in rows {
        bytes += row.try_get::<_, Option<&str>>(2)?.map_or(0, str::len);
    }
    let is_full = records.len() == limit || bytes >= MAX_READ_BYTES;
    Ok(Batch::new(records, is_full, after, head))
}

/// Reads the number in the first column of the first row, or 0 if there is none.
fn number(rows: &[Row]) -> Result<u64, Fault> {
    let number: Option<i64> = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(number.unwrap_or_default() as u64)
}

/// Reads records, with their positions in the given column and their JSON in the next.
fn collect(rows: &[Row], column: usize) -> Result<Vec<StoredRecord>, Fault> {
    rows.iter().filter_map(|row| values::stored(row, column).transpose()).collect()
}
