//! Connects to a host: resolves its name once, checks the addresses, and connects to one that was checked.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::Rules;
use super::address::{AddressClass, canonical, classify};
use super::listen::ShutdownSignal;
use super::pattern::PatternPrecision;

/// Why a connection was not made.
#[derive(Debug)]
pub(super) enum ConnectError {
    /// The rules do not allow it: the reason, and what to add to them, if anything.
    Refused {
        why: String,
        add: Option<String>,
    },
    Failed(String),
    /// The server is shutting down.
    Stopped,
}

pub(super) fn connect(rules: &Rules, host: &str, port: u16, stop: &ShutdownSignal) -> Result<TcpStream, ConnectError> {
    if !rules.allow.iter().any(|pattern| pattern.allows(host, port)) {
        // For an address, its class explains more than a missing pattern, and the pattern to add may need the port.
        if let Ok(address) = host.parse() {
            check(rules, SocketAddr::new(address, port))?;
        }
        let add = if matches!(port, 80 | 443) { host.to_owned() } else { with_port(host, port) };
        return Err(ConnectError::Refused { why: "the host is not allowed".to_owned(), add: Some(add) });
    }
    let mut addresses = resolve(rules, host, port, stop)?;
    for address in &mut addresses {
        // Use our port, whatever the resolver returns.
        *address = SocketAddr::new(canonical(address.ip()), port);
        // One bad address refuses all of them: a name that resolves to it cannot be trusted.
        check(rules, *address)?;
    }
    reach(rules, &addresses, stop)
}

fn with_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Checks whether this address may be connected to.
fn check(rules: &Rules, address: SocketAddr) -> Result<(), ConnectError> {
    let (ip, port) = (address.ip(), address.port());
    let named = rules.allow.iter().map(|pattern| pattern.names(ip, port)).max().unwrap_or(PatternPrecision::No);
    let refused = |reason: &str, add: Option<String>| {
        Err(ConnectError::Refused { why: format!("it resolves to {ip}, {reason}"), add })
    };
    match classify(ip) {
        AddressClass::Public => Ok(()),
        AddressClass::Private(_) if named >= PatternPrecision::Address => Ok(()),
        AddressClass::Own(_) if named == PatternPrecision::WithPort => Ok(()),
        AddressClass::Private(reason) | AddressClass::Own(reason) => {
            refused(reason, Some(with_port(&ip.to_string(), port)))
        }
        AddressClass::Never(reason) => refused(reason, None),
    }
}

/// Resolves a name in its own thread, which may outlive this call: the system's resolver cannot be interrupted.
fn resolve(rules: &Rules, host: &str, port: u16, stop: &ShutdownSignal) -> Result<Vec<SocketAddr>, ConnectError> {
    if let Ok(address) = host.parse() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let failed = |error: io::Error| ConnectError::Failed(format!("cannot resolve the name: {error}"));
    let (done, doing) = UnixStream::pair().map_err(failed)?;
    let (sender, receiver) = mpsc::channel();
    let (resolver, name) = (Arc::clone(&rules.resolve), host.to_owned());
    let resolving = move || {
        // The receiver may have given up by now. Dropping `doing` wakes the other side.
        let _ = sender.send(resolver(&name, port));
        drop(doing);
    };
    thread::Builder::new().name("resolver".to_owned()).spawn(resolving).map_err(failed)?;
    stop.wait_for(done.as_fd(), PollFlags::IN, Instant::now() + rules.patience.connect)
        .map_err(|error| connect_error(&error))?;
    let addresses =
        receiver.try_recv().map_err(|_| ConnectError::Failed("the resolver ended without an answer".to_owned()))?;
    match addresses {
        Ok(addresses) if addresses.is_empty() => Err(ConnectError::Failed("the name has no address".to_owned())),
        Ok(addresses) => Ok(addresses),
        Err(error) => Err(failed(error)),
    }
}

fn reach(rules: &Rules, addresses: &[SocketAddr], stop: &ShutdownSignal) -> Result<TcpStream, ConnectError> {
    let mut last = ConnectError::Failed("no address to connect to".to_owned());
    for address in addresses {
        match dial(*address, Instant::now() + rules.patience.connect, stop) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = connect_error(&error),
        }
        if matches!(last, ConnectError::Stopped) {
            break;
        }
    }
    Err(last)
}

/// Like `TcpStream::connect_timeout`, but interruptible.
fn dial(address: SocketAddr, until: Instant, stop: &ShutdownSignal) -> io::Result<TcpStream> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS | Errno::INTR) => {
            stop.wait_for(socket.as_fd(), PollFlags::OUT, until)?;
            rustix::net::sockopt::socket_error(&socket)??;
        }
        Err(error) => return Err(error.into()),
    }
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn connect_error(error: &io::Error) -> ConnectError {
    match error.kind() {
        io::ErrorKind::ConnectionAborted => ConnectError::Stopped,
        io::ErrorKind::TimedOut => ConnectError::Failed("it took too long".to_owned()),
        _ => ConnectError::Failed(error.to_string()),
    }
}
