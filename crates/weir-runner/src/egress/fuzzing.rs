//! Fuzzing entry point for the proxy's request parser.

use super::body::Body;
use super::head::{MAX_HEAD_BYTES, RequestKind, end, parse};

/// Parses bytes as the head of a request with its body, and checks that the server would read them the same way.
pub fn proxy(data: &[u8]) {
    let Some(at) = end(data).filter(|at| *at <= MAX_HEAD_BYTES) else { return };
    let (head, rest) = data.split_at(at);
    let Ok(read) = parse(head) else { return };
    assert!(!read.host.is_empty() && !read.host.contains(char::is_whitespace), "{read:?}");
    let RequestKind::Plain { head, length } = read.kind else { return };
    assert_eq!(end(head.as_bytes()), Some(head.len()), "a second head: {head:?}");
    assert!(!head.contains('\0') && head.is_ascii(), "{head:?}");
    // The end of the body must not depend on how the bytes are split.
    let whole = Body::new(length).take(rest);
    let mut pieces = Body::new(length);
    let mut taken = Ok(0);
    for byte in rest.chunks(1) {
        taken = match (taken, pieces.take(byte)) {
            (Ok(before), Ok(count)) => Ok(before + count),
            (_, Err(error)) | (Err(error), _) => Err(error),
        };
        if taken.is_err() || pieces.is_over() {
            break;
        }
    }
    assert_eq!(whole, taken, "the body ends elsewhere in pieces");
}
