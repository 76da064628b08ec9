//! The model inside the program.
//!
//! Invariant: nothing is loaded; a text costs only the pages of the program that it touches.

use std::borrow::Cow;

use crate::StaticModel;
use crate::rows::{Rows, Shares};
use crate::vocabulary::Vocabulary;
use crate::words::Letters;

/// The token `[UNK]`.
const UNKNOWN: u32 = 100;

pub(crate) static MODEL: StaticModel = StaticModel {
    name: Cow::Borrowed("weir-static-256-v1"),
    width: 256,
    vocabulary: Vocabulary::new(Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary.bin")))),
    letters: Letters { lowercase: true, strip_accents: true },
    unknown: Some(UNKNOWN),
    longest_word: 100,
    latin_only: true,
    rows: Rows::Bytes(Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/rows.bin")))),
    shares: Shares { rows: None, weights: None },
};
