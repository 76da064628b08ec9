//! What a copy consists of: the files of an index, each as parts that are named by their content.
//!
//! Invariant: a manifest is data, and only a checked one is used. Its names are those of files that an index has, so
//! none leads out of a folder; their number and their sizes have limits.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use weir_records::{ErrorKind, PortError, Result};

use super::super::progress::{self, PROGRESS_FILE};

/// The name of a manifest in the store.
pub(super) const MANIFEST: &str = "manifest.json";
/// The file that makes the others an index.
pub(in crate::index) const META_FILE: &str = "meta.json";
/// How large a manifest may be, in bytes.
pub(super) const MAX_MANIFEST_BYTES: u64 = 16 << 20;
/// How large a part of a file may be, in bytes. One is in memory at a time.
pub(super) const MAX_PART_BYTES: u64 = 16 << 20;
/// How large the meta file may be, in bytes. It is in memory as a whole.
const MAX_META_BYTES: u64 = 256 << 20;
/// How many files a copy may have.
const MAX_FILES: usize = 10_000;
/// How large all files of a copy may be together, in bytes: 256 GiB.
const MAX_COPY_BYTES: u64 = 256 << 30;
/// The format of manifests.
const FORMAT: u32 = 1;
/// How many digits the name of a segment has.
const SEGMENT_DIGITS: usize = 32;
/// How long a name may be, in bytes.
const MAX_NAME_BYTES: usize = 80;

/// What a copy consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format: u32,
    /// The format of the index, so that one of another version is not fetched.
    index_format: u32,
    /// The files. The meta file says up to which commit the positions have to be those of the segments.
    pub(super) files: Vec<CopiedFile>,
}

/// A file of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CopiedFile {
    pub(super) name: String,
    /// Its content, in order.
    pub(super) parts: Vec<Part>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// The BLAKE3 hash of its content, which is its name in the store.
    pub(super) hash: String,
    /// Its size, in bytes.
    pub(super) bytes: u64,
}

impl Part {
    /// Returns the part that has this content.
    pub(super) fn of(content: &[u8]) -> Self {
        Self { hash: blake3::hash(content).to_hex().to_string(), bytes: content.len() as u64 }
    }
}

impl Manifest {
    /// Returns the manifest of these files, if a copy may have them.
    pub(super) fn of(files: Vec<CopiedFile>, doing: &str) -> Result<Self> {
        let manifest = Self { format: FORMAT, index_format: progress::FORMAT, files };
        match manifest.fault() {
            None => Ok(manifest),
            Some(fault) => Err(PortError::new(ErrorKind::Unavailable, doing).because(fault)),
        }
    }

    /// Reads a manifest.
    pub(super) fn parse(json: &[u8], doing: &str) -> Result<Self> {
        let wrong = |reason: &'static str| PortError::new(ErrorKind::Damaged, doing).because(reason);
        let manifest: Self = serde_json::from_slice(json).map_err(|_| wrong("its manifest cannot be read"))?;
        manifest.fault().map_or(Ok(manifest), |fault| Err(wrong(fault)))
    }

    /// Returns the manifest as it is stored.
    pub(super) fn to_json(&self, doing: &str) -> Result<Vec<u8>> {
        let json = serde_json::to_vec(self)
            .map_err(|error| PortError::new(ErrorKind::Unavailable, doing).because(error.to_string()))?;
        if json.len() as u64 > MAX_MANIFEST_BYTES {
            return Err(PortError::new(ErrorKind::Unavailable, doing).because("its manifest is too large"));
        }
        Ok(json)
    }

    /// Returns the names of all parts.
    pub(super) fn hashes(&self) -> BTreeSet<&str> {
        self.files.iter().flat_map(|file| &file.parts).map(|part| part.hash.as_str()).collect()
    }

    /// Returns the size of all files, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(CopiedFile::bytes).fold(0, u64::saturating_add)
    }

    /// Returns what is wrong with it, if something is.
    fn fault(&self) -> Option<&'static str> {
        if self.format != FORMAT || self.index_format != progress::FORMAT {
            return Some("another version made it");
        }
        if self.files.len() > MAX_FILES {
            return Some("it has too many files");
        }
        let names: BTreeSet<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        if names.len() != self.files.len() || !names.contains(META_FILE) || !names.iter().all(|name| is_file(name)) {
            return Some("its files are not those of an index");
        }
        if !self.files.iter().flat_map(|file| &file.parts).all(Part::is_sound) {
            return Some("a part of a file is not one");
        }
        let meta = self.files.iter().find(|file| file.name == META_FILE).map_or(0, CopiedFile::bytes);
        (meta > MAX_META_BYTES || self.bytes() > MAX_COPY_BYTES).then_some("it is too large")
    }
}

impl CopiedFile {
    fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).fold(0, u64::saturating_add)
    }
}

impl Part {
    fn is_sound(&self) -> bool {
        let is_hash = self.hash.len() == 2 * blake3::OUT_LEN && self.hash.bytes().all(is_hex_digit);
        is_hash && (1..=MAX_PART_BYTES).contains(&self.bytes)
    }
}

/// Returns whether a name is that of a file of an index: the meta file, the positions, or a segment with one or two
/// endings.
fn is_file(name: &str) -> bool {
    let Some((segment, ending)) = name.split_at_checked(SEGMENT_DIGITS) else {
        return [META_FILE, PROGRESS_FILE].contains(&name);
    };
    let mut endings = ending.split('.');
    let begins_with_a_dot = endings.next() == Some("");
    let rest: Vec<&str> = endings.collect();
    let is_ending =
        |ending: &&str| !ending.is_empty() && ending.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    segment.bytes().all(is_hex_digit)
        && begins_with_a_dot
        && (1..=2).contains(&rest.len())
        && rest.iter().all(is_ending)
        && name.len() <= MAX_NAME_BYTES
}

fn is_hex_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: &str = "0123456789abcdef0123456789abcdef";

    fn file(name: &str, parts: Vec<Part>) -> CopiedFile {
        CopiedFile { name: name.to_owned(), parts }
    }

    fn check(change: impl FnOnce(&mut Manifest), fault: Option<&str>) {
        let files = vec![file(&format!("{SEGMENT}.idx"), vec![Part::of(b"postings")]), file(META_FILE, Vec::new())];
        let mut manifest = Manifest::of(files, "test").unwrap();
        change(&mut manifest);
        let json = serde_json::to_vec(&manifest).unwrap();
        let parsed = Manifest::parse(&json, "test").map_err(|error| error.source.unwrap().to_string());
        assert_eq!(parsed, fault.map_or(Ok(manifest), |fault| Err(fault.to_owned())));
    }

    #[test]
    fn a_manifest_names_files_of_an_index_and_nothing_else() {
        check(|_| {}, None);
        for name in [".store", ".17.del", ".fieldnorm"] {
            check(|manifest| manifest.files.push(file(&format!("{SEGMENT}{name}"), Vec::new())), None);
        }
        let wrong = "its files are not those of an index";
        let names = ["../evil", "/etc/passwd", "a/b", "", ".", "..", ".managed.json", "meta.json", "Meta.json"];
        for name in names.map(str::to_owned).into_iter().chain(
            ["", ".", "..", ".a..b", "/../x", ".idx/x", ".a.b.c", ".IDX", ".\u{e9}"]
                .map(|end| format!("{SEGMENT}{end}")),
        ) {
            check(|manifest| manifest.files.push(file(&name, Vec::new())), Some(wrong));
        }
        check(|manifest| manifest.files.retain(|file| file.name != META_FILE), Some(wrong));
    }

    #[test]
    fn a_manifest_is_within_its_limits() {
        check(|manifest| manifest.format = 2, Some("another version made it"));
        check(|manifest| manifest.index_format += 1, Some("another version made it"));
        let part = |bytes: u64| Part { bytes, ..Part::of(b"x") };
        for bad in [part(0), part(MAX_PART_BYTES + 1), Part { hash: "../x".into(), ..part(1) }] {
            check(|manifest| manifest.files[0].parts.push(bad), Some("a part of a file is not one"));
        }
        let many = |bytes: u64| vec![part(MAX_PART_BYTES); (bytes / MAX_PART_BYTES) as usize + 1];
        check(|manifest| manifest.files[1].parts = many(MAX_META_BYTES), Some("it is too large"));
        check(|manifest| manifest.files[0].parts = many(MAX_COPY_BYTES), Some("it is too large"));
        let names = (0..MAX_FILES).map(|number| file(&format!("{SEGMENT}.{number}"), Vec::new()));
        check(|manifest| manifest.files.extend(names), Some("it has too many files"));
        let error = Manifest::parse(b"{\"format\": 1, \"more\": 1}", "restore").unwrap_err();
        assert_eq!(error.to_string(), "cannot restore: the stored data is damaged (its manifest cannot be read)");
    }
}
