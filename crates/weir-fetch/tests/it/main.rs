//! Tests of fetching from our own servers, honest and hostile.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod endpoint;
mod hostile;
mod pages;
mod private;
mod redirects;
mod server;
mod tls;
