//! Tests copies of the index: restoring from one, and what happens if it is damaged, old, or one of several.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use weir_core::WhyGone::Forgotten;
use weir_records::memory::MemoryIndex;
use weir_records::{Index as _, Ports, Position, RecordId, Shelf};
use weir_team::{Copied, CopyPlace, IndexCopier, ObjectBlobs, Started, TantivyIndex, Vectors};

use super::{ranked, text};
use crate::support::{NOW, ana, assert_no_trace, files, keep, shelf_of, with_index};

/// Servers with one log and one store for copies, each with a folder of its own.
struct Servers {
    folder: TempDir,
    objects: Arc<ObjectBlobs>,
    /// The log and the texts.
    others: Ports,
}

/// One of them.
struct Running {
    index: Arc<TantivyIndex>,
    copier: IndexCopier,
    shelf: Shelf,
}

impl Servers {
    /// Returns servers whose copies are in a folder.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let objects = ObjectBlobs::in_folder(&folder.path().join("store")).unwrap();
        Self::with_copies_in(objects, folder)
    }

    fn with_copies_in(objects: ObjectBlobs, folder: TempDir) -> Self {
        Self { folder, objects: Arc::new(objects), others: with_index(Arc::new(MemoryIndex::default())) }
    }

    fn start(&self, name: &str) -> Running {
        let folder = self.folder.path().join(name);
        let place = CopyPlace::open(Arc::clone(&self.objects), &folder.join("name")).unwrap();
        let index = Arc::new(TantivyIndex::open_or_restore(&folder.join("index"), &Vectors::Off, &place).unwrap());
        let shelf = shelf_of(Ports { index: index.clone(), ..self.others.clone() });
        Running { copier: IndexCopier::new(place, Arc::clone(&index)), index, shelf }
    }

    /// Takes the index of a server away. A merge that was under way may still write to it.
    fn lose(&self, name: &str) {
        let gone = tempfile::tempdir_in(self.folder.path()).unwrap().keep();
        fs::rename(self.folder.path().join(name).join("index"), gone.join("index")).unwrap();
    }

    /// Returns the folder of the copies.
    fn copies(&self) -> PathBuf {
        self.folder.path().join("store").join("index-copies")
    }
}

impl Running {
    fn keep_many(&self, numbers: std::ops::Range<u64>) {
        for number in numbers {
            keep(&self.shelf, &ana(), &text(number));
        }
        self.shelf.follow(&ana(), usize::MAX).unwrap();
    }

    fn answers(&self) -> Vec<Vec<(RecordId, u64)>> {
        self.shelf.follow(&ana(), usize::MAX).unwrap();
        ["pool size", "lock retry", "\"connection timeout\"", "sea*"].map(|words| ranked(&self.shelf, words, 30)).into()
    }

    /// Copies the index, and returns the size of the copy and how much of it was new.
    fn copy(&self) -> [u64; 2] {
        match self.copier.copy().unwrap() {
            Copied::Made { bytes, written_bytes } => [bytes, written_bytes],
            Copied::Unchanged => panic!("nothing was copied"),
        }
    }
}

fn restored() -> Started {
    Started::Restored { refused: Vec::new() }
}

/// Copies an index, loses it, and begins with the copy.
fn check_that_a_lost_index_is_restored(servers: &Servers) {
    let one = servers.start("one");
    assert_eq!(one.index.started(), &Started::Empty);
    one.keep_many(0..60);
    let forgotten = keep(&one.shelf, &ana(), "ephemeral pool");
    one.keep_many(60..80);
    one.copy();
    let copied = one.index.position(&ana()).unwrap();
    assert!(!one.copier.is_urgent());
    one.shelf.forget(&ana(), forgotten.id, Forgotten, NOW).unwrap();
    assert!(one.copier.is_urgent(), "the copy has a word that was removed");
    one.keep_many(80..100);
    let live = one.answers();
    assert!(live.iter().any(|hits| hits.len() > 5));
    drop(one);
    servers.lose("one");
    let one = servers.start("one");
    assert_eq!((one.index.started(), one.index.position(&ana()).unwrap()), (&restored(), copied));
    assert_eq!(one.answers(), live);
    assert_eq!(one.index.holds(&ana(), &[forgotten.id]).unwrap(), 0);
    assert_no_trace(&servers.folder.path().join("one"), &["ephemer"]);
    one.copy();
    assert!(!one.copier.is_urgent());
    drop(one);
    let one = servers.start("one");
    assert_eq!(one.index.started(), &Started::Found);
}

#[test]
fn a_server_that_lost_its_folder_begins_with_the_copy() {
    let servers = Servers::new();
    check_that_a_lost_index_is_restored(&servers);
    assert_no_trace(&servers.copies(), &["ephemer"]);
}
#[test]
fn a_copy_is_restored_from_s3() {
    let server = crate::s3::S3Server::start("the secret");
    let place = weir_team::S3Place {
        prefix: "team/texts".into(),
        ..crate::blobs::s3_place(Some(&server.endpoint), "the secret")
    };
    let objects = ObjectBlobs::in_s3(&place).unwrap();
    check_that_a_lost_index_is_restored(&Servers::with_copies_in(objects, tempfile::tempdir().unwrap()));
}

#[test]
fn what_has_not_changed_is_not_copied_again() {
    let servers = Servers::new();
    let one = servers.start("one");
    one.keep_many(0..300);
    let [bytes, written] = one.copy();
    assert!(written > bytes / 2 && written <= bytes, "{written} of {bytes}");
    assert_eq!(one.copier.copy().unwrap(), Copied::Unchanged);
    keep(&one.shelf, &ana(), "one more");
    let live = one.answers();
    let [larger, more] = one.copy();
    assert!(larger > bytes && more > 0 && more < larger - bytes / 2, "{more} of {larger}");
    drop(one);
    let one = servers.start("one");
    assert_eq!(one.copy(), [larger, 0], "after a restart, it finds what it has stored");
    let parts = files(&servers.copies()).into_iter().filter(|path| path.extension().is_none());
    let stored: u64 = parts.map(|path| size(&path)).sum();
    assert!(stored <= larger, "nothing else is left: {stored} of {larger}");
    drop(one);
    servers.lose("one");
    assert_eq!(servers.start("one").answers(), live);
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

/// Damages the files of a copy.
type Damage = fn(&Path);

#[test]
fn a_damaged_copy_is_not_used_and_the_index_is_made_from_the_log() {
    fn largest_part(copies: &Path) -> PathBuf {
        let parts = files(copies).into_iter().filter(|path| path.extension().is_none());
        parts.max_by_key(|path| size(path)).unwrap()
    }
    fn manifest(copies: &Path) -> PathBuf {
        files(copies).into_iter().find(|path| path.ends_with("manifest.json")).unwrap()
    }
    let damages: [(Damage, &str); 5] = [
        (
            |copies| {
                let mut bytes = fs::read(largest_part(copies)).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                fs::write(largest_part(copies), bytes).unwrap();
            },
            "a part of it does not match its hash",
        ),
        (
            |copies| fs::File::options().write(true).open(largest_part(copies)).unwrap().set_len(3).unwrap(),
            "a part of it does not match its hash",
        ),
        (|copies| fs::remove_file(largest_part(copies)).unwrap(), "a part of it is missing"),
        (|copies| fs::write(manifest(copies), "{").unwrap(), "its manifest cannot be read"),
        (
            |copies| {
                let json = fs::read_to_string(manifest(copies)).unwrap();
                fs::write(manifest(copies), json.replace("meta.json", "../meta.json")).unwrap();
            },
            "its files are not those of an index",
        ),
    ];
    for (damage, reason) in damages {
        let servers = Servers::new();
        let one = servers.start("one");
        one.keep_many(0..40);
        let live = one.answers();
        one.copy();
        drop(one);
        servers.lose("one");
        damage(&servers.copies());
        let one = servers.start("one");
        let expected = format!("cannot restore the index from a copy: the stored data is damaged ({reason})");
        assert_eq!(one.index.started(), &Started::MadeAgain { reason: expected });
        assert_eq!(one.index.position(&ana()).unwrap(), Position(0));
        assert_eq!(one.answers(), live);
        one.copy();
        drop(one);
        servers.lose("one");
        assert_eq!(servers.start("one").index.started(), &restored(), "the next copy is whole: {reason}");
    }
}

#[test]
fn a_local_index_that_cannot_be_read_is_replaced_by_the_copy() {
    let servers = Servers::new();
    let one = servers.start("one");
    one.keep_many(0..20);
    let live = one.answers();
    one.copy();
    drop(one);
    fs::write(servers.folder.path().join("one").join("index").join("meta.json"), "{").unwrap();
    let one = servers.start("one");
    let Started::Restored { refused } = one.index.started() else { panic!("{:?}", one.index.started()) };
    assert!(refused.len() == 1 && refused[0].starts_with("cannot open the index: "), "{refused:?}");
    assert_eq!(one.answers(), live);
}

#[test]
fn servers_that_copy_at_once_each_have_a_whole_copy() {
    const SERVERS: [&str; 3] = ["one", "two", "three"];
    let servers = Servers::new();
    std::thread::scope(|threads| {
        for (number, name) in SERVERS.into_iter().enumerate() {
            let servers = &servers;
            threads.spawn(move || {
                let server = servers.start(name);
                for round in 0..5 {
                    let first = (number as u64 * 5 + round) * 10;
                    server.keep_many(first..first + 10);
                    server.copy();
                }
            });
        }
    });
    let live = servers.start("one").answers();
    for name in SERVERS {
        let folder = servers.folder.path().join(name);
        let server = fs::read_to_string(folder.join("name")).unwrap();
        // Only its own copy is left.
        let others = fs::read_dir(servers.copies()).unwrap().map(|entry| entry.unwrap().path());
        let hidden: Vec<PathBuf> = others.filter(|path| !path.ends_with(&server)).collect();
        let aside = servers.folder.path().join("aside");
        fs::create_dir(&aside).unwrap();
        for path in &hidden {
            fs::rename(path, aside.join(path.file_name().unwrap())).unwrap();
        }
        let new = servers.start(&format!("new-{name}"));
        assert_eq!(new.index.started(), &restored());
        assert!(new.index.position(&ana()).unwrap() > Position(0));
        assert_eq!(new.answers(), live);
        for path in hidden {
            fs::rename(aside.join(path.file_name().unwrap()), path).unwrap();
        }
        fs::remove_dir(aside).unwrap();
    }
}

#[test]
fn the_copy_of_a_server_that_is_gone_is_used_and_later_deleted() {
    let servers = Servers::new();
    let gone = servers.start("gone");
    gone.keep_many(0..20);
    let live = gone.answers();
    gone.copy();
    let server = fs::read_to_string(servers.folder.path().join("gone").join("name")).unwrap();
    drop(gone);
    let new = servers.start("new");
    assert_eq!((new.index.started(), new.answers()), (&restored(), live));
    new.keep_many(20..25);
    new.copy();
    assert!(servers.copies().join(&server).exists(), "it is not a day old");
    for path in files(&servers.copies().join(&server)) {
        let two_days_ago = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
        fs::File::options().write(true).open(path).unwrap().set_modified(two_days_ago).unwrap();
    }
    new.keep_many(25..30);
    new.copy();
    assert_eq!(files(&servers.copies().join(&server)), Vec::<PathBuf>::new());
    assert_eq!(servers.start("third").index.started(), &restored());
}

#[test]
fn an_older_copy_is_used_if_the_newest_is_damaged_and_all_can_be_deleted() {
    let servers = Servers::new();
    let one = servers.start("one");
    one.keep_many(0..20);
    one.copy();
    let two = servers.start("two");
    two.keep_many(20..40);
    let live = two.answers();
    two.copy();
    let server = fs::read_to_string(servers.folder.path().join("two").join("name")).unwrap();
    fs::write(servers.copies().join(server).join("manifest.json"), "{}").unwrap();
    let three = servers.start("three");
    let Started::Restored { refused } = three.index.started() else { panic!("{:?}", three.index.started()) };
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(three.answers(), live);
    assert_eq!(CopyPlace::remove_all(&servers.objects).unwrap(), 2);
    assert_eq!(files(&servers.copies()), Vec::<PathBuf>::new());
    assert_eq!(servers.start("four").index.started(), &Started::Empty);
}
