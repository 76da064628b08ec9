//! The client of a team server: sends the project's notes as records, and keeps those of teammates in the project's
//! store, where every search finds them, offline too.
//!
//! Invariants: only what the user connected is sent, and nothing that a repository says changes that; a record is
//! stored before it is sent, and sent again byte for byte; one process at a time exchanges records of a store; whatever
//! is interrupted, the next exchange completes it, and nothing is there twice; a teammate's text is data, and is never
//! taken for words of the user; in a sealed project, nothing leaves in clear.

mod apply;
mod exchange;
#[cfg(test)]
mod hazard_tests;
mod host;
mod ledger;
mod lock;
mod outbox;
mod recount;
#[cfg(test)]
mod sealed_hazard_tests;
mod sealing;
mod server;
mod session_end;
#[cfg(test)]
mod simulation_tests;
mod token;
mod uploads;
mod vault;
mod words;

pub use exchange::{Exchange, PreviewedRecord, Report};
pub use lock::ExchangeLock;
pub use sealing::{SealReport, described};
pub use server::{ConnectedServer, whose_token};
pub use session_end::{forget_mark, mark_synced, sync_after_session};
pub use token::{MAX_TOKEN_BYTES, ReleasedToken, read_token, release_token, store_token};
pub use vault::{KeyWish, Vault};
pub use words::{Remarks, confirmed, forgotten, remarks, standing};

/// What the source of a teammate's entry begins with, before their name.
pub const SOURCE: &str = "team";
