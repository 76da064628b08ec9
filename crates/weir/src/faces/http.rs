//! `weir serve`: the operations over HTTP. Invariant: every route but the health checks and the description of the routes
//! needs a token, and each answer has a request ID.

pub(crate) mod calls;
pub(crate) mod guard;
pub(crate) mod listen;
pub(crate) mod problem;
pub(crate) mod request_limits;
mod stall;
pub(crate) mod tokens;

use calls::Calls;
use tokens::Tokens;

/// What the routes share.
pub(crate) struct ServerState {
    /// The contexts of calls.
    pub calls: Calls,
    /// Who may call.
    pub tokens: Tokens,
}
