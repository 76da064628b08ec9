//! Fetches texts and parts of them. Most texts take one request.

use std::ops::Range;

use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, GetRange, ObjectStore};
use weir_records::{Result, frames};

use super::READ;
use super::error::from_store;

/// The range of a whole text.
pub(super) const WHOLE: Range<u64> = 0..u64::MAX;
/// How much of the end of a stored text is fetched first, in bytes. Most texts are smaller, and of the others it has
/// the table of their frames.
const END_BYTES: u64 = 64 << 10;

/// The frames of a text that a range needs.
pub(super) struct Fetched {
    stored: Vec<u8>,
    /// The range within their text.
    range: Range<u64>,
}

impl Fetched {
    /// Returns the text of the range.
    pub(super) fn inflate(self) -> Result<Vec<u8>> {
        frames::inflate(&self.stored, self.range)
    }
}

/// An object, or a part of it.
struct Object {
    bytes: Vec<u8>,
    /// The size of the whole, in bytes.
    size: u64,
}

/// Fetches what a range of a text needs, if the text is stored.
pub(super) async fn range(store: &dyn ObjectStore, path: &Path, range: Range<u64>) -> Result<Option<Fetched>> {
    let nothing = || Fetched { stored: Vec::new(), range: 0..0 };
    if range.is_empty() {
        let is_stored = is_stored(store, path).await.map_err(|error| from_store(&error, READ))?;
        return Ok(is_stored.then(nothing));
    }
    if range == WHOLE {
        let whole = get(store, path, GetOptions::new()).await?;
        return Ok(whole.map(|whole| Fetched { stored: whole.bytes, range }));
    }
    let end = GetOptions::new().with_range(Some(GetRange::Suffix(END_BYTES)));
    let Some(end) = get(store, path, end).await? else { return Ok(None) };
    if end.bytes.len() as u64 == end.size {
        return Ok(Some(Fetched { stored: end.bytes, range }));
    }
    let Some(part) = frames::part(&end.bytes, end.size, &range)? else {
        let whole = get(store, path, GetOptions::new()).await?;
        return Ok(whole.map(|whole| Fetched { stored: whole.bytes, range }));
    };
    if part.stored.is_empty() {
        return Ok(Some(nothing()));
    }
    let frames = get(store, path, GetOptions::new().with_range(Some(GetRange::Bounded(part.stored)))).await?;
    Ok(frames.map(|frames| Fetched { stored: frames.bytes, range: part.range }))
}

/// Returns whether a text is stored.
pub(super) async fn is_stored(store: &dyn ObjectStore, path: &Path) -> object_store::Result<bool> {
    match store.get_opts(path, GetOptions::new().with_head(true)).await {
        Ok(_) => Ok(true),
        Err(StoreError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn get(store: &dyn ObjectStore, path: &Path, options: GetOptions) -> Result<Option<Object>> {
    let got = async {
        let result = store.get_opts(path, options).await?;
        let size = result.meta.size;
        Ok(Object { bytes: Vec::from(result.bytes().await?), size })
    };
    match got.await {
        Ok(object) => Ok(Some(object)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(from_store(&error, READ)),
    }
}
