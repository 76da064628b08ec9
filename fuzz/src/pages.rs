//! Pages: the type that a server says in the first line, the body after it.

/// A page of any type, in any charset.
pub(crate) fn page(data: &[u8]) {
    let (media, body) = crate::first_line(data);
    for encoding in ["", "gzip", "deflate", "br"] {
        // What is compressed is tried as such only where it could be.
        if encoding.is_empty() || media.ends_with(encoding) {
            weir_fetch::fuzzing::page(&media, encoding, body);
        }
    }
}
