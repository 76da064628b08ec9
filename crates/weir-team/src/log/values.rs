//! Values as PostgreSQL takes them, and rows as the ports want them.

use std::borrow::Cow;
use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};
use weir_records::{Audience, HostId, Imprint, Position, Record, RecordId, StoredRecord, Texts};

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
    pub(super) jsons: Vec<Option<Cow<'a, str>>>,
    pub(super) imprints: Vec<Option<i64>>,
    pub(super) contents: Vec<Option<&'a [u8]>>,
}

/// What a row has beyond the id and the position of its record.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// The record, and its JSON.
    Stored(&'a Record, Cow<'a, str>),
    /// The imprint of the record, which is erased.
    Erased(Option<Imprint>),
}

impl<'a> SqlRows<'a> {
    /// Returns the columns of these rows, with those of the texts that are kept in them.
    pub(super) fn of(rows: &'a [NewRow<'_>], texts: &'a Texts<'_>) -> Self {
        let mut columns = Self::default();
        for NewRow { position, record, json, imprint } in rows {
            let content = match json.as_deref() {
                Some(json) => Content::Stored(record, Cow::Borrowed(json)),
                None => Content::Erased(Some(*imprint)),
            };
            columns.add(*position, record.id, record.audience, content);
            let text = record.body.kept().filter(|_| json.is_some()).and_then(|kept| texts.get(&kept.text));
            columns.keep(text.copied());
        }
        columns
    }

    /// Adds a row.
    pub(super) fn add(&mut self, position: Position, id: RecordId, audience: Audience, content: Content<'a>) {
        let (record, json, imprint) = match content {
            Content::Stored(record, json) => (Some(record), Some(json), None),
            Content::Erased(imprint) => (None, None, imprint),
        };
        let kept = record.and_then(|record| record.body.kept());
        let about = record.and_then(|record| record.body.about());
        self.positions.push(position.0 as i64);
        self.numbers.push(id.index as i64);
        self.about_numbers.push(about.map(|about| about.index as i64));
        self.hosts.push(SqlHost(id.host));
        self.about_hosts.push(about.map(|about| SqlHost(about.host)));
        self.audiences.push(audience.as_str());
        self.authors.push(record.map_or("", |record| record.author.user.0.as_str()));
        self.references.push(kept.map(|kept| kept.reference.as_str()));
        self.texts.push(kept.map(|kept| kept.text.as_bytes().as_slice()));
        self.jsons.push(json);
        self.imprints.push(imprint.map(Imprint::number));
        self.contents.push(None);
    }

    /// Keeps a text in the row that was added last.
    pub(super) fn keep(&mut self, text: Option<&'a [u8]>) {
        if let Some(last) = self.contents.last_mut() {
            *last = text;
        }
    }

    /// Returns the values that add these rows to a project.
    pub(super) fn values<'b>(&'b self, tenant: &'b i64, project: &'b i64) -> [&'b (dyn ToSql + Sync); 14] {
        [
            tenant, project, &self.positions, &self.numbers, &self.about_numbers, &self.hosts, &self.about_hosts,
            &self.audiences, &self.authors, &self.references, &self.texts, &self.jsons, &self.imprints, &self.contents,
        ]
    }
}

/// Reads a position and a JSON from two neighbouring columns, if they have any.
pub(super) fn stored(row: &Row, first: usize) -> Result<Option<StoredRecord>, Fault> {
    let position: Option<i64> = row.try_get(first)?;
    let json: Option<&str> = row.try_get(first + 1)?;
    let (Some(position), Some(json)) = (position, json) else { return Ok(None) };
    Ok(Some(StoredRecord { position: Position(position as u64), record: Record::from_json(json)? }))
}
