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
