//! Texts in an object store: a folder, or a bucket of a store that speaks S3.
//!
//! Invariants: a text is a zstd file named by its content, below the name of its tenant; nothing is written over. A
//! folder has the layout of `weir_records::sqlite::FileBlobs`, so a server can go on with the texts of the other.

mod bridge;
mod error;
mod objects;
mod place;
mod sweep;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use object_store::{Error as StoreError, GetOptions, GetRange, ObjectStore, PutMode, PutOptions, PutPayload};
pub use place::S3Place;
pub use sweep::{Listing, StoredText, Swept};
use weir_core::Scope;
use weir_ledger::private;
use weir_records::frames::{self, damaged};
use weir_records::{Blobs, Result, TextKey, name_of};

use self::bridge::Bridge;
use self::error::{from_store, from_system};

/// How much of the end of a stored text is fetched first, in bytes. Most texts are smaller, and of the others it has
/// the table of their frames.
const END_BYTES: u64 = 64 << 10;

/// How many texts of one call are looked for or stored at once. Most of the time goes to the disk or the network.
const MAX_CALLS_AT_ONCE: usize = 16;

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

/// A text as the store has it, or a part of it.
struct Fetched {
    bytes: Vec<u8>,
    /// The size of the whole, in bytes.
    size: u64,
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

    /// Fetches a text, or a part of it, if it is stored.
    fn fetch(&self, path: &object_store::path::Path, options: GetOptions) -> Result<Option<Fetched>> {
        let (store, path) = (self.store(), path.clone());
        let fetched = self.bridge.run(async move {
            let is_head = options.head;
            let result = store.get_opts(&path, options).await?;
            let size = result.meta.size;
            let bytes = if is_head { Vec::new() } else { Vec::from(result.bytes().await?) };
            Ok(Fetched { bytes, size })
        });
        match fetched {
            Ok(fetched) => Ok(Some(fetched)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(from_store(&error, READ)),
        }
    }

    fn is_stored(&self, path: &object_store::path::Path) -> Result<bool> {
        Ok(self.fetch(path, GetOptions::new().with_head(true))?.is_some())
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
        let put = store_text(self.store(), path_of(scope, &key), text.to_vec());
        self.bridge.run(put).map(|()| key).map_err(|error| from_store(&error, STORE))
    }

    fn put_all(&self, scope: &Scope, texts: &[&[u8]]) -> Vec<Result<TextKey>> {
        let keys: Vec<TextKey> = texts.iter().map(|text| TextKey::of(text)).collect();
        let puts =
            keys.iter().zip(texts).map(|(key, text)| store_text(self.store(), path_of(scope, key), text.to_vec()));
        let results = self.at_once(puts);
        let named = keys.into_iter().zip(results);
        named.map(|(key, put)| put.map(|()| key).map_err(|error| from_store(&error, STORE))).collect()
    }

    fn get(&self, scope: &Scope, key: &TextKey) -> Result<Option<Vec<u8>>> {
        let Some(stored) = self.fetch(&path_of(scope, key), GetOptions::new())? else { return Ok(None) };
        let text = frames::inflate(&stored.bytes, 0..u64::MAX)?;
        if TextKey::of(&text) != *key {
            return Err(damaged("its content does not match its name"));
        }
        Ok(Some(text))
    }

    fn range(&self, scope: &Scope, key: &TextKey, range: Range<u64>) -> Result<Option<Vec<u8>>> {
        let path = path_of(scope, key);
        if range.is_empty() {
            return Ok(self.is_stored(&path)?.then(Vec::new));
        }
        let end = GetOptions::new().with_range(Some(GetRange::Suffix(END_BYTES)));
        let Some(end) = self.fetch(&path, end)? else { return Ok(None) };
        if end.bytes.len() as u64 == end.size {
            return frames::inflate(&end.bytes, range).map(Some);
        }
        let Some(part) = frames::part(&end.bytes, end.size, &range)? else {
            let whole = self.fetch(&path, GetOptions::new())?;
            return whole.map(|whole| frames::inflate(&whole.bytes, range)).transpose();
        };
        if part.stored.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let frames_of_it = GetOptions::new().with_range(Some(GetRange::Bounded(part.stored)));
        let fetched = self.fetch(&path, frames_of_it)?;
        fetched.map(|fetched| frames::inflate(&fetched.bytes, part.range)).transpose()
    }

    fn delete(&self, scope: &Scope, key: &TextKey) -> Result<bool> {
        let path = path_of(scope, key);
        // A bucket does not say whether there was something to delete.
        if !self.is_stored(&path)? {
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

/// Stores a text unless it is stored already.
async fn store_text(
    store: Arc<dyn ObjectStore>,
    path: object_store::path::Path,
    text: Vec<u8>,
) -> object_store::Result<()> {
    match store.get_opts(&path, GetOptions::new().with_head(true)).await {
        Err(StoreError::NotFound { .. }) => {}
        other => return other.map(drop),
    }
    let compressed = tokio::task::spawn_blocking(move || frames::compress(&text)).await;
    let compressed = compressed.map_err(broken)?.map_err(broken)?;
    match store.put_opts(&path, PutPayload::from(compressed), PutOptions::from(PutMode::Create)).await {
        Ok(_) | Err(StoreError::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns the key of a text in the store. Folders of 256 keep the listings short.
fn path_of(scope: &Scope, key: &TextKey) -> object_store::path::Path {
    let hex = key.to_string();
    let shard: String = hex.chars().take(2).collect();
    object_store::path::Path::from(format!("{}/{shard}/{hex}.zst", name_of(&[&scope.tenant.0])))
}
