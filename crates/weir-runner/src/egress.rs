//! The proxy to the hosts that the user allowed. It runs on the host and serves a listener inside the sandbox.
//!
//! It speaks HTTP/1.1 as a proxy does: `CONNECT`, and requests in absolute form for plain HTTP, one per connection. The
//! bytes inside a `CONNECT` tunnel are not inspected, so an allowed host can forward what it receives: every allowed
//! host is a way out. A redirect is a new request and is checked like the first.
//!
//! The listener is in the network namespace of one run and nothing else can reach it, so there is no password.
//!
//! Invariants:
//! - A connection is only made to an address that was checked.
//! - A name is resolved once.
//! - Bodies are forwarded and never stored.
//! - When [`Egress`] is dropped, all its connections are closed and its threads have ended.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

mod address;
mod body;
mod connect;
pub(crate) mod fuzzing;
mod head;
pub(crate) mod listen;
mod pattern;
mod relay;
mod session;
#[cfg(test)]
mod tests;

pub use pattern::{BadPattern, HostPattern};

use listen::Server;

const MAX_CONNECTIONS: usize = 32;

/// What a run may reach, and how.
#[derive(Clone)]
pub struct Rules {
    pub allow: Vec<HostPattern>,
    /// Resolves a name and a port to addresses. [`system_resolver`] uses the system's resolver.
    pub resolve: Resolver,
    /// The name of the setting that holds the patterns, for refusal messages.
    pub setting: &'static str,
    pub patience: Patience,
}

/// Resolves a name and a port to addresses. It may block; nothing waits for it after the proxy is dropped.
pub type Resolver = Arc<dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// Timeouts of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until the head of a request is complete.
    pub head: Duration,
    /// Until a connection to one address is established, and until a name is resolved.
    pub connect: Duration,
    /// While no data moves in either direction.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { head: Duration::from_secs(10), connect: Duration::from_secs(10), idle: Duration::from_secs(120) }
    }
}

pub fn system_resolver() -> Resolver {
    Arc::new(|host, port| Ok((host, port).to_socket_addrs()?.collect()))
}

/// Starts the proxy. `listener` is a listening TCP socket, usually in another network namespace.
pub fn serve(listener: OwnedFd, rules: Rules) -> io::Result<Egress> {
    let handle = move |client: &TcpStream, stop: &listen::ShutdownSignal| session::serve(client, &rules, stop);
    let server = Server::start(listener, MAX_CONNECTIONS, handle, session::refuse_excess)?;
    Ok(Egress { _server: server })
}

/// A running proxy. Dropping it stops it.
#[derive(Debug)]
pub struct Egress {
    _server: Server,
}
