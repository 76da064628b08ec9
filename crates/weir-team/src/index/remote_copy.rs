//! Copies of an index in the store of the texts. A server that has no index begins with one instead of the whole log.
//!
//! Each server has a copy below its own name and writes to no other, so servers that copy at once do not meet. A new
//! server takes the newest copy that it can use, and then has one of its own. The copies of servers that are gone are
//! deleted by those that go on. An index in parts has a copy of each, below the name of the part.
//!
//! Invariants: a manifest is written after everything that it names, and what it does not name is deleted after that,
//! so a copy that is interrupted leaves the one before as it was. A copy is data: it is checked against its hashes
//! before it is opened, and one that does not match is not used. The file that makes the others an index says which
//! positions in the log belong to it, so the two are never of different times.

mod manifest;
mod staging;
mod stored;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use object_store::path::Path as ObjectPath;
use tantivy::directory::MmapDirectory;
use tantivy::{Directory as _, TantivyError};
use weir_ledger::private;
use weir_records::{ErrorKind, HostId, PortError, Result};

pub(super) use self::manifest::META_FILE;
use self::manifest::{CopiedFile, MANIFEST, MAX_MANIFEST_BYTES, MAX_PART_BYTES, Manifest, Part};
use self::staging::Staging;
pub(super) use self::staging::clear_staging;
use self::stored::{Placed, StoredCopy, remove, stored_of_all};
use super::error::{from_engine, from_system};
use super::progress::PROGRESS_FILE;
use super::{Started, TantivyIndex};
use crate::blobs::ObjectBlobs;

/// What the keys of all copies begin with.
const COPIES: &str = "index-copies";
/// The list of files that tantivy may delete, by its own name for it.
const MANAGED_FILE: &str = ".managed.json";
/// How old the copy of another server may become, in milliseconds: a day. Its server is gone or idle then.
const MAX_COPY_AGE_MILLIS: i64 = 24 * 60 * 60 * 1_000;

pub(super) const COPY: &str = "copy the index";
const CLEAN_UP: &str = "remove old copies of the index";
pub(super) const RESTORE: &str = "restore the index from a copy";

/// Where the copies of one server's index go, and those of others are found.
#[derive(Clone)]
pub struct CopyPlace {
    objects: Arc<ObjectBlobs>,
    /// The server whose copy is written.
    server: HostId,
    /// The part of the index that is copied, unless it has none.
    part: Option<String>,
}

/// Copies one index. Used from threads that may block.
pub struct IndexCopier {
    index: Arc<TantivyIndex>,
    copier: Mutex<Copier>,
    /// How many removals the last copy has followed.
    removals: AtomicU64,
}

/// Copies an index or a part of one, and knows its last copy.
pub(super) struct Copier {
    place: CopyPlace,
    known: Known,
}

/// What became of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// The index is as it was when it was copied last.
    Unchanged,
    /// It was copied.
    Made {
        /// The size of the copy, in bytes.
        bytes: u64,
        /// How much of it was not in the store before, in bytes.
        written_bytes: u64,
    },
}

/// What is known of the last copy.
#[derive(Default)]
struct Known {
    /// Whether what the store has from an earlier run may be relied on.
    is_trusted: bool,
    /// The hash of its meta file.
    mark: Option<blake3::Hash>,
    /// The parts of its other files, which never change.
    files: BTreeMap<String, Vec<Part>>,
}

/// A copy that a server has made. The greater, the newer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CopyVersion {
    made_at: i64,
    server: HostId,
}

impl CopyPlace {
    /// Opens the place beside the texts. The name of the server is in a file, which is created if it does not exist.
    pub fn open(objects: Arc<ObjectBlobs>, name_file: &Path) -> Result<Self> {
        let failed = |error: io::Error| from_system(&error, "read the name of the server's copies");
        let known = match fs::read_to_string(name_file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            read => HostId::parse(read.unwrap_or_default().trim()).ok(),
        };
        if let Some(server) = known {
            return Ok(Self { objects, server, part: None });
        }
        let server = HostId::random()?;
        if let Some(folder) = name_file.parent() {
            private::folder(folder).map_err(failed)?;
        }
        fs::write(name_file, server.to_string()).map_err(failed)?;
        Ok(Self { objects, server, part: None })
    }

    /// Deletes the copies of all servers, and returns how many servers had one. Each makes another when its index
    /// changes.
    pub fn remove_all(objects: &ObjectBlobs) -> Result<u64> {
        let stored = stored_of_all(objects)?;
        for copies in stored.values() {
            remove(objects, copies)?;
        }
        Ok(stored.len() as u64)
    }

    /// Returns the place of a part of the index.
    pub(super) fn of_part(&self, part: &str) -> Self {
        Self { part: Some(part.to_owned()), ..self.clone() }
    }

    /// Returns the parts of which any server has a copy.
    pub(super) fn copied_parts(&self) -> Result<BTreeSet<String>> {
        let listed = self.objects.list_objects(ObjectPath::from(COPIES), RESTORE)?;
        let placed = listed.iter().filter_map(|object| Some(Placed::of(&object.location)?.part?.to_owned()));
        Ok(placed.collect())
    }

    /// Deletes all copies of servers that have copied nothing for long. Their parts may be ones that no other server
    /// will ever copy again.
    pub(super) fn remove_gone(&self) -> Result<()> {
        let stored = stored_of_all(&self.objects)?;
        let newest = |copies: &[StoredCopy]| copies.iter().map(|copy| copy.changed_at).max().unwrap_or_default();
        let Some(own) = stored.get(&self.server).map(|copies| newest(copies)) else { return Ok(()) };
        let gone = stored.values().filter(|copies| own.saturating_sub(newest(copies)) > MAX_COPY_AGE_MILLIS);
        gone.into_iter().try_for_each(|copies| remove(&self.objects, copies))
    }

    /// Returns the newest copy that is none of these, if there is one.
    pub(super) fn newest_but(&self, tried: &[CopyVersion]) -> Result<Option<CopyVersion>> {
        let stored = self.stored(RESTORE)?;
        let made =
            stored.iter().filter_map(|(server, copy)| Some(CopyVersion { made_at: copy.made_at?, server: *server }));
        Ok(made.filter(|copy| !tried.contains(copy)).max())
    }

    /// Brings a copy into a folder that has no index and that nobody else uses. After a failure, there is still none.
    pub(super) fn fetch(&self, copy: CopyVersion, folder: &Path) -> Result<()> {
        let server = copy.server;
        let missing = || PortError::new(ErrorKind::Damaged, RESTORE).because("its manifest is gone");
        let path = self.path_of(server, MANIFEST);
        let json = self.objects.read_object(path, MAX_MANIFEST_BYTES, RESTORE)?.ok_or_else(missing)?;
        let manifest = Manifest::parse(&json, RESTORE)?;
        let failed = |error: io::Error| from_system(&error, RESTORE);
        let directory =
            MmapDirectory::open(folder).map_err(|error| from_engine(&TantivyError::from(error), RESTORE))?;
        // Before the files, so that the engine deletes them if the rest does not arrive.
        let names = manifest.files.iter().map(|file| file.name.as_str());
        let names: Vec<&str> = names.filter(|name| *name != PROGRESS_FILE).collect();
        let managed = serde_json::to_vec(&names).map_err(|error| failed(error.into()))?;
        directory.atomic_write(Path::new(MANAGED_FILE), &managed).map_err(failed)?;
        let mut meta = Vec::new();
        for file in &manifest.files {
            if file.name == META_FILE {
                self.fetch_file(server, file, &mut meta)?;
            } else {
                let mut written = fs::File::create(folder.join(&file.name)).map_err(failed)?;
                self.fetch_file(server, file, &mut written)?;
                written.sync_all().map_err(failed)?;
            }
        }
        private::sync(folder).map_err(failed)?;
        directory.atomic_write(Path::new(META_FILE), &meta).map_err(failed)?;
        private::sync(folder).map_err(failed)
    }

    fn fetch_file(&self, server: HostId, file: &CopiedFile, to: &mut impl Write) -> Result<()> {
        let wrong = |reason: &'static str| PortError::new(ErrorKind::Damaged, RESTORE).because(reason);
        for part in &file.parts {
            let path = self.path_of(server, &part.hash);
            let read = self.objects.read_object(path, MAX_PART_BYTES, RESTORE)?;
            let content = read.ok_or_else(|| wrong("a part of it is missing"))?;
            if Part::of(&content) != *part {
                return Err(wrong("a part of it does not match its hash"));
            }
            to.write_all(&content).map_err(|error| from_system(&error, RESTORE))?;
        }
        Ok(())
    }

    /// Deletes what the new copy does not need, and the copies of servers that have made none for long.
    fn clean_up(&self, manifest: &Manifest) -> Result<()> {
        let stored = self.stored(CLEAN_UP)?;
        let Some(own) = stored.get(&self.server) else { return Ok(()) };
        let needed = manifest.hashes();
        let unneeded = own.parts.keys().filter(|hash| !needed.contains(hash.as_str()));
        self.objects.remove_objects(unneeded.map(|hash| self.path_of(self.server, hash)).collect(), CLEAN_UP)?;
        let is_old = |copy: &&StoredCopy| own.changed_at.saturating_sub(copy.changed_at) > MAX_COPY_AGE_MILLIS;
        remove(&self.objects, stored.values().filter(is_old))
    }

    /// Returns the key of a part, or of the manifest, of a server's copy.
    fn path_of(&self, server: HostId, name: &str) -> ObjectPath {
        ObjectPath::from(format!("{}/{server}/{name}", self.below()))
    }

    /// Returns what all keys of the copies begin with.
    fn below(&self) -> String {
        self.part.as_ref().map_or_else(|| COPIES.to_owned(), |part| format!("{COPIES}/{part}"))
    }

    /// Returns what the store has of each server's copy. What has another form is left alone.
    fn stored(&self, doing: &str) -> Result<BTreeMap<HostId, StoredCopy>> {
        let mut found: BTreeMap<HostId, StoredCopy> = BTreeMap::new();
        for object in self.objects.list_objects(ObjectPath::from(self.below()), doing)? {
            let Some(placed) = Placed::of(&object.location) else { continue };
            if placed.part == self.part.as_deref() {
                found.entry(placed.server).or_default().add(&object);
            }
        }
        Ok(found)
    }
}

impl IndexCopier {
    /// Returns what copies an index to a place.
    pub fn new(place: CopyPlace, index: Arc<TantivyIndex>) -> Self {
        let copier = Mutex::new(Copier::new(place, *index.started() == Started::Found));
        Self { index, copier, removals: AtomicU64::new(0) }
    }

    /// Returns whether the copy may have words that were removed from the index since it was opened.
    pub fn is_urgent(&self) -> bool {
        self.index.removals() != self.removals.load(Ordering::Relaxed)
    }

    /// Copies the index as it is, if it has changed since the last copy. Writers wait only while its files are linked.
    pub fn copy(&self) -> Result<Copied> {
        let mut copier = self.copier.lock().unwrap_or_else(PoisonError::into_inner);
        let removals = self.index.removals();
        let copied = copier.copy(&self.index)?;
        self.removals.store(removals, Ordering::Relaxed);
        Ok(copied)
    }
}

impl Copier {
    /// Returns what copies an index to a place, and whether the copy there can be one of what it has: not if the index
    /// had to be made or restored.
    pub(super) fn new(place: CopyPlace, was_found: bool) -> Self {
        Self { place, known: Known { is_trusted: was_found, ..Known::default() } }
    }

    /// Returns whether the last copy is of an index with this mark.
    pub(super) fn has(&self, mark: blake3::Hash) -> bool {
        self.known.mark == Some(mark)
    }

    /// Copies the index as it is, if it has changed since the last copy.
    pub(super) fn copy(&mut self, index: &TantivyIndex) -> Result<Copied> {
        let mark = index.mark().map_err(|error| from_engine(&error, COPY))?;
        if self.has(mark) {
            return Ok(Copied::Unchanged);
        }
        let staging = Staging::of(index, COPY)?;
        let mut stored = self.place.stored(COPY)?.remove(&self.place.server).unwrap_or_default().parts;
        if self.known.mark.is_none() && !self.known.is_trusted {
            // Its own copy is lost or may have been refused, so nothing of it is relied on.
            stored.clear();
        }
        let (mut files, mut written_bytes) = (Vec::new(), 0);
        for name in staging.names() {
            let parts = match self.known.files.get(name) {
                Some(parts) if parts.iter().all(|part| stored.get(&part.hash) == Some(&part.bytes)) => parts.clone(),
                _ => self.store_file(&staging.path(name), &mut stored, &mut written_bytes)?,
            };
            files.push(CopiedFile { name: name.clone(), parts });
        }
        drop(staging);
        let manifest = Manifest::of(files, COPY)?;
        let path = self.place.path_of(self.place.server, MANIFEST);
        self.place.objects.write_object(path, manifest.to_json(COPY)?, COPY)?;
        let lasting = manifest.files.iter().filter(|file| ![META_FILE, PROGRESS_FILE].contains(&file.name.as_str()));
        self.known.files = lasting.map(|file| (file.name.clone(), file.parts.clone())).collect();
        self.known.mark = Some(mark);
        self.place.clean_up(&manifest)?;
        Ok(Copied::Made { bytes: manifest.bytes(), written_bytes })
    }

    /// Stores the parts of a file that the store does not have, and returns all of them.
    fn store_file(
        &self,
        path: &Path,
        stored: &mut BTreeMap<String, u64>,
        written_bytes: &mut u64,
    ) -> Result<Vec<Part>> {
        let failed = |error: io::Error| from_system(&error, COPY);
        let mut file = fs::File::open(path).map_err(failed)?;
        let mut parts = Vec::new();
        loop {
            let mut content = Vec::new();
            Read::take(&mut file, MAX_PART_BYTES).read_to_end(&mut content).map_err(failed)?;
            if content.is_empty() {
                return Ok(parts);
            }
            let part = Part::of(&content);
            if stored.get(&part.hash) != Some(&part.bytes) {
                let path = self.place.path_of(self.place.server, &part.hash);
                self.place.objects.write_object(path, content, COPY)?;
                stored.insert(part.hash.clone(), part.bytes);
                *written_bytes += part.bytes;
            }
            parts.push(part);
        }
    }
}
