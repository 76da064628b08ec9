//! Tests the store as its callers see it: through its public API, on real files, with real processes.
//!
//! Invariant: a test that cannot run here fails and says why; none is skipped silently.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, in its helpers too")]
#![expect(clippy::print_stdout, reason = "children report to their parent, and seeds to people")]

mod dump;
#[cfg(unix)]
mod faults;
mod files;
mod forget;
mod hooks;
mod kill;
mod listing;
mod lost;
mod map;
mod meaning;
mod notes;
mod origin;
#[cfg(unix)]
mod power;
mod process;
mod prompt;
mod properties;
mod rebuild;
mod recent;
mod retention;
mod room;
mod said;
mod search;
mod semantic;
mod sources;
mod spool;
mod storm;
mod support;
#[cfg(unix)]
mod turns;
mod unavailable;
mod written;
