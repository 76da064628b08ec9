//! Values as PostgreSQL takes them, and rows as the ports want them.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};
use weir_records::{HostId, Position, Record, RecordId, StoredRecord};

use super::fault::Fault;
use super::plan::NewRow;

/// A host as a `uuid`.
#[derive(Debug, Clone, Copy)]
pub(super) struct SqlHost(pub(super) HostId);

impl ToSql for SqlHost {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    accepts!(UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for SqlHost {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(HostId::from_bytes(raw.try_into()?)))
    }

    accepts!(UUID);
}

/// Ids as two arrays.
#[derive(Debug, Default)]
pub(super) struct SqlIds {
    pub(super) hosts: Vec<SqlHost>,
    pub(super) numbers: Vec<i64>,
}

impl FromIterator<RecordId> for SqlIds {
    fn from_iter<I: IntoIterator<Item = RecordId>>(ids: I) -> Self {
        let mut arrays = Self::default();
        for id in ids {
            arrays.hosts.push(SqlHost(id.host));
            arrays.numbers.push(id.index as i64);
        }
        arrays
    }
}

/// The columns of new records, each as an array.
#[derive(Debug, Default)]
pub(super) struct SqlRows<'a> {
    pub(super) positions: Vec<i64>,
    pub(super) numbers: Vec<i64>,
    pub(super) about_numbers: Vec<Option<i64>>,
    pub(super) hosts: Vec<SqlHost>,
    pub(super) about_hosts: Vec<Option<SqlHost>>,
    pub(super) audiences: Vec<&'a str>,
    pub(super) authors: Vec<&'a str>,
    pub(super) references: Vec<Option<&'a str>>,
    pub(super) texts: Vec<Option<&'a [u8]>>,
    pub(super) jsons: Vec<Option<&'a str>>,
}

impl<'a> SqlRows<'a> {
    /// Returns the columns of these rows. An erased one has only its id and its position.
    pub(super) fn of(rows: &'a [NewRow<'_>]) -> Self {
        let mut columns = Self::default();
        for NewRow { position, record, json } in rows {
            let live = json.is_some();
            let kept = record.body.kept().filter(|_| live);
            let about = record.body.about().filter(|_| live);
            columns.positions.push(position.0 as i64);
            columns.numbers.push(record.id.index as i64);
            columns.about_numbers.push(about.map(|about| about.index as i64));
            columns.hosts.push(SqlHost(record.id.host));
            columns.about_hosts.push(about.map(|about| SqlHost(about.host)));
            columns.audiences.push(record.audience.as_str());
            columns.authors.push(if live { record.author.user.0.as_str() } else { "" });
            columns.references.push(kept.map(|kept| kept.reference.as_str()));
            columns.texts.push(kept.map(|kept| kept.text.as_bytes().as_slice()));
            columns.jsons.push(json.as_deref());
        }
        columns
    }
}

/// Reads a position and a JSON from two neighbouring columns, if they have any.
pub(super) fn stored(row: &Row, first: usize) -> Result<Option<StoredRecord>, Fault> {
    let position: Option<i64> = row.try_get(first)?;
    let json: Option<&str> = row.try_get(first + 1)?;
    let (Some(position), Some(json)) = (position, json) else { return Ok(None) };
    Ok(Some(StoredRecord { position: Position(position as u64), record: Record::from_json(json)? }))
}
