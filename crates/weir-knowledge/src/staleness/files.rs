//! Binds notes to files by their content, and checks whether the content is still the same. Invariant: a file is only
//! hashed, and none of its content is shown; only regular files of a bounded size are read.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use weir_core::Level;
use weir_core::note::BoundFile;
use weir_core::wording::one_line;
use weir_host::foreign;

use super::Doubt;

/// The largest file that can be bound, in bytes. Hashing a larger one would delay every answer that shows the note.
const MAX_FILE_BYTES: u64 = 64 << 20;
const MAX_TOTAL_BYTES: u64 = 256 << 20;

/// Returns the files with their current hashes, and those that could not be bound, with the reason. The note is stored
/// even if some of its files cannot be bound.
pub fn bind(root: &Path, level: Level, paths: &[String]) -> (Vec<BoundFile>, Vec<String>) {
    let (mut files, mut unbound) = (Vec::new(), Vec::new());
    for path in paths {
        match bind_one(root, level, path) {
            Ok(file) => files.push(file),
            Err(error) => unbound.push(format!("{}: {error}", one_line(path, 200))),
        }
    }
    (files, unbound)
}

fn bind_one(root: &Path, level: Level, path: &str) -> io::Result<BoundFile> {
    let full = root.join(path);
    let (hash, _) = hash(&full, MAX_FILE_BYTES)?;
    let shown = match level {
        // The note is visible from every project, where a relative path would name a different file.
        Level::User => full.as_path(),
        Level::Session | Level::Work | Level::Project => full.strip_prefix(root).unwrap_or(&full),
    };
    let path = shown.to_str().ok_or_else(|| io::Error::other("its name is not valid UTF-8"))?.to_owned();
    Ok(BoundFile { path, hash })
}

/// The files of one answer, each hashed once.
pub(super) struct BoundFiles<'a> {
    root: &'a Path,
    left: u64,
    known: HashMap<PathBuf, HashState>,
}

#[derive(Debug, Clone)]
enum HashState {
    Here(String),
    Gone,
    Unknown,
}

impl<'a> BoundFiles<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, left: MAX_TOTAL_BYTES, known: HashMap::new() }
    }

    pub(super) fn doubt(&mut self, file: &BoundFile) -> Option<Doubt> {
        let full = self.root.join(&file.path);
        let state = match self.known.get(&full) {
            Some(state) => state.clone(),
            None => {
                let state = self.look(&full);
                self.known.insert(full, state.clone());
                state
            }
        };
        match state {
            HashState::Here(hash) if hash == file.hash => None,
            HashState::Here(_) => Some(Doubt::FileChanged { path: file.path.clone() }),
            HashState::Gone => Some(Doubt::FileGone { path: file.path.clone() }),
            HashState::Unknown => None,
        }
    }

    fn look(&mut self, path: &Path) -> HashState {
        match hash(path, MAX_FILE_BYTES.min(self.left)) {
            Ok((hash, bytes)) => {
                self.left -= bytes.min(self.left);
                HashState::Here(hash)
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => HashState::Gone,
            Err(_) => HashState::Unknown,
        }
    }
}

fn hash(path: &Path, most: u64) -> io::Result<(String, u64)> {
    let file = foreign::open_user_file(path)?;
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {} MB", most >> 20));
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut hasher = blake3::Hasher::new();
    // The file may grow while it is read.
    hasher.update_reader(file.take(most + 1))?;
    if hasher.count() > most {
        return Err(too_large());
    }
    Ok((hasher.finalize().to_hex().to_string(), hasher.count()))
}
