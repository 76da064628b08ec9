//! Composes the three ports into [`Shelf`], which keeps, finds and removes records.
//!
//! Invariants: a record is shown only if the log has it and says that the scope sees it, whatever the index found; a
//! text is read only through a record; the index follows the log and nothing else; secrets are redacted before a new
//! record is written.

mod erasure;
mod follow;
mod forget;
mod import;
mod keep;
mod search;
mod standing;
mod texts;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use erasure::ErasedAuthor;
pub use follow::Followed;
pub use forget::{Forgotten, Left};
use import::copy_of;
pub use import::{Incoming, Sender};
pub use keep::{KeptOnce, NewRecord};
pub use search::{Found, Hit};
pub use standing::{Confirmation, KeptRecord};
use texts::EntryPart;
use weir_core::{Reference, Scope, TenantId, Timestamp, UserId};

use crate::clock::{Clock, LogicalTime};
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{HostId, RecordId};
use crate::ports::{Batch, Blobs, Index, KeptTexts, Log, Position, Readers, StoredRecord, Texts};
use crate::record::{Audience, Author, Body, Record};
use crate::sealed::GRANTS;

/// The three ports. Clones share them.
#[derive(Clone)]
pub struct Ports {
    /// The record of truth.
    pub log: Arc<dyn Log>,
    /// What answers searches.
    pub index: Arc<dyn Index>,
    /// The texts.
    pub blobs: Arc<dyn Blobs>,
}

/// How many clocks are kept before those that the time of day has passed are dropped.
const MAX_CLOCKS: usize = 10_000;

/// What gives records their ids and times. Each tenant has a clock of its own, so that none moves that of another.
#[derive(Debug)]
pub struct Writer {
    host: HostId,
    next: AtomicU64,
    /// What every clock continues after.
    last: LogicalTime,
    clocks: Mutex<HashMap<TenantId, Clock>>,
}

impl Writer {
    /// Creates a writer with a new host, as a server does at each start: then nothing has to be remembered.
    pub fn new() -> Result<Self> {
        Ok(Self::resume(HostId::random()?, 0, LogicalTime::ZERO))
    }

    /// Creates a writer that continues as a host: with the index after its last record, and the last time it has given
    /// or seen.
    pub fn resume(host: HostId, next: u64, last: LogicalTime) -> Self {
        Self { host, next: AtomicU64::new(next), last, clocks: Mutex::default() }
    }

    pub fn host(&self) -> HostId {
        self.host
    }

    /// Returns whether this writer may still give an id to a record.
    fn may_give(&self, id: RecordId) -> bool {
        id.host == self.host && id.index >= self.next.load(Ordering::Relaxed)
    }

    fn tick(&self, tenant: &TenantId, now: Timestamp) -> LogicalTime {
        self.with_clock(tenant, now, |clock| clock.tick(now))
    }

    /// Follows the time of a record of a tenant from elsewhere.
    fn observe(&self, tenant: &TenantId, seen: LogicalTime, now: Timestamp) {
        self.with_clock(tenant, now, |clock| clock.observe(seen, now));
    }

    fn with_clock<T>(&self, tenant: &TenantId, now: Timestamp, work: impl FnOnce(&Clock) -> T) -> T {
        let mut clocks = self.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        if clocks.len() >= MAX_CLOCKS && !clocks.contains_key(tenant) {
            // A clock that the time of day has passed gives the same times as a new one.
            clocks.retain(|_, clock| !clock.is_behind(now));
        }
        work(clocks.entry(tenant.clone()).or_insert_with(|| Clock::new(self.last)))
    }

    fn next_id(&self) -> RecordId {
        RecordId { host: self.host, index: self.next.fetch_add(1, Ordering::Relaxed) }
    }
}

/// The records of all tenants that one server keeps. Used from several threads at once.
pub struct Shelf {
    ports: Ports,
    writer: Writer,
}

impl Shelf {
    pub fn new(ports: Ports, writer: Writer) -> Self {
        Self { ports, writer }
    }

    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Returns what gives its records their ids and times.
    pub fn writer(&self) -> &Writer {
        &self.writer
    }

    /// Returns a record that keeps an entry, if it is visible in the scope, with what later records say about it.
    pub fn get(&self, scope: &Scope, id: RecordId) -> Result<Option<KeptRecord>> {
        let found = self.ports.log.records(scope, &[id])?;
        Ok(self.with_standing(scope, found)?.pop())
    }

    /// Returns those of these records that keep an entry and are visible in the scope, with what later records say about
    /// them, in the order of the ids.
    pub fn get_all(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<KeptRecord>> {
        let mut look_ups = self.ports.log.look_ups(scope);
        let found = look_ups.records(ids)?;
        let kept = standing::standing(&mut *look_ups, found)?;
        let mut kept: HashMap<RecordId, KeptRecord> = kept.into_iter().map(|kept| (kept.record.id, kept)).collect();
        Ok(ids.iter().filter_map(|id| kept.remove(id)).collect())
    }

    /// Returns the visible records with this reference, oldest first, at most `limit`. There may be several, because
    /// machines draw references on their own.
    pub fn find(&self, scope: &Scope, reference: Reference, limit: usize) -> Result<Vec<KeptRecord>> {
        let found = self.ports.log.named(scope, reference, limit)?;
        self.with_standing(scope, found)
    }

    pub fn text(&self, scope: &Scope, id: RecordId) -> Result<Option<Vec<u8>>> {
        let Some(record) = self.one(scope, id)? else { return Ok(None) };
        let Some(kept) = record.body.kept() else { return Ok(None) };
        match self.read_parts(scope, &[EntryPart::whole(kept)]).pop().unwrap_or(Ok(None))? {
            None if self.one(scope, id)?.is_some() => Err(lost_text(id)),
            // Removed since the look-up.
            text => Ok(text),
        }
    }

    pub fn text_range(&self, scope: &Scope, id: RecordId, range: Range<u64>) -> Result<Option<Vec<u8>>> {
        let Some(record) = self.one(scope, id)? else { return Ok(None) };
        let mut read = self.text_ranges(scope, &[&record], range);
        read.pop().unwrap_or(Ok(None))
    }

    /// Returns the texts of those of these records that keep an entry, in order: `None` for one that was removed since
    /// the log showed it to the scope. All of them are in memory together.
    pub fn texts(&self, scope: &Scope, records: &[&Record]) -> Vec<Result<Option<Vec<u8>>>> {
        let parts: Vec<EntryPart<'_>> =
            records.iter().filter_map(|record| record.body.kept().map(EntryPart::whole)).collect();
        self.unless_removed(scope, records, self.read_parts(scope, &parts))
    }

    /// Returns the same range of the texts of records, as [`texts`](Self::texts) does.
    pub fn text_ranges(&self, scope: &Scope, records: &[&Record], range: Range<u64>) -> Vec<Result<Option<Vec<u8>>>> {
        let part = |entry| EntryPart { entry, range: range.clone() };
        let parts: Vec<EntryPart<'_>> = records.iter().filter_map(|record| record.body.kept().map(part)).collect();
        self.unless_removed(scope, records, self.read_parts(scope, &parts))
    }

    /// Returns the same range of the texts of records, as [`texts`](Self::texts) does, of which the log keeps these.
    pub fn text_ranges_of(
        &self,
        scope: &Scope,
        records: &[&Record],
        range: Range<u64>,
        kept: &KeptTexts,
    ) -> Vec<Result<Option<Vec<u8>>>> {
        let part = |entry| EntryPart { entry, range: range.clone() };
        let parts: Vec<EntryPart<'_>> = records.iter().filter_map(|record| record.body.kept().map(part)).collect();
        self.unless_removed(scope, records, self.read_others(scope, &parts, kept))
    }

    /// Asks the log again about the records whose texts are not there.
    fn unless_removed(
        &self,
        scope: &Scope,
        records: &[&Record],
        mut texts: Vec<Result<Option<Vec<u8>>>>,
    ) -> Vec<Result<Option<Vec<u8>>>> {
        let kept = || records.iter().filter(|record| record.body.kept().is_some()).map(|record| record.id);
        let lost: Vec<RecordId> =
            kept().zip(&texts).filter(|(_, text)| is_lost(text)).map(|(record, _)| record).collect();
        if lost.is_empty() {
            return texts;
        }
        let left = self.ports.log.records(scope, &lost);
        for (id, text) in kept().zip(&mut texts).filter(|(_, text)| is_lost(text)) {
            match &left {
                Ok(left) if left.iter().all(|left| left.record.id != id) => *text = Ok(None),
                Ok(_) if text.is_ok() => *text = Err(lost_text(id)),
                Ok(_) => {}
                Err(error) => *text = Err(copy_of(error)),
            }
        }
        texts
    }

    /// Returns at most `limit` visible records after a position, for a machine that follows this log.
    pub fn read_since(&self, scope: &Scope, after: Position, limit: usize) -> Result<Batch> {
        self.ports.log.read_since(scope, after, limit, Readers::Scope)
    }

    /// Returns whether the project of the scope is sealed: then its entries can be read by its members alone.
    pub fn is_sealed(&self, scope: &Scope) -> Result<bool> {
        let grants = self.ports.log.about(scope, &[GRANTS], 1)?;
        Ok(grants.iter().any(|stored| matches!(stored.record.body, Body::Granted(_))))
    }

    /// Returns a record of any body that is visible in the scope.
    fn one(&self, scope: &Scope, id: RecordId) -> Result<Option<Record>> {
        Ok(self.ports.log.records(scope, &[id])?.pop().map(|stored| stored.record))
    }

    /// Returns a visible record, or the error that there is none.
    fn visible(&self, scope: &Scope, id: RecordId, doing: &str) -> Result<Record> {
        self.one(scope, id)?.ok_or_else(|| PortError::new(ErrorKind::Missing, format!("{doing} record {id}")))
    }

    /// Binds the host of the writer to no user of a tenant: several users write by it, and one of them could otherwise
    /// send records under the ids that it gives next. What was bound is not remembered here, because a tenant can be
    /// deleted and created again while the server runs; asking takes one look-up.
    fn claim_host(&self, scope: &Scope) -> Result<()> {
        let nobody = Scope { user: UserId(String::new()), session: None, ..scope.clone() };
        self.ports.log.bind_hosts(&nobody, &[self.writer.host]).map(drop)
    }

    fn append(&self, scope: &Scope, audience: Audience, body: Body, now: Timestamp) -> Result<StoredRecord> {
        let record = self.written(scope, audience, body, now)?;
        let position = self.append_record(scope, &record, &Texts::new())?;
        Ok(StoredRecord { position, record })
    }

    /// Appends a record with the texts that the log keeps for it.
    fn append_record(&self, scope: &Scope, record: &Record, texts: &Texts<'_>) -> Result<Position> {
        let positions = self.ports.log.append_with_texts(scope, std::slice::from_ref(record), texts)?;
        Ok(positions.first().copied().unwrap_or_default())
    }

    /// Returns a new record of the user, which is not in the log yet.
    fn written(&self, scope: &Scope, audience: Audience, body: Body, now: Timestamp) -> Result<Record> {
        self.claim_host(scope)?;
        let client = scope.session.as_ref().map(|session| session.client.clone()).unwrap_or_default();
        Ok(Record {
            id: self.writer.next_id(),
            time: self.writer.tick(&scope.tenant, now),
            tenant: scope.tenant.clone(),
            project: scope.project.clone(),
            author: Author { user: scope.user.clone(), client },
            audience,
            body,
        })
    }
}

/// Returns whether a text is not there, or cannot be read.
fn is_lost(text: &Result<Option<Vec<u8>>>) -> bool {
    match text {
        Ok(text) => text.is_none(),
        Err(error) => error.kind == ErrorKind::Damaged,
    }
}

fn lost_text(id: RecordId) -> PortError {
    PortError::new(ErrorKind::Damaged, format!("read the text of record {id}")).because("the text is missing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_the_time_of_day_has_passed_are_dropped() {
        let (writer, ahead) = (Writer::new().unwrap(), TenantId("ahead".into()));
        let seen = LogicalTime { millis: 5_000, count: 7 };
        writer.observe(&ahead, seen, Timestamp(1));
        for number in 0..2 * MAX_CLOCKS as i64 {
            writer.tick(&TenantId(number.to_string()), Timestamp(number / 10));
        }
        assert!(writer.clocks.lock().unwrap().len() <= MAX_CLOCKS);
        assert!(writer.tick(&ahead, Timestamp(2_000)) > seen);
    }
}
