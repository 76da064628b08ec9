//! The index of a server, in 64 parts. The name of a tenant says in which of them its records are.
//!
//! The cost of a commit grows with its index: a commit names all segments, and a merge rewrites the words of every tenant
//! in them. So each bucket is an index of its own, with its own folder, commits and positions
//! ([`TantivyIndex`]). It is opened when something of it is needed, and closed when others are and too many are open.
//! Tenants share buckets, since an index for each would cost a folder, threads and merges for a handful of notes.
//!
//! Invariants: a tenant is in one bucket, and stays there; a commit is about one bucket, and its positions are stored
//! with it, so whenever the server dies, each bucket is where its positions say. A folder with any other layout is
//! emptied when it is opened, and its index is made again from the log.

mod copier;
mod layout;
mod slots;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::DirectoryLock;
use weir_core::{Scope, TenantId};
use weir_ledger::private;
use weir_records::{
    Index, IndexChange, IndexHits, PortError, Position, ProjectChanges, RecordId, Result, SearchQuery, Step,
};

pub use self::copier::BucketCopier;
pub(crate) use self::layout::bucket_of;
use self::layout::{BUCKETS, Layout};
use self::slots::Slots;
use super::error::{from_engine, from_system};
use super::{Copied, CopyPlace, IndexFigures, OPEN, Started, TantivyIndex, Vectors};

/// How many buckets stay open, unless more are used at the same moment. A bucket with as many segments as a
/// writer lets come together has about 1,500 mapped files, and Linux lets a process have 65,530.
const MAX_OPEN: usize = 32;

/// The index of a server. Only one process can have its folder open.
pub struct BucketedIndex {
    slots: Slots,
    /// Why the folder was emptied, if it was.
    emptied: Option<&'static str>,
    /// Keeps other processes out, whichever buckets are open.
    _lock: DirectoryLock,
}

/// How the buckets of an index are opened.
pub struct BucketOptions {
    pub vectors: Vectors,
    /// Where the copies are that a missing bucket begins with, if it may.
    pub copies: Option<CopyPlace>,
    /// How many may be open while no more are being used.
    pub max_open: usize,
}

impl Default for BucketOptions {
    fn default() -> Self {
        Self { vectors: Vectors::Off, copies: None, max_open: MAX_OPEN }
    }
}

impl BucketedIndex {
    /// Opens the index in a folder, which is created if it does not exist. Its buckets are opened when they are needed.
    pub fn open(folder: &Path, options: BucketOptions) -> Result<Self> {
        private::folder(folder).map_err(|error| from_system(&error, OPEN))?;
        let Layout { lock, emptied } = layout::prepare(folder).map_err(|error| from_engine(&error, OPEN))?;
        Ok(Self { slots: Slots::new(folder, options), emptied, _lock: lock })
    }

    /// Opens each bucket once, so that those that cannot be used are restored or made again before anybody asks, and
    /// returns how they were found: the worst of them counts.
    pub fn check(&self) -> Result<Started> {
        let (copied, failed) = match self.slots.copied() {
            Ok(copied) => (copied, None),
            Err(error) => (Default::default(), Some(error.to_string())),
        };
        let mut found = Vec::new();
        for bucket in 0..BUCKETS {
            if self.slots.exists(bucket) || copied.contains(&bucket) {
                found.extend(self.slots.started(bucket)?);
            }
        }
        let reason = match (self.emptied, failed) {
            (Some(emptied), _) => Some(emptied.to_owned()),
            // What could not be looked for matters only if there was nothing here.
            (None, Some(failed)) if found.is_empty() => Some(failed),
            (None, _) => None,
        };
        Ok(together(found, reason))
    }

    /// Returns its size and health, of all buckets together. Opens them.
    pub fn figures(&self) -> Result<IndexFigures> {
        let mut sum = IndexFigures { projects: 0, documents: 0, segments: 0, failed_merges: 0 };
        for index in (0..BUCKETS).map(|bucket| self.slots.existing(bucket)) {
            let Some(index) = index? else { continue };
            let figures = index.figures();
            sum.projects += figures.projects;
            sum.documents += figures.documents;
            sum.segments += figures.segments;
            sum.failed_merges += figures.failed_merges;
        }
        Ok(sum)
    }

    /// Returns how many buckets are open.
    pub fn open_buckets(&self) -> usize {
        self.slots.open()
    }

    /// Removes everything of a tenant. No word of it is left in the files, and no other bucket is touched.
    pub fn remove_tenant(&self, tenant: &TenantId) -> Result<()> {
        self.slots.existing(bucket_of(tenant))?.map_or(Ok(()), |index| index.remove_tenant(tenant))
    }

    /// Returns the bucket of a scope's tenant, unless nothing was ever written to it.
    fn existing(&self, scope: &Scope) -> Result<Option<Arc<TantivyIndex>>> {
        self.slots.existing(bucket_of(&scope.tenant))
    }

    /// Returns the bucket of a scope's tenant.
    fn bucket(&self, scope: &Scope) -> Result<Arc<TantivyIndex>> {
        self.slots.open_bucket(bucket_of(&scope.tenant))
    }
}

impl Index for BucketedIndex {
    fn position(&self, scope: &Scope) -> Result<Position> {
        self.existing(scope)?.map_or(Ok(Position::default()), |index| index.position(scope))
    }

    fn apply(&self, scope: &Scope, changes: &[IndexChange], step: Step) -> Result<bool> {
        self.bucket(scope)?.apply(scope, changes, step)
    }

    fn apply_all(&self, projects: &[ProjectChanges<'_>]) -> Vec<Result<bool>> {
        let mut by_bucket: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, project) in projects.iter().enumerate() {
            by_bucket.entry(bucket_of(&project.scope.tenant)).or_default().push(at);
        }
        let mut results: Vec<(usize, Result<bool>)> = Vec::new();
        for (bucket, places) in by_bucket {
            match self.slots.open_bucket(bucket) {
                Ok(index) => {
                    let group: Vec<ProjectChanges<'_>> = places.iter().map(|at| projects[*at]).collect();
                    results.extend(places.into_iter().zip(index.apply_all(&group)));
                }
                Err(error) => results.extend(places.into_iter().map(|at| (at, Err(again(&error))))),
            }
        }
        results.sort_by_key(|(at, _)| *at);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<IndexHits> {
        self.bucket(scope)?.search(scope, query)
    }

    fn holds(&self, scope: &Scope, ids: &[RecordId]) -> Result<u64> {
        self.existing(scope)?.map_or(Ok(0), |index| index.holds(scope, ids))
    }

    fn clear(&self, scope: &Scope) -> Result<()> {
        self.existing(scope)?.map_or(Ok(()), |index| index.clear(scope))
    }
}

/// Returns how an index was found whose buckets were found like this, or that could not be used for a reason.
fn together(found: Vec<Started>, reason: Option<String>) -> Started {
    let (mut made_again, mut restored, mut refused) = (Vec::new(), false, Vec::new());
    let is_empty = found.iter().all(|started| *started == Started::Empty);
    for started in found {
        match started {
            Started::MadeAgain { reason } => made_again.push(reason),
            Started::Restored { refused: reasons } => {
                restored = true;
                refused.extend(reasons);
            }
            Started::Found | Started::Empty => {}
        }
    }
    let count = made_again.len();
    let reason = reason.or_else(|| made_again.pop().map(|reason| format!("{reason}; {count} of {BUCKETS} buckets")));
    match reason {
        Some(reason) => Started::MadeAgain { reason },
        None if restored => Started::Restored { refused },
        None if is_empty => Started::Empty,
        None => Started::Found,
    }
}

/// Returns an error once more, for another of the calls that it has kept from their bucket.
fn again(error: &PortError) -> PortError {
    let same = PortError::new(error.kind, error.at.clone());
    match &error.source {
        Some(source) => same.because(source.to_string()),
        None => same,
    }
}
