//! What the store has of the copies. Invariant: an object whose key has another form than those of copies is left alone.

use std::collections::BTreeMap;

use object_store::ObjectMeta;
use object_store::path::Path as ObjectPath;
use weir_records::{HostId, Result};

use super::manifest::MANIFEST;
use super::{CLEAN_UP, COPIES};
use crate::blobs::ObjectBlobs;

/// What the store has of one server's copy. Times are in milliseconds, by the clock of the store.
#[derive(Default)]
pub(super) struct StoredCopy {
    /// When its manifest was written. Without one, its first copy was not finished.
    pub(super) made_at: Option<i64>,
    /// When something of it was written last.
    pub(super) changed_at: i64,
    /// Its parts, with their sizes in bytes.
    pub(super) parts: BTreeMap<String, u64>,
    /// What its keys begin with.
    below: String,
}

/// Which copy an object belongs to.
pub(super) struct Placed<'a> {
    pub(super) part: Option<&'a str>,
    pub(super) server: HostId,
}

impl<'a> Placed<'a> {
    /// Returns which copy the object with this key belongs to, if it belongs to one.
    pub(super) fn of(path: &'a ObjectPath) -> Option<Self> {
        let keys: Vec<&str> = path.as_ref().split('/').collect();
        let (part, server) = match keys.as_slice() {
            [_, server, _] => (None, server),
            [_, part, server, _] => (Some(*part), server),
            _ => return None,
        };
        Some(Self { part, server: HostId::parse(server).ok()? })
    }
}

impl StoredCopy {
    /// Adds an object that belongs to the copy.
    pub(super) fn add(&mut self, object: &ObjectMeta) {
        let at = object.last_modified.timestamp_millis();
        self.changed_at = self.changed_at.max(at);
        let (below, name) = object.location.as_ref().rsplit_once('/').unwrap_or_default();
        below.clone_into(&mut self.below);
        if name == MANIFEST {
            self.made_at = Some(at);
        } else {
            self.parts.insert(name.to_owned(), object.size);
        }
    }

    fn path_of(&self, name: &str) -> ObjectPath {
        ObjectPath::from(format!("{}/{name}", self.below))
    }
}

/// Returns what the store has of all copies, of an earlier version too.
pub(super) fn stored_of_all(objects: &ObjectBlobs) -> Result<BTreeMap<HostId, Vec<StoredCopy>>> {
    let mut found: BTreeMap<(HostId, String), StoredCopy> = BTreeMap::new();
    for object in objects.list_objects(ObjectPath::from(COPIES), CLEAN_UP)? {
        if let Some(placed) = Placed::of(&object.location) {
            let part = placed.part.unwrap_or_default().to_owned();
            found.entry((placed.server, part)).or_default().add(&object);
        }
    }
    let mut by_server: BTreeMap<HostId, Vec<StoredCopy>> = BTreeMap::new();
    for ((server, _), copy) in found {
        by_server.entry(server).or_default().push(copy);
    }
    Ok(by_server)
}

/// Deletes copies: their manifests first, so that nobody starts to read what is about to go.
pub(super) fn remove<'a>(objects: &ObjectBlobs, copies: impl IntoIterator<Item = &'a StoredCopy>) -> Result<()> {
    let copies: Vec<&StoredCopy> = copies.into_iter().collect();
    objects.remove_objects(copies.iter().map(|copy| copy.path_of(MANIFEST)).collect(), CLEAN_UP)?;
    let parts = copies.iter().flat_map(|copy| copy.parts.keys().map(|name| copy.path_of(name)));
    objects.remove_objects(parts.collect(), CLEAN_UP)
}
