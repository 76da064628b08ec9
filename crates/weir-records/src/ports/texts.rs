//! Texts, and parts of them, by their keys.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::id::TextKey;

/// Texts by their keys, for a log to keep.
pub type Texts<'a> = BTreeMap<TextKey, &'a [u8]>;

/// Texts that a log keeps, by their keys.
pub type KeptTexts = BTreeMap<TextKey, Vec<u8>>;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPart {
    pub key: TextKey,
    pub range: Range<u64>,
}
