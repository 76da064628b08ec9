//! Texts as files: zstd frames of 1 MiB, which any `zstd` can read, named by the hash of the text.
//!
//! Invariant: a file has its name only once it is complete and on the disk, so a crash leaves at worst an unfinished
//! file with a name of its own.

use std::fs;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use weir_core::Scope;
use weir_ledger::private;
use zstd::zstd_safe;

use super::db::from_system;
use super::name_of;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{HostId, TextKey};
use crate::ports::Blobs;

/// The size of the text in each frame but the last, in bytes.
const FRAME_BYTES: usize = 1 << 20;
/// Good compression at several hundred megabytes a second.
const LEVEL: i32 = 3;

/// Texts as files in a folder.
#[derive(Debug)]
pub struct FileBlobs {
    folder: PathBuf,
}

impl FileBlobs {
    /// Opens the texts in a folder, which is created if it does not exist.
    pub fn open(folder: &Path) -> Result<Self> {
        private::folder(folder).map_err(|error| from_system(&error, "create the folder of the texts"))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Returns the file of a text. Folders of 256 keep the listings short.
    fn path_of(&self, scope: &Scope, key: &TextKey) -> PathBuf {
        let hex = key.to_string();
        self.folder.join(name_of(&[&scope.tenant.0])).join(&hex[..2]).join(format!("{hex}.zst"))
    }

    fn read(&self, scope: &Scope, key: &TextKey) -> Result<Option<Vec<u8>>> {
        match fs::read(self.path_of(scope, key)) {
            Ok(stored) => Ok(Some(stored)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(from_system(&error, "read a text")),
        }
    }
}

impl Blobs for FileBlobs {
    fn put(&self, scope: &Scope, text: &[u8]) -> Result<TextKey> {
        let key = TextKey::of(text);
        let path = self.path_of(scope, &key);
        if !path.exists() {
            let part = path.with_file_name(format!("{}.part", HostId::random()?));
            let written = write(&path, &part, text);
            written
                .inspect_err(|_| drop(fs::remove_file(&part)))
                .map_err(|error| from_system(&error, "store a text"))?;
        }
        Ok(key)
    }

    fn get(&self, scope: &Scope, key: &TextKey) -> Result<Option<Vec<u8>>> {
        let Some(stored) = self.read(scope, key)? else { return Ok(None) };
        let text = inflate(&stored, 0..u64::MAX)?;
        if TextKey::of(&text) != *key {
            return Err(damaged("its content does not match its name"));
        }
        Ok(Some(text))
    }

    fn range(&self, scope: &Scope, key: &TextKey, range: Range<u64>) -> Result<Option<Vec<u8>>> {
        self.read(scope, key)?.map(|stored| inflate(&stored, range)).transpose()
    }

    fn delete(&self, scope: &Scope, key: &TextKey) -> Result<bool> {
        let path = self.path_of(scope, key);
        match fs::remove_file(&path).and_then(|()| path.parent().map_or(Ok(()), sync_folder)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(from_system(&error, "delete a text")),
        }
    }
}

fn write(path: &Path, part: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    if !folder.exists() {
        private::folder(folder)?;
        // The folder, that of the tenant and the one of all texts may be new.
        folder.ancestors().skip(1).take(2).try_for_each(sync_folder)?;
    }
    let mut file = private::open(part, private::options().truncate(true))?;
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    for frame in text.chunks(FRAME_BYTES) {
        file.write_all(&compressor.compress(frame)?)?;
    }
    file.sync_all()?;
    fs::rename(part, path)?;
    sync_folder(folder)
}

/// Waits until the names in a folder are on the disk. Only then do they survive a power cut.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // Other systems cannot open a folder like a file.
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Returns the part of a text within a range. Only the frames that it touches are inflated; each has a checksum.
fn inflate(stored: &[u8], range: Range<u64>) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let (mut rest, mut at) = (stored, 0u64);
    while !rest.is_empty() && at < range.end {
        let length = zstd_safe::find_frame_compressed_size(rest).map_err(|_| damaged("a frame is broken"))?;
        let (frame, after) = rest.split_at_checked(length).ok_or_else(|| damaged("a frame is cut short"))?;
        let frame_end = at + FRAME_BYTES as u64;
        if range.start < frame_end {
            let inflated = zstd::bulk::decompress(frame, FRAME_BYTES).map_err(|_| damaged("a frame is broken"))?;
            let within = |position: u64| (position.saturating_sub(at) as usize).min(inflated.len());
            text.extend_from_slice(inflated.get(within(range.start)..within(range.end)).unwrap_or_default());
        }
        (rest, at) = (after, frame_end);
    }
    Ok(text)
}

fn damaged(reason: &str) -> PortError {
    PortError::new(ErrorKind::Damaged, "read a text").because(reason)
}
