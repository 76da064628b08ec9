//! Tests the index in buckets: tenants in different ones, buckets that are closed and opened again, and other layouts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use weir_core::WhyGone::Forgotten;
use weir_core::{Scope, TenantId};
use weir_records::memory::MemoryIndex;
use weir_records::{ErrorKind, Index as _, Ports, Position, Shelf};
use weir_team::{
    BucketCopier, BucketOptions, BucketedIndex, Copied, CopyPlace, IndexCopier, ObjectBlobs, Started, TantivyIndex,
};

use crate::support::{NOW, ana, assert_no_trace, files, hits, keep, scope, shelf_of, with_index};

fn open_at_most(folder: &Path, max_open: usize) -> Arc<BucketedIndex> {
    Arc::new(BucketedIndex::open(folder, BucketOptions { max_open, ..BucketOptions::default() }).unwrap())
}

fn open(folder: &Path) -> Arc<BucketedIndex> {
    open_at_most(folder, BucketOptions::default().max_open)
}

/// Returns a project of each of so many tenants.
fn tenants(count: usize) -> Vec<Scope> {
    (0..count).map(|number| scope(&format!("tenant {number}"), "ana", "api")).collect()
}

/// Returns a shelf on the same log and texts with another index.
fn on_index(ports: &Ports, index: Arc<BucketedIndex>) -> Shelf {
    shelf_of(Ports { index, ..ports.clone() })
}

fn without_index() -> Ports {
    with_index(Arc::new(MemoryIndex::default()))
}

fn follow(shelf: &Shelf, places: &[Scope]) {
    shelf.follow_all(places, usize::MAX).into_iter().for_each(|followed| assert!(!followed.unwrap().is_behind));
}

/// Returns the content of all files, by their paths.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files(folder).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Returns the folders of the buckets that have an index.
fn buckets(folder: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.join("meta.json").exists()).collect();
    folders.sort();
    folders
}

#[test]
fn the_contract_holds_while_one_bucket_is_open_at_a_time() {
    let folders: Mutex<Vec<tempfile::TempDir>> = Mutex::default();
    weir_records::contract::all(|| {
        let folder = tempfile::tempdir().unwrap();
        let index = open_at_most(folder.path(), 1);
        folders.lock().unwrap().push(folder);
        shelf_of(with_index(index))
    });
}

#[test]
fn all_tenants_are_found_however_few_buckets_are_open() {
    let (folder, ports, places) = (tempfile::tempdir().unwrap(), without_index(), tenants(150));
    let index = open_at_most(folder.path(), 3);
    let shelf = on_index(&ports, index.clone());
    places.iter().for_each(|place| drop(keep(&shelf, place, "enduring")));
    follow(&shelf, &places);
    assert!(buckets(folder.path()).len() > 50);
    // Each time that one is merged in the background, it stays open until that is done.
    for place in &places {
        assert_eq!((hits(&shelf, place, "enduring"), index.position(place).unwrap()), (1, Position(1)));
        assert!(index.open_buckets() <= 3);
    }
    let figures = index.figures().unwrap();
    assert_eq!((figures.projects, figures.documents, figures.failed_merges), (150, 150, 0));
    drop((shelf, index));
    let index = open_at_most(folder.path(), 3);
    assert_eq!((index.open_buckets(), index.check().unwrap()), (0, Started::Found));
    assert!(index.open_buckets() <= 3);
    places.iter().for_each(|place| assert_eq!(index.position(place).unwrap(), Position(1)));
}

#[test]
fn a_bucket_that_is_used_stays_open() {
    let (folder, places) = (tempfile::tempdir().unwrap(), tenants(12));
    let index = open_at_most(folder.path(), 1);
    let ports = with_index(index.clone());
    std::thread::scope(|threads| {
        for place in &places {
            let shelf = shelf_of(ports.clone());
            threads.spawn(move || {
                for number in 0..20 {
                    keep(&shelf, place, &format!("shared number{number}"));
                    assert_eq!(hits(&shelf, place, "shared"), number + 1);
                }
            });
        }
    });
    let figures = index.figures().unwrap();
    assert_eq!((figures.projects, figures.documents, figures.failed_merges), (12, 240, 0));
}

#[test]
fn nothing_is_lost_or_doubled_if_the_server_dies_between_the_commits_of_two_buckets() {
    let places = tenants(20);
    for done in [0, 1, 7, 19, 20] {
        let (folder, ports) = (tempfile::tempdir().unwrap(), without_index());
        let shelf = on_index(&ports, open(folder.path()));
        places.iter().for_each(|place| drop(keep(&shelf, place, "enduring")));
        follow(&shelf, &places[..done]);
        drop(shelf);
        let index = open(folder.path());
        for (number, place) in places.iter().enumerate() {
            assert_eq!(index.position(place).unwrap(), Position(u64::from(number < done)), "{done}");
        }
        let shelf = on_index(&ports, index.clone());
        follow(&shelf, &places);
        assert!(places.iter().all(|place| hits(&shelf, place, "enduring") == 1));
        assert_eq!(index.figures().unwrap().documents, 20);
    }
}

#[test]
fn the_removal_of_a_tenant_touches_its_bucket_only() {
    let (folder, ports, places) = (tempfile::tempdir().unwrap(), without_index(), tenants(100));
    let shelf = on_index(&ports, open(folder.path()));
    places.iter().for_each(|place| drop(keep(&shelf, place, "enduring")));
    keep(&shelf, &places[7], "ephemeral");
    follow(&shelf, &places);
    drop(shelf);
    let index = open(folder.path());
    let before = contents(folder.path());
    index.remove_tenant(&TenantId("tenant 7".into())).unwrap();
    index.remove_tenant(&TenantId("nobody".into())).unwrap();
    assert!(index.open_buckets() <= 2);
    assert_eq!(index.position(&places[7]).unwrap(), Position(0));
    assert_no_trace(folder.path(), &["ephemer"]);
    let after = contents(folder.path());
    let changed: Vec<&PathBuf> = before.keys().filter(|path| after.get(*path) != before.get(*path)).collect();
    let bucket = changed.iter().find(|path| path.ends_with("meta.json")).unwrap().parent().unwrap();
    assert!(
        changed.iter().all(|path| path.starts_with(bucket) || path.ends_with(".tantivy-writer.lock")),
        "{changed:?}"
    );
    drop(index);
    let shelf = on_index(&ports, open(folder.path()));
    for (number, place) in places.iter().enumerate().filter(|(number, _)| *number != 7) {
        assert_eq!(hits(&shelf, place, "enduring"), 1, "{number}");
    }
}

#[test]
fn an_idle_tenant_costs_nothing() {
    let (folder, ports, places) = (tempfile::tempdir().unwrap(), without_index(), tenants(10));
    let shelf = on_index(&ports, open(folder.path()));
    places.iter().for_each(|place| drop(keep(&shelf, place, "enduring")));
    follow(&shelf, &places);
    drop(shelf);
    let index = open(folder.path());
    let before = contents(folder.path());
    assert_eq!(index.position(&scope("somebody else", "ana", "api")).unwrap(), Position(0));
    assert_eq!((index.open_buckets(), contents(folder.path())), (0, before));
    let shelf = on_index(&ports, index.clone());
    for number in 0..20 {
        keep(&shelf, &places[3], "more");
        assert_eq!(hits(&shelf, &places[3], "more"), number + 1);
    }
    assert_eq!(index.open_buckets(), 1);
}

/// Puts something into an empty folder that is not an index in buckets.
type OtherLayout = fn(&Path);

#[test]
fn an_index_of_another_layout_is_deleted_and_made_again_and_says_so() {
    const SINGLE: &str = "the index was that of another version, which had one for all tenants; it was deleted";
    const OTHER: &str = "the index was not one in 64 buckets; it was deleted";
    fn single(folder: &Path) {
        let shelf = shelf_of(with_index(Arc::new(TantivyIndex::open(folder).unwrap())));
        keep(&shelf, &ana(), "ephemeral");
        assert_eq!(hits(&shelf, &ana(), "ephemeral"), 1);
    }
    fn in_buckets(folder: &Path) {
        let shelf = shelf_of(with_index(open(folder)));
        keep(&shelf, &ana(), "ephemeral");
        assert_eq!(hits(&shelf, &ana(), "ephemeral"), 1);
    }
    let layouts: [(OtherLayout, &str); 4] = [
        (single, SINGLE),
        // An older server was started in between.
        (|folder| (in_buckets(folder), single(folder)).1, SINGLE),
        (|folder| (in_buckets(folder), fs::write(folder.join("layout"), "256 buckets by tenant\n").unwrap()).1, OTHER),
        // It was being emptied when the server died.
        (|folder| (in_buckets(folder), fs::remove_file(folder.join("layout")).unwrap()).1, OTHER),
    ];
    for (other, reason) in layouts {
        let (folder, ports) = (tempfile::tempdir().unwrap(), without_index());
        keep(&shelf_of(ports.clone()), &ana(), "enduring");
        other(folder.path());
        let index = open(folder.path());
        assert_eq!(index.check().unwrap(), Started::MadeAgain { reason: reason.to_owned() });
        assert_eq!((index.position(&ana()).unwrap(), buckets(folder.path()).len()), (Position(0), 0));
        assert_no_trace(folder.path(), &["ephemer"]);
        let shelf = on_index(&ports, index);
        assert_eq!((hits(&shelf, &ana(), "enduring"), hits(&shelf, &ana(), "ephemeral")), (1, 0));
        drop(shelf);
        assert_eq!(open(folder.path()).check().unwrap(), Started::Found);
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(open(folder.path()).check().unwrap(), Started::Empty);
}

#[test]
fn only_one_process_uses_a_folder_even_if_no_bucket_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let _first = open(folder.path());
    let busy = |error: Option<weir_records::PortError>| assert_eq!(error.unwrap().kind, ErrorKind::Busy);
    busy(BucketedIndex::open(folder.path(), BucketOptions::default()).err());
    // So does a server of an earlier version.
    busy(TantivyIndex::open(folder.path()).err());
}

#[test]
fn a_damaged_bucket_is_made_again_and_the_others_stay() {
    let (folder, ports, places) = (tempfile::tempdir().unwrap(), without_index(), tenants(30));
    let shelf = on_index(&ports, open_at_most(folder.path(), 1));
    places.iter().for_each(|place| drop(keep(&shelf, place, "enduring")));
    follow(&shelf, &places);
    let damaged = buckets(folder.path()).remove(0);
    // In a running server, it is not made again: nobody would come back for projects where nothing is new.
    hits(&shelf, &places[0], "enduring");
    hits(&shelf, &places[1], "enduring");
    let meta = fs::read(damaged.join("meta.json")).unwrap();
    fs::write(damaged.join("meta.json"), "{").unwrap();
    let index = shelf.ports().index.clone();
    let positions = || places.iter().map(|place| index.position(place)).collect::<Vec<_>>();
    let failed = positions().into_iter().filter_map(Result::err).collect::<Vec<_>>();
    assert!(!failed.is_empty() && failed.iter().all(|error| error.kind == ErrorKind::Damaged), "{failed:?}");
    fs::write(damaged.join("meta.json"), meta).unwrap();
    assert!(positions().into_iter().all(|position| position.unwrap() == Position(1)));
    fs::write(damaged.join("meta.json"), "{").unwrap();
    drop((shelf, index));

    let index = open(folder.path());
    let Started::MadeAgain { reason } = index.check().unwrap() else { panic!() };
    assert!(reason.starts_with("cannot open the index: the stored data is damaged"), "{reason}");
    assert!(reason.ends_with("; 1 of 64 buckets"), "{reason}");
    let lost = places.iter().filter(|place| index.position(place).unwrap() == Position(0)).count();
    assert_eq!(lost, failed.len());
    let shelf = on_index(&ports, index);
    assert!(places.iter().all(|place| hits(&shelf, place, "enduring") == 1));
}

/// A server with a copy of its own.
struct Running {
    index: Arc<BucketedIndex>,
    copier: BucketCopier,
    shelf: Shelf,
}

fn start(folder: &Path, objects: &Arc<ObjectBlobs>, ports: &Ports) -> (Running, Started) {
    let place = CopyPlace::open(Arc::clone(objects), &folder.join("name")).unwrap();
    let options = BucketOptions { copies: Some(place.clone()), max_open: 2, ..BucketOptions::default() };
    let index = Arc::new(BucketedIndex::open(&folder.join("index"), options).unwrap());
    let started = index.check().unwrap();
    let shelf = on_index(ports, index.clone());
    (Running { copier: BucketCopier::new(place, index.clone()), index, shelf }, started)
}

/// Makes all files of a folder two days old.
fn age(folder: &Path) {
    for path in files(folder) {
        let two_days_ago = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
        fs::File::options().write(true).open(path).unwrap().set_modified(two_days_ago).unwrap();
    }
}

#[test]
fn a_new_server_begins_with_the_copies_of_all_buckets() {
    let (folder, ports, places) = (tempfile::tempdir().unwrap(), without_index(), tenants(40));
    let store = folder.path().join("store");
    let objects = Arc::new(ObjectBlobs::in_folder(&store).unwrap());
    let (one, started) = start(&folder.path().join("one"), &objects, &ports);
    assert_eq!((started, one.copier.copy().unwrap()), (Started::Empty, Copied::Unchanged));
    places.iter().for_each(|place| drop(keep(&one.shelf, place, "enduring")));
    let forgotten = keep(&one.shelf, &places[0], "ephemeral");
    follow(&one.shelf, &places);
    let Copied::Made { bytes, .. } = one.copier.copy().unwrap() else { panic!() };
    assert_eq!((one.copier.copy().unwrap(), one.copier.is_urgent()), (Copied::Unchanged, false));

    keep(&one.shelf, &places[9], "more");
    follow(&one.shelf, &places);
    let Copied::Made { bytes: changed, .. } = one.copier.copy().unwrap() else { panic!() };
    assert!(changed < bytes / 5, "only the bucket that has changed was copied: {changed} of {bytes}");

    one.shelf.forget(&places[0], forgotten.id, Forgotten, NOW).unwrap();
    assert!(one.copier.is_urgent());
    places[1..].iter().for_each(|place| assert!(one.index.position(place).unwrap() > Position(0)));
    assert!(one.copier.is_urgent(), "also when the bucket was closed meanwhile");
    one.copier.copy().unwrap();
    assert!(!one.copier.is_urgent());
    assert_no_trace(&store, &["ephemer"]);

    let (two, started) = start(&folder.path().join("two"), &objects, &ports);
    assert_eq!(started, Started::Restored { refused: Vec::new() });
    places.iter().for_each(|place| assert_eq!(two.index.position(place).unwrap(), one.index.position(place).unwrap()));
    assert!(places.iter().all(|place| hits(&two.shelf, place, "enduring") == 1));
    drop(two);
    assert_eq!(start(&folder.path().join("two"), &objects, &ports).1, Started::Found);
    assert_eq!(CopyPlace::remove_all(&objects).unwrap(), 1);
    assert_eq!(files(&store), Vec::<PathBuf>::new());
}

#[test]
fn copies_of_servers_that_are_gone_are_deleted_those_of_an_earlier_version_too() {
    let (folder, ports, places) = (tempfile::tempdir().unwrap(), without_index(), tenants(10));
    let store = folder.path().join("store");
    let objects = Arc::new(ObjectBlobs::in_folder(&store).unwrap());
    let single = Arc::new(TantivyIndex::open(&folder.path().join("earlier")).unwrap());
    hits(&shelf_of(Ports { index: single.clone(), ..ports.clone() }), &ana(), "nothing");
    let place = CopyPlace::open(Arc::clone(&objects), &folder.path().join("earlier name")).unwrap();
    keep(&shelf_of(ports.clone()), &ana(), "enduring");
    hits(&shelf_of(Ports { index: single.clone(), ..ports.clone() }), &ana(), "enduring");
    IndexCopier::new(place, single).copy().unwrap();
    let (gone, _) = start(&folder.path().join("gone"), &objects, &ports);
    places.iter().for_each(|place| drop(keep(&gone.shelf, place, "enduring")));
    follow(&gone.shelf, &places);
    gone.copier.copy().unwrap();
    drop(gone);
    age(&store);
    let (new, started) = start(&folder.path().join("new"), &objects, &ports);
    assert_eq!(started, Started::Restored { refused: Vec::new() });
    // The copies of servers that have copied nothing for long go with it.
    keep(&new.shelf, &places[0], "more");
    follow(&new.shelf, &places);
    new.copier.copy().unwrap();
    let name = fs::read_to_string(folder.path().join("new").join("name")).unwrap();
    let left = files(&store);
    assert!(
        !left.is_empty() && left.iter().all(|path| path.components().any(|part| *part.as_os_str() == *name)),
        "{left:?}"
    );
}
