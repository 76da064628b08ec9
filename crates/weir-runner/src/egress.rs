//! The way out to the hosts that the user allowed: a proxy on the host for a listener inside the sandbox.
//!
//! Invariants: a connection is made to an address that was checked, and to no other; a name is resolved once; bodies are
//! passed on and never kept; when [`Egress`] is dropped, all its connections are closed and its threads have ended.
//!
//! It speaks HTTP/1.1 as a proxy does: `CONNECT`, and requests in absolute form for plain HTTP, one per connection. What
//! goes through a `CONNECT` is not looked at, so a host that is allowed can pass on to others what it is sent: an
//! allowed host is a way out. A redirect is a new request, and is checked like the first.
//!
//! The listener is in the network namespace of one run, and nothing else reaches it; so there is no password.

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

/// How many connections a run may have at once.
const CONNECTIONS: usize = 32;
/// How many different hosts are recorded for a run.
const RECORDED: usize = 100;

/// What a run may reach, and how.
#[derive(Clone)]
pub struct Rules {
    /// The hosts that are allowed.
    pub allow: Vec<HostPattern>,
    /// Resolves a name and a port to addresses. [`system_resolver`] asks the system.
    pub resolve: Resolver,
    /// The user's own proxy, if everything has to go through it. Names are then resolved there, and so the addresses
    /// behind them cannot be checked here: only patterns protect.
    pub upstream: Option<Upstream>,
    /// The setting that holds the patterns, for the text of a refusal.
    pub setting: &'static str,
    /// How long things may take.
    pub patience: Patience,
}

/// Resolves a name and a port to addresses. It may block; nothing waits for it after the end.
pub type Resolver = Arc<dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// A proxy of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The value of `Proxy-Authorization`, if it wants one.
    pub authorization: Option<String>,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until the head of a request is complete.
    pub head: Duration,
    /// Until a connection to one address stands, and until a name is resolved.
    pub connect: Duration,
    /// While nothing moves in either direction.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { head: Duration::from_secs(10), connect: Duration::from_secs(10), idle: Duration::from_secs(120) }
    }
}

/// Asks the system for the addresses of a name.
pub fn system_resolver() -> Resolver {
    Arc::new(|host, port| Ok((host, port).to_socket_addrs()?.collect()))
}

/// Starts the proxy. `listener` is a listening TCP socket, usually of another network namespace.
pub fn serve(listener: OwnedFd, rules: Rules) -> io::Result<Egress> {
    let record = Record::default();
    let shared = record.clone();
    let handle = move |client: &TcpStream, stop: &listen::Stop| session::serve(client, &rules, &shared, stop);
    let server = Server::start(listener, CONNECTIONS, handle, session::busy)?;
    Ok(Egress { record, _server: server })
}

/// The proxy at work. Dropping it ends it.
#[derive(Debug)]
pub struct Egress {
    record: Record,
    _server: Server,
}

impl Egress {
    /// What was asked for. It can be kept after the end.
    pub fn record(&self) -> Record {
        self.record.clone()
    }
}

/// Which hosts a run asked for. Cloning it gives another view of the same record.
#[derive(Debug, Clone, Default)]
pub struct Record(Arc<Mutex<Recorded>>);

#[derive(Debug, Default)]
struct Recorded {
    asked: BTreeMap<(String, u16, Option<String>), u64>,
    left_out: u64,
}

/// A host that a run asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its name or address, as the run gave it.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Why it was refused; nothing when it was allowed.
    pub refused: Option<String>,
    /// How often.
    pub times: u64,
}

impl Record {
    /// What was asked for so far, by name.
    pub fn asked(&self) -> Vec<Asked> {
        let recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |((host, port, refused), times): (&(String, u16, Option<String>), &u64)| Asked {
            host: host.clone(),
            port: *port,
            refused: refused.clone(),
            times: *times,
        };
        recorded.asked.iter().map(one).collect()
    }

    /// How many requests are not in [`Self::asked`], because there were too many different ones.
    pub fn left_out(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).left_out
    }

    fn add(&self, host: &str, port: u16, refused: Option<String>) {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.to_owned(), port, refused);
        if let Some(times) = recorded.asked.get_mut(&key) {
            *times += 1;
        } else if recorded.asked.len() < RECORDED {
            recorded.asked.insert(key, 1);
        } else {
            recorded.left_out += 1;
        }
    }
}
