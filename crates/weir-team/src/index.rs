//! The index on tantivy, in one folder on a server's own disk. A server has 64 of them, its [`buckets`].
//!
//! Tenants share files, since a thousand small indexes would cost a thousand times the memory and the commits. They
//! share no postings: every word is stored under the name of its project ([`analysis`]), so a search reads the words of
//! one project only, and a project's ranking depends on nothing else ([`search`]). The price is a larger dictionary.
//!
//! Invariant: the log is the truth. The folder can be deleted at any time, and what cannot be read is made again.

mod analysis;
mod buckets;
mod edit;
mod error;
mod fields;
mod lookup;
mod progress;
mod remote_copy;
mod search;
mod vectors;
mod writer;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use tantivy::directory::{DirectoryLock, INDEX_WRITER_LOCK, MmapDirectory};
use tantivy::{Directory as _, IndexReader, IndexSettings, ReloadPolicy};
use weir_core::{Scope, TenantId};
use weir_ledger::private;
use weir_records::{
    ErrorKind, Index, IndexChange, IndexHits, PortError, Position, ProjectChanges, RecordId, Result, SearchQuery, Step,
};

pub(crate) use self::buckets::bucket_of;
pub use self::buckets::{BucketCopier, BucketOptions, BucketedIndex};
use self::edit::{Change, Work};
use self::error::{Failure, from_engine, from_system, is_unusable};
use self::fields::{Fact, Fields, Place};
use self::progress::Progress;
pub use self::remote_copy::{Copied, CopyPlace, IndexCopier};
use self::remote_copy::{CopyVersion, META_FILE, RESTORE, clear_staging};
use self::search::Asked;
pub use self::vectors::{Meaning, Vectors};
use self::writer::{Queue, Writing};

/// The index on tantivy. Only one process can have its folder open.
pub struct TantivyIndex {
    folder: PathBuf,
    index: tantivy::Index,
    reader: IndexReader,
    fields: Fields,
    progress: RwLock<Progress>,
    queue: Queue,
    writing: Mutex<Writing>,
    /// How many merges have failed. Searches only become slower by it.
    failed_merges: AtomicU64,
    /// How many commits have removed something since the start.
    removals: AtomicU64,
    started: Started,
    vectors: Vectors,
}

/// How an index was found when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// As it was left.
    Found,
    /// The folder was empty. It follows the log from the beginning.
    Empty,
    /// There was none that could be used, and it begins with a copy. It follows the log from there.
    Restored {
        /// Why what was there, or newer copies, could not be used.
        refused: Vec<String>,
    },
    /// Neither what was there nor a copy could be used, and it is empty now. It follows the log from the beginning.
    MadeAgain {
        /// Why it could not be used.
        reason: String,
    },
}

impl Started {
    /// Returns it in one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Empty => "empty",
            Self::Restored { .. } => "restored",
            Self::MadeAgain { .. } => "rebuilt",
        }
    }
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

/// How many copies are tried before the index is made again from the log.
const MAX_TRIED_COPIES: usize = 3;

const OPEN: &str = "open the index";

impl TantivyIndex {
    /// Opens the index in a folder, which is created if it does not exist. An index that is damaged or of another
    /// version is made again; [`Self::started`] says so.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_with(folder, &Vectors::Off)
    }

    /// Opens the index in a folder, with or without vectors. See [`Self::open`].
    pub fn open_with(folder: &Path, vectors: &Vectors) -> Result<Self> {
        private::folder(folder).map_err(|error| from_system(&error, OPEN))?;
        let opened = match Self::open_files(folder, vectors) {
            Err(error) if is_unusable(&error) => wipe(folder).and_then(|lock| {
                drop(lock);
                let reason = Failure::of(&error).at(OPEN).to_string();
                Ok(Self { started: Started::MadeAgain { reason }, ..Self::open_files(folder, vectors)? })
            }),
            other => other,
        };
        opened.map_err(|error| from_engine(&error, OPEN))
    }

    /// Opens the index in a folder. If there is none that can be used, it begins with the newest copy that can. Without
    /// such a copy it follows the log from the beginning; [`Self::started`] says why.
    pub fn open_or_restore(folder: &Path, vectors: &Vectors, copies: &CopyPlace) -> Result<Self> {
        private::folder(folder).map_err(|error| from_system(&error, OPEN))?;
        let mut refused: Vec<String> = Vec::new();
        if folder.join(META_FILE).exists() {
            match Self::open_files(folder, vectors) {
                Err(error) if is_unusable(&error) => refused.push(from_engine(&error, OPEN).to_string()),
                opened => return opened.map_err(|error| from_engine(&error, OPEN)),
            }
        }
        let mut tried: Vec<CopyVersion> = Vec::new();
        // Each time the newest of those that are there: a copy may be replaced by a newer one while it is fetched.
        for _ in 0..MAX_TRIED_COPIES {
            let copy = match copies.newest_but(&tried) {
                Ok(Some(copy)) => copy,
                Ok(None) => break,
                Err(error) => {
                    refused.push(error.to_string());
                    break;
                }
            };
            let restored = Self::restore(folder, copies, copy).and_then(|()| Self::open_restored(folder, vectors));
            match restored {
                Ok(index) => return Ok(Self { started: Started::Restored { refused }, ..index }),
                Err(error) if error.kind == ErrorKind::Busy => return Err(error),
                Err(error) => refused.push(error.to_string()),
            }
            tried.push(copy);
        }
        // A failure may have left files that are not an index.
        let opened = wipe(folder).and_then(|lock| {
            drop(lock);
            Self::open_files(folder, vectors)
        });
        let index = opened.map_err(|error| from_engine(&error, OPEN))?;
        if refused.is_empty() {
            return Ok(index);
        }
        Ok(Self { started: Started::MadeAgain { reason: refused.join("; ") }, ..index })
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

    /// Returns how many commits have removed something since it was opened.
    fn removals(&self) -> u64 {
        self.removals.load(Ordering::Relaxed)
    }

    /// Brings a copy into the folder.
    fn restore(folder: &Path, copies: &CopyPlace, copy: CopyVersion) -> Result<()> {
        let _lock = wipe(folder).map_err(|error| from_engine(&error, RESTORE))?;
        copies.fetch(copy, folder)
    }

    /// Opens a copy, if it is whole.
    fn open_restored(folder: &Path, vectors: &Vectors) -> Result<Self> {
        let opened = Self::open_files(folder, vectors);
        match opened.and_then(|opened| Ok((opened.index.validate_checksum()?, opened))) {
            Ok((damaged, opened)) if damaged.is_empty() => Ok(opened),
            Ok(_) => Err(PortError::new(ErrorKind::Damaged, RESTORE).because("it was damaged when it was copied")),
            Err(error) => Err(from_engine(&error, RESTORE)),
        }
    }

    fn open_files(folder: &Path, vectors: &Vectors) -> tantivy::Result<Self> {
        let (schema, fields) = Fields::schema();
        // No text is stored, so there is nothing to compress.
        let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
        let directory = MmapDirectory::open(folder)?;
        let index = tantivy::Index::builder().schema(schema).settings(settings).open_or_create(directory)?;
        index.tokenizers().register(analysis::TOKENIZER, analysis::WordTokenizer::default());
        let mut writing = Writing::open(&index, folder)?;
        clear_staging(folder)?;
        let metas = index.load_metas()?;
        let is_empty = metas.payload.is_none() && metas.segments.is_empty();
        let (progress, started) = if is_empty {
            (Progress::new(vectors.model().unwrap_or_default(), &mut writing.file)?, Started::Empty)
        } else {
            (Progress::read(metas.payload.as_deref(), vectors.model(), &writing.file)?, Started::Found)
        };
        // Files are kept for as long as something describes their segment.
        drop(metas);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let opened = Self {
            folder: folder.to_owned(),
            index,
            reader,
            fields,
            progress: RwLock::new(progress),
            queue: Queue::default(),
            writing: Mutex::new(writing),
            failed_merges: AtomicU64::new(0),
            removals: AtomicU64::new(0),
            started,
            vectors: vectors.clone(),
        };
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
            IndexChange::Put(record) => {
                let meaning = self.vectors.meaning();
                let vector = meaning.map(|meaning| meaning.values(&record.title, &record.text)).unwrap_or_default();
                Change { id, document: Some(self.fields.document(place, record, &vector)) }
            }
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

    fn apply_all(&self, projects: &[ProjectChanges<'_>]) -> Vec<Result<bool>> {
        let works = projects.iter().map(|project| {
            let place = Place::of(project.scope);
            let changes = self.changes(&place, project.changes);
            (place, Work::Apply { changes, step: project.step })
        });
        self.write_all("index records", works.collect())
    }

    fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<IndexHits> {
        let state = self.progress().project(&Place::of(scope));
        let vector = self.vectors.meaning().and_then(|meaning| meaning.query(query.vector.as_deref()?));
        search::search(&self.reader.searcher(), &self.fields, &Asked { scope, query, state, vector })
            .map_err(|error| from_engine(&error, "search"))
    }

    fn holds(&self, scope: &Scope, ids: &[RecordId]) -> Result<u64> {
        self.count(&Place::of(scope), ids).map_err(|error| from_engine(&error, "count records in the index"))
    }

    fn clear(&self, scope: &Scope) -> Result<()> {
        self.write("clear the index", Place::of(scope), Work::RemoveProject).map(drop)
    }
}

/// Deletes the files of an index that cannot be used, unless another process uses it, and returns the lock that keeps
/// others out.
fn wipe(folder: &Path) -> tantivy::Result<DirectoryLock> {
    let lock = MmapDirectory::open(folder)?.acquire_lock(&INDEX_WRITER_LOCK)?;
    clear_staging(folder)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() && !path.ends_with(&INDEX_WRITER_LOCK.filepath) {
            fs::remove_file(path)?;
        }
    }
    Ok(lock)
}
