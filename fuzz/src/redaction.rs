//! Fuzzes the redaction of a text in pieces: the first byte is their length.

use weir_core::redact::{Redactor, redact as redact_whole};

/// Checks that redacting a text in pieces gives the same result as redacting it at once.
pub(crate) fn redact(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let mut redactor = Redactor::new();
    let mut out = Vec::new();
    for piece in text.chunks(usize::from(first).max(1)) {
        redactor.push(piece, &mut out);
    }
    redactor.finish(&mut out);
    let whole = redact_whole(text);
    assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&whole.text), "pieces of {first} bytes");
}
