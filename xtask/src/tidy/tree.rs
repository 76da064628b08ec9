//! The files that a commit would contain: tracked ones, and new ones that git does not ignore.

use std::collections::BTreeMap;
use std::process::Command;
use std::{fmt, fs, io};

/// Pages that tests write from what the program says.
const GENERATED: &[&str] = &["docs/cli.md", "docs/digests.md", "docs/settings.md"];

/// Paths relative to the repository's root, with `/` on every system, and their texts.
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
    /// What has changed since a commit, where that is not asked of git.
    growth: BTreeMap<String, Growth>,
    has_history: bool,
}

/// How far some files have grown since a commit.
#[derive(Clone, Copy)]
pub(super) struct Growth {
    /// The number of lines that were added or removed, whichever is more, file by file.
    pub(super) changed: u64,
    pub(super) lines: u64,
    pub(super) releases: usize,
}

impl Tree {
    /// Reads the repository around the current folder.
    pub(crate) fn read() -> Result<Self, TreeError> {
        let root = git(&["rev-parse", "--show-toplevel"])?;
        let root = std::path::Path::new(root.trim_end());
        let listed = git(&["-C", &root.to_string_lossy(), "ls-files", "-coz", "--exclude-standard"])?;
        let mut files = BTreeMap::new();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            match fs::read(root.join(path)) {
                // A file that is not UTF-8 is binary: it exists, but has no text to check.
                Ok(bytes) => {
                    files.insert(path.to_owned(), String::from_utf8(bytes).ok());
                }
                // Removed but still tracked, or a link to a folder: it has no text.
                Err(error) if absent(&error) => {}
                Err(error) => return Err(TreeError::Read(path.to_owned(), error)),
            }
        }
        Ok(Self { files, growth: BTreeMap::new(), has_history: true })
    }

    /// Returns how far the Rust files below some folders have grown since a commit.
    pub(super) fn growth_since(&self, commit: &str, folders: &[&str]) -> Result<Growth, String> {
        if !self.has_history {
            return self.growth.get(commit).copied().ok_or_else(|| "it is not in the history".to_owned());
        }
        let is_meant = |path: &str| path.ends_with(".rs") && folders.iter().any(|folder| path.starts_with(folder));
        let lines = self.texts().filter(|(path, _)| is_meant(path)).map(|(_, text)| text.lines().count() as u64).sum();
        let ask = |words: &[&str]| git(words).map_err(|error| error.to_string());
        // A clone without history knows of no change.
        if ask(&["rev-parse", "--is-shallow-repository"])?.trim() == "true" {
            return Ok(Growth { changed: 0, lines, releases: 0 });
        }
        let diff = ask(&["diff", "--numstat", commit])?;
        let changed = diff.lines().filter_map(|line| {
            let mut cells = line.split('\t');
            let [added, removed] = [cells.next()?.parse::<u64>().ok()?, cells.next()?.parse::<u64>().ok()?];
            is_meant(cells.next()?).then_some(added.max(removed))
        });
        let releases = ask(&["tag", "--list", "v*", "--contains", commit])?.lines().count();
        Ok(Growth { changed: changed.sum(), lines, releases })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| (String::from(*path), Some(String::from(*text)));
        Self { files: files.iter().map(owned).collect(), growth: BTreeMap::new(), has_history: false }
    }

    #[cfg(test)]
    pub(super) fn grown(mut self, commit: &str, growth: Growth) -> Self {
        self.growth.insert(commit.to_owned(), growth);
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Returns every Rust file that cargo compiles, but not the samples that tests read.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".rs") && !is_sample(path))
    }

    pub(super) fn has(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.range(inside.clone()..).next().is_some_and(|(next, _)| next.starts_with(&inside))
    }
}

/// Returns whether a path has recorded or golden text, which must not change, or the sources of recordings.
pub(super) fn is_sample(path: &str) -> bool {
    let made = path.starts_with("bench/recall/") || GENERATED.contains(&path);
    let name = path.rsplit('/').next().unwrap_or(path);
    let sample = path.contains("/languages/") && (name.starts_with("sample") || name.starts_with("golden"));
    made || sample || path.split('/').any(|part| matches!(part, "fixtures" | "golden"))
}

/// Returns whether a file is about the output of other programs, and uses their words.
pub(super) fn speaks_of_others(path: &str) -> bool {
    path.starts_with("crates/weir-digest/")
}

fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory)
}

fn git(args: &[&str]) -> Result<String, TreeError> {
    #[expect(clippy::disallowed_methods, reason = "git alone knows what it ignores; no user's code runs")]
    let output = Command::new("git").args(args).output().map_err(TreeError::NoGit)?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(TreeError::Git(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}

/// Why the files could not be listed or read.
#[derive(Debug)]
pub(crate) enum TreeError {
    NoGit(io::Error),
    Git(String),
    Read(String, io::Error),
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGit(error) => write!(f, "git does not start: {error}"),
            Self::Git(message) => write!(f, "git: {message}"),
            Self::Read(path, error) => write!(f, "cannot read {path}: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_there_when_a_file_is_in_it() {
        let tree = Tree::of(&[("docs/a.md", ""), ("docs-old", "")]);
        assert!(tree.has("docs") && tree.has("docs/a.md") && tree.has(""));
        assert!(!tree.has("doc") && !tree.has("docs/b.md"));
    }

    #[test]
    fn samples_are_not_source() {
        let tree = Tree::of(&[("crates/a/tests/fixtures/x.rs", ""), ("crates/a/src/lib.rs", "")]);
        let rust: Vec<_> = tree.rust().map(|(path, _)| path).collect();
        assert_eq!(rust, ["crates/a/src/lib.rs"]);
    }
}
