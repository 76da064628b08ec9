//! The program as an HTTP server.

mod examples;
