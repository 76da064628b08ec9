//! The index on tantivy: one for all tenants of a server, in one folder on its own disk.
//!
//! Tenants share files, since a thousand small indexes would cost a thousand times the memory and the commits. They
//! share no postings: every word is stored under the name of its project ([`analysis`]), so a search reads the words of
//! one project only, and a project's ranking depends on nothing else ([`search`]). The price is a larger dictionary.
//!
//! Invariant: the log is the truth. The folder can be deleted at any time, and what cannot be read is made again.

mod analysis;
mod edit;
mod error;
mod fields;
mod lookup;
mod progress;
mod search;
mod stem;
mod writer;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use tantivy::directory::{INDEX_WRITER_LOCK, MmapDirectory};
use tantivy::{Directory as _, IndexReader, IndexSettings, ReloadPolicy};
use weir_core::{Scope, TenantId};
use weir_records::{Index, IndexChange, IndexHits, Position, RecordId, Result, SearchQuery, Step};

use self::edit::{Change, Work};
use self::error::{Failure, from_engine, from_system, is_unusable};
use self::fields::{Fact, Fields, Place};
use self::progress::Progress;
use self::writer::{Queue, Writing};
use crate::folder::create_private_folder;

/// The index on tantivy. Only one process can have its folder open.
pub struct TantivyIndex {
    index: tantivy::Index,
    reader: IndexReader,
    fields: Fields,
    progress: RwLock<Progress>,
    queue: Queue,
    writing: Mutex<Writing>,
    /// How many merges have failed. Searches only become slower by it.
    failed_merges: AtomicU64,
    started: Started,
}

/// How an index was found when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// As it was left.
    Found,
    /// The folder was empty.
    Empty,
    /// It could not be used, and is empty now. It follows the log from the beginning.
    MadeAgain {
        /// Why it could not be used.
        reason: String,
    },
}

/// The size and the health of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexFigures {
    /// How many projects it follows.
    pub projects: u64,
    /// How many records it has, of all tenants.
    pub documents: u64,
    /// How many segments they are in. Each costs a search some time.
    pub segments: u64,
    /// How many merges of segments have failed since the start.
    pub failed_merges: u64,
}

const OPEN: &str = "open the index";

impl TantivyIndex {
    /// Opens the index in a folder, which is created if it does not exist. An index that is damaged or of another
    /// version is made again; [`Self::started`] says so.
    pub fn open(folder: &Path) -> Result<Self> {
        create_private_folder(folder).map_err(|error| from_system(&error, OPEN))?;
        let opened = match Self::open_files(folder) {
            Err(error) if is_unusable(&error) => wipe(folder).and_then(|()| {
                let reason = Failure::of(&error).at(OPEN).to_string();
                Ok(Self { started: Started::MadeAgain { reason }, ..Self::open_files(folder)? })
            }),
            other => other,
        };
        opened.map_err(|error| from_engine(&error, OPEN))
    }

    /// Returns how the index was found.
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// Returns its size and health.
    pub fn figures(&self) -> IndexFigures {
        let searcher = self.reader.searcher();
        IndexFigures {
            projects: self.progress().projects(),
            documents: searcher.num_docs(),
            segments: searcher.segment_readers().len() as u64,
            failed_merges: self.failed_merges.load(Ordering::Relaxed),
        }
    }

    /// Removes everything of a tenant. No word of it is left in the files.
    pub fn remove_tenant(&self, tenant: &TenantId) -> Result<()> {
        self.write("remove a tenant from the index", Place::of_tenant(tenant), Work::RemoveTenant).map(drop)
    }

    fn open_files(folder: &Path) -> tantivy::Result<Self> {
        let (schema, fields) = Fields::schema();
        // No text is stored, so there is nothing to compress.
        let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
        let directory = MmapDirectory::open(folder)?;
        let index = tantivy::Index::builder().schema(schema).settings(settings).open_or_create(directory)?;
        index.tokenizers().register(analysis::TOKENIZER, analysis::WordTokenizer::default());
        let writing = Mutex::new(Writing::open(&index)?);
        let metas = index.load_metas()?;
        let is_empty = metas.payload.is_none() && metas.segments.is_empty();
        let (progress, started) = if is_empty {
            (Progress::default(), Started::Empty)
        } else {
            (Progress::parse(metas.payload.as_deref())?, Started::Found)
        };
        // Files are kept for as long as something describes their segment.
        drop(metas);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let (progress, queue, failed_merges) = (RwLock::new(progress), Queue::default(), AtomicU64::new(0));
        let opened = Self { index, reader, fields, progress, queue, writing, failed_merges, started };
        opened.clean_up()?;
        Ok(opened)
    }

    fn progress(&self) -> RwLockReadGuard<'_, Progress> {
        self.progress.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the changes with the words of their records, one for each record: the last one counts.
    fn changes(&self, place: &Place, changes: &[IndexChange]) -> Vec<Change> {
        let mut last: BTreeMap<RecordId, &IndexChange> = BTreeMap::new();
        for change in changes {
            let id = match change {
                IndexChange::Put(record) => record.id,
                IndexChange::Remove(id) => *id,
            };
            last.insert(id, change);
        }
        let indexed = last.into_iter().map(|(id, change)| match change {
            IndexChange::Put(record) => Change { id, document: Some(self.fields.document(place, record)) },
            IndexChange::Remove(_) => Change { id, document: None },
        });
        indexed.collect()
    }

    fn count(&self, place: &Place, ids: &[RecordId]) -> tantivy::Result<u64> {
        let searcher = self.reader.searcher();
        let segments = lookup::segments_with(&searcher, &self.fields, &self.fields.fact(Fact::Project(place)))?;
        let mut count = 0;
        for id in ids {
            let term = self.fields.fact(Fact::Record(place, *id));
            let found = lookup::existing(&segments, &self.fields, &term)?;
            count += u64::from(found.documents + found.removed > 0);
        }
        Ok(count)
    }
}

impl Index for TantivyIndex {
    fn position(&self, scope: &Scope) -> Result<Position> {
        Ok(Position(self.progress().project(&Place::of(scope)).position))
    }

    fn apply(&self, scope: &Scope, changes: &[IndexChange], step: Step) -> Result<bool> {
        // Saves the work for a follower that is late. The writer checks again.
        if self.position(scope)? != step.from {
            return Ok(false);
        }
        let place = Place::of(scope);
        let changes = self.changes(&place, changes);
        self.write("index records", place, Work::Apply { changes, step })
    }

    fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<IndexHits> {
        let state = self.progress().project(&Place::of(scope));
        search::search(&self.reader.searcher(), &self.fields, scope, query, state)
            .map_err(|error| from_engine(&error, "search"))
    }

    fn holds(&self, scope: &Scope, ids: &[RecordId]) -> Result<u64> {
        self.count(&Place::of(scope), ids).map_err(|error| from_engine(&error, "count records in the index"))
    }

    fn clear(&self, scope: &Scope) -> Result<()> {
        self.write("clear the index", Place::of(scope), Work::RemoveProject).map(drop)
    }
}

/// Deletes the files of an index that cannot be used, unless another process uses it.
fn wipe(folder: &Path) -> tantivy::Result<()> {
    let _lock = MmapDirectory::open(folder)?.acquire_lock(&INDEX_WRITER_LOCK)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
