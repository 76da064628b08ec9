//! Judges what a run wrote by what it is rather than by its name: programs, scripts, links that lead away, and what
//! lies in hidden folders at the top of the project. A list of names cannot know them all.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Kind;
use super::marks::{FolderOwner, is_in_repository};
use super::names;
use super::repository::{DECIDING, SETTINGS};
use crate::masks::{Tree, in_dependencies};

/// Maximum number of files that are looked at after a run.
const MAX_LOOKED_AT: usize = 20_000;
/// Maximum number of files that are named, and of folders.
const MAX_NAMED: usize = 8;
/// A folder with more files than this is named with their number.
const MAX_IN_FOLDER: usize = 3;
/// How much the clock of a file system may be behind.
const MAX_CLOCK_LAG: Duration = Duration::from_millis(20);

/// Hidden names at the top of a project that tools fill all the time and read nothing but their own data from.
const CACHES: &[&str] =
    &[".coverage", ".cache", ".DS_Store", ".eslintcache", ".stylelintcache", ".parcel-cache", ".next"];

/// Folders among the packages of Yarn that it loads code from whenever it starts.
const RUN_BY_YARN: [&str; 2] = [".yarn/releases", ".yarn/plugins"];

/// What is known of a file that a run wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Whether it did not exist before.
    pub is_new: bool,
    /// Whether its mode allows to execute it.
    pub is_executable: bool,
    /// Whether its mode lets it run as its owner or group.
    pub is_setuid: bool,
    /// Whether it begins with `#!`.
    pub is_script: bool,
    /// Whether it is a link that leads out of the project.
    pub is_link_out: bool,
    /// Whether it is in a folder of `PATH`.
    pub is_on_path: bool,
    /// Whether its folder is a repository to git, see [`super::is_repository`].
    pub is_in_repository: bool,
}

/// Judges one file that a run wrote, by its path below the root and by what it is. Returns how it is handled and what
/// it is, or `None` for a file that nothing runs or obeys by itself.
pub fn judge(relative: &Path, about: &FileFacts) -> Option<(Kind, &'static str)> {
    listed(relative, about).or_else(|| unlisted(relative, about).map(|what| (Kind::Executed, what)))
}

fn listed(relative: &Path, about: &FileFacts) -> Option<(Kind, &'static str)> {
    let folder = relative.parent().unwrap_or(Path::new(""));
    let owner = FolderOwner::of(folder, Path::new(""));
    if is_in_repository(relative) {
        return Some((owner.kind_of_repository(), "a git repository inside the project"));
    }
    let is_part = |name: &OsStr| {
        let mut parts = DECIDING.iter().chain(SETTINGS.iter().map(|(place, _)| place));
        parts.any(|part| name.eq_ignore_ascii_case(part))
    };
    if about.is_in_repository && relative.file_name().is_some_and(is_part) {
        return Some((owner.kind_of_repository(), "a bare git repository inside the project"));
    }
    let known = names::find_in(Path::new(""), relative).filter(|known| owner.counts(known.kind))?;
    Some((known.kind, known.what))
}

/// Says what a file is that no list names.
fn unlisted(relative: &Path, about: &FileFacts) -> Option<&'static str> {
    let top = relative.components().next().map(Component::as_os_str)?;
    let is_cache = |name: &OsStr| CACHES.iter().any(|cache| name == *cache) || ends_with(name, "_cache");
    let is_hidden = top.as_encoded_bytes().starts_with(b".") && !is_cache(top) && !is_filled(relative);
    match about {
        FileFacts { is_setuid: true, .. } => Some("a program that runs as its owner"),
        FileFacts { is_on_path: true, .. } => Some("in a folder of PATH"),
        FileFacts { is_link_out: true, .. } => Some("a link that leads out of the project"),
        FileFacts { is_executable: true, .. } => Some("a program"),
        FileFacts { is_script: true, .. } => Some("a script"),
        _ if is_hidden => Some("hidden"),
        _ => None,
    }
}

/// Returns whether package managers and builds fill a folder, and nothing but what is installed runs from it.
fn is_filled(relative: &Path) -> bool {
    in_dependencies(relative, Path::new("")) && !RUN_BY_YARN.iter().any(|folder| relative.starts_with(folder))
}

fn ends_with(name: &OsStr, end: &str) -> bool {
    name.as_encoded_bytes().ends_with(end.as_bytes())
}

/// Returns the state of the clock before a run, for [`written_since`].
pub fn clock(now: SystemTime) -> SystemTime {
    now.checked_sub(MAX_CLOCK_LAG).unwrap_or(now)
}

/// What a run wrote that no list names.
#[derive(Debug, Default)]
pub struct Written {
    /// The paths below the root, and what each is.
    pub files: Vec<(PathBuf, &'static str)>,
    /// Whether there was too much to look at all of it.
    pub is_cut: bool,
}

/// Finds what was written in the roots since a time, and is on no list. The tree must be up to date. `path` are the
/// folders of `PATH`.
pub fn written_since(tree: &mut Tree, roots: &[PathBuf], since: SystemTime, path: &[PathBuf]) -> Written {
    let mut written = Written::default();
    let mut left = MAX_LOOKED_AT;
    for root in roots {
        let Ok(tree) = tree.other(root, since) else { continue };
        // First folders with new entries, and last what package managers fill.
        let order = |(folder, is_same): &(PathBuf, bool)| (in_dependencies(folder, root), *is_same, folder.clone());
        let mut folders: Vec<(PathBuf, bool)> = tree.folders_since(since).collect();
        folders.sort_by_cached_key(order);
        for (folder, _) in folders.into_iter().filter(|(folder, _)| !is_in_repository(folder)) {
            let is_on_path = path.contains(&folder);
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                if left == 0 {
                    written.is_cut = true;
                    return written;
                }
                left -= 1;
                let Some(about) = entry.metadata().ok().filter(|about| is_since(about, since)) else { continue };
                let facts = FileFacts { is_on_path, ..facts(&entry.path(), &about, root) };
                let file = entry.path();
                let relative = file.strip_prefix(root).unwrap_or(&file);
                if listed(relative, &facts).is_none()
                    && let Some(what) = unlisted(relative, &facts)
                {
                    written.files.push((relative.to_owned(), what));
                }
            }
        }
    }
    written
}

/// Words what a run wrote in at most one line: single files by name, many by folder, and what builds and package
/// managers fill as one number. `show` words a path.
pub fn summary(files: &[(PathBuf, &'static str)], show: impl Fn(&Path) -> String) -> Option<String> {
    let mut folders: BTreeMap<&Path, Vec<&(PathBuf, &'static str)>> = BTreeMap::new();
    let mut filled: BTreeMap<&OsStr, usize> = BTreeMap::new();
    for file in files {
        let folder = file.0.parent().unwrap_or(Path::new(""));
        let is_dependency = |part: &&OsStr| is_filled(folder) && in_dependencies(Path::new(part), Path::new(""));
        match folder.iter().find(is_dependency) {
            Some(name) => *filled.entry(name).or_default() += 1,
            None => folders.entry(folder).or_default().push(file),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for (folder, files) in &folders {
        // What lies at the top takes effect there.
        if files.len() <= MAX_IN_FOLDER || folder.as_os_str().is_empty() {
            parts.extend(files.iter().map(|(path, what)| format!("{} ({what})", show(path))));
        } else {
            parts.push(format!("{}/ ({} programs, scripts or hidden files)", show(folder), files.len()));
        }
    }
    let rest = parts.len().saturating_sub(MAX_NAMED);
    parts.truncate(MAX_NAMED);
    if rest > 0 {
        parts.push(format!("{rest} more like these"));
    }
    if !filled.is_empty() {
        let count: usize = filled.values().sum();
        let names: Vec<String> = filled.keys().take(3).map(|name| show(Path::new(name))).collect();
        parts.push(format!("{count} programs and scripts in {}", names.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(unix)]
fn is_since(about: &Metadata, since: SystemTime) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    // Some file systems store times in whole seconds.
    let nanos = if about.ctime_nsec() == 0 { 0 } else { i64::from(since.subsec_nanos()) };
    (about.ctime(), about.ctime_nsec()) >= (seconds, nanos)
}

#[cfg(not(unix))]
fn is_since(about: &Metadata, since: SystemTime) -> bool {
    about.modified().is_ok_and(|changed| changed >= since)
}

fn facts(path: &Path, about: &Metadata, root: &Path) -> FileFacts {
    if about.is_symlink() {
        let is_inside = fs::canonicalize(path).is_ok_and(|target| target.starts_with(root));
        return FileFacts { is_link_out: !is_inside, ..FileFacts::default() };
    }
    let mode = mode(about);
    let is_executable = about.is_file() && mode & 0o111 != 0;
    let is_script = about.is_file() && !is_executable && begins_with_marker(path);
    FileFacts { is_executable, is_script, is_setuid: mode & 0o6000 != 0, ..FileFacts::default() }
}

#[cfg(unix)]
fn mode(about: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(about)
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0
}

/// Returns whether a file begins with `#!`. Only these two bytes are read.
fn begins_with_marker(path: &Path) -> bool {
    let mut start = [0; 2];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}
