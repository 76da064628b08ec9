//! HTTP as every server of Weir speaks it: sockets and TLS, who may connect and by which name, the limits of requests,
//! how an answer and a refusal look, the log and the figures, and MCP. What a server answers is its own.
//!
//! # Invariants
//!
//! - A client holds a connection for a bounded time and uses a bounded amount of memory, whatever it does.
//! - An address that other machines can reach is served only with TLS, or if the user says that it may be plain.
//! - Each answer has the ID of its request. No line of the log has a text that a client chose, except the path, escaped
//!   and cut.

pub mod answer;
pub mod bearer;
pub mod guard;
pub mod listen;
pub mod log;
pub mod mcp;
pub mod metrics;
pub mod observe;
pub mod openapi;
pub mod options;
pub mod outgoing;
pub mod peer;
pub mod problem;
pub mod request_limits;
mod shares;
mod stall;
mod tls;
