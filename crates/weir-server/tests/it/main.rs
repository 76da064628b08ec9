//! Tests the backends on real servers.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod postgres;
