//! Tests every pairing of the backends with the one suite, and what only SQLite and files have.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod contract;
mod sqlite;
