//! The spool: what could not be written to the log, in small files beside it until the next call takes them in.
//!
//! Invariants: a record is complete as soon as it has its name; names sort in the order of their times; the spool never
//! grows past [`MOST_BYTES`] and [`MOST_RECORDS`].

mod record;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use weir_core::{Limits, Scope, Timestamp};

use crate::db::{create_private_folder, private_file_options};
use crate::error::{Result, StoreError, from_system};
pub(crate) use record::Read;
pub use record::Spooled;

/// The folder's name within that of the store.
const FOLDER: &str = "spool";
/// How many bytes the records may take together.
const MOST_BYTES: u64 = 64 << 20;
/// How many records there may be.
const MOST_RECORDS: usize = 10_000;
/// How many bytes the text of one output may have; a larger one is not spooled.
pub const LONGEST_TEXT: u64 = 8 << 20;
/// How a record's file ends.
const RECORD: &str = "record";
/// How a file ends that is still being written.
const UNFINISHED: &str = "new";
/// How a record ends that nobody can read.
const UNREADABLE: &str = "unreadable";

/// The spool of one store.
pub struct Spool {
    folder: PathBuf,
}

impl Spool {
    /// The spool of the store in `folder`.
    pub fn beside(folder: &Path) -> Self {
        Self { folder: folder.join(FOLDER) }
    }

    /// Writes a record. It needs no lock, and one that cannot be written whole leaves nothing behind.
    pub fn put(&self, scope: &Scope, spooled: &Spooled, limits: &Limits, at: Timestamp) -> Result<()> {
        create_private_folder(&self.folder)?;
        let bytes = record::encode(scope, spooled, limits, at);
        self.check_room(bytes.len() as u64)?;
        let name = format!("{:015}-{}", at.0.max(0), crate::blobs::random_name(&self.folder)?);
        let unfinished = self.folder.join(format!("{name}.{UNFINISHED}"));
        let written = private_file_options()
            .create_new(true)
            .open(&unfinished)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| std::fs::rename(&unfinished, self.path_of(&name)));
        written.map_err(|error| {
            let _ = std::fs::remove_file(&unfinished);
            from_system(&unfinished, &error)
        })
    }

    /// The names of the records, oldest first. Empty, and quick, when there is no spool.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = self.with_ending(RECORD);
        names.sort_unstable();
        names
    }

    /// How many records wait, and how many cannot be read.
    pub fn waiting(&self) -> (usize, usize) {
        (self.names().len(), self.with_ending(UNREADABLE).len())
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads a record; none when another process has taken it in, or set it aside.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Read>> {
        let path = self.path_of(name);
        match std::fs::read(&path) {
            Ok(bytes) => record::decode(&bytes)
                .map(Some)
                .ok_or_else(|| StoreError::Damaged { path, detail: "cannot read a spool record".to_owned() }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(from_system(&path, &error)),
        }
    }

    /// Whether a record is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path_of(name).exists()
    }

    /// Removes records that are in the log. One that stays is recognised by its name.
    pub(crate) fn remove(&self, names: &[String]) {
        for name in names {
            let _ = std::fs::remove_file(self.path_of(name));
        }
    }

    /// Sets a record aside that cannot be taken in, so that it does not hold up those after it.
    pub(crate) fn set_aside(&self, name: &str) {
        let _ = std::fs::rename(self.path_of(name), self.folder.join(format!("{name}.{UNREADABLE}")));
    }

    /// Removes the folder once it is empty, and what killed processes left in it.
    pub(crate) fn tidy(&self) {
        for name in self.with_ending(UNFINISHED) {
            let path = self.folder.join(format!("{name}.{UNFINISHED}"));
            if crate::blobs::is_old(&path) {
                let _ = std::fs::remove_file(path);
            }
        }
        // It fails as long as anything is left.
        let _ = std::fs::remove_dir(&self.folder);
    }

    fn with_ending(&self, ending: &str) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let name = |file: std::fs::DirEntry| {
            let name = file.file_name().into_string().ok()?;
            Some(name.strip_suffix(ending)?.strip_suffix('.')?.to_owned())
        };
        files.flatten().filter_map(name).collect()
    }

    fn check_room(&self, more: u64) -> Result<()> {
        let files = std::fs::read_dir(&self.folder).map_err(|error| from_system(&self.folder, &error))?;
        let (mut count, mut bytes) = (0, more);
        for file in files.flatten() {
            count += 1;
            bytes += file.metadata().map_or(0, |about| about.len());
        }
        if count < MOST_RECORDS && bytes <= MOST_BYTES {
            return Ok(());
        }
        let detail = format!("the spool is full: {count} records, {} MiB", bytes >> 20);
        Err(StoreError::Unusable { path: self.folder.clone(), detail })
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{RECORD}"))
    }
}
