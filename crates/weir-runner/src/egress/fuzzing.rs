//! The proxy's reading of requests, for the fuzzer.

use super::body::Body;
use super::head::{Kind, MOST, end, parse};

/// Reads bytes as the head of a request with its body. What goes on to the server is read there as it was read here.
pub fn proxy(data: &[u8]) {
    let Some(at) = end(data).filter(|at| *at <= MOST) else { return };
    let (head, rest) = data.split_at(at);
    let Ok(read) = parse(head) else { return };
    assert!(!read.host.is_empty() && !read.host.contains(char::is_whitespace), "{read:?}");
    let Kind::Plain { head, length } = read.kind else { return };
    assert_eq!(end(head.as_bytes()), Some(head.len()), "a second head: {head:?}");
    assert!(!head.contains('\0') && head.is_ascii(), "{head:?}");
    // The end of the body does not depend on the pieces it comes in.
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
