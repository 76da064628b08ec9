//! The three ports that a server's storage is built on: a log, an index and blobs.
//!
//! Each call takes a [`Scope`], and no answer crosses it. The calls block. An async server makes them from
//! `spawn_blocking`, as it does for every other database that works in the process: SQLite and tantivy block anyway,
//! the calls take microseconds to milliseconds, and object-safe async traits would box a future for each of them and
//! bring a runtime to programs that have none. A backend that is async inside, such as an object store, blocks on its
//! own runtime's handle.
//!
//! The module `contract` (a feature of this crate) has the properties that every backend must have.

mod look_ups;
mod texts;

use std::collections::BTreeSet;
use std::ops::Range;

use weir_core::{EntryKind, ProjectKey, Reference, Scope, TenantId, Timestamp, UserId};

pub use self::look_ups::LookUps;
use self::look_ups::SeparateLookUps;
pub use self::texts::{KeptTexts, TextPart, Texts};
use crate::erased::Imprint;
use crate::error::Result;
use crate::id::{HostId, RecordId, TextKey};
use crate::record::{Audience, Record};
use crate::requests::RequestKey;

/// How many records about one record are looked at, the newest.
pub const MAX_ABOUT: usize = 100;
/// How much of the notes on one topic is looked at, in bytes of JSON, the newest. There is always one note.
pub const MAX_TOPIC_BYTES: usize = 1 << 20;
/// How much of a log is read at once, in bytes of JSON. A batch ends with the record that reaches it.
pub const MAX_READ_BYTES: usize = 4 << 20;

/// A place in the log of one project. The first record is at 1, and 0 is before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Position(pub u64);

/// A record with its place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    pub position: Position,
    pub record: Record,
}

/// Part of a log, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The records. Erased ones are left out, and so are those that the reader may not see.
    pub records: Vec<StoredRecord>,
    /// Where to continue. Everything up to here that the reader may see is in this batch or an earlier one.
    pub next: Position,
    /// The position of the newest record of the project at that moment.
    pub head: Position,
}

impl Batch {
    /// Creates a batch of the records that were read after a position. If it is full, there may be more.
    pub fn new(records: Vec<StoredRecord>, is_full: bool, after: Position, head: Position) -> Self {
        let next = if is_full { records.last().map_or(after, |last| last.position) } else { head };
        Self { records, next, head }
    }
}

/// What the key of a request stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Once {
    /// The record that was appended now.
    Appended(Position),
    /// The record that was appended for the same request before.
    Before(RecordId),
    /// The record of another request.
    Other,
}

impl Once {
    /// Returns what a key stands for, if a request with the same name had this content and this record.
    pub fn of(key: &RequestKey, content: Option<Imprint>, record: RecordId) -> Self {
        if content == Some(key.content) { Self::Before(record) } else { Self::Other }
    }
}

/// Whose records a reader gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Those that are visible in the scope.
    Scope,
    /// All records of the project, private ones too: for an index that follows the log, never for a user.
    Index,
}

/// A project of any tenant, with the position of its newest record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub tenant: TenantId,
    pub project: ProjectKey,
    pub position: Position,
}

/// Where a walk over the heads of all projects is. The default begins a walk over all of them. The numbers are the
/// log's own, and good for one log only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeadWalk {
    /// The mark of the walk before. Heads that have not moved since may be left out; 0 leaves none out.
    pub since: u64,
    /// The mark of this walk, or 0 until it has begun.
    pub mark: u64,
    /// The last head that was looked at.
    pub last: (u64, u64),
}

impl HeadWalk {
    /// Returns the walk after this one.
    pub fn following(self) -> Self {
        Self { since: self.mark, ..Self::default() }
    }
}

/// Part of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadPage {
    /// Heads that have moved, and perhaps others.
    pub heads: Vec<Head>,
    /// Where to continue: in this walk or, at its end, with the next one.
    pub next: HeadWalk,
    /// Whether the walk ends here.
    pub is_last: bool,
}

/// The log: the record of truth. Append-only but for removals, which erase.
///
/// An append and its audit are one transaction. The audit names the user of the scope, and the key of its session: on a
/// server, that is the id of the token.
///
/// Positions come from one head for each project, which is advanced in the transaction that appends. So a record never
/// appears at a position that a reader has already passed.
pub trait Log: Send + Sync {
    /// Appends records, all or none of them, and returns their positions.
    ///
    /// A record that is already in the log keeps its position. A different record with the same host and index is a
    /// [`Conflict`](crate::ErrorKind::Conflict), in any project of the tenant. A removal erases the content of its
    /// record, now or when that record arrives later; only the id, the position and the imprint of an erased record
    /// stay, so that no machine that still has it can bring it back, and no other record passes for it. See
    /// [`Record::check`], [`Record::check_removal_of`] and [`KnownContent`](crate::KnownContent).
    fn append(&self, scope: &Scope, records: &[Record]) -> Result<Vec<Position>>;

    /// Appends a record for a request with a key, unless a request has the key already: then nothing is appended, and
    /// the answer says which record the key stands for. A key counts for a day.
    fn append_once(&self, scope: &Scope, record: &Record, key: &RequestKey) -> Result<Once>;

    /// Returns how large a text may be, in bytes, that the log keeps with its record. Larger ones are in the blobs, and
    /// so are all texts of a log that returns 0.
    fn max_kept_text(&self) -> usize;

    /// Does what [`append`](Self::append) does, and in the same transaction keeps the texts of new records that are
    /// among these. They are erased with their records.
    fn append_with_texts(&self, scope: &Scope, records: &[Record], texts: &Texts<'_>) -> Result<Vec<Position>> {
        debug_assert!(texts.is_empty(), "this log keeps no texts");
        self.append(scope, records)
    }

    /// Does what [`append_once`](Self::append_once) does, and keeps a text as
    /// [`append_with_texts`](Self::append_with_texts) does.
    fn append_once_with_texts(
        &self,
        scope: &Scope,
        record: &Record,
        key: &RequestKey,
        texts: &Texts<'_>,
    ) -> Result<Once> {
        debug_assert!(texts.is_empty(), "this log keeps no texts");
        self.append_once(scope, record, key)
    }

    /// Returns those of these texts that the log keeps with a record of the tenant, seen or not. Who may read them is
    /// decided by the records that have them, as for blobs.
    fn kept_texts(&self, scope: &Scope, keys: &[TextKey]) -> Result<KeptTexts>;

    /// Returns what the key of a request stands for, if a request has it.
    fn request(&self, scope: &Scope, key: &RequestKey) -> Result<Option<Once>>;

    /// Binds those of these hosts that are bound to nobody to the user of the scope, and returns those that are bound
    /// to somebody else, in order. A host belongs to one user of a tenant for good.
    ///
    /// A host that has records already is bound to their author, or to no user at all if they have several authors:
    /// then it is that of a server. A scope without a user binds to no user at all too. What is bound to a user, and
    /// that hosts of others were refused, is in the audit.
    fn bind_hosts(&self, scope: &Scope, hosts: &[HostId]) -> Result<Vec<HostId>>;

    /// Reads at most `limit` records after a position, and no more of them once they have [`MAX_READ_BYTES`]. A
    /// position beyond the head is [`Ahead`](crate::ErrorKind::Ahead).
    fn read_since(&self, scope: &Scope, after: Position, limit: usize, readers: Readers) -> Result<Batch>;

    /// Checks that the log answers. One that has several databases answers as long as one of them does.
    fn answers(&self) -> Result<()> {
        // A tenant that nobody has: only whether there is an answer matters.
        let nowhere = Scope { tenant: TenantId("-".to_owned()), ..Scope::project(ProjectKey("-".to_owned())) };
        self.head(&nowhere).map(drop)
    }

    /// Returns the position of the project's newest record, or 0.
    fn head(&self, scope: &Scope) -> Result<Position>;

    /// Goes on with a walk over the heads of all projects of all tenants. A page looks at no more than `limit` heads, or
    /// at all of them in a log that is for one small team.
    ///
    /// A walk finds every head that has moved since the walk before began. That includes one whose transaction was open
    /// then, however long it takes to commit. This is for an index that follows the log, never for a user.
    fn moved_heads(&self, walk: HeadWalk, limit: usize) -> Result<HeadPage>;

    /// Returns those of these records that are visible in the scope and not erased, in any order.
    fn records(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>>;

    /// Returns the visible records that supersede, confirm or remove these, in the order of the log: the newest about
    /// each, at most `limit`.
    fn about(&self, scope: &Scope, ids: &[RecordId], limit: usize) -> Result<Vec<StoredRecord>>;

    /// Returns the oldest visible records that have this reference, at most `limit`, in the order of the log. Using a
    /// reference again hides nothing that it named before.
    fn named(&self, scope: &Scope, reference: Reference, limit: usize) -> Result<Vec<StoredRecord>>;

    /// Returns the visible notes on these topics, in the order of the log: the newest on each, at most `limit`. Of a
    /// topic whose notes have more than [`MAX_TOPIC_BYTES`], a backend may leave out the older ones. A topic with a zero
    /// byte need not be found.
    fn on_topics(&self, scope: &Scope, topics: &[&str], limit: usize) -> Result<Vec<StoredRecord>>;

    /// Returns look-ups in the project of the scope that belong together, for a log where each one by itself costs
    /// something. Drop it soon: it may hold a connection.
    fn look_ups<'a>(&'a self, scope: &'a Scope) -> Box<dyn LookUps + 'a> {
        Box::new(SeparateLookUps { log: self, scope })
    }

    /// Returns how many records of the whole tenant have this text, seen or not: a blob may be deleted at zero. The
    /// number is not for users.
    fn text_uses(&self, scope: &Scope, key: &TextKey) -> Result<u64>;

    /// Returns those of these texts that a record of the tenant has, as [`text_uses`](Self::text_uses) counts them.
    fn used_texts(&self, scope: &Scope, keys: &[TextKey]) -> Result<BTreeSet<TextKey>> {
        let mut used = BTreeSet::new();
        for key in keys {
            if self.text_uses(scope, key)? > 0 {
                used.insert(*key);
            }
        }
        Ok(used)
    }
}

/// Returns how the audit names the hosts that were refused in one call: the first of them, and how many more there are.
pub fn refused_hosts(hosts: &[HostId]) -> Option<String> {
    let (first, rest) = hosts.split_first()?;
    Some(if rest.is_empty() { first.to_string() } else { format!("{first} and {} more", rest.len()) })
}

/// A change that an index has to follow. It has everything that an index needs, so that no index reads a log.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexChange {
    Put(Box<IndexedRecord>),
    /// A record was removed. No word of it may stay.
    Remove(RecordId),
}

/// A record as an index needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedRecord {
    pub id: RecordId,
    pub kind: EntryKind,
    /// Who sees it.
    pub audience: Audience,
    pub author: UserId,
    pub source: Option<String>,
    pub at: Timestamp,
    pub title: String,
    /// The text as a terminal would show it; the two ends of a long one.
    pub text: String,
}

/// The part of the log that changes for an index cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The position of the index before.
    pub from: Position,
    /// The position of the index after.
    pub to: Position,
}

/// The changes of one project, among those of several.
#[derive(Debug, Clone, Copy)]
pub struct ProjectChanges<'a> {
    pub scope: &'a Scope,
    pub changes: &'a [IndexChange],
    pub step: Step,
}

/// A search in an index.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchQuery {
    /// The words, as the person or model wrote them. Any text is safe, and any word may match.
    pub text: String,
    /// The query as a vector, computed by the caller.
    pub vector: Option<Vec<f32>>,
    pub kind: Option<EntryKind>,
    /// Only entries by this user.
    pub author: Option<UserId>,
    /// Only entries from this source, or from below it if it is a folder.
    pub source: Option<String>,
    /// Only entries kept at or after this time.
    pub since: Option<Timestamp>,
    pub limit: usize,
}

impl SearchQuery {
    /// Creates a query for `text` without filters.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self { text: text.into(), limit, ..Self::default() }
    }
}

/// A record that an index found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexHit {
    pub id: RecordId,
    /// How well it answers the query; more is better. Comparable within one answer only.
    pub score: f64,
}

/// What an index found, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexHits {
    pub hits: Vec<IndexHit>,
    /// Whether the query's vector was used. A backend without vectors says no and searches by words.
    pub used_vector: bool,
}

/// The index: derived from the log, may lag behind it, and can be rebuilt from it at any time.
pub trait Index: Send + Sync {
    /// Returns how far into the log of the scope's project the index has come.
    fn position(&self, scope: &Scope) -> Result<Position>;

    /// Applies changes and moves to `step.to`, both or neither. If the index is not at `step.from`, does nothing and
    /// returns false: of two processes that follow the log at once, the slower one must not bring back what the faster
    /// one has already removed.
    fn apply(&self, scope: &Scope, changes: &[IndexChange], step: Step) -> Result<bool>;

    /// Applies the changes of several projects as [`apply`](Self::apply) does, and returns a result for each. An index
    /// that waits for its disk waits once for all of them.
    fn apply_all(&self, projects: &[ProjectChanges<'_>]) -> Vec<Result<bool>> {
        projects.iter().map(|project| self.apply(project.scope, project.changes, project.step)).collect()
    }

    fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<IndexHits>;

    /// Returns how many of these records the index still has, seen or not: the proof that a removal is complete.
    fn holds(&self, scope: &Scope, ids: &[RecordId]) -> Result<u64>;

    /// Removes everything of the scope's project and goes back to position 0.
    fn clear(&self, scope: &Scope) -> Result<()>;
}

/// The blobs: texts by their content, separate for each tenant.
///
/// Knowing a key does not permit reading: within a tenant, who may read a text is decided by the records that have it,
/// not here.
pub trait Blobs: Send + Sync {
    /// Stores a text and returns its key. Once this returns, the text survives a power cut.
    fn put(&self, scope: &Scope, text: &[u8]) -> Result<TextKey>;

    /// Stores texts as [`put`](Self::put) does, and returns a result for each. A store that waits for its disk or for
    /// a network waits for several at once.
    fn put_all(&self, scope: &Scope, texts: &[&[u8]]) -> Vec<Result<TextKey>> {
        texts.iter().map(|text| self.put(scope, text)).collect()
    }

    /// Returns a text, if it is stored. A text that does not match its key is
    /// [`Damaged`](crate::ErrorKind::Damaged).
    fn get(&self, scope: &Scope, key: &TextKey) -> Result<Option<Vec<u8>>>;

    fn range(&self, scope: &Scope, key: &TextKey, range: Range<u64>) -> Result<Option<Vec<u8>>>;

    /// Returns texts as [`get`](Self::get) does, in order. A store that waits for a network waits for many at once. All
    /// of them are in memory together.
    fn get_all(&self, scope: &Scope, keys: &[TextKey]) -> Vec<Result<Option<Vec<u8>>>> {
        keys.iter().map(|key| self.get(scope, key)).collect()
    }

    /// Returns parts of texts as [`range`](Self::range) does, in order, and as [`get_all`](Self::get_all) waits for
    /// them. An empty range asks whether the text is stored.
    fn range_all(&self, scope: &Scope, parts: &[TextPart]) -> Vec<Result<Option<Vec<u8>>>> {
        parts.iter().map(|part| self.range(scope, &part.key, part.range.clone())).collect()
    }

    fn delete(&self, scope: &Scope, key: &TextKey) -> Result<bool>;
}
