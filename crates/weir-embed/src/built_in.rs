//! The model inside the program.
//!
//! Invariant: nothing is loaded; a text costs only the pages of the program that it touches.

use std::borrow::Cow;

use crate::StaticModel;
use crate::rows::{TokenWeights, VectorTable};
use crate::vocabulary::Vocabulary;
use crate::words::LetterNormalisation;

/// The token `[UNK]`.
const UNKNOWN: u32 = 100;

pub(crate) static MODEL: StaticModel = StaticModel {
    name: Cow::Borrowed("weir-static-256-v1"),
    width: 256,
    vocabulary: Vocabulary::new(Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary.bin")))),
    letters: LetterNormalisation { lowercase: true, strip_accents: true },
    unknown: Some(UNKNOWN),
    max_word_chars: 100,
    latin_only: true,
    rows: VectorTable::Bytes(Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/rows.bin")))),
    token_weights: TokenWeights { rows: None, weights: None },
};
