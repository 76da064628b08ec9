//! Fuzzes git's files in a project, which the creator of an archive may have written: a line `@NAME` before the text of
//! each. Also fuzzes the addresses of remotes in them.

use std::cell::OnceCell;
use std::path::Path;

use tempfile::TempDir;
use weir_core::RepositoryIdentity;

use weir_host::git;

/// The files that an input can write, below the project's folder.
const NAMES: &[&str] = &[
    ".git", ".git/HEAD", ".git/commondir", ".git/gitdir", ".git/config", ".git/config.worktree", ".git/packed-refs",
    ".git/refs/heads/main", "fake/HEAD", "fake/config", "fake/worktrees/x/HEAD", "fake/worktrees/x/commondir",
    "fake/worktrees/x/gitdir",
];

thread_local! {
    /// A folder with the project, and next to it a repository that no input may reach.
    static PLACE: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Checks that the repository found is the project's own, whatever git's files say.
pub(crate) fn repository(data: &[u8]) {
    PLACE.with(|place| {
        let place = place.get_or_init(new_place).path();
        let project = place.join("project");
        let _ = std::fs::remove_dir_all(&project);
        write(&project, &String::from_utf8_lossy(data));
        check(&project);
    });
}

fn check(project: &Path) {
    let found = git::discover(&project.join("sub")).expect("what is there can be read");
    let Some(found) = found.filter(|found| found.work_tree == *project) else { return };
    for folder in found.folders() {
        assert!(folder.starts_with(project), "{} is outside of the project", folder.display());
    }
    let head = found.head().expect("what is there can be read");
    let is_hash = |commit: &String| matches!(commit.len(), 40 | 64) && commit.bytes().all(|b| b.is_ascii_hexdigit());
    assert!(head.commit.iter().all(is_hash), "{head:?}");
    let goes_up = |branch: &String| branch.split('/').any(|part| part == "..");
    assert!(!head.branch.iter().any(goes_up), "{head:?}");
    assert_eq!(Some(&head), found.head().ok().as_ref(), "the same files are read in another way");
    let origin = found.origin().expect("what is there can be read");
    assert!(!origin.as_ref().is_some_and(|address| address.contains('\n')), "{origin:?}");
}

/// Checks that an address of a remote gives an identity that can be read again, without a user or a password.
pub(crate) fn remote(data: &[u8]) {
    let address = String::from_utf8_lossy(data);
    let root = "a".repeat(40);
    let identity = RepositoryIdentity::new([root.as_str()], Some(&address)).expect("the root commit is a hash");
    assert!(!identity.remote().is_some_and(|remote| remote.contains('@')), "{identity}");
    assert_eq!(identity.to_string().parse::<RepositoryIdentity>(), Ok(identity));
}

fn new_place() -> TempDir {
    let shared = Path::new("/dev/shm");
    let place = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
    let place = place.expect("a folder can be made");
    put(&place.path().join("other/.git/HEAD"), "ref: refs/heads/main\n");
    put(&place.path().join("other/.git/config"), "[core]\n\tworktree = ../../other\n");
    put(&place.path().join("other/.git/refs/heads/main"), &"a".repeat(40));
    place
}

fn write(project: &Path, input: &str) {
    let mut sections = input.split('@').skip(1).filter_map(|section| section.split_once('\n')).collect::<Vec<_>>();
    sections.truncate(NAMES.len());
    std::fs::create_dir_all(project.join("sub")).expect("a folder can be made");
    for (name, text) in sections.into_iter().filter(|(name, _)| NAMES.contains(name)) {
        put(&project.join(name), text);
    }
}

/// Writes a file, unless its folder is a file by now or it is a folder.
fn put(path: &Path, text: &str) {
    let folder = path.parent().expect("it lies in a folder");
    if std::fs::create_dir_all(folder).is_ok() {
        let _ = std::fs::write(path, text);
    }
}
