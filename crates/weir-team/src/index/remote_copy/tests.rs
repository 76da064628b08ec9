//! Kills a copy at each of its steps. What only needs a store is tested in `tests/it/index/copies.rs`.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fmt;
use std::sync::atomic::AtomicUsize;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path as StorePath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult,
};
use weir_core::{EntryKind, ProjectKey, Scope, TenantId, Timestamp, UserId, WhyGone};
use weir_records::{Audience, Index as _, NewRecord, Ports, Record, RecordId, SearchQuery, Shelf, Writer, memory};

use super::super::Vectors;
use super::*;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// A store as a process sees it that is killed after some writes.
#[derive(Debug)]
struct Dying {
    objects: Arc<InMemory>,
    /// How many writes and deletions still arrive.
    left: AtomicUsize,
}

impl Dying {
    fn step(&self) -> object_store::Result<()> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| object_store::Error::Generic { store: "test", source: "killed".into() })
    }
}

impl fmt::Display for Dying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a store that dies")
    }
}

#[async_trait]
impl ObjectStore for Dying {
    async fn put_opts(&self, at: &StorePath, it: PutPayload, how: PutOptions) -> object_store::Result<PutResult> {
        self.step()?;
        self.objects.put_opts(at, it, how).await
    }

    async fn put_multipart_opts(
        &self,
        at: &StorePath,
        how: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.objects.put_multipart_opts(at, how).await
    }

    async fn get_opts(&self, at: &StorePath, how: GetOptions) -> object_store::Result<GetResult> {
        self.objects.get_opts(at, how).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, object_store::Result<StorePath>>,
    ) -> BoxStream<'static, object_store::Result<StorePath>> {
        match self.step() {
            Ok(()) => self.objects.delete_stream(paths),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    fn list(&self, below: Option<&StorePath>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.objects.list(below)
    }

    async fn list_with_delimiter(&self, below: Option<&StorePath>) -> object_store::Result<ListResult> {
        self.objects.list_with_delimiter(below).await
    }

    async fn copy_opts(&self, from: &StorePath, to: &StorePath, how: CopyOptions) -> object_store::Result<()> {
        self.objects.copy_opts(from, to, how).await
    }
}

fn scope() -> Scope {
    let project = Scope::project(ProjectKey("api".into()));
    Scope { tenant: TenantId("acme".into()), user: UserId("ana".into()), ..project }
}

fn keep(shelf: &Shelf, text: &str) -> Record {
    shelf.keep(&scope(), NewRecord::new(EntryKind::Note, Audience::Team, "a note", text), NOW).unwrap()
}

/// Returns what a search finds with its exact scores, after the index has caught up.
fn answers(shelf: &Shelf) -> Vec<(RecordId, u64)> {
    shelf.follow(&scope(), usize::MAX).unwrap();
    let found = shelf.search(&scope(), &SearchQuery::new("pool note", 100)).unwrap();
    assert_eq!(found.behind, 0);
    found.hits.iter().map(|hit| (hit.kept.record.id, hit.score.to_bits())).collect()
}

fn place(store: Arc<dyn ObjectStore>, name_file: &Path) -> CopyPlace {
    CopyPlace::open(Arc::new(ObjectBlobs::in_store(store).unwrap()), name_file).unwrap()
}

/// Copies an index twice and kills the second copy after some steps. Returns whether it was done before.
fn copies_whole(steps: usize) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (name_file, objects) = (folder.path().join("name"), Arc::new(InMemory::new()));
    let index = Arc::new(TantivyIndex::open(&folder.path().join("index")).unwrap());
    let ports = Ports { index: index.clone(), ..memory::ports() };
    let shelf = Shelf::new(ports.clone(), Writer::new().unwrap());
    let forgotten = keep(&shelf, "pool of the first copy");
    keep(&shelf, "pool that stays");
    answers(&shelf);
    IndexCopier::new(place(objects.clone(), &name_file), Arc::clone(&index)).copy().unwrap();
    let before = index.position(&scope()).unwrap();
    keep(&shelf, "pool of the second copy");
    answers(&shelf);
    shelf.forget(&scope(), forgotten.id, WhyGone::Forgotten, NOW).unwrap();
    let live = answers(&shelf);
    let after = index.position(&scope()).unwrap();

    let dying = Arc::new(Dying { objects: objects.clone(), left: AtomicUsize::new(steps) });
    let is_done = IndexCopier::new(place(dying, &name_file), Arc::clone(&index)).copy().is_ok();
    assert!(!folder.path().join("index").join("copying").exists());

    let elsewhere = place(objects, &folder.path().join("other"));
    let restored =
        Arc::new(TantivyIndex::open_or_restore(&folder.path().join("new"), &Vectors::Off, &elsewhere).unwrap());
    assert_eq!(restored.started(), &Started::Restored { refused: Vec::new() }, "after {steps} steps");
    let position = restored.position(&scope()).unwrap();
    assert!(position == after || (position == before && !is_done), "{position:?} after {steps} steps");
    let shelf = Shelf::new(Ports { index: restored, ..ports }, Writer::new().unwrap());
    assert_eq!(answers(&shelf), live, "after {steps} steps");
    is_done
}

#[test]
fn a_copy_that_is_killed_leaves_the_one_before_whole() {
    let steps = (0..100).find(|steps| copies_whole(*steps)).unwrap();
    assert!(steps > 3, "parts, the manifest and a deletion: {steps}");
}
