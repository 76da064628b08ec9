//! Listens for HTTP/1.1 connections, plain or over TLS, and serves routes until a signal arrives.
//!
//! Invariants: whatever a client does or does not do, it holds a connection for a bounded time only; memory is bounded
//! by the number of connections and the size of a body; one address has a share of the connections; a signal lets open
//! requests finish, for a bounded time too.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::paint;
pub use weir_host::signal::asked_to_end;

use super::peer::{Network, Peer};
use super::request_limits;
use super::shares::{Share, Shares};
use super::stall::WriteLimited;

/// The longest head of a request: its first line and its headers, in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// How long a write may wait for the client to read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long open requests have to finish after a signal.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the server waits if a connection cannot be accepted, because there are too many open files for one.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    /// The largest body of a request.
    pub max_body_bytes: usize,
    /// How long a client may take to send the head of a request, and how long an idle connection is kept.
    pub header_timeout: Duration,
    /// How long a request may take until its answer begins, or `None` for any time.
    pub request_timeout: Option<Duration>,
    /// The maximum number of connections. Others wait to be accepted.
    pub max_connections: usize,
    /// The maximum number of connections of one address. Others of it are closed at once.
    pub max_per_address: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_body_bytes: 4 << 20,
            header_timeout: Duration::from_secs(10),
            request_timeout: Some(Duration::from_secs(600)),
            max_connections: 256,
            max_per_address: 128,
        }
    }
}

/// A bound socket, before anything is served.
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl Listening {
    /// Binds an address for plain HTTP. Port 0 lets the system choose one.
    pub async fn bind(address: SocketAddr) -> Result<Self, CommandError> {
        let failed = |error: io::Error| {
            CommandError::new(ErrorKind::Failed, format!("cannot listen on {address}: {error}"))
                .hint("choose another address or port; port 0 lets the system choose a free one")
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, tls: None })
    }

    /// Returns the same socket for HTTP over TLS.
    pub fn with_tls(self, tls: TlsAcceptor) -> Self {
        Self { tls: Some(tls), ..self }
    }

    /// Returns the address, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns whether it is without TLS.
    pub fn is_plain(&self) -> bool {
        self.tls.is_none()
    }

    /// Serves until SIGINT, SIGTERM or SIGHUP, then lets open requests finish. A second signal ends at once.
    pub async fn serve(self, router: Router, limits: ServerLimits) -> Result<(), CommandError> {
        self.run(request_limits::limited(router, limits), limits).await
    }

    /// Like [`Self::serve`], for routes that are within the limits of a request already.
    pub async fn run(self, router: Router, limits: ServerLimits) -> Result<(), CommandError> {
        let service = TowerToHyperService::new(router);
        let free = Arc::new(Semaphore::new(limits.max_connections));
        let shares = Arc::new(Shares::new(limits.max_per_address));
        let open = GracefulShutdown::new();
        let mut end = pin!(asked_to_end());
        loop {
            let (stream, permit) = tokio::select! {
                () = &mut end => break,
                accepted = self.accept(&free) => accepted,
            };
            let (stream, address) = stream;
            // Dropped here, the connection is closed.
            let Some(share) = shares.take(Network::from(address.ip())) else { continue };
            let place = (permit, share);
            let connection = Connection { service: service.clone(), watcher: open.watcher(), limits, _place: place };
            tokio::spawn(connection.run(stream, self.tls.clone()));
        }
        // A client that connects from now on is refused at once, instead of waiting for nothing.
        drop(self.listener);
        tokio::select! {
            () = open.shutdown() => {}
            () = tokio::time::sleep(DRAIN_TIMEOUT) => {
                paint::warn("weir: ended with open connections, which had ten seconds to finish");
            }
            () = asked_to_end() => paint::warn("weir: ended by a second signal, with open connections"),
        }
        Ok(())
    }

    /// Waits until another connection may be open, and accepts it.
    async fn accept(&self, free: &Arc<Semaphore>) -> ((TcpStream, SocketAddr), OwnedSemaphorePermit) {
        loop {
            let Ok(permit) = Arc::clone(free).acquire_owned().await else { return std::future::pending().await };
            match self.listener.accept().await {
                Ok(accepted) => return (accepted, permit),
                // The client has given up already.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }
}

/// One connection, and its place among the open ones.
struct Connection {
    service: TowerToHyperService<Router>,
    watcher: Watcher,
    limits: ServerLimits,
    _place: (OwnedSemaphorePermit, Share),
}

impl Connection {
    async fn run(self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        // Answers are written at once; waiting for more to send would only delay them.
        let _ = stream.set_nodelay(true);
        let ends = stream.peer_addr().and_then(|client| Ok(Peer { client, server: stream.local_addr()? }));
        let Ok(peer) = ends else { return };
        let Some(tls) = tls else { return self.serve(stream, peer).await };
        let shaken = tokio::time::timeout(self.limits.header_timeout, tls.accept(stream)).await;
        if let Ok(Ok(stream)) = shaken {
            self.serve(stream, peer).await;
        }
    }

    /// Serves requests until the client or a limit ends the connection. How it ends concerns only the client.
    async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(self, stream: S, peer: Peer) {
        let io = TokioIo::new(WriteLimited::new(stream, WRITE_TIMEOUT));
        let routes = self.service;
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            routes.call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .max_header_size(MAX_HEAD_BYTES)
            .serve_connection(io, service);
        let _ = self.watcher.watch(connection).await;
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpSocket;

    use super::*;

    async fn connected(from: &str, to: SocketAddr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(from.parse().unwrap()).unwrap();
        socket.connect(to).await.unwrap()
    }

    #[test]
    fn the_connections_of_one_address_leave_room_for_others() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listening = Listening::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
            let address = listening.address();
            let limits = ServerLimits { max_connections: 8, max_per_address: 4, ..ServerLimits::default() };
            let router = Router::new().route("/health", get(async || "alive"));
            tokio::spawn(listening.serve(router, limits));
            let mut slow = Vec::new();
            for _ in 0..30 {
                let mut stream = connected("127.0.0.1:0", address).await;
                // A connection that was closed already may refuse it.
                let _ = stream.write_all(b"GET /health HTTP/1.1\r\n").await;
                slow.push(stream);
            }
            let mut other = connected("127.0.0.2:0", address).await;
            other.write_all(b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
            let mut answer = String::new();
            other.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("alive"), "{answer}");
            // Those beyond the share are closed, and the others wait for the rest of their heads.
            for stream in slow.iter_mut().skip(limits.max_per_address) {
                assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or_default(), 0);
            }
            slow[0].write_all(b"Host: a\r\n\r\n").await.unwrap();
            let mut first = [0; 12];
            slow[0].read_exact(&mut first).await.unwrap();
            assert_eq!(&first, b"HTTP/1.1 200");
        });
    }
}
