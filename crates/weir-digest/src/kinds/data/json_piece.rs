//! The pieces of which a JSON document consists.

/// The next piece of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `}` or `]`
    Close,
    /// The name of a field, in the text of the reader.
    Key,
    /// A string, in the text of the reader.
    Text,
    /// A number as it is written, in the text of the reader.
    Number,
    /// `true`, `false` or `null`, in the text of the reader.
    Word,
    End,
    /// Invalid JSON, or a premature end of input.
    Broken,
}

/// Values that are neither strings nor numbers, including the numbers that JSON lacks and Python's spellings.
pub(super) const WORDS: [&str; 9] = ["true", "false", "null", "NaN", "Infinity", "-Infinity", "True", "False", "None"];

/// Continues a hash with more bytes, however they are divided (FNV-1a).
pub(super) fn hashed(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
