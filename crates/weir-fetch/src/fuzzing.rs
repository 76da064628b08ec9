//! Builds a page from bytes for the fuzzer, without the network.

use std::io::Cursor;

use url::Url;

use crate::Limits;
use crate::body;
use crate::page::{PageOrigin, build};

/// Reads a body as a page of a type, as if a server had sent it, and checks the invariants of its text.
pub fn page(media: &str, encoding: &str, body: &[u8]) {
    let limits = Limits { bytes: 1 << 20, received: 1 << 20, ..Limits::default() };
    let Ok(content) = body::read(Cursor::new(body.to_vec()), encoding, &limits) else { return };
    assert!(content.bytes.len() as u64 <= limits.bytes);
    let url = Url::parse("https://example.com/a/page").expect("it is an address");
    let media = Some(media.to_owned()).filter(|media| !media.is_empty());
    let origin = PageOrigin { url, redirects: 0, media, etag: None, last_modified: None };
    let Ok(page) = build(origin, content) else { return };
    assert!(!page.text.trim().is_empty() && !page.title.contains('\n'), "{page:?}");
}
