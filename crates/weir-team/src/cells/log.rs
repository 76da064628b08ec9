//! The log of all cells. Invariant: each call goes to the cell of its tenant; a tenant that the directory does not have has
//! no records, and is given a cell by the first call that writes.

use std::collections::BTreeSet;

use weir_core::{Reference, Scope};
use weir_records::{
    Batch, ErrorKind, HeadPage, HeadWalk, HostId, KeptTexts, Log, LookUps, Once, PortError, Position, Readers, Record,
    RecordId, RequestKey, Result, StoredRecord, TextKey, Texts,
};

use super::Cells;
use crate::log::{MAX_KEPT_TEXT, PostgresLog};

const APPEND: &str = "append to the log";

impl Cells {
    /// Reads in the cell of a tenant, or returns what a log without the tenant does.
    fn read<T: Default>(&self, scope: &Scope, doing: &str, call: impl FnMut(&PostgresLog) -> Result<T>) -> Result<T> {
        Ok(self.in_cell(&scope.tenant, doing, call)?.unwrap_or_default())
    }
}

impl Log for Cells {
    fn append(&self, scope: &Scope, records: &[Record]) -> Result<Vec<Position>> {
        self.append_with_texts(scope, records, &Texts::new())
    }

    fn append_once(&self, scope: &Scope, record: &Record, key: &RequestKey) -> Result<Once> {
        self.append_once_with_texts(scope, record, key, &Texts::new())
    }

    /// Every cell keeps small texts.
    fn max_kept_text(&self) -> usize {
        MAX_KEPT_TEXT
    }

    fn append_with_texts(&self, scope: &Scope, records: &[Record], texts: &Texts<'_>) -> Result<Vec<Position>> {
        records.iter().try_for_each(|record| record.check(scope))?;
        if records.is_empty() {
            return Ok(Vec::new());
        }
        self.in_cell_of_new(&scope.tenant, APPEND, |log| log.append_with_texts(scope, records, texts))
    }

    fn append_once_with_texts(
        &self,
        scope: &Scope,
        record: &Record,
        key: &RequestKey,
        texts: &Texts<'_>,
    ) -> Result<Once> {
        record.check(scope)?;
        self.in_cell_of_new(&scope.tenant, APPEND, |log| log.append_once_with_texts(scope, record, key, texts))
    }

    fn kept_texts(&self, scope: &Scope, keys: &[TextKey]) -> Result<KeptTexts> {
        self.read(scope, "read texts", |log| log.kept_texts(scope, keys))
    }

    fn request(&self, scope: &Scope, key: &RequestKey) -> Result<Option<Once>> {
        self.read(scope, "look up a request", |log| log.request(scope, key))
    }

    fn bind_hosts(&self, scope: &Scope, hosts: &[HostId]) -> Result<Vec<HostId>> {
        self.in_cell_of_new(&scope.tenant, "bind hosts to a user", |log| log.bind_hosts(scope, hosts))
    }

    fn read_since(&self, scope: &Scope, after: Position, limit: usize, readers: Readers) -> Result<Batch> {
        const DOING: &str = "read the log";
        match self.in_cell(&scope.tenant, DOING, |log| log.read_since(scope, after, limit, readers))? {
            Some(batch) => Ok(batch),
            None if after > Position(0) => Err(PortError::new(ErrorKind::Ahead, DOING)),
            None => Ok(Batch::new(Vec::new(), false, after, Position(0))),
        }
    }

    fn answers(&self) -> Result<()> {
        self.answers()
    }

    fn head(&self, scope: &Scope) -> Result<Position> {
        self.read(scope, "read the head of the log", |log| log.head(scope))
    }

    fn moved_heads(&self, walk: HeadWalk, limit: usize) -> Result<HeadPage> {
        self.walks.go_on(self, walk, limit)
    }

    fn records(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        self.read(scope, "read records", |log| log.records(scope, ids))
    }

    fn about(&self, scope: &Scope, ids: &[RecordId], limit: usize) -> Result<Vec<StoredRecord>> {
        self.read(scope, "read records", |log| log.about(scope, ids, limit))
    }

    fn named(&self, scope: &Scope, reference: Reference, limit: usize) -> Result<Vec<StoredRecord>> {
        self.read(scope, "look up a reference", |log| log.named(scope, reference, limit))
    }

    fn on_topics(&self, scope: &Scope, topics: &[&str], limit: usize) -> Result<Vec<StoredRecord>> {
        self.read(scope, "read records", |log| log.on_topics(scope, topics, limit))
    }

    fn look_ups<'a>(&'a self, scope: &'a Scope) -> Box<dyn LookUps + 'a> {
        Box::new(CellLookUps { cells: self, scope, open: None })
    }

    fn text_uses(&self, scope: &Scope, key: &TextKey) -> Result<u64> {
        self.read(scope, "count the uses of a text", |log| log.text_uses(scope, key))
    }

    fn used_texts(&self, scope: &Scope, keys: &[TextKey]) -> Result<BTreeSet<TextKey>> {
        self.read(scope, "look for the uses of texts", |log| log.used_texts(scope, keys))
    }
}

/// Look-ups in the cell of a tenant, which belong together as those of the cell do.
struct CellLookUps<'a> {
    cells: &'a Cells,
    scope: &'a Scope,
    open: Option<Box<dyn LookUps + 'a>>,
}

impl<'a> CellLookUps<'a> {
    /// Goes on with the look-ups. If the tenant is elsewhere by now, they begin there.
    fn look_up<T: Default>(&mut self, mut call: impl FnMut(&mut dyn LookUps) -> Result<T>) -> Result<T> {
        let (cells, scope, open): (_, &'a Scope, _) = (self.cells, self.scope, &mut self.open);
        cells.read(scope, "read records", |log| {
            let begun = open.get_or_insert_with(|| log.own_look_ups(scope));
            let found = call(begun.as_mut());
            if found.is_err() {
                *open = None;
            }
            found
        })
    }
}

impl LookUps for CellLookUps<'_> {
    fn records(&mut self, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        self.look_up(|look_ups| look_ups.records(ids))
    }

    fn about(&mut self, ids: &[RecordId], limit: usize) -> Result<Vec<StoredRecord>> {
        self.look_up(|look_ups| look_ups.about(ids, limit))
    }

    fn on_topics(&mut self, topics: &[&str], limit: usize) -> Result<Vec<StoredRecord>> {
        self.look_up(|look_ups| look_ups.on_topics(topics, limit))
    }

    fn kept_texts(&mut self, keys: &[TextKey]) -> Result<KeptTexts> {
        self.look_up(|look_ups| look_ups.kept_texts(keys))
    }
}
