//! Reads what git wrote about a repository: where it is, which branch and commit are checked out.
//!
//! The few files are read here because this runs in every call, where starting git would cost more than all the
//! rest, and a git library would be most of the program. What is not understood is `None`, never a guess.

use std::path::{Path, PathBuf};

/// A repository as seen from one of its work trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The top of the work tree.
    pub work_tree: PathBuf,
    /// What all work trees of the repository share.
    pub common: PathBuf,
    /// What is this work tree's own.
    own: PathBuf,
}

/// What is checked out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The branch; none when a commit is checked out directly.
    pub branch: Option<String>,
    /// The commit; none before the first one.
    pub commit: Option<String>,
}

/// Finds the repository a folder lies in.
pub(crate) fn discover(folder: &Path) -> Option<Repository> {
    folder.ancestors().find_map(open)
}

impl Repository {
    /// What git reads of it: what is shared and what is this work tree's own.
    pub(crate) fn folders(&self) -> [&Path; 2] {
        [&self.common, &self.own]
    }

    /// What is checked out now.
    pub(crate) fn head(&self) -> Head {
        let head = first_line(&self.own.join("HEAD")).unwrap_or_default();
        match head.strip_prefix("ref: ") {
            Some(name) => Head {
                branch: name.strip_prefix("refs/heads/").filter(|branch| *branch != ".invalid").map(Into::into),
                commit: self.resolve(name),
            },
            None => Head { branch: None, commit: Some(head).filter(|head| is_hash(head)) },
        }
    }

    fn resolve(&self, name: &str) -> Option<String> {
        let loose = [&self.own, &self.common].into_iter().find_map(|folder| first_line(&folder.join(name)));
        loose.or_else(|| self.resolve_packed(name)).filter(|hash| is_hash(hash))
    }

    fn resolve_packed(&self, name: &str) -> Option<String> {
        let packed = std::fs::read_to_string(self.common.join("packed-refs")).ok()?;
        packed.lines().find_map(|line| {
            let (hash, of) = line.split_once(' ')?;
            (of == name).then(|| hash.to_owned())
        })
    }
}

fn open(folder: &Path) -> Option<Repository> {
    let marker = folder.join(".git");
    let own = if marker.is_dir() {
        marker
    } else {
        // A linked work tree or a submodule has a file here that names the real place.
        folder.join(first_line(&marker)?.strip_prefix("gitdir: ")?)
    };
    if !own.join("HEAD").is_file() {
        return None;
    }
    let own = own.canonicalize().ok()?;
    let common = match first_line(&own.join("commondir")) {
        Some(path) => own.join(path).canonicalize().ok()?,
        None => own.clone(),
    };
    Some(Repository { work_tree: folder.canonicalize().ok()?, common, own })
}

fn first_line(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim_end().to_owned())
}

/// Whether a text is the full name of an object.
pub(crate) fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test compares with git itself")]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"];
        let output = Command::new("git").current_dir(folder).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn work_trees_share_a_repository_and_have_their_own_head() {
        let folder = tempfile::tempdir().unwrap();
        let main = folder.path().join("main");
        std::fs::create_dir_all(main.join("deep/er")).unwrap();
        git(&main, &["init", "-q"]);
        let empty = discover(&main.join("deep/er")).unwrap();
        assert_eq!(empty.head(), Head { branch: Some("main".into()), commit: None });
        git(&main, &["commit", "-q", "--allow-empty", "-m", "one"]);
        git(&main, &["worktree", "add", "-q", "-b", "feature/x", "../other"]);
        let commit = git(&main, &["rev-parse", "HEAD"]);
        let other = discover(&folder.path().join("other")).unwrap();
        assert_eq!(other.common, empty.common);
        assert_eq!(other.head(), Head { branch: Some("feature/x".into()), commit: Some(commit.clone()) });
        git(&main, &["pack-refs", "--all"]);
        assert_eq!(other.head().commit, Some(commit.clone()));
        git(&main, &["checkout", "-q", "--detach"]);
        assert_eq!(empty.head(), Head { branch: None, commit: Some(commit) });
    }

    #[test]
    fn a_folder_without_a_repository_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(discover(folder.path()), None);
    }
}
