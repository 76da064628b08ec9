//! The one way to a store: composes log, index and blobs.
//!
//! Invariants: text is redacted before anything else sees it; an acknowledged write is in the log; the index is
//! brought up to date before it is asked.

mod backup;
mod care;
mod export;
mod files;
mod hooks;
mod keep;
mod map;
mod notes;
mod sources;
mod spool;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};
use weir_core::redact::redact;
use weir_core::{Entry, Event, Gone, Limits, ProjectKey, Query, Reference, Scope, Timestamp};
use weir_embed::Embed;

use crate::blobs::{BlobReader, Blobs};
use crate::db::{Db, Durability, Patience, create_private_folder};
use crate::error::{Fault, Result, StoreError};
use crate::index::embed::Lock;
use crate::index::{self, Findings, Hit, Learner};
use crate::log::history::{self, HistoryFilter, Moment};
use crate::log::places::{self, Place};
use crate::log::projects::{self, KnownProject};
use crate::log::{self, changes, entries, events};
pub use backup::Copied;
pub use care::{Health, Swept};
pub use export::{Exported, ExportedEntry, ExportedEvent};
pub(crate) use keep::redact_labels;
pub use keep::{Kept, NotKept};
pub use map::MapChange;
pub use notes::NoteSeen;
pub use sources::NewFile;

/// How long a search indexes before it takes what there is. The next one goes on from there.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whose store it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// One project's: everything made in it.
    Project(ProjectKey),
    /// The user's: what is seen from every project.
    User,
}

/// A store, open.
pub struct Store {
    folder: PathBuf,
    owner: Owner,
    limits: Limits,
    log: Db,
    /// Opened when first needed: a hook that only appends never pays for it.
    index: Option<Db>,
    blobs: Blobs,
    /// Finds by meaning, where there is one.
    model: Option<Arc<dyn Embed>>,
    learner: Learner,
}

/// What is behind a reference.
#[derive(Debug)]
pub enum Found {
    /// The entry is there.
    Here(Box<Entry>),
    /// It was there.
    Gone(Gone),
    /// It never was, or is not seen from this scope.
    Never,
}

impl Store {
    /// Opens the store in `folder`, making it if it is new.
    pub fn open(folder: &Path, owner: Owner, limits: Limits) -> Result<Self> {
        Self::open_within(folder, owner, limits, Patience::default())
    }

    /// The same for a caller that waits no longer than this for other processes, now and later.
    pub fn open_within(folder: &Path, owner: Owner, limits: Limits, patience: Patience) -> Result<Self> {
        create_private_folder(folder)?;
        let path = folder.join("log.db");
        let log = Db::open(&path, log::MIGRATIONS, patience)?;
        let blobs = Blobs::new(folder.join("blobs"), &path);
        let mut store = Self {
            folder: folder.to_owned(),
            owner,
            limits,
            log,
            index: None,
            blobs,
            model: None,
            learner: Learner::default(),
        };
        store.check_owner()?;
        // What waits in the spool waits on if it cannot be taken in now.
        let _ = store.take_in();
        Ok(store)
    }

    /// Sets how long each write waits for other processes.
    pub fn set_patience(&mut self, patience: Patience) -> Result<()> {
        self.log.set_patience(patience)?;
        self.index.as_mut().map_or(Ok(()), |index| index.set_patience(patience))
    }

    /// Opens the store in `folder` for a process that writes a little and is gone. What would wait for the disk at its end
    /// is left to [`Self::close_after_hook`].
    pub fn open_for_hook(folder: &Path, owner: Owner, limits: Limits, patience: Patience) -> Result<Self> {
        let store = Self::open_within(folder, owner, limits, patience)?;
        store.log.is_short_lived()?;
        Ok(store)
    }

    /// Sets how long things are kept and how much room they may take, for whoever opened it before that was known.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// How long things are kept and how much room they may take.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Sets the model that finds by meaning; without one, words alone decide.
    pub fn set_model(&mut self, model: Option<Arc<dyn Embed>>) {
        self.model = model;
    }

    /// Makes the vectors of at most so many chunks that have none. Returns how many still have none. What is not indexed
    /// yet is left alone: most outputs are never searched for.
    pub fn embed_some(&mut self, most: usize) -> Result<u64> {
        let Some(model) = self.model.clone() else { return Ok(0) };
        self.open_index()?;
        let Some(index) = &mut self.index else { return Ok(0) };
        index::embed::some(index, model.as_ref(), most, Lock::Wait)
    }

    /// The same while someone waits for an answer: only if the model is quick and nobody else is writing.
    pub fn embed_if_free(&mut self, most: usize) -> Result<()> {
        let Some(model) = self.model.clone().filter(|model| model.is_quick()) else { return Ok(()) };
        self.open_index()?;
        let Some(index) = &mut self.index else { return Ok(()) };
        index::embed::some(index, model.as_ref(), most, Lock::IfFree).map(drop)
    }

    /// Whether there is a model, and it is so quick that someone may wait for it.
    pub fn embeds_quickly(&self) -> bool {
        self.model.as_ref().is_some_and(|model| model.is_quick())
    }

    /// Closes the store, and tidies up where enough has gathered: once in some fifty hooks.
    pub fn close_after_hook(self) -> Result<()> {
        self.log.empty_grown_log()
    }

    /// Appends a fact: one transaction, nothing else. Returns its place in the order.
    pub fn append(&mut self, scope: &Scope, event: &Event, now: Timestamp) -> Result<i64> {
        self.check_scope(scope)?;
        let event = redacted_event(event);
        let own = self.own_scope(scope);
        self.log.write(Durability::Process, |tx| {
            let place = places::find_or_make(tx, &own, now)?;
            events::append(tx, place, &event, now)
        })
    }

    /// Looks up a reference.
    pub fn get(&mut self, scope: &Scope, reference: Reference, now: Timestamp) -> Result<Found> {
        let place = self.place(scope)?;
        if let Some(stored) = self.log.read(|c| entries::by_reference(c, place, reference))? {
            self.note_use(stored.id, stored.used_at, now);
            return Ok(Found::Here(Box::new(stored.entry)));
        }
        let gone = self.log.read(|c| entries::gone(c, reference))?;
        Ok(gone.map_or(Found::Never, Found::Gone))
    }

    /// Opens the text of an entry.
    pub fn text(&self, scope: &Scope, reference: Reference) -> Result<Option<BlobReader>> {
        let place = self.place(scope)?;
        let find = |c: &Connection| -> Result<_, Fault> {
            Ok(entries::by_reference(c, place, reference)?.map(|stored| ((), stored.blob_id)))
        };
        Ok(self.blobs.open(&self.log, find)?.map(|((), reader)| reader))
    }

    /// The best chunks for a query, best first.
    pub fn search(&mut self, scope: &Scope, query: &Query) -> Result<Findings> {
        self.check_scope(scope)?;
        self.open_index()?;
        if let Some(index) = self.index.as_mut().filter(|_| self.model.is_some()) {
            index.map_for_reading()?;
        }
        let begun = Instant::now();
        loop {
            if let Some(findings) = self.search_if(scope, query, |applied, head| applied == head)? {
                return Ok(findings);
            }
            // While another process indexes, or when very much is new, what is indexed has to do: all of it may take
            // minutes, and an answer may not.
            let Self { index: Some(index), log, blobs, learner, .. } = self else { return Ok(Findings::default()) };
            if begun.elapsed() > PATIENCE || !index::apply::step_if_free(index, (log, blobs), learner)? {
                break;
            }
        }
        let findings = self.search_if(scope, query, |_, _| true)?.unwrap_or_default();
        Ok(Findings { behind: true, ..findings })
    }

    /// Searches if the index is good enough, by how far it has come and how far the log has. One view of each
    /// database, opened once: for a small search, opening is most of the time.
    fn search_if(&self, scope: &Scope, query: &Query, good_enough: fn(i64, i64) -> bool) -> Result<Option<Findings>> {
        let Some(index) = &self.index else { return Ok(None) };
        let model = self.model.as_deref();
        self.log.read_at_once(|log| -> Result<_, Fault> {
            let head = changes::head(log)?;
            let raw = index.read_at_once(|c| -> Result<_, Fault> {
                if !good_enough(index::apply::applied(c)?, head) {
                    return Ok(None);
                }
                let pending = if model.is_some() { index::embed::pending(c)? } else { 0 };
                Ok(Some((index::search::search(c, scope, query, model)?, pending)))
            })?;
            let Some((raw, without_vectors)) = raw else { return Ok(None) };
            let place = places::find(log, scope)?;
            let mut hits = Vec::with_capacity(raw.hits.len());
            for hit in raw.hits {
                // The log has the last word on what is there and who sees it.
                if let Some(stored) = entries::by_id(log, place, hit.entry_id)? {
                    let newer = hit.newer.map(|id| entries::by_id(log, place, id)).transpose()?.flatten();
                    let newer = newer.map(|stored| stored.entry.reference);
                    let mut also = Vec::new();
                    for id in &hit.also {
                        also.extend(entries::by_id(log, place, *id)?.map(|stored| stored.entry.reference));
                    }
                    hits.push(Hit { newer, also, ..hit.with(stored.entry) });
                }
            }
            let hits = order_by_succession(hits);
            Ok(Some(Findings {
                hits,
                corrected: raw.corrected,
                unknown: raw.unknown,
                without_vectors,
                words_alone: raw.words_alone,
                behind: false,
            }))
        })
    }

    /// What happened, newest first.
    pub fn history(&self, scope: &Scope, filter: &HistoryFilter) -> Result<Vec<Moment>> {
        self.check_scope(scope)?;
        self.log.read(|c| history::page(c, scope, filter))
    }

    /// Remembers in the user's store that a project was used.
    pub fn remember_project(&mut self, project: &KnownProject) -> Result<()> {
        const HOUR: i64 = 60 * 60 * 1000;
        let known = self.log.read(|c| projects::find(c, &project.key))?;
        let fresh = known.is_some_and(|known| known.root == project.root && project.used_at.0 - known.used_at.0 < HOUR);
        if fresh { Ok(()) } else { self.log.write(Durability::Process, |tx| projects::remember(tx, project)) }
    }

    /// The projects the user has stores for.
    pub fn projects(&self) -> Result<Vec<KnownProject>> {
        self.log.read(projects::all)
    }

    /// Forgets that there was a project, once its store is another's.
    pub fn forget_project(&mut self, key: &str) -> Result<()> {
        self.log.write(Durability::Process, |tx| projects::forget(tx, key))
    }

    /// Brings the index up to the log. Called by whatever asks the index; cheap when there is nothing to do.
    pub fn catch_up(&mut self) -> Result<usize> {
        self.open_index()?;
        let Self { index: Some(index), log, blobs, learner, .. } = self else { return Ok(0) };
        index::apply::catch_up(index, (log, blobs), learner, |_| ())
    }

    /// Ends whatever this store is doing, from another thread; the call then fails as cancelled.
    pub fn interrupter(&mut self) -> impl Fn() + Send + use<> {
        let handles: Vec<_> = self.index.iter().chain([&self.log]).map(Db::interrupt_handle).collect();
        move || handles.iter().for_each(rusqlite::InterruptHandle::interrupt)
    }

    fn open_index(&mut self) -> Result<()> {
        self.opened_index().map(drop)
    }

    fn opened_index(&mut self) -> Result<&mut Db> {
        let opened = match self.index.take() {
            Some(index) => index,
            None => Db::open(&self.index_path(), index::MIGRATIONS, self.log.patience())?,
        };
        Ok(self.index.insert(opened))
    }

    fn index_path(&self) -> PathBuf {
        self.folder.join("index.db")
    }

    /// Use is noted at most once an hour, and never at the price of an answer.
    fn note_use(&mut self, id: i64, used_at: Timestamp, now: Timestamp) {
        const HOUR: i64 = 60 * 60 * 1000;
        if now.0 - used_at.0 > HOUR {
            let _ = self.log.write(Durability::Process, |tx| entries::touch(tx, id, now));
        }
    }

    fn place(&self, scope: &Scope) -> Result<Place> {
        self.check_scope(scope)?;
        self.log.read(|c| places::find(c, scope))
    }

    /// The user's store knows no sessions and works: they belong to projects.
    fn own_scope(&self, scope: &Scope) -> Scope {
        match self.owner {
            Owner::Project(_) => scope.clone(),
            Owner::User => Scope::project(scope.project.clone()),
        }
    }

    fn check_scope(&self, scope: &Scope) -> Result<()> {
        match &self.owner {
            Owner::Project(key) if *key != scope.project => Err(StoreError::OtherProject),
            _ => Ok(()),
        }
    }

    /// A folder copied or renamed to another project's place must not be taken for that project's store.
    fn check_owner(&mut self) -> Result<()> {
        let key = owner_key(&self.owner);
        let read = |c: &Connection| {
            c.query_row("SELECT key FROM owner WHERE id = 1", [], |row| row.get::<_, String>(0)).optional()
        };
        match self.log.read(read)? {
            Some(known) if known == key => Ok(()),
            Some(_) => Err(StoreError::OtherProject),
            None => self.log.write(Durability::Power, |tx| {
                tx.execute("INSERT OR IGNORE INTO owner (id, key) VALUES (1, ?1)", [&key]).map(drop)
            }),
        }
    }
}

/// How an owner is written in the log.
fn owner_key(owner: &Owner) -> String {
    match owner {
        Owner::Project(key) => key.0.clone(),
        Owner::User => "user".to_owned(),
    }
}

pub(crate) fn redacted_event(event: &Event) -> Event {
    let data = event.data.as_deref().map(redacted_text);
    Event { text: redacted_text(&event.text), data, ..event.clone() }
}

pub(crate) fn redacted_text(text: &str) -> String {
    String::from_utf8_lossy(&redact(text.as_bytes()).text).into_owned()
}

/// Puts every hit of a superseded note below those of its successor, where both were found.
fn order_by_succession(hits: Vec<Hit>) -> Vec<Hit> {
    let mut to_come: HashMap<Reference, usize> = HashMap::new();
    for hit in &hits {
        *to_come.entry(hit.entry.reference).or_default() += 1;
    }
    let mut ordered = Vec::with_capacity(hits.len());
    let mut waiting: HashMap<Reference, Vec<Hit>> = HashMap::new();
    for hit in hits {
        let mut next = vec![hit];
        while let Some(hit) = next.pop() {
            let successor = hit.entry.superseded_by.filter(|note| to_come.get(note).is_some_and(|&count| count > 0));
            if let Some(successor) = successor {
                waiting.entry(successor).or_default().push(hit);
                continue;
            }
            let reference = hit.entry.reference;
            ordered.push(hit);
            let count = to_come.entry(reference).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 {
                next.extend(waiting.remove(&reference).into_iter().flatten().rev());
            }
        }
    }
    ordered
}
