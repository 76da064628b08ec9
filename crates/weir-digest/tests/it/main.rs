//! Real outputs through the whole crate: their digests, and what must hold for every one of them.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]
#![expect(clippy::unwrap_used, reason = "a test that panics has failed, in its helpers too")]

mod claims;
mod faithful;
mod falsehoods;
mod faults;
mod gallery;
mod goldens;
mod hostile;
#[cfg(unix)]
mod linear;
mod openers;
mod oracle;
mod outputs;
mod properties;
mod rules;
