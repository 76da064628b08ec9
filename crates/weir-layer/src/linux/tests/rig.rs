//! A project, a layer and a run on it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::super::tree;
use crate::{Applied, Change, Layer, Undone, Verdict};

/// What a tree is like, with everything that could differ, as lines by path.
pub(super) type Tree = BTreeMap<PathBuf, String>;

const READER: &str = "linux::tests::rig::writes_down_what_a_run_sees";

pub(super) struct Rig {
    folders: (TempDir, TempDir),
    pub(super) project: PathBuf,
    pub(super) place: PathBuf,
    pub(super) held: PathBuf,
}

fn memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").expect("this test needs /dev/shm, with extended attributes (Linux 6.6)")
}

pub(super) fn accept(_: &Change) -> Verdict {
    Verdict::Apply
}

impl Rig {
    /// A project that a script makes, on the same mount as the layers.
    pub(super) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::with((tempfile::tempdir_in(folder.path()).unwrap(), folder), script)
    }

    /// The same in memory, where syncing costs nothing.
    pub(super) fn in_memory(script: &str) -> Self {
        let folder = memory();
        Self::with((tempfile::tempdir_in(folder.path()).unwrap(), folder), script)
    }

    /// A project on another mount than the layers.
    pub(super) fn across(script: &str) -> Self {
        let rig = Self::with((tempfile::tempdir().unwrap(), memory()), script);
        assert!(rig.is_across(), "this test needs two file systems");
        rig
    }

    pub(super) fn is_across(&self) -> bool {
        let device = |folder: &TempDir| folder.path().metadata().unwrap().dev();
        device(&self.folders.0) != device(&self.folders.1)
    }

    fn with(folders: (TempDir, TempDir), script: &str) -> Self {
        let project = folders.0.path().join("pro:ject, new");
        let (place, held) = (folders.1.path().join("layers"), folders.1.path().join("held"));
        std::fs::create_dir(&project).unwrap();
        let rig = Self { folders, project, place, held };
        rig.user(script);
        rig
    }

    pub(super) fn user(&self, script: &str) {
        sh(&self.project, script);
    }

    pub(super) fn layer(&self) -> Layer {
        super::super::check(&self.place, &self.project).unwrap();
        Layer::create(&self.place, &self.project).unwrap()
    }

    /// Runs a script in the overlay, and says how the run sees the project at the end.
    pub(super) fn run(&self, layer: &Layer, script: &str) -> Tree {
        let at = |path: &Path| path.to_str().unwrap().replace(',', "\\,");
        let options =
            format!("userxattr,volatile,lowerdir=.,upperdir={},workdir={}", at(layer.upper()), at(layer.work()));
        let seen = self.place.with_file_name("seen");
        let outer = r#"mount -t overlay -o "$1" overlay "$2" && cd "$2" && sh -ec "$3" && exec "$4" --exact "$5""#;
        let this = std::env::current_exe().unwrap();
        let done = command("unshare")
            .args(["--user", "--map-current-user", "--keep-caps", "--mount", "sh", "-ec", outer, "sh"])
            .arg(options)
            .arg(&self.project)
            .arg(script)
            .args([&this, Path::new(READER)])
            .current_dir(&self.project)
            .env("WEIR_TEST_SEEN", &seen)
            .output()
            .unwrap();
        assert!(done.status.success(), "the run failed: {done:?}");
        serde_json::from_slice(&std::fs::read(seen).unwrap()).unwrap()
    }

    pub(super) fn apply(&self, layer: Layer) -> Applied {
        layer.apply(&self.held, u64::MAX, &mut accept).unwrap()
    }

    pub(super) fn undo(&self) -> Undone {
        super::super::undo(&self.place, &self.project).unwrap()
    }

    pub(super) fn tree(&self) -> Tree {
        // Only who has the rights of an administrator can read everything without changing a mode.
        let seen = self.place.with_file_name("seen");
        let this = std::env::current_exe().unwrap();
        let mut reader = command("unshare");
        reader.args(["--user", "--map-current-user", "--keep-caps"]).arg(this).args(["--exact", READER]);
        let done = reader.current_dir(&self.project).env("WEIR_TEST_SEEN", &seen).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        serde_json::from_slice(&std::fs::read(seen).unwrap()).unwrap()
    }

    /// How the names of everything that was set apart end, sorted.
    pub(super) fn held_names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.held).map_or_else(|_| Vec::new(), Iterator::collect);
        let names = entries.into_iter().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.map(|name| name.rsplit('-').next().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    /// What is left in the folder of layers besides locks.
    pub(super) fn layers(&self) -> usize {
        std::fs::read_dir(&self.place).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
    }
}

/// Applied, everything is as the run saw it; undone, everything is as it was.
pub(super) fn check(rig: &Rig, script: &str) -> Applied {
    let before = rig.tree();
    let layer = rig.layer();
    let seen = rig.run(&layer, script);
    assert_eq!(rig.tree(), before, "the run changed the project");
    let applied = rig.apply(layer);
    // Without a change, not even the times of folders are touched.
    assert_eq!(rig.tree(), if applied.done.is_empty() { before.clone() } else { seen }, "applied and seen");
    assert_eq!((&applied.conflicts, &applied.held), (&Vec::new(), &Vec::new()));
    if !applied.done.is_empty() {
        assert_eq!(rig.undo().refused, []);
    }
    assert_eq!(rig.tree(), before, "undone and before");
    assert_eq!(rig.layers(), 0);
    applied
}

#[expect(clippy::disallowed_methods, reason = "an overlay needs a process of its own")]
fn command(program: &str) -> Command {
    Command::new(program)
}

pub(super) fn sh(folder: &Path, script: &str) {
    let done = command("sh").args(["-ec", script]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn writes_down_what_a_run_sees() {
    #[expect(clippy::disallowed_methods, reason = "the other half of this test is in another process")]
    if let Some(to) = std::env::var_os("WEIR_TEST_SEEN") {
        std::fs::write(to, serde_json::to_vec(&read_tree(Path::new("."))).unwrap()).unwrap();
    }
}

fn read_tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    add(root, Path::new(""), &mut found);
    found
}

fn add(root: &Path, path: &Path, found: &mut Tree) {
    let full = root.join(path);
    let meta = full.symlink_metadata().unwrap();
    let mode = meta.permissions().mode();
    let mut line = format!("{mode:o} {} {}", meta.mtime(), meta.mtime_nsec());
    let xattrs = tree::xattrs(&full).unwrap();
    line += &format!(" {xattrs:?}");
    if meta.is_symlink() {
        line += &format!(" -> {:?}", full.read_link().unwrap());
    } else if meta.is_dir() {
        for entry in full.read_dir().unwrap() {
            add(root, &path.join(entry.unwrap().file_name()), found);
        }
    } else if meta.is_file() {
        let mut hash = DefaultHasher::new();
        std::fs::read(&full).unwrap().hash(&mut hash);
        line += &format!(" {} bytes {:x}", meta.len(), hash.finish());
    }
    let name: String =
        std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).iter().map(|byte| char::from(*byte)).collect();
    found.insert(name.into(), line);
}
