//! Texts in memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use weir_core::{Scope, TenantId};

use super::lock;
use crate::error::Result;
use crate::id::TextKey;
use crate::ports::Blobs;

/// Texts in memory.
#[derive(Debug, Default)]
pub struct MemoryBlobs {
    texts: Mutex<BTreeMap<(TenantId, TextKey), Vec<u8>>>,
}

impl Blobs for MemoryBlobs {
    fn put(&self, scope: &Scope, text: &[u8]) -> Result<TextKey> {
        let key = TextKey::of(text);
        lock(&self.texts).entry((scope.tenant.clone(), key)).or_insert_with(|| text.to_vec());
        Ok(key)
    }

    fn get(&self, scope: &Scope, key: &TextKey) -> Result<Option<Vec<u8>>> {
        Ok(lock(&self.texts).get(&(scope.tenant.clone(), *key)).cloned())
    }

    fn range(&self, scope: &Scope, key: &TextKey, range: Range<u64>) -> Result<Option<Vec<u8>>> {
        let texts = lock(&self.texts);
        let text = texts.get(&(scope.tenant.clone(), *key));
        let within = |at: u64, text: &[u8]| usize::try_from(at).map_or(text.len(), |at| at.min(text.len()));
        Ok(text.map(|text| {
            let (start, end) = (within(range.start, text), within(range.end, text));
            text.get(start..end).unwrap_or_default().to_vec()
        }))
    }

    fn delete(&self, scope: &Scope, key: &TextKey) -> Result<bool> {
        Ok(lock(&self.texts).remove(&(scope.tenant.clone(), *key)).is_some())
    }
}
