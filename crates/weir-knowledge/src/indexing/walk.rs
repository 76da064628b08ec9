//! Lists the files of a folder as git would: without those that are ignored, hidden, or behind a link.
//!
//! Invariant: no link is followed, and no file is opened except ignore files. A folder that cannot be listed is
//! reported, so that its files are not taken for removed.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};
use tokio_util::sync::CancellationToken;
use walkdir::{DirEntry, WalkDir};
use weir_context::cancelled;
use weir_host::error::CommandError;
use weir_host::foreign;
use weir_policy::gate::Gate;

use super::below;
use super::ignored::Ignored;
use super::read::TOO_LARGE_BYTES;
use super::report::{IndexReport, SkipReason};

/// A file that may be read.
#[derive(Debug)]
pub struct FoundFile {
    pub path: PathBuf,
    /// The path below the folder.
    pub below: String,
    pub bytes: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub modified: i64,
}

#[derive(Debug, Default)]
pub struct FolderListing {
    pub files: Vec<FoundFile>,
    /// The paths below the folder that could not be listed.
    pub unknown: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Globs {
    globs: Override,
    /// The folder to which the filter is limited, if any.
    within: Option<PathBuf>,
}

impl Globs {
    pub(super) fn read(root: &Path, include: &[String], exclude: &[String]) -> Result<Self, CommandError> {
        let mut builder = OverrideBuilder::new(root);
        for glob in include.iter().cloned().chain(exclude.iter().map(|glob| format!("!{glob}"))) {
            builder.add(&glob).map_err(|error| {
                CommandError::usage(format!("invalid pattern `{}`: {error}", glob.trim_start_matches('!')))
                    .hint("use a pattern such as *.md or docs/**")
            })?;
        }
        let globs = builder.build().map_err(|error| CommandError::usage(error.to_string()))?;
        Ok(Self { globs, within: None })
    }

    pub(super) fn within(self, folder: &Path) -> Self {
        Self { within: Some(folder.to_owned()), ..self }
    }

    /// Whether a walk must visit a path: the path is in the folder, or contains the folder.
    fn leads_on(&self, path: &Path) -> bool {
        self.within.as_ref().is_none_or(|folder| path.starts_with(folder) || folder.starts_with(path))
    }

    /// Whether the filter accepts a path below the folder and all folders that it is in.
    pub(super) fn want(&self, below: &str) -> bool {
        let path = Path::new(below);
        let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        self.takes(path, false) && folders.into_iter().all(|folder| self.takes(folder, true))
    }

    fn takes(&self, path: &Path, is_folder: bool) -> bool {
        !self.globs.matched(path, is_folder).is_ignore()
    }
}

pub(super) fn list(
    root: &Path,
    globs: &Globs,
    gate: &Gate,
    cancel: &CancellationToken,
    report: &mut IndexReport,
) -> Result<FolderListing, CommandError> {
    let mut listing = FolderListing::default();
    let mut ignored = Ignored::new(root);
    let mut is_wanted = |entry: &DirEntry| {
        let is_folder = entry.file_type().is_dir();
        let is_asked_for = globs.leads_on(entry.path()) && globs.takes(entry.path(), is_folder);
        let is_wanted = is_asked_for && !ignored.leaves_out(entry.path(), is_folder);
        // The folder itself was requested.
        is_wanted || entry.depth() == 0
    };
    for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(&mut is_wanted) {
        if cancel.is_cancelled() {
            return Err(cancelled());
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(root).to_owned();
                let below = below(root, &path).unwrap_or_default();
                report.fail(&below, io_text(&error));
                listing.unknown.push(below);
                continue;
            }
        };
        let kind = entry.file_type();
        if kind.is_dir() {
            continue;
        }
        if kind.is_symlink() {
            report.skip(SkipReason::Link);
        } else if !kind.is_file() {
            report.skip(SkipReason::Special);
        } else if let Some(why) = gate.refuses(entry.path()).map(SkipReason::from) {
            report.skip(why);
        } else {
            match entry.metadata() {
                Ok(about) => add(&mut listing, report, root, entry.path(), &about),
                Err(error) => {
                    let below = below(root, entry.path()).unwrap_or_default();
                    report.fail(&below, io_text(&error));
                    listing.unknown.push(below);
                }
            }
        }
    }
    for (path, why) in ignored.unread() {
        report.fail(&below(root, &path).unwrap_or_else(|| foreign::path_text(&path)), why);
    }
    Ok(listing)
}

fn add(listing: &mut FolderListing, report: &mut IndexReport, root: &Path, path: &Path, about: &Metadata) {
    match about.len() {
        0 => report.skip(SkipReason::Empty),
        TOO_LARGE_BYTES.. => report.skip(SkipReason::Large),
        bytes => listing.files.push(FoundFile {
            path: path.to_owned(),
            below: below(root, path).unwrap_or_default(),
            bytes,
            modified: modified(about),
        }),
    }
}

pub(super) fn found(path: &Path) -> std::io::Result<FoundFile> {
    let about = path.metadata()?;
    Ok(FoundFile { path: path.to_owned(), below: String::new(), bytes: about.len(), modified: modified(&about) })
}

/// Returns when a file was last changed, in nanoseconds since 1970.
pub(super) fn modified(about: &Metadata) -> i64 {
    let since = about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or_default()
}

fn io_text(error: &walkdir::Error) -> String {
    error.io_error().map_or_else(|| error.to_string(), |error| error.kind().to_string())
}
