//! Texts as files: zstd frames ([`frames`]), named by the hash of the text.
//!
//! Invariant: a file has its name only once it is complete and on the disk, so a crash leaves at worst an unfinished
//! file with a name of its own.

use std::fs;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use weir_core::Scope;
use weir_ledger::private;

use super::db::from_system;
use crate::error::Result;
use crate::frames::{self, damaged};
use crate::id::{HostId, TextKey};
use crate::names::name_of;
use crate::ports::Blobs;

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
        let text = frames::inflate(&stored, 0..u64::MAX)?;
        if TextKey::of(&text) != *key {
            return Err(damaged("its content does not match its name"));
        }
        Ok(Some(text))
    }

    fn range(&self, scope: &Scope, key: &TextKey, range: Range<u64>) -> Result<Option<Vec<u8>>> {
        if range.is_empty() {
            return Ok(self.path_of(scope, key).exists().then(Vec::new));
        }
        self.read(scope, key)?.map(|stored| frames::inflate(&stored, range)).transpose()
    }

    fn delete(&self, scope: &Scope, key: &TextKey) -> Result<bool> {
        let path = self.path_of(scope, key);
        match fs::remove_file(&path).and_then(|()| path.parent().map_or(Ok(()), private::sync)) {
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
        folder.ancestors().skip(1).take(2).try_for_each(private::sync)?;
    }
    let mut file = private::open(part, private::options().truncate(true))?;
    file.write_all(&frames::compress(text)?)?;
    file.sync_all()?;
    fs::rename(part, path)?;
    private::sync(folder)
}
