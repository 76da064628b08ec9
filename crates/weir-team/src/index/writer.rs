//! Commits. One thread writes at a time, and what other threads want meanwhile goes into its next commit.
//!
//! Invariants: a commit has the changes of a call and the new position, both or neither. A call that removes something
//! returns once the files that had its words are rewritten and deleted, so that [`Index::holds`] is the whole truth.
//! Searches see a commit before its position is given out.
//!
//! [`Index::holds`]: weir_records::Index::holds

mod closing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{fs, io};

use tantivy::index::SegmentId;
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::{Directory as _, FutureResult, Index, IndexWriter, SegmentMeta};
use weir_ledger::private;
use weir_records::{ErrorKind, PortError, Result};

use super::TantivyIndex;
use super::edit::{Edit, Work};
use super::error::Failure;
use super::fields::Place;
use super::progress::{Changes, PROGRESS_FILE, Progress, ProgressFile};
use super::remote_copy::META_FILE;

/// The memory of the writer, in bytes. What exceeds it becomes a segment on the disk before the commit.
const WRITER_BYTES: usize = 20_000_000;
/// How many calls one commit may have.
const MAX_GROUPED: usize = 256;
/// How many segments of about the same size are merged into one, as a power of two.
const MERGE_BITS: u32 = 3;
/// How many documents a merged segment may have. Removing a record rewrites its segment while somebody waits.
const MAX_SEGMENT_DOCUMENTS: u32 = 1 << 17;
/// From this many segments on, a commit waits for the merge that is under way.
const MAX_SEGMENTS: usize = 256;

/// What one call waits for.
struct Job {
    place: Place,
    work: Work,
    outcome: Arc<OnceLock<Result<bool, Failure>>>,
}

/// The calls that wait for a commit, oldest first.
#[derive(Default)]
pub(super) struct Queue(Mutex<VecDeque<Job>>);

impl Queue {
    /// Takes what the next commit may have: calls about different projects. A removal of a whole project or tenant has
    /// a commit of its own.
    fn take_batch(&self) -> Vec<Job> {
        let mut waiting = lock(&self.0);
        let (mut batch, mut places) = (Vec::new(), BTreeSet::new());
        while let Some(job) = waiting.pop_front() {
            let fits = match job.work {
                Work::Apply { .. } => batch.len() < MAX_GROUPED && places.insert(job.place.clone()),
                Work::RemoveProject | Work::RemoveTenant => batch.is_empty(),
            };
            if !fits {
                waiting.push_front(job);
                break;
            }
            let is_alone = !matches!(job.work, Work::Apply { .. });
            batch.push(job);
            if is_alone {
                break;
            }
        }
        batch
    }
}

/// What the thread that writes has.
pub(super) struct Writing {
    pub(super) file: ProgressFile,
    /// Gone after a failure, until the next call.
    writer: Option<IndexWriter>,
    merging: Option<Merging>,
    /// Whether there may be words of removed records in the files.
    is_unclean: bool,
}

/// A merge in the background.
struct Merging {
    segments: Vec<SegmentId>,
    done: FutureResult<Option<SegmentMeta>>,
}

impl Writing {
    /// Takes the only writer of an index.
    pub(super) fn open(index: &Index, folder: &Path) -> tantivy::Result<Self> {
        // It keeps other processes out.
        let writer = Some(open_writer(index)?);
        Ok(Self { file: ProgressFile::open(folder)?, writer, merging: None, is_unclean: false })
    }

    fn writer(&mut self, index: &Index) -> tantivy::Result<&mut IndexWriter> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => open_writer(index)?,
        };
        Ok(self.writer.insert(writer))
    }
}

fn open_writer(index: &Index) -> tantivy::Result<IndexWriter> {
    let options = IndexWriterOptions::builder()
        .num_worker_threads(1)
        .memory_budget_per_thread(WRITER_BYTES)
        .num_merge_threads(1)
        .build();
    let writer: IndexWriter = index.writer_with_options(options)?;
    // Merges are started here, so that none is under way when something has to be removed.
    writer.set_merge_policy(Box::new(NoMergePolicy));
    Ok(writer)
}

impl TantivyIndex {
    /// Has something written, by this thread or by the one that writes now, and returns whether it applied.
    pub(super) fn write(&self, doing: &str, place: Place, work: Work) -> Result<bool> {
        self.write_all(doing, vec![(place, work)]).into_iter().collect::<Result<Vec<bool>>>().map(|done| done == [true])
    }

    /// Has several things written as [`Self::write`] does, in as few commits as they need, and returns a result for
    /// each.
    pub(super) fn write_all(&self, doing: &str, works: Vec<(Place, Work)>) -> Vec<Result<bool>> {
        let outcomes: Vec<_> = works.iter().map(|_| Arc::new(OnceLock::new())).collect();
        let jobs = works.into_iter().zip(&outcomes);
        let jobs = jobs.map(|((place, work), outcome)| Job { place, work, outcome: Arc::clone(outcome) });
        lock(&self.queue.0).extend(jobs);
        let mut writing = lock(&self.writing);
        while outcomes.iter().any(|outcome| outcome.get().is_none()) {
            let batch = self.queue.take_batch();
            if batch.is_empty() {
                break;
            }
            self.write_batch(&mut writing, batch);
        }
        let result = |outcome: Arc<OnceLock<Result<bool, Failure>>>| match outcome.get() {
            Some(Ok(applied)) => Ok(*applied),
            Some(Err(failure)) => Err(failure.at(doing)),
            None => Err(PortError::new(ErrorKind::Unavailable, doing).because("a thread that wrote to it has failed")),
        };
        outcomes.into_iter().map(result).collect()
    }

    /// Removes what is left of removed records, if a crash came before that.
    pub(super) fn clean_up(&self) -> tantivy::Result<()> {
        let searcher = self.reader.searcher();
        if searcher.segment_readers().iter().any(tantivy::SegmentReader::has_deletes) {
            drop(searcher);
            self.expunge(&mut lock(&self.writing))?;
        }
        Ok(())
    }

    /// Returns what tells one commit or merge from another.
    pub(super) fn mark(&self) -> tantivy::Result<blake3::Hash> {
        Ok(blake3::hash(&self.index.directory().atomic_read(Path::new(META_FILE))?))
    }

    /// Links the files of the last commit into a folder, and returns their names.
    pub(super) fn link_files(&self, folder: &Path) -> tantivy::Result<Vec<String>> {
        let mut writing = lock(&self.writing);
        // Nothing is committed, merged or deleted until the lock is given back.
        self.finish_merge(&mut writing);
        let metas = self.index.load_metas()?;
        let mut names = vec![META_FILE.to_owned()];
        for file in metas.list_segment_files() {
            match link(&self.folder.join(&file), &folder.join(&file)) {
                Ok(()) => names.push(file.to_string_lossy().into_owned()),
                // A segment has these only at times.
                Err(error) if error.kind() == io::ErrorKind::NotFound && is_optional(&file) => {}
                Err(error) => return Err(error.into()),
            }
        }
        fs::write(folder.join(META_FILE), self.index.directory().atomic_read(Path::new(META_FILE))?)?;
        // It changes in its place, so it is copied and not linked.
        fs::copy(self.folder.join(PROGRESS_FILE), folder.join(PROGRESS_FILE))?;
        names.push(PROGRESS_FILE.to_owned());
        names.sort();
        Ok(names)
    }

    fn write_batch(&self, writing: &mut Writing, batch: Vec<Job>) {
        let mut outcomes = Vec::new();
        let mut works = Vec::new();
        for job in batch {
            outcomes.push(job.outcome);
            works.push((job.place, job.work));
        }
        let results: Vec<Result<bool, Failure>> = match self.commit_all(writing, works) {
            Ok(applied) => applied.into_iter().map(Ok).collect(),
            Err(error) => {
                self.recover(writing);
                vec![Err(Failure::of(&error)); outcomes.len()]
            }
        };
        for (outcome, result) in outcomes.iter().zip(results) {
            // Nobody else sets it.
            drop(outcome.set(result));
        }
    }

    fn commit_all(&self, writing: &mut Writing, works: Vec<(Place, Work)>) -> tantivy::Result<Vec<bool>> {
        let (searcher, progress) = (self.reader.searcher(), self.progress());
        let mut edit = Edit {
            fields: &self.fields,
            searcher: &searcher,
            writer: writing.writer(&self.index)?,
            progress: &progress,
            changes: Changes::new(),
            is_changed: false,
            removes: false,
        };
        let applied: Vec<bool> =
            works.into_iter().map(|(place, work)| edit.add(&place, work)).collect::<tantivy::Result<_>>()?;
        let Edit { changes, is_changed, removes, .. } = edit;
        drop(progress);
        // It keeps files on the disk that are about to be deleted.
        drop(searcher);
        if is_changed {
            writing.is_unclean |= removes;
            // Counted before anything can fail: a copy too many does no harm.
            self.removals.fetch_add(u64::from(removes), Ordering::Relaxed);
            self.commit(writing, changes)?;
        }
        Ok(applied)
    }

    fn commit(&self, writing: &mut Writing, changes: Changes) -> tantivy::Result<()> {
        let payload = self.progress().payload_with(&changes)?;
        let mut prepared = writing.writer(&self.index)?.prepare_commit()?;
        prepared.set_payload(&payload);
        prepared.commit()?;
        self.publish(|progress| progress.follow(changes))?;
        self.save_progress(writing)?;
        if writing.is_unclean { self.expunge(writing) } else { self.merge_in_background(writing) }
    }

    /// Shows a commit to searches, and then gives out its positions.
    fn publish(&self, change: impl FnOnce(&mut Progress)) -> tantivy::Result<()> {
        self.reader.reload()?;
        change(&mut self.progress.write().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }

    /// Moves positions from the payload of the commits to the database, if they have become many.
    fn save_progress(&self, writing: &mut Writing) -> tantivy::Result<()> {
        let progress = self.progress();
        if !progress.is_to_be_saved() {
            return Ok(());
        }
        // The name of the commit's file, so that after a power cut the database is not ahead of it.
        private::sync(&self.folder)?;
        progress.write(&mut writing.file)?;
        drop(progress);
        self.progress.write().unwrap_or_else(PoisonError::into_inner).saved();
        Ok(())
    }

    /// Rewrites every segment that has a removed record, and deletes its files.
    fn expunge(&self, writing: &mut Writing) -> tantivy::Result<()> {
        writing.is_unclean = true;
        self.finish_merge(writing);
        let segments = self.index.searchable_segment_metas()?;
        let unclean: Vec<SegmentId> =
            segments.iter().filter(|segment| segment.has_deletes()).map(SegmentMeta::id).collect();
        // Files are kept for as long as something describes their segment.
        drop(segments);
        let writer = writing.writer(&self.index)?;
        for segment in unclean {
            writer.merge(&[segment]).wait()?;
        }
        self.reader.reload()?;
        writer.garbage_collect_files().wait()?;
        writing.is_unclean = false;
        Ok(())
    }

    /// Starts to merge small segments, unless that is under way.
    fn merge_in_background(&self, writing: &mut Writing) -> tantivy::Result<()> {
        let mut segments = self.segment_sizes();
        let is_under_way = writing
            .merging
            .as_ref()
            .is_some_and(|merging| segments.iter().any(|segment| merging.segments.contains(&segment.id)));
        if is_under_way && segments.len() < MAX_SEGMENTS {
            return Ok(());
        }
        self.finish_merge(writing);
        if is_under_way {
            self.reader.reload()?;
            segments = self.segment_sizes();
        }
        if let Some(chosen) = choose(segments) {
            let done = writing.writer(&self.index)?.merge(&chosen);
            writing.merging = Some(Merging { segments: chosen, done });
        }
        Ok(())
    }

    /// Waits for the merge in the background, if there is one. A failed merge leaves the segments as they were.
    fn finish_merge(&self, writing: &mut Writing) {
        if let Some(merging) = writing.merging.take()
            && merging.done.wait().is_err()
        {
            self.failed_merges.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn segment_sizes(&self) -> Vec<SegmentSize> {
        let searcher = self.reader.searcher();
        let segments = searcher.segment_readers().iter();
        segments.map(|segment| SegmentSize { id: segment.segment_id(), documents: segment.num_docs() }).collect()
    }

    /// Goes back to the last commit. It may be the one that failed, if its end did not reach us.
    fn recover(&self, writing: &mut Writing) {
        // Dropping the writer forgets what it has not committed, and stops its merges.
        (writing.writer, writing.merging) = (None, None);
        let committed = self
            .index
            .load_metas()
            .and_then(|metas| Progress::read(metas.payload.as_deref(), self.vectors.model(), &writing.file));
        // If the files cannot be read either, the next call fails as well and comes back here.
        if let Ok(committed) = committed {
            drop(self.publish(|progress| *progress = committed));
        }
    }
}

/// Gives a file another name, or copies it where the system cannot do that.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => fs::copy(from, to).map(drop),
        linked => linked,
    }
}

/// Returns whether a segment need not have this file: removed records, or documents that are being written.
fn is_optional(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "del" || ending == "temp")
}

/// A segment that may be merged.
#[derive(Clone, Copy)]
struct SegmentSize {
    id: SegmentId,
    documents: u32,
}

/// Returns segments of about the same size that are worth merging.
fn choose(segments: Vec<SegmentSize>) -> Option<Vec<SegmentId>> {
    let mut by_size: BTreeMap<u32, Vec<SegmentSize>> = BTreeMap::new();
    for segment in segments {
        by_size.entry(segment.documents.max(1).ilog2() / MERGE_BITS).or_default().push(segment);
    }
    by_size.into_values().filter(|alike| alike.len() >= 1 << MERGE_BITS).find_map(|mut alike| {
        alike.sort_by_key(|segment| segment.documents);
        let mut documents = 0;
        let chosen = alike.iter().take_while(|segment| {
            documents += segment.documents;
            documents <= MAX_SEGMENT_DOCUMENTS
        });
        let chosen: Vec<SegmentId> = chosen.map(|segment| segment.id).collect();
        (chosen.len() > 1).then_some(chosen)
    })
}

/// Locks a value. A thread that panicked has changed nothing that the next one relies on.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
