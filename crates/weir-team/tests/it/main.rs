//! Tests the backends of a server with the suite of the ports, and what only they have.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod blobs;
mod cells;
mod index;
mod pairings;
mod postgres;
mod s3;
mod service;
mod support;
