//! Applies ignore files to the files of a folder: `.ignore`, `.gitignore`, git's own `info/exclude` and the user's
//! list.
//!
//! Invariants: the files are read by [`foreign`], never by a library that would follow a link to a device; the number
//! of patterns in memory is bounded; an ignore file that cannot be read is reported, and if it is too large,
//! everything in its folder is ignored, since what it says is not known.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use weir_host::foreign;
use weir_host::git;

const MAX_FILE_BYTES: u64 = 512 << 10;
/// The maximum number of patterns in memory, for a folder and those above it.
const MAX_PATTERNS: usize = 20_000;

/// The ignore patterns that apply during a walk down and up a tree.
pub(super) struct Ignored {
    root: PathBuf,
    /// The patterns of the current folder and those above it, outermost first.
    levels: Vec<FolderPatterns>,
    user: Gitignore,
    held: usize,
    /// Ignore files that could not be read, with the reason.
    unread: Vec<(PathBuf, String)>,
}

struct FolderPatterns {
    folder: PathBuf,
    /// In order of precedence. The first is `.ignore`, and the others are git's.
    files: [Gitignore; 3],
    patterns: usize,
    /// For each of the files, whether it says something that is not known here.
    is_unknown: [bool; 3],
    /// Whether it is the root of a repository, in which git's files of the folders around it do not apply.
    is_repository: bool,
}

impl Ignored {
    /// Returns the patterns for walking a folder, including those of the folders above it.
    pub(super) fn new(root: &Path) -> Self {
        let levels = Vec::new();
        let mut ignored = Self { root: root.to_owned(), levels, user: Gitignore::empty(), held: 0, unread: Vec::new() };
        if let Some(path) = gitconfig_excludes_path() {
            let text = foreign::read_user_file(&path, MAX_FILE_BYTES);
            ignored.user = ignored.patterns(root, &path, text).unwrap_or_else(|| (Gitignore::empty(), 0)).0;
        }
        let mut above: Vec<PathBuf> = root.ancestors().skip(1).map(Path::to_owned).collect();
        above.reverse();
        above.iter().for_each(|folder| ignored.enter(folder));
        ignored
    }

    /// Whether a file or folder below the root is ignored. A walk asks about a folder before its content.
    pub(super) fn leaves_out(&mut self, path: &Path, is_folder: bool) -> bool {
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        while let Some(level) = self.levels.pop_if(|level| !folder.starts_with(&level.folder)) {
            self.held -= level.patterns;
        }
        if self.levels.last().is_none_or(|level| level.folder != folder) {
            self.enter(&folder);
        }
        let outwards = || self.levels.iter().rev();
        let in_repository = outwards().position(|level| level.is_repository).map_or(self.levels.len(), |at| at + 1);
        let by_level = (0..3).flat_map(|file| {
            let levels = if file == 0 { self.levels.len() } else { in_repository };
            outwards().take(levels).map(move |level| (level, file))
        });
        if by_level.clone().any(|(level, file)| level.is_unknown[file]) {
            return true;
        }
        let by_file = by_level.map(|(level, file)| &level.files[file]);
        let said = by_file.chain([&self.user]).map(|file| file.matched(path, is_folder)).find(|said| !said.is_none());
        match said {
            Some(Match::Ignore(_)) => true,
            Some(Match::Whitelist(_)) => false,
            _ => path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")),
        }
    }

    /// Returns the ignore files that could not be read since the last call.
    pub(super) fn unread(&mut self) -> Vec<(PathBuf, String)> {
        std::mem::take(&mut self.unread)
    }

    fn enter(&mut self, folder: &Path) {
        let mut held = 0;
        let mut read = |ignored: &mut Self, top: &Path, name: &str| {
            let text = foreign::read_below(top, Path::new(name), MAX_FILE_BYTES);
            let read = ignored.patterns(folder, &top.join(name), text);
            held += read.as_ref().map_or(0, |(_, patterns)| *patterns);
            read.map(|(file, _)| file)
        };
        let plain = read(self, folder, ".ignore");
        let git = read(self, folder, ".gitignore");
        let repository = git::open(folder).unwrap_or_else(|error| {
            self.unread.push((folder.join(".git"), error.to_string()));
            None
        });
        let is_repository = repository.is_some();
        let exclude = repository.map(|repository| read(self, &repository.common, "info/exclude"));
        let files = [plain, git, exclude.unwrap_or_else(|| Some(Gitignore::empty()))];
        let is_unknown = files.each_ref().map(Option::is_none);
        let files = files.map(|file| file.unwrap_or_else(Gitignore::empty));
        self.levels.push(FolderPatterns {
            folder: folder.to_owned(),
            files,
            is_unknown,
            patterns: held,
            is_repository,
        });
    }

    /// Returns the patterns of a file, anchored at a folder, and their number, or `None` if they are not known.
    fn patterns(&mut self, folder: &Path, path: &Path, text: std::io::Result<Vec<u8>>) -> Option<(Gitignore, usize)> {
        let text = match text {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::FileTooLarge => return self.unknown(path, &error.to_string()),
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    self.unread.push((path.to_owned(), error.to_string()));
                }
                return Some((Gitignore::empty(), 0));
            }
        };
        let text = String::from_utf8_lossy(&text);
        let text = text.trim_start_matches('\u{feff}');
        let count = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).count();
        if self.held + count > MAX_PATTERNS {
            let why = format!("together with its parents it has more than {MAX_PATTERNS} patterns");
            return self.unknown(path, &why);
        }
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.lines() {
            // A line that is not a pattern ignores nothing, as in git.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(file) => {
                self.held += count;
                Some((file, count))
            }
            Err(error) => self.unknown(path, &error.to_string()),
        }
    }

    /// Reports a file whose patterns are not known.
    fn unknown<T>(&mut self, path: &Path, why: &str) -> Option<T> {
        self.unread.push((path.to_owned(), format!("{why}, so everything in its folder is left out")));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_whose_ignore_file_is_too_large_is_left_out() {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().canonicalize().unwrap();
        std::fs::create_dir_all(project.join("sub/deep")).unwrap();
        let many = "a*b\n".repeat(MAX_PATTERNS + 1);
        for text in ["# padding\n".repeat(60_000) + "secret.txt\n", many] {
            std::fs::write(project.join("sub/.gitignore"), text).unwrap();
            let mut ignored = Ignored::new(&project);
            assert!(
                !ignored.leaves_out(&project.join("a.rs"), false) && !ignored.leaves_out(&project.join("sub"), true)
            );
            assert!(ignored.leaves_out(&project.join("sub/secret.txt"), false));
            assert!(ignored.leaves_out(&project.join("sub/deep"), true));
            assert!(!ignored.leaves_out(&project.join("b.rs"), false), "back above it");
            let unread = ignored.unread();
            assert!(unread.iter().any(|(path, why)| path.ends_with("sub/.gitignore") && why.contains("left out")));
        }
    }

    #[test]
    fn patterns_of_git_around_a_repository_do_not_apply_in_it() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        let (project, vendored) = (home.join("project"), home.join("project/vendored"));
        std::fs::create_dir_all(vendored.join("src")).unwrap();
        std::fs::write(home.join(".gitignore"), "*\n").unwrap();
        std::fs::write(home.join(".ignore"), "*.bin\n").unwrap();
        std::fs::write(project.join(".gitignore"), "*.log\n").unwrap();
        let leaves_out = |path: &str| Ignored::new(&project).leaves_out(&project.join(path), false);
        assert!(leaves_out("a.rs") && leaves_out("a.log"), "everything is of one repository, if any");
        for repository in [&project, &vendored] {
            std::fs::create_dir(repository.join(".git")).unwrap();
            std::fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        assert!(!leaves_out("a.rs") && leaves_out("a.log") && leaves_out("a.bin"));
        let mut ignored = Ignored::new(&project);
        assert!(!ignored.leaves_out(&vendored, true));
        assert!(!ignored.leaves_out(&vendored.join("a.log"), false));
        assert!(!ignored.leaves_out(&vendored.join("src"), true));
        assert!(!ignored.leaves_out(&vendored.join("src/a.log"), false));
        assert!(ignored.leaves_out(&vendored.join("src/a.bin"), false));
        assert!(ignored.leaves_out(&project.join("a.log"), false), "back in the project");
    }
}
