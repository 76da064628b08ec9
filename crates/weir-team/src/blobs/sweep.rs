//! Lists texts, and removes those that nothing has any more.

use object_store::path::Path;
use weir_core::{Scope, TenantId, Timestamp};
use weir_records::{Blobs as _, Log, Result, TextKey, name_of};

use super::ObjectBlobs;
use super::error::from_system;

const LIST: &str = "list texts";

/// A text in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredText {
    /// The text.
    pub key: TextKey,
    /// Its size as it is stored, in bytes.
    pub stored_bytes: u64,
    /// When it was stored.
    pub at: Timestamp,
}

/// Some of the texts of a tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The texts, in the order of their keys.
    pub texts: Vec<StoredText>,
    /// How many things were found that are not texts. They are left alone.
    pub others: u64,
}

/// What a sweep has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many texts a record has, or are too new to be judged.
    pub kept: u64,
    /// How many were deleted.
    pub deleted: u64,
    /// How large the deleted ones were as they were stored, in bytes.
    pub deleted_bytes: u64,
    /// How many things were found that are not texts. They are left alone.
    pub others: u64,
}

impl ObjectBlobs {
    /// Returns the texts of the scope's tenant whose keys begin with a byte: one of 256 parts, so that no listing is
    /// long.
    pub fn list(&self, scope: &Scope, first_byte: u8) -> Result<Listing> {
        let shard = format!("{first_byte:02x}");
        let mut listing = Listing::default();
        for object in self.list_objects(Path::from(format!("{}/{shard}", name_of(&[&scope.tenant.0]))), LIST)? {
            let name = object.location.filename().and_then(|name| name.strip_suffix(".zst"));
            match name.map(TextKey::parse) {
                Some(Ok(key)) => listing.texts.push(StoredText {
                    key,
                    stored_bytes: object.size,
                    at: Timestamp(object.last_modified.timestamp_millis()),
                }),
                _ => listing.others += 1,
            }
        }
        listing.texts.sort_by_key(|text| text.key);
        Ok(listing)
    }

    /// Deletes the texts of the scope's tenant that no record has and that were stored before a time: what a crash
    /// between storing a text and appending its record has left. A text for which a record arrives meanwhile is put
    /// back.
    pub fn sweep(&self, scope: &Scope, log: &dyn Log, before: Timestamp) -> Result<Swept> {
        let mut swept = Swept::default();
        for first_byte in 0..=u8::MAX {
            let listing = self.list(scope, first_byte)?;
            swept.others += listing.others;
            for text in listing.texts {
                if text.at < before && self.sweep_one(scope, log, &text.key)? {
                    swept.deleted += 1;
                    swept.deleted_bytes += text.stored_bytes;
                } else {
                    swept.kept += 1;
                }
            }
        }
        Ok(swept)
    }

    /// Deletes a text unless a record has it, and returns whether it did.
    fn sweep_one(&self, scope: &Scope, log: &dyn Log, key: &TextKey) -> Result<bool> {
        if log.text_uses(scope, key)? > 0 {
            return Ok(false);
        }
        // A text that cannot be read cannot be put back, and nobody can read it either.
        let text = self.get(scope, key).ok().flatten();
        self.delete(scope, key)?;
        if log.text_uses(scope, key)? == 0 {
            return Ok(true);
        }
        if let Some(text) = text {
            self.put(scope, &text)?;
        }
        Ok(false)
    }

    /// Deletes all texts of a tenant, and returns how many there were.
    pub fn remove_tenant(&self, tenant: &TenantId) -> Result<u64> {
        let doing = "remove the texts of a tenant";
        let name = name_of(&[&tenant.0]);
        let objects = self.list_objects(Path::from(name.as_str()), LIST)?;
        let count = objects.len() as u64;
        if let Some(folder) = &self.folder {
            // Unfinished files too, which are not listed.
            match std::fs::remove_dir_all(folder.join(&name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(from_system(&error, doing)),
                _ => return Ok(count),
            }
        }
        self.remove_objects(objects.into_iter().map(|object| object.location).collect(), doing)?;
        Ok(count)
    }
}
