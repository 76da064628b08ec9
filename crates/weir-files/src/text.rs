//! Reads a complete file, with the hash of its content. Invariant: at most [`MAX_FILE_BYTES`] bytes, from regular files
//! only.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{self, Read as _};

use weir_core::terminal;
use weir_core::wording::size;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::os;

use super::{FileLocation, Folder};

/// The largest file that is read, in bytes. A larger one is data, which code can examine better than a model.
const MAX_FILE_BYTES: u64 = 8 << 20;

pub struct Content {
    pub bytes: Vec<u8>,
    /// The BLAKE3 hash of the bytes, in hexadecimal.
    pub hash: String,
    pub about: Metadata,
}

pub struct Text<'a> {
    pub text: Cow<'a, str>,
    /// Whether some bytes were not valid and are shown as `�`.
    pub replaced: bool,
    /// Whether the file is in UTF-16.
    pub utf16: bool,
}

impl Content {
    pub fn read(place: &FileLocation) -> Result<Self, CommandError> {
        Folder::open(place.folder())
            .and_then(|folder| Self::read_in(&folder, place.name()))
            .map_err(|error| unreadable(place, &error))
    }

    pub fn read_in(folder: &Folder, name: &OsStr) -> io::Result<Self> {
        let file = folder.file(name)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let too_large =
            || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {}", size(MAX_FILE_BYTES)));
        if about.len() > MAX_FILE_BYTES {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(about.len() as usize + 1);
        // The file may grow while it is read.
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(too_large());
        }
        let hash = blake3::hash(&bytes).to_hex().to_string();
        Ok(Self { bytes, hash, about })
    }

    pub fn text(&self, place: &FileLocation) -> Result<Text<'_>, CommandError> {
        let decoded = terminal::from_utf16(&self.bytes);
        if terminal::is_binary(decoded.as_deref().map_or(self.bytes.as_slice(), str::as_bytes)) {
            let size = size(self.bytes.len() as u64);
            return Err(CommandError::new(ErrorKind::Failed, format!("{} is binary, {size}", place.label()))
                .hint(format!("process it with {}", place.face.execute_file())));
        }
        if let Some(text) = decoded {
            return Ok(Text { replaced: text.contains(char::REPLACEMENT_CHARACTER), text: text.into(), utf16: true });
        }
        let text = String::from_utf8_lossy(&self.bytes);
        let replaced = matches!(text, Cow::Owned(_));
        Ok(Text { text, replaced, utf16: false })
    }

    /// Returns whether the content is in UTF-16, in which nothing is written.
    pub fn is_utf16(&self) -> bool {
        terminal::is_utf16(&self.bytes)
    }

    /// Returns a prefix of the hash that is long enough to tell two contents apart.
    pub fn short_hash(&self) -> &str {
        short(&self.hash)
    }
}

pub(crate) fn short(hash: &str) -> &str {
    hash.get(..8).unwrap_or(hash)
}

/// Explains to the caller why a file could not be read.
pub(super) fn unreadable(place: &FileLocation, error: &io::Error) -> CommandError {
    let shown = place.label();
    match error.kind() {
        io::ErrorKind::NotFound => CommandError::new(ErrorKind::NotFound, format!("no such file: {shown}")),
        io::ErrorKind::FileTooLarge => CommandError::new(ErrorKind::Failed, format!("{shown} is too large: {error}"))
            .hint(format!("process it with {}", place.face.execute_file())),
        _ if os::is_link_error(error) => {
            CommandError::new(ErrorKind::Denied, format!("{shown} was replaced by a link")).hint("try again")
        }
        _ => CommandError::new(ErrorKind::Failed, format!("cannot read {shown}: {error}")),
    }
}
