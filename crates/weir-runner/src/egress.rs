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

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
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

/// Maximum number of concurrent connections of a run.
const MAX_CONNECTIONS: usize = 32;
/// Maximum number of different hosts recorded for a run.
const MAX_RECORDED_HOSTS: usize = 100;

/// What a run may reach, and how.
#[derive(Clone)]
pub struct Rules {
    /// The allowed hosts.
    pub allow: Vec<HostPattern>,
    /// Resolves a name and a port to addresses. [`system_resolver`] uses the system's resolver.
    pub resolve: Resolver,
    /// The user's own proxy, if all traffic has to go through it. It resolves the names itself, so their addresses
    /// cannot be checked here and only the patterns protect.
    pub upstream: Option<Upstream>,
    /// The name of the setting that holds the patterns, for refusal messages.
    pub setting: &'static str,
    /// Timeouts.
    pub patience: Patience,
}

/// Resolves a name and a port to addresses. It may block; nothing waits for it after the proxy is dropped.
pub type Resolver = Arc<dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// A proxy of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The value of `Proxy-Authorization`, if the proxy requires one.
    pub authorization: Option<String>,
}

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

/// Returns a resolver that asks the system.
pub fn system_resolver() -> Resolver {
    Arc::new(|host, port| Ok((host, port).to_socket_addrs()?.collect()))
}

/// Starts the proxy. `listener` is a listening TCP socket, usually in another network namespace.
pub fn serve(listener: OwnedFd, rules: Rules) -> io::Result<Egress> {
    let record = HostRecord::default();
    let shared = record.clone();
    let handle = move |client: &TcpStream, stop: &listen::ShutdownSignal| session::serve(client, &rules, &shared, stop);
    let server = Server::start(listener, MAX_CONNECTIONS, handle, session::refuse_excess)?;
    Ok(Egress { record, _server: server })
}

/// A running proxy. Dropping it stops it.
#[derive(Debug)]
pub struct Egress {
    record: HostRecord,
    _server: Server,
}

impl Egress {
    /// Returns the record of requests, which stays readable after the proxy is dropped.
    pub fn record(&self) -> HostRecord {
        self.record.clone()
    }
}

/// The hosts that a run asked for. Clones share the same record.
#[derive(Debug, Clone, Default)]
pub struct HostRecord(Arc<Mutex<RecordedHosts>>);

#[derive(Debug, Default)]
struct RecordedHosts {
    asked: BTreeMap<(String, u16, Option<String>), u64>,
    left_out: u64,
}

/// A host that a run asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedHost {
    /// The name or address, as the run gave it.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Why the host was refused, or `None` if it was allowed.
    pub refused: Option<String>,
    /// Number of requests.
    pub times: u64,
}

impl HostRecord {
    /// Returns the requests so far, sorted by name.
    pub fn asked(&self) -> Vec<RequestedHost> {
        let recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |((host, port, refused), times): (&(String, u16, Option<String>), &u64)| RequestedHost {
            host: host.clone(),
            port: *port,
            refused: refused.clone(),
            times: *times,
        };
        recorded.asked.iter().map(one).collect()
    }

    /// Returns how many requests are missing from [`Self::asked`] because there were too many different ones.
    pub fn left_out(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).left_out
    }

    fn add(&self, host: &str, port: u16, refused: Option<String>) {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.to_owned(), port, refused);
        if let Some(times) = recorded.asked.get_mut(&key) {
            *times += 1;
        } else if recorded.asked.len() < MAX_RECORDED_HOSTS {
            recorded.asked.insert(key, 1);
        } else {
            recorded.left_out += 1;
        }
    }
}
