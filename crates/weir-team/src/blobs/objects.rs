//! Objects that are beside the texts in the same store, such as the copies of an index.
//!
//! Invariant: their keys begin with a word that is not the name of a tenant, which has 32 hexadecimal digits.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, ObjectMeta, PutMode, PutOptions, PutPayload};
use weir_records::{ErrorKind, PortError, Result};

use super::ObjectBlobs;
use super::error::from_store;

impl ObjectBlobs {
    /// Writes an object, whole or not at all. One with the same key is replaced.
    pub(crate) fn write_object(&self, path: Path, bytes: Vec<u8>, doing: &str) -> Result<()> {
        let store = self.store();
        let written = self.bridge.run(async move {
            store.put_opts(&path, PutPayload::from(bytes), PutOptions::from(PutMode::Overwrite)).await
        });
        written.map(drop).map_err(|error| from_store(&error, doing))
    }

    /// Reads an object, if there is one. One that is larger than it may be counts as damaged, and is not read.
    pub(crate) fn read_object(&self, path: Path, max_bytes: u64, doing: &str) -> Result<Option<Vec<u8>>> {
        let store = self.store();
        let read = self.bridge.run(async move {
            let found = store.get_opts(&path, GetOptions::new()).await?;
            if found.meta.size > max_bytes {
                return Ok(None);
            }
            Ok(Some(Vec::from(found.bytes().await?)))
        });
        match read {
            Ok(Some(bytes)) => Ok(Some(bytes)),
            Ok(None) => Err(PortError::new(ErrorKind::Damaged, doing).because("an object is too large")),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(from_store(&error, doing)),
        }
    }

    /// Returns everything below a path.
    pub(crate) fn list_objects(&self, below: Path, doing: &str) -> Result<Vec<ObjectMeta>> {
        let store = self.store();
        let listed = self.bridge.run(async move { store.list(Some(&below)).try_collect().await });
        listed.map_err(|error| from_store(&error, doing))
    }

    /// Deletes objects. One that is gone already does not count as a failure.
    pub(crate) fn remove_objects(&self, paths: Vec<Path>, doing: &str) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let store = self.store();
        let removed = self.bridge.run(async move {
            let mut results = store.delete_stream(stream::iter(paths.into_iter().map(Ok::<_, StoreError>)).boxed());
            while let Some(result) = results.next().await {
                match result {
                    Ok(_) | Err(StoreError::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        });
        removed.map_err(|error| from_store(&error, doing))
    }
}
