//! Output that is not meant for reading: bytes, encodings, minified code.

pub(super) mod binary;
mod bytes;
mod magic;
mod minified;
pub(super) mod opaque;
