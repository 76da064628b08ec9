//! The spool: what hooks could not write to the log, in small files next to it until the next call takes them in.
//!
//! Invariants: a record is complete as soon as it has its name; names sort in the order of their times; a record is set
//! aside only if it is damaged itself; the spool never grows past [`MAX_SPOOL_BYTES`] and [`MAX_RECORDS`].

mod record;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use weir_core::{Limits, Scope, Timestamp};
use weir_ledger::private;

use crate::db::private_file_options;
use crate::error::{Result, StoreError, from_system};
use crate::layout::{SPOOL_FOLDER, StorePart};
pub(crate) use record::DecodedRecord;
pub use record::SpoolRecord;

/// Maximum size of all records together, in bytes.
const MAX_SPOOL_BYTES: u64 = 64 << 20;
const MAX_RECORDS: usize = 10_000;
/// Maximum size of the text of one output, in bytes. A larger output is not spooled.
pub const LONGEST_TEXT: u64 = 8 << 20;
/// Number of times a record is written again because the folder was removed meanwhile.
const MAX_TRIES: usize = 5;
const RECORD: &str = "record";
/// File extension of a record that is still being written.
const UNFINISHED: &str = "new";
/// File extension of a record that was set aside because it is damaged.
const UNREADABLE: &str = "unreadable";

pub struct Spool {
    folder: PathBuf,
}

impl Spool {
    /// Returns the spool of the store in `folder`.
    pub fn beside(folder: &Path) -> Self {
        Self { folder: folder.join(SPOOL_FOLDER) }
    }

    /// Writes a record. This needs no lock. If the record cannot be written completely, nothing is left behind.
    pub fn put(&self, scope: &Scope, spooled: &SpoolRecord, limits: &Limits, at: Timestamp) -> Result<()> {
        let bytes = record::encode(scope, spooled, limits, at);
        let name = format!("{:015}-{}", at.0.max(0), crate::blobs::random_name()?);
        let mut tries = 0;
        loop {
            match self.write(&name, &bytes) {
                Err(error) if is_folder_gone(&error) && tries < MAX_TRIES => tries += 1,
                written => return written.map_err(|error| from_system(StorePart::Spool, &error)),
            }
        }
    }

    /// Makes one attempt to write a record.
    fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        private::folder(&self.folder)?;
        self.check_room(bytes.len() as u64)?;
        let unfinished = self.folder.join(format!("{name}.{UNFINISHED}"));
        let written = private_file_options()
            .create_new(true)
            .open(&unfinished)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| std::fs::rename(&unfinished, self.path_of(name)));
        if written.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        written
    }

    /// Returns the names of the records, oldest first. Quick if there is no spool.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let mut names = self.with_ending(RECORD)?;
        names.sort_unstable();
        Ok(names)
    }

    /// Returns how many records are waiting, and how many are damaged.
    pub fn waiting(&self) -> Result<(usize, usize)> {
        Ok((self.names()?.len(), self.with_ending(UNREADABLE)?.len()))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads a record. Returns `None` if another process has taken it in or set it aside. An error says that it cannot
    /// be read at the moment.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Result<DecodedRecord, DamagedRecord>>> {
        match std::fs::read(self.path_of(name)) {
            Ok(bytes) => Ok(Some(record::decode(&bytes).ok_or_else(|| DamagedRecord(name.to_owned())))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::unusable(part_of(&format!("{name}.{RECORD}")), &error)),
        }
    }

    /// Returns whether a record certainly does not exist any more.
    pub(crate) fn is_gone(&self, name: &str) -> bool {
        let found = std::fs::symlink_metadata(self.path_of(name));
        found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    }

    /// Removes records that are in the log. Returns whether they are gone. A record that cannot be removed is
    /// recognised by its name later.
    pub(crate) fn remove(&self, names: &[String]) -> bool {
        for name in names {
            let _ = std::fs::remove_file(self.path_of(name));
        }
        names.iter().all(|name| self.is_gone(name))
    }

    /// Sets aside a damaged record, so that it does not block those after it.
    pub(crate) fn set_aside(&self, DamagedRecord(name): &DamagedRecord) -> Result<()> {
        match std::fs::rename(self.path_of(name), self.folder.join(format!("{name}.{UNREADABLE}"))) {
            // Another process was faster.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other.map_err(|error| from_system(part_of(&format!("{name}.{RECORD}")), &error)),
        }
    }

    /// Puts records back that were set aside and are not damaged. An earlier version set them aside for other reasons.
    pub(crate) fn put_back(&self) -> Result<()> {
        for name in self.with_ending(UNREADABLE)? {
            let path = self.folder.join(format!("{name}.{UNREADABLE}"));
            if std::fs::read(&path).is_ok_and(|bytes| record::decode(&bytes).is_some()) {
                let _ = std::fs::rename(&path, self.path_of(&name));
            }
        }
        Ok(())
    }

    /// Removes the damaged records that `is_meant` selects by the time in their name and by their bytes. Returns how
    /// many others there are.
    pub(crate) fn remove_damaged(&self, is_meant: impl Fn(Timestamp, &[u8]) -> bool) -> Result<usize> {
        let mut others = 0;
        for name in self.with_ending(UNREADABLE)? {
            let file = format!("{name}.{UNREADABLE}");
            let path = self.folder.join(&file);
            let at = name.split('-').next().and_then(|digits| digits.parse().ok()).map_or(Timestamp(0), Timestamp);
            let bytes = std::fs::read(&path).map_err(|error| StoreError::unusable(part_of(&file), &error))?;
            if !is_meant(at, &bytes) {
                others += 1;
                continue;
            }
            std::fs::remove_file(&path).map_err(|error| from_system(part_of(&file), &error))?;
        }
        self.tidy();
        Ok(others)
    }

    /// Removes what killed processes left, and the folder itself if it is empty.
    pub(crate) fn tidy(&self) {
        for name in self.with_ending(UNFINISHED).unwrap_or_default() {
            let path = self.folder.join(format!("{name}.{UNFINISHED}"));
            if crate::blobs::is_old(&path) {
                let _ = std::fs::remove_file(path);
            }
        }
        // This fails while anything is left in the folder.
        let _ = std::fs::remove_dir(&self.folder);
    }

    fn with_ending(&self, ending: &str) -> Result<Vec<String>> {
        let failed = |error: std::io::Error| StoreError::unusable(StorePart::Spool, &error);
        let files = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            files => files.map_err(failed)?,
        };
        let mut names = Vec::new();
        for file in files {
            let name = file.map_err(failed)?.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(ending)?.strip_suffix('.'));
            names.extend(name.map(str::to_owned));
        }
        Ok(names)
    }

    fn check_room(&self, more: u64) -> std::io::Result<()> {
        let files = std::fs::read_dir(&self.folder)?;
        let (mut count, mut bytes) = (0, more);
        for file in files.flatten() {
            count += 1;
            bytes += file.metadata().map_or(0, |about| about.len());
        }
        if count < MAX_RECORDS && bytes <= MAX_SPOOL_BYTES {
            return Ok(());
        }
        Err(std::io::Error::other(format!("the spool is full: {count} records, {} MiB", bytes >> 20)))
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{RECORD}"))
    }
}

/// The name of a record whose bytes are not a record.
pub(crate) struct DamagedRecord(String);

fn part_of(file: &str) -> StorePart {
    StorePart::SpoolRecord(file.to_owned())
}

/// Returns whether a write may have failed because the folder was removed: the process that empties the spool removes
/// it, perhaps while another one is about to use it.
fn is_folder_gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::AlreadyExists)
}
