//! The HTTP client of the faces, for servers that the user named. Invariant: TLS trusts the certificates that this
//! machine trusts, and nothing else.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::uri::Scheme;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer}; // tidy: allow(executor)
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use weir_host::error::{CommandError, ErrorKind};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a connection without a request is kept for the next one.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A client, and its connections.
pub type HttpClient = Client<HttpsConnector<HttpConnector>, Body>;

/// Returns a client for servers that are reached by a scheme. No connection is made yet.
pub fn client(scheme: &Scheme) -> Result<HttpClient, CommandError> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let roots = if *scheme == Scheme::HTTPS { trusted_roots()? } else { RootCertStore::empty() };
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| CommandError::broken(&format!("cannot use TLS: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(connector);
    let spawner = TokioExecutor::new(); // tidy: allow(executor)
    Ok(Client::builder(spawner)
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .build(connector))
}

pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn trusted_roots() -> Result<RootCertStore, CommandError> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        return Err(CommandError::new(ErrorKind::Failed, "cannot find any certificate that this machine trusts")
            .hint("install the package ca-certificates, or set SSL_CERT_FILE to a file with certificates"));
    }
    Ok(roots)
}
