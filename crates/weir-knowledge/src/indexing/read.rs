//! Reads a file for indexing, as text.
//!
//! Invariant: at most [`TOO_LARGE_BYTES`] bytes are read, never through a link, and from regular files only.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use weir_core::terminal;
use weir_host::os;

use super::report::SkipReason;
use super::walk::modified;

/// Files of at least this many bytes are not indexed.
pub(super) const TOO_LARGE_BYTES: u64 = (8 << 20) + 1;
/// How many bytes are examined to tell whether a file is text.
const HEAD_BYTES: u64 = 8 << 10;

pub struct Content {
    pub bytes: Vec<u8>,
    pub modified: i64,
    pub hash: String,
}

pub(super) struct Text {
    pub(super) text: Vec<u8>,
    pub(super) title: Option<String>,
}

/// Why a file yields no text.
pub enum ReadError {
    Skipped(SkipReason),
    Failed(std::io::Error),
}

impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Reads a file. If it is not text, reads only its beginning.
pub fn content(path: &Path) -> Result<Content, ReadError> {
    // Since it was listed, the file may have been replaced by a link or a pipe.
    let file = os::not_following(File::options().read(true)).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(ReadError::Skipped(SkipReason::Special));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len().min(TOO_LARGE_BYTES)).unwrap_or_default());
    let mut file = file.take(HEAD_BYTES);
    file.read_to_end(&mut bytes)?;
    if bytes.starts_with(b"%PDF-") {
        return Err(ReadError::Skipped(SkipReason::Pdf));
    }
    if !terminal::is_utf16(&bytes) && terminal::is_binary(&bytes) {
        return Err(ReadError::Skipped(SkipReason::Binary));
    }
    file.set_limit(TOO_LARGE_BYTES - HEAD_BYTES);
    file.read_to_end(&mut bytes)?;
    if bytes.len() as u64 >= TOO_LARGE_BYTES {
        return Err(ReadError::Skipped(SkipReason::Large));
    }
    let hash = blake3::hash(&bytes).to_hex().to_string();
    Ok(Content { bytes, modified: modified(&about), hash })
}

/// Returns the text of a file, or why it is not indexed.
pub(super) fn text(path: &Path, bytes: Vec<u8>) -> Result<Text, SkipReason> {
    let bytes = terminal::from_utf16(&bytes).map_or(bytes, String::into_bytes);
    if terminal::is_binary(&bytes) {
        return Err(SkipReason::Binary);
    }
    if bytes.trim_ascii().is_empty() {
        return Err(SkipReason::Empty);
    }
    let ending = path.extension().map(OsStr::to_ascii_lowercase);
    let is_html = ending.is_some_and(|ending| ["html", "htm", "xhtml"].iter().any(|known| ending == *known));
    Ok(if is_html { page(&bytes) } else { Text { text: bytes, title: None } })
}

/// Returns the readable part of a web page, or all of it if none was found.
fn page(bytes: &[u8]) -> Text {
    let html = String::from_utf8_lossy(bytes);
    let page = weir_fetch::html::to_markdown(&html, None);
    let text = if page.markdown.trim().is_empty() { html.into_owned() } else { page.markdown };
    Text { text: text.into_bytes(), title: page.title }
}
