//! Fuzzes pages: the server's media type in the first line, the body after it.

/// Reads a page of any type, in any charset.
pub(crate) fn page(data: &[u8]) {
    let (media, body) = crate::first_line(data);
    for encoding in ["", "gzip", "deflate", "br"] {
        // A body is only treated as compressed if the type says so.
        if encoding.is_empty() || media.ends_with(encoding) {
            weir_fetch::fuzzing::page(&media, encoding, body);
        }
    }
}
