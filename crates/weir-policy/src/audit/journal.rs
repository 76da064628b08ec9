//! Encodes the state before a run as bytes. They are stored out of the run's reach until the audit is over, so another
//! process can finish the audit.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::Before;
use crate::masks::Stamp;

/// The first field, so data written by another version is not misread.
const VERSION: &[u8] = b"1";
/// The last field, so truncated data is noticed.
const END: &[u8] = b"end";

impl Before {
    /// Encodes the state as fields that end with a zero byte, which no path contains.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut field = |value: &[u8]| {
            bytes.extend_from_slice(value);
            bytes.push(0);
        };
        field(VERSION);
        field(self.roots.len().to_string().as_bytes());
        self.roots.iter().for_each(|root| field(root.as_os_str().as_encoded_bytes()));
        for (path, stamp) in &self.stamps {
            field(stamp.to_text().as_bytes());
            field(path.as_os_str().as_encoded_bytes());
        }
        field(END);
        bytes
    }

    /// Decodes the output of [`Self::to_bytes`]. Returns `None` if the bytes are invalid or incomplete.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.split(|byte| *byte == 0);
        if fields.next()? != VERSION {
            return None;
        }
        let count: usize = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let mut before = Self::default();
        for _ in 0..count {
            before.roots.push(path(fields.next()?)?);
        }
        loop {
            match fields.next()? {
                END => return Some(before),
                stamp => {
                    let stamp = Stamp::from_text(std::str::from_utf8(stamp).ok()?)?;
                    before.stamps.insert(path(fields.next()?)?, stamp);
                }
            }
        }
    }
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(PathBuf::from(OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(|text| PathBuf::from(OsStr::new(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_was_there_comes_back_and_a_cut_is_noticed() {
        use std::os::unix::ffi::OsStrExt as _;
        let stamp = |path: &str| Stamp::of(&std::fs::symlink_metadata(path).unwrap());
        let odd = PathBuf::from(OsStr::from_bytes(b"/p/\xff\n.envrc"));
        let before = Before {
            roots: vec!["/p".into(), "/q r".into()],
            stamps: [(odd, stamp("/")), ("/p/.git".into(), stamp("/proc/self/status"))].into(),
        };
        let bytes = before.to_bytes();
        assert_eq!(Before::from_bytes(&bytes), Some(before));
        for cut in 0..bytes.len() - 1 {
            assert_eq!(Before::from_bytes(&bytes[..cut]), None, "cut at {cut}");
        }
    }
}
