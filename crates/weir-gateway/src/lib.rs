//! Other MCP servers behind Weir: their entries and lists, finding a tool, calls, permission and results.
//!
//! [`entries`] is the user's list of servers. A [`Gateway`] connects to each on first use (`server`, `connection`),
//! keeps what it lists ([`lists`]), and calls its tools for one client. What a server asks is forwarded to that client
//! (`forward`). A result is reduced as hooks reduce those of a client's own tools (`reduce`).
//!
//! A client that sends every description in every request is offered a few tools that find and call the others
//! (`offer`, [`find`]). A client that defers descriptions keeps each server under its own name, with `weir mcp
//! --server` in its place. The face is `weir-mcp`; `weir-setup` moves entries from clients' settings to Weir's and
//! back.
//!
//! # Invariants
//!
//! - What a server says is data: bounded, without characters that nobody sees, between marks where it is an answer. Its
//!   hints only tighten ([`ToolEffect`]).
//! - Nothing is called that a rule denies. What may destroy something, and a tool that has changed since the user last
//!   knew it, is asked about or refused.
//! - One server that hangs, floods or dies disturbs no other, and not Weir: nobody waits for it but calls to it, each
//!   with an end, and its messages are bounded. Its whole process group ends with the session.
//! - Listing tools starts no server whose list is known.
//! - A server's variables and headers are in its entry alone, and what a sign-in at a server gave is in one file that
//!   only the user can read ([`sign_in`]). Neither is logged or shown.

mod address;
mod connection;
mod effect;
pub mod entries;
mod failure;
pub mod find;
mod forward;
mod gateway;
pub mod lines;
pub mod lists;
mod offer;
mod permission;
mod process;
mod python;
mod reduce;
mod server;
pub mod sign_in;
mod tls;
mod transport;
mod usage;

pub use effect::ToolEffect;
pub use failure::ServerFailure;
pub use forward::ClientPeer;
pub use gateway::{Gateway, ToolRequest};
pub use permission::Asked;
