//! The program from outside: one test binary, with one module per entry point.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, in its helpers too")]

mod advice;
mod bug;
mod cli;
mod context;
mod demo;
mod docs;
mod e2e;
mod escape;
mod evil;
mod fetch;
mod files;
mod gateway;
mod hardening;
mod hooks;
mod import;
mod index;
#[cfg(target_os = "linux")]
mod injected;
mod map;
mod mcp;
#[cfg(target_os = "linux")]
mod network;
mod notes;
mod passing;
mod prefix;
mod proxy;
mod replay;
mod runs;
mod schemas;
mod serve;
mod setup;
mod sharing;
mod stores;
mod support;
mod sync;
mod team;
mod ui;
mod upgrade;
mod window;
