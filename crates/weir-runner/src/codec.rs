//! Encodes values for the helper and decodes them. Both ends are the same program, so the format has no version.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn list<T: AsRef<OsStr>>(&mut self, items: &[T]) {
        self.number(items.len() as u64);
        items.iter().for_each(|item| self.bytes(item.as_ref().as_bytes()));
    }
}

/// Decodes values in the order in which they were written.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn number(&mut self) -> io::Result<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>().ok_or_else(cut)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*number))
    }

    pub(crate) fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let length = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(cut)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> io::Result<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    pub(crate) fn list(&mut self) -> io::Result<Vec<OsString>> {
        let count = self.number()?;
        (0..count).map(|_| Ok(OsString::from_vec(self.bytes()?.to_vec()))).collect()
    }

    pub(crate) fn paths(&mut self) -> io::Result<Vec<PathBuf>> {
        Ok(self.list()?.into_iter().map(PathBuf::from).collect())
    }
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the message to the helper was cut short")
}
