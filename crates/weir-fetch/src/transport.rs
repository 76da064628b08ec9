//! Sends one request over the network, to checked addresses only.
//!
//! Invariants: a direct connection goes to an address returned by [`GuardedResolver::resolve`]; redirects are not
//! followed here but returned to the caller.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use ureq::Agent as Connections; // tidy: allow(agent)
use ureq::http::{Response, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Body, Error, Proxy, Timeout};
use url::Url;

use crate::guard::Guard;
use crate::proxy::{self, Proxies};
use crate::{FetchError, text};

const MAX_HEADER_BYTES: usize = 64 << 10;

/// The preferred media types: text that a model can read first, then types that can be converted to it.
const ACCEPTED: &str =
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, text/*;q=0.8, */*;q=0.5";

/// Limits on the size and duration of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum length of a decompressed page, in bytes; the rest is cut.
    pub bytes: u64,
    /// The maximum number of bytes received over the network.
    pub received: u64,
    /// The maximum time from the first name lookup to the last byte, including all redirects.
    pub time: Duration,
    pub redirects: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 10 << 20, received: 10 << 20, time: Duration::from_secs(30), redirects: 10 }
    }
}

/// The trusted certificates.
#[derive(Debug, Clone, Default)]
pub enum RootCertificates {
    /// The system's certificates, so that a company's own authority is trusted; if there are none, as in small
    /// containers, those that browsers ship.
    #[default]
    System,
    /// These certificates, as DER.
    Custom(Vec<Vec<u8>>),
}

#[derive(Clone, Default)]
pub enum NameResolver {
    #[default]
    System,
    Custom(Arc<ResolveFn>),
}

/// A function that returns the addresses of a name.
pub type ResolveFn = dyn Fn(&str) -> Vec<IpAddr> + Send + Sync;

impl fmt::Debug for NameResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::Custom(_) => "Custom",
        })
    }
}

/// How pages are fetched.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub limits: Limits,
    /// The hosts that may be reached.
    pub guard: Guard,
    pub proxies: Proxies,
    pub roots: RootCertificates,
    pub names: NameResolver,
    /// Whether a redirect may lead from https to http.
    pub downgrade: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    pub url: String,
    /// The entity tag of the stored version.
    pub etag: Option<String>,
    /// The modification date of the stored version, as the server wrote it.
    pub last_modified: Option<String>,
}

/// Fetches pages. Create it once; threads can share it.
#[derive(Debug)]
pub struct Fetcher {
    pub(crate) settings: Settings,
    direct: Connections,
    tls: TlsConfig,
}

impl Fetcher {
    /// Creates a fetcher. Reads the trusted certificates but opens no connection.
    pub fn new(settings: Settings) -> Self {
        let tls = tls_of(&settings.roots);
        let resolver = GuardedResolver { guard: settings.guard.clone(), names: settings.names.clone() };
        let direct = Connections::with_parts(config(&tls, None), DefaultConnector::default(), resolver);
        Self { settings, direct, tls }
    }

    pub(crate) fn send(
        &self,
        url: &Url,
        validators: Option<&Request>,
        left: Duration,
    ) -> Result<Response<Body>, FetchError> {
        let failed = |error| self.explain(url, error);
        let uri: Uri = url.as_str().parse().map_err(|_| FetchError::Url {
            text: url.to_string(),
            why: "it holds characters that must be percent-encoded".to_owned(),
        })?;
        let connections = match self.settings.proxies.of(url) {
            None => self.direct.clone(),
            Some(proxy) => {
                let proxy = Proxy::new(&proxy::address(proxy)).map_err(failed)?;
                Connections::with_parts(
                    config(&self.tls, Some(proxy)),
                    DefaultConnector::default(),
                    DefaultResolver::default(),
                )
            }
        };
        let mut request = connections.get(uri).header("accept", ACCEPTED).header("accept-encoding", "gzip, br");
        if let Some(validators) = validators {
            for (name, value) in [("if-none-match", &validators.etag), ("if-modified-since", &validators.last_modified)]
            {
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
        }
        request.config().timeout_global(Some(left)).build().call().map_err(failed)
    }

    /// Translates an error on the way to this page.
    pub(crate) fn explain(&self, url: &Url, error: Error) -> FetchError {
        let host = url.host_str().unwrap_or_default().to_owned();
        match error {
            Error::Other(other) => match other.downcast::<FetchError>() {
                Ok(ours) => *ours,
                Err(other) => FetchError::Unreachable { host, why: other.to_string() },
            },
            Error::Timeout(_) => FetchError::TooSlow { host, after: self.settings.limits.time },
            Error::HostNotFound => FetchError::NoSuchHost { host },
            Error::InvalidProxyUrl => FetchError::Proxy { host, why: "its URL is invalid".to_owned() },
            Error::ConnectProxyFailed(why) => FetchError::Proxy { host, why: text::one_line(&why, 200) },
            Error::Rustls(error) => FetchError::Untrusted { host, why: error.to_string() },
            Error::Tls(why) => FetchError::Untrusted { host, why: why.to_owned() },
            // A TLS failure while the handshake is read is reported as invalid data.
            Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData && url.scheme() == "https" => {
                FetchError::Untrusted { host, why: error.to_string() }
            }
            Error::Io(error) => FetchError::Unreachable { host, why: error.to_string() },
            Error::LargeResponseHeader(..) => {
                FetchError::Broken { host, why: format!("its headers are longer than {} KB", MAX_HEADER_BYTES >> 10) }
            }
            other => FetchError::Broken { host, why: text::one_line(&other.to_string(), 200) },
        }
    }
}

fn config(tls: &TlsConfig, proxy: Option<Proxy>) -> ureq::config::Config {
    Connections::config_builder()
        .tls_config(tls.clone())
        // The proxy is chosen above, never from the environment.
        .proxy(proxy)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_response_header_size(MAX_HEADER_BYTES)
        // A reused connection would not be checked again.
        .max_idle_connections(0)
        .user_agent(concat!("weir/", env!("CARGO_PKG_VERSION"))) // tidy: allow(agent)
        .build()
}

pub(crate) fn tls_of(roots: &RootCertificates) -> TlsConfig {
    TlsConfig::builder().root_certs(root_certificates(roots)).build()
}

fn root_certificates(roots: &RootCertificates) -> RootCerts {
    let of = |der: &[u8]| Certificate::from_der(der).to_owned();
    match roots {
        RootCertificates::Custom(list) => RootCerts::Specific(Arc::new(list.iter().map(|der| of(der)).collect())),
        RootCertificates::System => {
            let found = rustls_native_certs::load_native_certs().certs;
            if found.is_empty() {
                return RootCerts::WebPki;
            }
            RootCerts::Specific(Arc::new(found.iter().map(|der| of(der)).collect()))
        }
    }
}

/// Resolves a name and refuses it if one of its addresses may not be reached.
#[derive(Debug)]
struct GuardedResolver {
    guard: Guard,
    names: NameResolver,
}

impl Resolver for GuardedResolver {
    fn resolve(&self, uri: &Uri, _: &ureq::config::Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let found: Vec<SocketAddr> = match (&self.names, host.parse::<IpAddr>()) {
            (_, Ok(address)) => vec![SocketAddr::new(address, port)],
            (NameResolver::Custom(names), _) => {
                names(host).into_iter().map(|address| SocketAddr::new(address, port)).collect()
            }
            (NameResolver::System, _) => resolve(host, port, *timeout.after)?,
        };
        let mut checked = self.empty();
        for address in found.into_iter().take(16) {
            self.guard.check_address(host, address.ip(), port).map_err(|denied| Error::Other(Box::new(denied)))?;
            checked.push(address);
        }
        if checked.is_empty() { Err(Error::HostNotFound) } else { Ok(checked) }
    }
}

/// Resolves a name on a separate thread, since the system's resolver cannot be interrupted. The thread is abandoned if
/// it does not answer in time.
fn resolve(host: &str, port: u16, within: Duration) -> Result<Vec<SocketAddr>, Error> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let name = (host.to_owned(), port);
    std::thread::Builder::new().name("resolve".to_owned()).spawn(move || {
        let found = (name.0.as_str(), name.1).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        // If it took too long, the receiver is gone.
        let _ = sender.send(found);
    })?;
    match receiver.recv_timeout(within) {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(_)) => Err(Error::HostNotFound),
        Err(_) => Err(Error::Timeout(Timeout::Resolve)),
    }
}
