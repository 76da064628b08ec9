//! Reads git's own files about a repository: where it is, where it was cloned from, and which branch and commit are
//! checked out.
//!
//! The few files are read directly because this runs in every call: starting git would cost more than the rest of the
//! call, and a git library would be most of the program. Anything that is not understood is `None`, never a guess: a
//! repository that claims to be another one is not treated as a repository.
//!
//! Invariant: a file that cannot be read at the moment is an error. Were it `None`, the work would go to another store.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::foreign;
use crate::os;

/// A repository as seen from one of its work trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    pub work_tree: PathBuf,
    /// The folder that all work trees of the repository share.
    pub common: PathBuf,
    /// The folder that belongs to this work tree only.
    own: PathBuf,
    /// The first line of `HEAD` when the repository was found.
    head: String,
}

/// What is checked out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The branch, or `None` if a commit is checked out directly.
    pub branch: Option<String>,
    /// The commit, or `None` before the first one.
    pub commit: Option<String>,
}

/// The most that is read of a file that contains a single name, in bytes.
const MAX_NAME_BYTES: u64 = 64 << 10;
/// The most that is read of the list of packed references, in bytes.
const MAX_PACKED_REFS_BYTES: u64 = 64 << 20;

/// Finds the repository that contains a folder. The path of the folder must be without links.
pub fn discover(folder: &Path) -> io::Result<Option<Repository>> {
    folder.ancestors().find_map(|folder| open(folder).transpose()).transpose()
}

impl Repository {
    /// Returns the folders that git reads: the shared one and this work tree's own.
    pub fn folders(&self) -> [&Path; 2] {
        [&self.common, &self.own]
    }

    /// Returns the branch that is checked out now. Costs less than [`Self::head`], which also finds the commit. If
    /// `HEAD` cannot be read at the moment, this is the branch from when the repository was found.
    pub fn branch(&self) -> Option<String> {
        let head = first_line(&self.own, "HEAD").unwrap_or_else(|_| Some(self.head.clone()))?;
        branch_of(head.strip_prefix("ref: ").map(str::trim).filter(|name| is_reference(name))?)
    }

    /// Returns the default branch of the remote `origin`, as it was when the repository was cloned. `None` if it cannot
    /// be read.
    pub fn default_branch(&self) -> Option<String> {
        let head = first_line(&self.common, "refs/remotes/origin/HEAD").ok()??;
        head.strip_prefix("ref: refs/remotes/origin/").map(|branch| branch.trim().to_owned())
    }

    /// Returns what is checked out now.
    pub fn head(&self) -> io::Result<Head> {
        let head = first_line(&self.own, "HEAD")?.unwrap_or_default();
        Ok(match head.strip_prefix("ref: ").map(str::trim) {
            Some(name) if is_reference(name) => Head { branch: branch_of(name), commit: self.resolve(name)? },
            Some(_) => Head::default(),
            None => Head { branch: None, commit: Some(head).filter(|head| is_hash(head)) },
        })
    }

    /// Returns the address of the remote `origin`, as the configuration has it. It may contain a password.
    /// Configuration files that this one includes are not read.
    pub fn origin(&self) -> io::Result<Option<String>> {
        Ok(settings(&self.common, "config")?.and_then(|config| origin(&config)))
    }

    /// Whether the history ends early, so that its oldest commits are not those of the repository.
    pub fn is_shallow(&self) -> io::Result<bool> {
        Ok(foreign::settled(self.common.join("shallow").symlink_metadata())?.is_some())
    }

    fn resolve(&self, name: &str) -> io::Result<Option<String>> {
        let mut loose = None;
        for folder in [&self.own, &self.common] {
            if loose.is_none() {
                loose = first_line(folder, name)?;
            }
        }
        let found = if loose.is_some() { loose } else { self.resolve_packed(name)? };
        Ok(found.filter(|hash| is_hash(hash)))
    }

    fn resolve_packed(&self, name: &str) -> io::Result<Option<String>> {
        let packed = foreign::settled(foreign::open_below(&self.common, Path::new("packed-refs")))?;
        let Some(packed) = packed else { return Ok(None) };
        let mut packed = BufReader::new(packed.take(MAX_PACKED_REFS_BYTES));
        let mut line = Vec::new();
        while packed.read_until(b'\n', &mut line)? > 0 {
            if let Some((hash, of)) = std::str::from_utf8(&line).ok().and_then(|line| line.trim_end().split_once(' '))
                && of == name
            {
                return Ok(Some(hash.to_owned()));
            }
            line.clear();
        }
        Ok(None)
    }
}

/// Returns the repository whose work tree has its root here, at a path without links. A `.git` file that names another
/// folder counts only if that folder names this work tree in turn, since a folder unpacked from an archive could name
/// any repository.
pub fn open(folder: &Path) -> io::Result<Option<Repository>> {
    let marker = folder.join(".git");
    let Some(kind) = named(&marker, foreign::settled(marker.symlink_metadata()))?.map(|about| about.file_type()) else {
        return Ok(None);
    };
    let own = if kind.is_dir() {
        Some(marker)
    } else if kind.is_file() {
        // In a linked work tree or a submodule, `.git` is a file that names the actual folder.
        let line = first_line(folder, ".git")?;
        real_path(line.as_deref().and_then(|line| line.strip_prefix("gitdir: ")).map(|path| folder.join(path)))?
    } else {
        None
    };
    let Some(own) = own else { return Ok(None) };
    let Some(head) = first_line(&own, "HEAD")? else { return Ok(None) };
    let common = match first_line(&own, "commondir")? {
        Some(path) => real_path(Some(own.join(path)))?,
        None => Some(own.clone()),
    };
    let Some(common) = common else { return Ok(None) };
    let points_back =
        if own == common { kind.is_dir() || is_work_tree_of(&own, folder)? } else { is_linked(&own, &common, folder)? };
    Ok(points_back.then(|| Repository { work_tree: folder.to_owned(), common, own, head }))
}

/// Whether a git folder belongs to a linked work tree: it is among the others, and it names the work tree.
fn is_linked(own: &Path, common: &Path, folder: &Path) -> io::Result<bool> {
    if own.parent() != Some(&common.join("worktrees")) {
        return Ok(false);
    }
    let marker = real_path(first_line(own, "gitdir")?.map(|path| own.join(path)))?;
    Ok(marker.is_some_and(|marker| marker == folder.join(".git")))
}

/// Whether the configuration in a git folder names this work tree as its own, as that of a submodule does.
fn is_work_tree_of(own: &Path, folder: &Path) -> io::Result<bool> {
    for name in ["config.worktree", "config"] {
        let named = settings(own, name)?.as_deref().and_then(work_tree).map(|named| own.join(named));
        if real_path(named)?.is_some_and(|named| named == folder) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn real_path(path: Option<PathBuf>) -> io::Result<Option<PathBuf>> {
    let Some(path) = path else { return Ok(None) };
    named(&path, foreign::settled(os::real_path(&path)))
}

fn settings(folder: &Path, name: &str) -> io::Result<Option<String>> {
    let read = foreign::read_below(folder, Path::new(name), foreign::MAX_SETTINGS_BYTES);
    let config = named(&folder.join(name), foreign::settled(read))?;
    Ok(config.map(|config| String::from_utf8_lossy(&config).into_owned()))
}

/// Adds the path of a file to the error for it.
fn named<T>(path: &Path, read: io::Result<T>) -> io::Result<T> {
    read.map_err(|error| io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display())))
}

/// Returns the value of `core.worktree` in a git configuration.
fn work_tree(config: &str) -> Option<String> {
    values(config, |section| section.eq_ignore_ascii_case("core"), "worktree").pop()
}

/// Returns the value of `remote.origin.url` in a git configuration. Of several, git fetches from the first.
fn origin(config: &str) -> Option<String> {
    let is_origin = |section: &str| {
        let named = section.split_once(char::is_whitespace);
        named.is_some_and(|(kind, name)| kind.eq_ignore_ascii_case("remote") && name.trim() == "\"origin\"")
    };
    values(config, is_origin, "url").into_iter().next()
}

/// Returns the values of a variable in some sections of a git configuration, in order.
fn values(config: &str, is_wanted: impl Fn(&str) -> bool, variable: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_inside = section.split(']').next().is_some_and(|name| is_wanted(name.trim()));
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_inside)
            && name.trim().eq_ignore_ascii_case(variable)
        {
            let value = value.trim();
            let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
            found.push(inner.replace("\\\"", "\"").replace("\\\\", "\\"));
        }
    }
    found
}

/// Whether a text is the name of a reference below `refs/` that cannot lead outside of it.
fn is_reference(name: &str) -> bool {
    name.strip_prefix("refs/").is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

fn branch_of(reference: &str) -> Option<String> {
    reference.strip_prefix("refs/heads/").filter(|branch| *branch != ".invalid").map(str::to_owned)
}

fn first_line(folder: &Path, name: &str) -> io::Result<Option<String>> {
    let read = foreign::settled(foreign::read_below(folder, Path::new(name), MAX_NAME_BYTES));
    let Some(bytes) = named(&folder.join(name), read)? else { return Ok(None) };
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(std::str::from_utf8(line).ok().map(|line| line.trim_end().to_owned()))
}

/// Whether a text is the full name of a git object.
pub fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test compares with git itself")]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"];
        let output = Command::new("git").current_dir(folder).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn work_trees_share_a_repository_and_have_their_own_head() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let main = folder.join("main");
        std::fs::create_dir_all(main.join("deep/er")).unwrap();
        git(&main, &["init", "-q"]);
        let empty = discover(&main.join("deep/er")).unwrap().unwrap();
        assert_eq!(empty.head().unwrap(), Head { branch: Some("main".into()), commit: None });
        git(&main, &["commit", "-q", "--allow-empty", "-m", "one"]);
        git(&main, &["worktree", "add", "-q", "-b", "feature/x", "../other"]);
        let commit = git(&main, &["rev-parse", "HEAD"]);
        let other = discover(&folder.join("other")).unwrap().unwrap();
        assert_eq!(other.common, empty.common);
        assert_eq!(other.head().unwrap(), Head { branch: Some("feature/x".into()), commit: Some(commit.clone()) });
        assert_eq!((other.branch(), empty.branch()), (Some("feature/x".into()), Some("main".into())));
        git(&main, &["pack-refs", "--all"]);
        assert_eq!(other.head().unwrap().commit, Some(commit.clone()));
        git(&main, &["checkout", "-q", "--detach"]);
        assert_eq!((empty.head().unwrap(), empty.branch()), (Head { branch: None, commit: Some(commit) }, None));
    }

    #[test]
    fn a_folder_without_a_repository_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(discover(folder.path()).unwrap(), None);
    }

    /// Checks which common folder is found for a folder. Paths are relative to the test's folder.
    fn check(top: &Path, folder: &str, expected: Option<&str>) {
        let top = top.canonicalize().unwrap();
        let found =
            discover(&top.join(folder)).unwrap().map(|found| found.common.strip_prefix(&top).unwrap().to_owned());
        assert_eq!(found.as_deref(), expected.map(Path::new), "{folder}");
    }

    #[cfg(unix)]
    #[test]
    fn a_repository_elsewhere_counts_only_if_it_names_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            std::fs::write(top.join(path), text).unwrap();
        };
        std::fs::create_dir(top.join("main")).unwrap();
        git(&top.join("main"), &["init", "-q"]);
        git(&top.join("main"), &["commit", "-q", "--allow-empty", "-m", "one"]);
        git(&top.join("main"), &["worktree", "add", "-q", "../tree"]);
        let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../main", "mod"];
        std::fs::create_dir(top.join("super")).unwrap();
        git(&top.join("super"), &["init", "-q"]);
        git(&top.join("super"), &add);
        git(top, &["init", "-q", "--separate-git-dir", "apart.git", "apart"]);
        check(top, "tree", Some("main/.git"));
        check(top, "super/mod", Some("super/.git/modules/mod"));
        // A separate git folder does not name its work tree until someone configures it.
        check(top, "apart", None);
        let apart = top.join("apart").canonicalize().unwrap();
        git(&apart, &["config", "core.worktree", apart.to_str().unwrap()]);
        check(top, "apart", Some("apart.git"));

        let main = top.join("main/.git").canonicalize().unwrap();
        write("gitdir/.git", &format!("gitdir: {}\n", main.display()));
        write("borrowed/.git", &format!("gitdir: {}/worktrees/tree\n", main.display()));
        write("common/.git/HEAD", "ref: refs/heads/main\n");
        write("common/.git/commondir", &format!("{}\n", main.display()));
        write("made/.git", "gitdir: fake\n");
        write("made/fake/HEAD", "ref: refs/heads/main\n");
        write("made/fake/gitdir", &format!("{}\n", top.join("made/.git").display()));
        write("made/fake/commondir", &format!("{}\n", main.display()));
        std::fs::create_dir(top.join("linked")).unwrap();
        std::os::unix::fs::symlink(&main, top.join("linked/.git")).unwrap();
        for folder in ["gitdir", "borrowed", "common", "made", "linked"] {
            check(top, folder, None);
        }
    }

    #[cfg(unix)]
    #[test]
    fn references_stay_in_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(".git");
        std::fs::create_dir_all(own.join("refs/heads")).unwrap();
        let hash = "0123456789012345678901234567890123456789";
        std::fs::write(folder.path().join("outside"), hash).unwrap();
        std::os::unix::fs::symlink("/dev/zero", own.join("packed-refs")).unwrap();
        std::os::unix::fs::symlink("../../../outside", own.join("refs/heads/link")).unwrap();
        for name in ["refs/heads/../../../outside", "/etc/passwd", "../outside", "refs/heads/link", "refs//x"] {
            std::fs::write(own.join("HEAD"), format!("ref: {name}\n")).unwrap();
            assert_eq!(discover(folder.path()).unwrap().unwrap().head().unwrap().commit, None, "{name}");
        }
        std::fs::write(own.join("refs/heads/main"), hash).unwrap();
        std::fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(discover(folder.path()).unwrap().unwrap().head().unwrap().commit.as_deref(), Some(hash));
    }

    #[test]
    fn the_work_tree_is_read_from_a_configuration() {
        assert_eq!(work_tree("[core]\n\tbare = false\n\tworktree = ../../../mod\n").as_deref(), Some("../../../mod"));
        assert_eq!(work_tree("[Core]\nWorkTree=\"a \\\"b\"\n").as_deref(), Some("a \"b"));
        assert_eq!(work_tree("[other]\nworktree = x\n[core \"sub\"]\nworktree = y\n"), None);
    }

    #[test]
    fn the_origin_is_the_first_address_of_that_remote() {
        let config =
            "[remote \"other\"]\n\turl = a\n[Remote \"origin\"]\n\tURL = b\n\turl = c\n[branch \"x\"]\n\turl = d\n";
        assert_eq!(origin(config).as_deref(), Some("b"));
        assert_eq!(origin("[remote \"origin\"]\n\tfetch = +refs/heads/*\n"), None);
        assert_eq!(origin("[remote \"Origin\"]\nurl = x\n[remote]\nurl = y\n[include]\n\tpath = /dev/zero\n"), None);
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q"]);
        git(folder.path(), &["remote", "add", "origin", "git@example.org:a/b.git"]);
        let repository = discover(folder.path()).unwrap().unwrap();
        assert_eq!(repository.origin().unwrap().as_deref(), Some("git@example.org:a/b.git"));
        assert!(!repository.is_shallow().unwrap());
    }
}
