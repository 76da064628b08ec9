//! The buckets that are open. Invariants: a bucket is open once at most, because each call gets it from its slot; it is
//! closed only while nobody has it, and after what it does in the background is done.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use weir_records::Result;

use super::super::error::from_engine;
use super::super::{META_FILE, OPEN, Started, TantivyIndex};
use super::BucketOptions;
use super::layout::{BUCKETS, folder_of, name_of_bucket};

/// All buckets of an index.
pub(super) struct Slots {
    folder: PathBuf,
    options: BucketOptions,
    slots: Vec<Mutex<Slot>>,
    /// Counts calls, to tell which bucket has waited longest for one.
    calls: AtomicU64,
}

/// A bucket.
#[derive(Default)]
struct Slot {
    /// If it is open.
    index: Option<Arc<TantivyIndex>>,
    /// How it was found when this process opened it first.
    started: Option<Started>,
    /// The number of the last call that used it.
    used_at: u64,
    /// How many commits have removed something, before it was closed the last time.
    removals: u64,
}

impl Slots {
    pub(super) fn new(folder: &Path, options: BucketOptions) -> Self {
        let slots = (0..BUCKETS).map(|_| Mutex::default()).collect();
        Self { folder: folder.to_owned(), options, slots, calls: AtomicU64::new(0) }
    }

    /// Returns a bucket, which is opened if it is not.
    pub(super) fn open_bucket(&self, bucket: usize) -> Result<Arc<TantivyIndex>> {
        let mut slot = self.slot(bucket);
        self.open_in(&mut slot, bucket)
    }

    /// Returns a bucket, unless nothing was ever written to it.
    pub(super) fn existing(&self, bucket: usize) -> Result<Option<Arc<TantivyIndex>>> {
        let mut slot = self.slot(bucket);
        if slot.index.is_none() && !self.exists(bucket) {
            return Ok(None);
        }
        self.open_in(&mut slot, bucket).map(Some)
    }

    /// Returns whether there is a bucket in its folder.
    pub(super) fn exists(&self, bucket: usize) -> bool {
        self.folder_of(bucket).join(META_FILE).exists()
    }

    /// Returns the buckets of which there are copies.
    pub(super) fn copied(&self) -> Result<BTreeSet<usize>> {
        let Some(copies) = &self.options.copies else { return Ok(BTreeSet::new()) };
        let names = copies.copied_parts()?;
        Ok((0..BUCKETS).filter(|bucket| names.contains(&name_of_bucket(*bucket))).collect())
    }

    /// Returns how a bucket was found when it was opened first.
    pub(super) fn started(&self, bucket: usize) -> Result<Option<Started>> {
        let mut slot = self.slot(bucket);
        self.open_in(&mut slot, bucket)?;
        Ok(slot.started.clone())
    }

    /// Returns how many commits of a bucket have removed something since the start.
    pub(super) fn removals(&self, bucket: usize) -> u64 {
        let slot = self.slot(bucket);
        slot.removals + slot.index.as_ref().map_or(0, |index| index.removals())
    }

    /// Returns how many are open.
    pub(super) fn open(&self) -> usize {
        (0..BUCKETS).filter(|bucket| self.slot(*bucket).index.is_some()).count()
    }

    pub(super) fn folder_of(&self, bucket: usize) -> PathBuf {
        folder_of(&self.folder, bucket)
    }

    fn slot(&self, bucket: usize) -> MutexGuard<'_, Slot> {
        self.slots[bucket].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn free_slot(&self, bucket: usize) -> Option<MutexGuard<'_, Slot>> {
        match self.slots[bucket].try_lock() {
            Ok(slot) => Some(slot),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn open_in(&self, slot: &mut Slot, bucket: usize) -> Result<Arc<TantivyIndex>> {
        slot.used_at = self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(index) = &slot.index {
            return Ok(Arc::clone(index));
        }
        self.make_room();
        let index = Arc::new(self.read(slot, bucket)?);
        slot.started.get_or_insert_with(|| index.started().clone());
        Ok(Arc::clone(slot.index.insert(index)))
    }

    /// Opens the files of a bucket. One that this process has used already is not made again: the walk over the log
    /// would not come back for its projects. So its calls fail until the next start.
    fn read(&self, slot: &Slot, bucket: usize) -> Result<TantivyIndex> {
        let (folder, BucketOptions { vectors, copies, .. }) = (self.folder_of(bucket), &self.options);
        match copies {
            _ if slot.started.is_some() => {
                TantivyIndex::open_files(&folder, vectors).map_err(|error| from_engine(&error, OPEN))
            }
            Some(copies) => TantivyIndex::open_or_restore(&folder, vectors, &copies.of_part(&name_of_bucket(bucket))),
            None => TantivyIndex::open_with(&folder, vectors),
        }
    }

    /// Closes those that have waited longest, until the one whose slot is locked may be open too. Those that are used
    /// stay open.
    fn make_room(&self) {
        let mut waiting = Vec::new();
        let mut count = 0;
        for bucket in 0..BUCKETS {
            match self.free_slot(bucket) {
                Some(slot) if slot.index.is_some() => waiting.push((slot.used_at, bucket)),
                Some(_) => {}
                // It is being opened or closed.
                None => count += 1,
            }
        }
        waiting.sort_unstable();
        count += waiting.len();
        for (_, bucket) in waiting {
            if count <= self.options.max_open {
                break;
            }
            if let Some(mut slot) = self.free_slot(bucket) {
                count -= usize::from(slot.close());
            }
        }
    }
}

impl Slot {
    /// Closes the bucket unless it is used, and returns whether it is closed now.
    fn close(&mut self) -> bool {
        let Some(index) = self.index.take_if(|index| Arc::strong_count(index) == 1 && index.is_quiet()) else {
            return self.index.is_none();
        };
        self.removals += index.removals();
        // Nobody else has it, and nobody can get it while the slot is locked.
        if let Some(index) = Arc::into_inner(index) {
            index.close();
        }
        true
    }
}
