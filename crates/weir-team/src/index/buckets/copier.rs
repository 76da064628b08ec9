//! Copies the buckets, each by itself. Invariant: a bucket that has not changed since its last copy is not opened.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

use weir_records::Result;

use super::super::error::from_system;
use super::super::remote_copy::{COPY, Copier};
use super::super::{META_FILE, Started};
use super::layout::{BUCKETS, name_of_bucket};
use super::{BucketedIndex, Copied, CopyPlace};

/// Copies the buckets of an index. Used from threads that may block.
pub struct BucketCopier {
    place: CopyPlace,
    index: Arc<BucketedIndex>,
    copied: Mutex<BTreeMap<usize, CopiedBucket>>,
}

/// What is known of the last copy of a bucket.
struct CopiedBucket {
    copier: Copier,
    /// How many removals it has followed.
    removals: u64,
}

impl BucketCopier {
    /// Returns what copies an index to a place.
    pub fn new(place: CopyPlace, index: Arc<BucketedIndex>) -> Self {
        Self { place, index, copied: Mutex::default() }
    }

    /// Returns whether a copy may have words that were removed from the index since the start.
    pub fn is_urgent(&self) -> bool {
        let copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner);
        let followed = |bucket: &usize| copied.get(bucket).map_or(0, |copied| copied.removals);
        (0..BUCKETS).any(|bucket| self.index.slots.removals(bucket) != followed(&bucket))
    }

    /// Copies the buckets that have changed since their last copies. One that fails does not keep the others from it.
    pub fn copy(&self) -> Result<Copied> {
        let mut copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut bytes, mut written_bytes, mut is_made, mut failure) = (0, 0, false, None);
        for bucket in 0..BUCKETS {
            match self.copy_bucket(&mut copied, bucket) {
                Ok(Copied::Unchanged) => {}
                Ok(Copied::Made { bytes: more, written_bytes: more_written }) => {
                    (bytes, written_bytes, is_made) = (bytes + more, written_bytes + more_written, true);
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        if !is_made {
            return Ok(Copied::Unchanged);
        }
        self.place.remove_gone()?;
        Ok(Copied::Made { bytes, written_bytes })
    }

    fn copy_bucket(&self, copied: &mut BTreeMap<usize, CopiedBucket>, bucket: usize) -> Result<Copied> {
        let removals = self.index.slots.removals(bucket);
        let Some(mark) = mark_of(&self.index.slots.folder_of(bucket))? else { return Ok(Copied::Unchanged) };
        if let Some(known) = copied.get_mut(&bucket)
            && known.copier.has(mark)
        {
            known.removals = removals;
            return Ok(Copied::Unchanged);
        }
        let Some(index) = self.index.slots.existing(bucket)? else { return Ok(Copied::Unchanged) };
        let started = self.index.slots.started(bucket)?;
        let known = copied.entry(bucket).or_insert_with(|| {
            let place = self.place.of_part(&name_of_bucket(bucket));
            CopiedBucket { copier: Copier::new(place, started == Some(Started::Found)), removals: 0 }
        });
        let made = known.copier.copy(&index)?;
        known.removals = removals;
        Ok(made)
    }
}

/// Returns what tells one commit or merge of a bucket from another, as it tells itself.
fn mark_of(folder: &Path) -> Result<Option<blake3::Hash>> {
    match fs::read(folder.join(META_FILE)) {
        Ok(meta) => Ok(Some(blake3::hash(&meta))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(from_system(&error, COPY)),
    }
}
