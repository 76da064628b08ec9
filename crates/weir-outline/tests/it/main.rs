//! One test program for the crate.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, in its helpers too")]
#![expect(clippy::disallowed_methods, reason = "oracles are programs, and the environment says where files are")]
#![expect(clippy::print_stdout, reason = "tables of agreement are for people")]

mod breakage;
mod goldens;
mod hostile;
mod map;
mod oracle;
