//! Listens for HTTP/1.1 connections, plain or over TLS, and serves routes until a signal arrives.
//!
//! Invariants: whatever a client does or does not do, it holds a connection for a bounded time only; memory is bounded
//! by the number of connections and the size of a body; a signal lets open requests finish, for a bounded time too.

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

use super::peer::Peer;
use super::request_limits;
use super::stall::WriteLimited;

/// The longest head of a request: its first line and its headers, in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// How long a write may wait for the client to read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long open requests have to finish after a signal.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the server waits if a connection cannot be accepted, because there are too many open files for one.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The limits of a server.
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
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_body_bytes: 4 << 20,
            header_timeout: Duration::from_secs(10),
            request_timeout: Some(Duration::from_secs(600)),
            max_connections: 256,
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
        let open = GracefulShutdown::new();
        let mut end = pin!(asked_to_end());
        loop {
            let (stream, permit) = tokio::select! {
                () = &mut end => break,
                accepted = self.accept(&free) => accepted,
            };
            let connection = Connection { service: service.clone(), watcher: open.watcher(), limits, _permit: permit };
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
    async fn accept(&self, free: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
        loop {
            let Ok(permit) = Arc::clone(free).acquire_owned().await else { return std::future::pending().await };
            match self.listener.accept().await {
                Ok((stream, _)) => return (stream, permit),
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
    _permit: OwnedSemaphorePermit,
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
