//! Texts in an object store: a folder, or a bucket of a store that speaks S3.
//!
//! Invariants: a text is a zstd file named by its content, below the name of its tenant; nothing is written over. A
//! folder has the layout of `weir_records::sqlite::FileBlobs`, so a server can go on with the texts of the other.

mod bridge;
mod error;
mod fetch;
mod objects;
mod place;
mod sweep;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use object_store::{Error as StoreError, ObjectStore, PutMode, PutOptions, PutPayload};
pub use place::S3Place;
pub use sweep::{Listing, StoredText, Swept};
use weir_core::Scope;
use weir_ledger::private;
use weir_records::frames::{self, damaged};
use weir_records::{Blobs, Result, TextKey, TextPart, name_of};

use self::bridge::Bridge;
use self::error::{from_store, from_system};
use self::fetch::{Fetched, WHOLE};

/// How many texts of one call are fetched or stored at once. Most of the time goes to the disk or the network.
const MAX_CALLS_AT_ONCE: usize = 64;

const READ: &str = "read a text";
const STORE: &str = "store a text";
const DELETE: &str = "delete a text";

/// Texts in an object store. Used from threads that may block; see [`Blobs`].
pub struct ObjectBlobs {
    store: Arc<dyn ObjectStore>,
    bridge: Bridge,
    /// The folder, if the texts are in one.
    folder: Option<PathBuf>,
}

impl ObjectBlobs {
    /// Opens the texts in a folder, which is created if it does not exist.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        Ok(Self { folder: Some(folder.to_owned()), ..Self::in_store(place::open_folder(folder)?)? })
    }

    /// Opens the texts in a bucket. Nothing is sent before the first call. Without the feature `s3`, this is not
    /// supported, and the error says so.
    pub fn in_s3(place: &S3Place) -> Result<Self> {
        Self::in_store(place::open_s3(place)?)
    }

    /// Opens the texts in a store.
    pub(crate) fn in_store(store: Arc<dyn ObjectStore>) -> Result<Self> {
        let bridge = Bridge::new().map_err(|error| from_system(&error, "start the threads of the texts"))?;
        Ok(Self { store, bridge, folder: None })
    }

    fn store(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.store)
    }

    /// Fetches what a range of each of these texts needs, and inflates it on this thread.
    fn fetch_all(&self, scope: &Scope, parts: impl IntoIterator<Item = TextPart>) -> Vec<Result<Option<Vec<u8>>>> {
        let fetches = parts.into_iter().map(|TextPart { key, range }| {
            let (store, path) = (self.store(), path_of(scope, &key));
            async move { Ok(fetch::range(&*store, &path, range).await) }
        });
        let inflate = |fetched: object_store::Result<Result<Option<Fetched>>>| {
            let fetched = fetched.unwrap_or_else(|error| Err(from_store(&error, READ)))?;
            fetched.map(Fetched::inflate).transpose()
        };
        self.at_once(fetches).into_iter().map(inflate).collect()
    }

    /// Returns what stores a text unless it is stored already.
    fn store_text(
        &self,
        path: object_store::path::Path,
        text: &[u8],
    ) -> impl Future<Output = object_store::Result<()>> + Send + 'static {
        let (store, text, is_folder) = (self.store(), text.to_vec(), self.folder.is_some());
        async move {
            // In a folder this saves writing a file. A bucket needs one request either way.
            if is_folder && fetch::is_stored(&*store, &path).await? {
                return Ok(());
            }
            let compressed = tokio::task::spawn_blocking(move || frames::compress(&text)).await;
            let compressed = compressed.map_err(broken)?.map_err(broken)?;
            match store.put_opts(&path, PutPayload::from(compressed), PutOptions::from(PutMode::Create)).await {
                Ok(_) | Err(StoreError::AlreadyExists { .. }) => Ok(()),
                Err(error) => Err(error),
            }
        }
    }

    /// Runs work, several at once, and returns its results in order.
    fn at_once<T, W>(&self, work: impl IntoIterator<Item = W>) -> Vec<object_store::Result<T>>
    where
        T: Send + 'static,
        W: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let work: Vec<W> = work.into_iter().collect();
        let count = work.len();
        let all =
            self.bridge.run(async { Ok(stream::iter(work).buffered(MAX_CALLS_AT_ONCE).collect::<Vec<_>>().await) });
        all.unwrap_or_else(|error| {
            let why = error.to_string();
            (0..count).map(|_| Err(broken(why.clone()))).collect()
        })
    }
}

impl Blobs for ObjectBlobs {
    fn put(&self, scope: &Scope, text: &[u8]) -> Result<TextKey> {
        let key = TextKey::of(text);
        let put = self.store_text(path_of(scope, &key), text);
        self.bridge.run(put).map(|()| key).map_err(|error| from_store(&error, STORE))
    }

    fn put_all(&self, scope: &Scope, texts: &[&[u8]]) -> Vec<Result<TextKey>> {
        let keys: Vec<TextKey> = texts.iter().map(|text| TextKey::of(text)).collect();
        let puts = keys.iter().zip(texts).map(|(key, text)| self.store_text(path_of(scope, key), text));
        let results = self.at_once(puts);
        let named = keys.into_iter().zip(results);
        named.map(|(key, put)| put.map(|()| key).map_err(|error| from_store(&error, STORE))).collect()
    }

    fn get(&self, scope: &Scope, key: &TextKey) -> Result<Option<Vec<u8>>> {
        self.get_all(scope, &[*key]).pop().unwrap_or(Ok(None))
    }

    fn range(&self, scope: &Scope, key: &TextKey, range: Range<u64>) -> Result<Option<Vec<u8>>> {
        self.range_all(scope, &[TextPart { key: *key, range }]).pop().unwrap_or(Ok(None))
    }

    fn get_all(&self, scope: &Scope, keys: &[TextKey]) -> Vec<Result<Option<Vec<u8>>>> {
        let wholes = keys.iter().map(|key| TextPart { key: *key, range: WHOLE });
        let check = |(key, text): (&TextKey, Result<Option<Vec<u8>>>)| match text {
            Ok(Some(text)) if TextKey::of(&text) != *key => Err(damaged("its content does not match its name")),
            other => other,
        };
        keys.iter().zip(self.fetch_all(scope, wholes)).map(check).collect()
    }

    fn range_all(&self, scope: &Scope, parts: &[TextPart]) -> Vec<Result<Option<Vec<u8>>>> {
        self.fetch_all(scope, parts.iter().cloned())
    }

    fn delete(&self, scope: &Scope, key: &TextKey) -> Result<bool> {
        let path = path_of(scope, key);
        // A bucket does not say whether there was something to delete.
        if self.range(scope, key, 0..0)?.is_none() {
            return Ok(false);
        }
        self.remove_objects(vec![path.clone()], DELETE)?;
        if let Some(folder) = &self.folder {
            let (name, _) = path.as_ref().rsplit_once('/').unwrap_or_default();
            private::sync(&folder.join(name)).map_err(|error| from_system(&error, DELETE))?;
        }
        Ok(true)
    }
}

/// Returns an error that does not come from the store.
fn broken(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Generic { store: "texts", source: source.into() }
}

/// Returns the key of a text in the store. Folders of 256 keep the listings short.
fn path_of(scope: &Scope, key: &TextKey) -> object_store::path::Path {
    let hex = key.to_string();
    let shard: String = hex.chars().take(2).collect();
    object_store::path::Path::from(format!("{}/{shard}/{hex}.zst", name_of(&[&scope.tenant.0])))
}
