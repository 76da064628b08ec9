//! Composes log, index and blobs into [`Store`], the only way to access a store.
//!
//! Invariants: text is redacted before anything else sees it; an acknowledged write is in the log; the index is brought
//! up to date before it is queried.

mod backup;
mod export;
mod files;
mod following;
mod foreign_rows;
mod hooks;
mod import;
mod keep;
mod listing;
mod lost;
mod maintenance;
mod map;
mod meter;
mod notes;
mod recent;
mod said;
mod search;
mod sources;
mod spool;
mod team;
mod tidy;
mod told;
mod turns;
mod vectors;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Transaction};
use weir_core::{Entry, Event, Gone, Limits, ProjectKey, Reference, Scope, Timestamp};

use crate::blobs::{BlobReader, Blobs};
use crate::db::{Db, Durability, Patience, create_private_folder};
use crate::error::{Fault, Result, StoreError};
use crate::index::Learner;
use crate::layout::{BLOBS_FOLDER, LOG_FILE, StorePart};
use crate::log::history::{self, HistoryFilter, Moment};
use crate::log::projects::{self, KnownProject};
use crate::log::scopes::{self, ScopeIds};
use crate::log::{self, entries};
use crate::redacted::{redacted_event, redacted_text};
pub use backup::{CheckedCopy, Copied};
pub use export::{Exported, ExportedEntry, ExportedEvent};
use following::Progress;
pub use foreign_rows::{ForeignRow, FreshRows, RowMemory};
pub use import::{Fresh, Past};
use keep::EntryWriter;
pub use keep::Kept;
pub use lost::{LostText, UnavailableText, UnreadEntry, UnreadTexts};
pub use maintenance::{Health, Swept};
pub use map::MapChange;
pub use notes::NoteUse;
pub use search::Freshness;
pub use sources::{NewFile, NewPage};
use told::{EventTime, StagedEvent};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// One project. The store has everything made in it.
    Project(ProjectKey),
    /// The user. The store is visible from every project.
    User,
}

pub struct Store {
    folder: PathBuf,
    owner: Owner,
    limits: Limits,
    log: Db,
    /// Opened on first use, so that a hook that only appends never pays for it.
    index: Option<Db>,
    blobs: Blobs,
    learner: Learner,
    freshness: Freshness,
    /// Whether the store was opened to be looked at, so that nothing is created or migrated.
    as_is: bool,
}

/// The result of looking up a reference.
#[derive(Debug)]
pub enum Found {
    Here(Box<Entry>),
    /// The entry existed and was removed.
    Gone(Gone),
    /// The entry never existed, or is not visible in this scope.
    Never,
}

impl Store {
    /// Returns whether there is a store in `folder`. An empty file is none. If the system does not say, that is an
    /// error.
    pub fn exists(folder: &Path) -> Result<bool> {
        match std::fs::metadata(folder.join(LOG_FILE)) {
            Ok(about) => Ok(about.len() > 0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::unusable(StorePart::Log, &error)),
        }
    }

    /// Returns how many files of texts there are in the folder of a store, whether or not a log knows them.
    pub fn text_files(folder: &Path) -> Result<usize> {
        Blobs::new(folder.join(BLOBS_FOLDER)).count_texts()
    }

    /// Opens the store in `folder`, creating it if it does not exist.
    pub fn open(folder: &Path, owner: Owner, limits: Limits) -> Result<Self> {
        Self::open_within(folder, owner, limits, Patience::default())
    }

    /// Like [`Self::open`], but with a limit on how long this store waits for other processes, now and in later calls.
    pub fn open_within(folder: &Path, owner: Owner, limits: Limits, patience: Patience) -> Result<Self> {
        let path = folder.join(LOG_FILE);
        if !path.exists() {
            create_private_folder(StorePart::Folder, folder)?;
            // New folders have to be on disk before anything in them can be.
            for folder in folder.ancestors().take(3).filter(|folder| folder.is_dir()) {
                let _ = weir_ledger::private::sync(folder);
            }
        }
        let log = Db::open(&path, log::MIGRATIONS, patience)?;
        let mut store = Self::around(log, folder, owner, limits);
        store.check_owner()?;
        // If the spool cannot be taken in now, it waits for the next call.
        let _ = store.take_in();
        Ok(store)
    }

    /// Opens the store in `folder` to look at it. Opening changes nothing: the store must exist, is not migrated, and
    /// the spool stays as it is.
    pub fn open_as_is(folder: &Path, owner: Owner, limits: Limits, patience: Patience) -> Result<Self> {
        let log = Db::open_as_is(&folder.join(LOG_FILE), log::MIGRATIONS, patience)?;
        let store = Self { as_is: true, ..Self::around(log, folder, owner, limits) };
        match store.recorded_owner()? {
            Some(known) if known != owner_key(&store.owner) => Err(StoreError::OtherProject),
            _ => Ok(store),
        }
    }

    fn around(log: Db, folder: &Path, owner: Owner, limits: Limits) -> Self {
        Self {
            folder: folder.to_owned(),
            owner,
            limits,
            log,
            index: None,
            blobs: Blobs::new(folder.join(BLOBS_FOLDER)),
            learner: Learner::default(),
            freshness: Freshness::default(),
            as_is: false,
        }
    }

    /// Returns how long writes may still wait for other processes.
    pub fn patience(&self) -> Patience {
        self.log.patience()
    }

    /// Sets how long writes wait for other processes.
    pub fn set_patience(&mut self, patience: Patience) -> Result<()> {
        self.log.set_patience(patience)?;
        self.index.as_mut().map_or(Ok(()), |index| index.set_patience(patience))
    }

    /// Opens the store in `folder` for a short-lived process that writes a little. Work at the end that would wait for
    /// the disk is left to [`Self::close_after_hook`].
    pub fn open_for_hook(folder: &Path, owner: Owner, limits: Limits, patience: Patience) -> Result<Self> {
        let store = Self::open_within(folder, owner, limits, patience)?;
        store.log.disable_checkpoints()?;
        Ok(store)
    }

    /// Sets the retention periods and the quota, for a caller that opened the store before it knew them.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Returns the retention periods and the quota.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Closes the store. If the write-ahead log has grown large enough, about once in fifty hooks, this also empties
    /// it.
    pub fn close_after_hook(self) -> Result<()> {
        self.log.empty_grown_log()
    }

    /// Appends an event in a single transaction. Returns its position in the log.
    pub fn append(&mut self, scope: &Scope, event: &Event, now: Timestamp) -> Result<i64> {
        self.check_scope(scope)?;
        let told = [StagedEvent::new(&self.blobs, redacted_event(event))?];
        let own = self.own_scope(scope);
        let (blobs, limits) = (&self.blobs, &self.limits);
        self.log.write(Durability::Process, |tx| {
            let scope_ids = scopes::find_or_make(tx, &own, now)?;
            EntryWriter { tx, blobs, limits }.append(scope_ids, &told, EventTime::now(now))
        })
    }

    /// Looks up a reference, and records that the entry was used.
    pub fn get(&mut self, scope: &Scope, reference: Reference, now: Timestamp) -> Result<Found> {
        let scope_ids = self.scope_ids(scope)?;
        if let Some(stored) = self.log.read(|c| entries::by_reference(c, scope_ids, reference))? {
            self.note_use(stored.id, stored.used_at, now);
            return Ok(Found::Here(Box::new(stored.entry)));
        }
        self.find(scope, reference)
    }

    /// Returns at most this many references that begin with these characters, with the titles of their entries.
    pub fn beginning_with(&self, scope: &Scope, beginning: &str, limit: usize) -> Result<Vec<(Reference, String)>> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.read(|c| entries::beginning_with(c, scope_ids, beginning, limit))
    }

    /// Opens the text of an entry for reading.
    pub fn text(&self, scope: &Scope, reference: Reference) -> Result<Option<BlobReader>> {
        let scope_ids = self.scope_ids(scope)?;
        let find = |c: &Connection| -> Result<_, Fault> {
            Ok(entries::by_reference(c, scope_ids, reference)?.map(|stored| ((), stored.blob_id)))
        };
        Ok(self.blobs.open(&self.log, find)?.map(|((), reader)| reader))
    }

    /// Returns the events that match the filter, newest first.
    pub fn history(&self, scope: &Scope, filter: &HistoryFilter) -> Result<Vec<Moment>> {
        self.check_scope(scope)?;
        self.log.read(|c| history::page(c, scope, filter))
    }

    /// Records in the user's store that a project was used, at most once an hour unless something has changed.
    pub fn remember_project(&mut self, project: &KnownProject) -> Result<()> {
        const HOUR: i64 = 60 * 60 * 1000;
        let known = self.log.read(|c| projects::find(c, &project.key))?;
        let is_same = |known: &KnownProject| {
            known.root == project.root && (project.identity.is_none() || project.identity == known.identity)
        };
        let fresh = known.is_some_and(|known| is_same(&known) && project.used_at.0 - known.used_at.0 < HOUR);
        if fresh { Ok(()) } else { self.log.write(Durability::Process, |tx| projects::remember(tx, project)) }
    }

    pub fn projects(&self) -> Result<Vec<KnownProject>> {
        self.log.read(projects::all)
    }

    /// Removes a project from the list of known projects, after its store was handed over to another one.
    pub fn forget_project(&mut self, key: &str) -> Result<()> {
        self.log.write(Durability::Process, |tx| projects::forget(tx, key))
    }

    /// Returns whether the folder no longer leads to this store, because it was moved, removed or restored.
    pub fn was_moved(&self) -> bool {
        self.log.was_moved()
    }

    /// Returns whether the store was opened read-only, because of the folder's permissions or a full disk.
    pub fn is_read_only(&self) -> bool {
        self.log.is_read_only()
    }

    /// Returns a function that stops the current call of this store from another thread. That call then fails as
    /// cancelled.
    pub fn interrupter(&mut self) -> impl Fn() + Send + use<> {
        let handles: Vec<_> = self.index.iter().chain([&self.log]).map(Db::interrupt_handle).collect();
        move || handles.iter().for_each(rusqlite::InterruptHandle::interrupt)
    }

    /// Records the use of an entry at most once an hour. Errors are ignored, so that they never cost an answer.
    fn note_use(&mut self, id: i64, used_at: Timestamp, now: Timestamp) {
        const HOUR: i64 = 60 * 60 * 1000;
        if now.0 - used_at.0 > HOUR && !self.log.is_read_only() {
            let touch = |tx: &Transaction<'_>| entries::touch(tx, id, now);
            let _ = match self.freshness {
                Freshness::Complete => self.log.write(Durability::Process, touch),
                Freshness::Prompt => self.log.write_if_free(Durability::Process, touch).map(drop),
            };
        }
    }

    fn scope_ids(&self, scope: &Scope) -> Result<ScopeIds> {
        self.check_scope(scope)?;
        self.log.read(|c| scopes::find(c, scope))
    }

    /// Returns the scope as this store records it. Sessions and works belong to projects, so the user's store has none.
    fn own_scope(&self, scope: &Scope) -> Scope {
        match self.owner {
            Owner::Project(_) => scope.clone(),
            Owner::User => Scope::project(scope.project.clone()),
        }
    }

    fn check_scope(&self, scope: &Scope) -> Result<()> {
        match &self.owner {
            _ if !scope.is_local() => Err(StoreError::NotLocal),
            Owner::Project(key) if *key != scope.project => Err(StoreError::OtherProject),
            _ => Ok(()),
        }
    }

    /// Rejects the store of another project, in case its folder was copied or renamed to this project's path.
    fn check_owner(&mut self) -> Result<()> {
        let key = owner_key(&self.owner);
        match self.recorded_owner()? {
            Some(known) if known == key => Ok(()),
            Some(_) => Err(StoreError::OtherProject),
            None => self.log.write(Durability::Power, |tx| {
                tx.execute("INSERT OR IGNORE INTO owner (id, key) VALUES (1, ?1)", [&key]).map(drop)
            }),
        }
    }

    /// Returns the key of the owner that the log records.
    fn recorded_owner(&self) -> Result<Option<String>> {
        self.log
            .read(|c| c.query_row("SELECT key FROM owner WHERE id = 1", [], |row| row.get::<_, String>(0)).optional())
    }
}

/// Returns the key under which the log stores an owner.
fn owner_key(owner: &Owner) -> String {
    match owner {
        Owner::Project(key) => key.0.clone(),
        Owner::User => "user".to_owned(),
    }
}
