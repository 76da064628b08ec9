//! Detects whether a path still leads to the same file.

use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(path).ok().map(|about| Self { device: about.dev(), number: about.ino() })
    }

    #[cfg(not(unix))]
    pub(super) fn of(_path: &Path) -> Option<Self> {
        None
    }
}
