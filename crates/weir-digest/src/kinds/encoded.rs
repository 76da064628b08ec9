//! What nobody reads: bytes, encodings, minified code.

pub(super) mod binary;
mod bytes;
mod magic;
mod minified;
pub(super) mod opaque;
