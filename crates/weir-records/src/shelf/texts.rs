//! Texts of records: small ones in the log, if it keeps them, and others in the blobs. Invariant: which of the two has a
//! text is looked up each time, because servers of several versions may write to one log.

use std::ops::Range;

use weir_core::Scope;

use super::Shelf;
use super::import::copy_of;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::TextKey;
use crate::ports::{KeptTexts, TextPart, Texts};
use crate::record::{Kept, Record};

/// The largest text that any log keeps, in bytes: twice as many as a log writes, so that a later version can write more.
const MAX_KEPT_BYTES: u64 = 16 << 10;

/// A part of the text of an entry.
pub(super) struct EntryPart<'a> {
    pub(super) entry: &'a Kept,
    pub(super) range: Range<u64>,
}

impl<'a> EntryPart<'a> {
    /// Returns all of the text.
    pub(super) fn whole(entry: &'a Kept) -> Self {
        Self { entry, range: 0..entry.bytes }
    }
}

impl Shelf {
    /// Whether the log keeps a text of this size with its record.
    pub(super) fn keeps(&self, bytes: usize) -> bool {
        bytes <= self.ports.log.max_kept_text() && bytes > 0
    }

    /// Returns those of these texts that are small enough for the log.
    pub(super) fn small<'a>(&self, texts: impl IntoIterator<Item = (TextKey, &'a [u8])>) -> Texts<'a> {
        texts.into_iter().filter(|(_, text)| self.keeps(text.len())).collect()
    }

    /// Returns parts of texts, in order: `None` for a text that is not stored. Those in the log are read at once, and so
    /// are those in the blobs.
    pub(super) fn read_parts(&self, scope: &Scope, parts: &[EntryPart<'_>]) -> Vec<Result<Option<Vec<u8>>>> {
        let small = small_keys(parts.iter().map(|part| part.entry));
        let kept = if small.is_empty() { Ok(KeptTexts::new()) } else { self.ports.log.kept_texts(scope, &small) };
        match kept {
            Ok(kept) => self.read_others(scope, parts, &kept),
            Err(error) => parts.iter().map(|_| Err(copy_of(&error))).collect(),
        }
    }

    /// Returns parts of texts, of which the log keeps these.
    pub(super) fn read_others(
        &self,
        scope: &Scope,
        parts: &[EntryPart<'_>],
        kept: &KeptTexts,
    ) -> Vec<Result<Option<Vec<u8>>>> {
        let elsewhere = || parts.iter().filter(|part| !kept.contains_key(&part.entry.text));
        let is_whole = |part: &EntryPart<'_>| part.range == (0..part.entry.bytes);
        // A whole text is compared with its key.
        let mut read = if elsewhere().all(is_whole) {
            self.ports.blobs.get_all(scope, &elsewhere().map(|part| part.entry.text).collect::<Vec<_>>()).into_iter()
        } else {
            let part = |part: &EntryPart<'_>| TextPart { key: part.entry.text, range: part.range.clone() };
            self.ports.blobs.range_all(scope, &elsewhere().map(part).collect::<Vec<_>>()).into_iter()
        };
        let each = |part: &EntryPart<'_>| match kept.get(&part.entry.text) {
            Some(text) => cut(text, part),
            None => read.next().unwrap_or(Ok(None)),
        };
        parts.iter().map(each).collect()
    }
}

/// Returns the keys of the texts of records that are small enough for a log.
pub(super) fn small_texts<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<TextKey> {
    small_keys(records.filter_map(|record| record.body.kept()))
}

fn small_keys<'a>(entries: impl Iterator<Item = &'a Kept>) -> Vec<TextKey> {
    let small = entries.filter(|entry| (1..=MAX_KEPT_BYTES).contains(&entry.bytes));
    let mut keys: Vec<TextKey> = small.map(|entry| entry.text).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Returns a part of a text that the log has.
fn cut(text: &[u8], part: &EntryPart<'_>) -> Result<Option<Vec<u8>>> {
    if TextKey::of(text) != part.entry.text {
        return Err(PortError::new(ErrorKind::Damaged, format!("read the text {}", part.entry.text)));
    }
    let at = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).min(text.len());
    Ok(Some(text.get(at(part.range.start)..at(part.range.end)).unwrap_or_default().to_vec()))
}
