//! Checks the `Host` and the `Origin` of every request, so that no web page can reach the server through a browser.
//!
//! Invariants: a name that an attacker has pointed at this machine (DNS rebinding) is refused by its `Host`; a page of
//! another origin is refused by its `Origin`; no answer has a header that would let such a page read it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{HOST, HeaderMap, ORIGIN};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use weir_host::answer::one_line;

use super::problem::Problem;

/// The longest part of a header that an error repeats.
const MAX_SHOWN_CHARS: usize = 80;

/// The hosts by which the server may be reached, each with its port.
#[derive(Debug, Clone)]
pub struct AllowedHosts(Arc<Vec<String>>);

impl AllowedHosts {
    /// Allows the names of this machine's loopback interface, with this port.
    pub fn loopback(port: u16) -> Self {
        Self(Arc::new(["localhost", "127.0.0.1", "[::1]"].iter().flat_map(|host| authorities(host, port)).collect()))
    }

    /// Allows the address that the server listens on too, unless it stands for all addresses of the machine.
    pub fn and_address(self, address: SocketAddr) -> Self {
        match address {
            address if address.ip().is_unspecified() => self,
            SocketAddr::V4(address) => self.and_host(&address.ip().to_string(), address.port()),
            SocketAddr::V6(address) => self.and_host(&format!("[{}]", address.ip()), address.port()),
        }
    }

    /// Allows another name too, with this port.
    pub fn and_host(self, host: &str, port: u16) -> Self {
        let mut all = Arc::unwrap_or_clone(self.0);
        all.extend(authorities(&host.to_ascii_lowercase(), port));
        Self(Arc::new(all))
    }

    /// Whether the server may be reached by this host and port.
    fn allows(&self, authority: &str) -> bool {
        self.0.iter().any(|allowed| allowed.eq_ignore_ascii_case(authority))
    }

    /// Whether pages of this origin may call the server.
    fn allows_origin(&self, origin: &str) -> bool {
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some_and(|authority| self.allows(authority))
    }
}

/// Returns the ways to write a host and a port: without the port too, where it is the default of a scheme.
fn authorities(host: &str, port: u16) -> impl Iterator<Item = String> {
    let bare = matches!(port, 80 | 443).then(|| host.to_owned());
    [format!("{host}:{port}")].into_iter().chain(bare)
}

/// Returns the same routes behind the checks.
pub fn guarded(router: Router, hosts: AllowedHosts) -> Router {
    router.layer(from_fn_with_state(hosts, guard))
}

/// Returns the same routes for programs only: a request that a page of another site caused is refused even if it has no
/// `Origin`, as that of an image has none.
pub fn for_programs(router: Router) -> Router {
    router.layer(from_fn(async |request: Request, next: Next| match is_of_another_site(request.headers()) {
        true => {
            let detail = "pages of other sites may not call this server".to_owned();
            let problem = Problem::new(StatusCode::FORBIDDEN, "Foreign page", detail);
            problem.hint("call it from a program, not from a web page".to_owned()).into_response()
        }
        false => next.run(request).await,
    }))
}

fn is_of_another_site(headers: &HeaderMap) -> bool {
    headers.get_all("sec-fetch-site").iter().any(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"))
}

async fn guard(State(hosts): State<AllowedHosts>, request: Request, next: Next) -> Response {
    match check(&hosts, request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(hosts: &AllowedHosts, headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
    let mut named = headers.get_all(HOST).iter();
    let host = match (named.next(), named.next()) {
        (Some(host), None) => host,
        (None, _) => return Err(misdirected("the request has no Host".to_owned(), hosts)),
        (Some(_), Some(_)) => return Err(misdirected("the request has more than one Host".to_owned(), hosts)),
    };
    // A request line may name a host as well, and it takes precedence.
    let in_line = uri.authority().map(axum::http::uri::Authority::as_str);
    let refused = [host.to_str().ok(), in_line.or(host.to_str().ok())]
        .into_iter()
        .find(|name| !name.is_some_and(|name| hosts.allows(name)));
    if let Some(refused) = refused {
        let shown = one_line(refused.unwrap_or("(not text)"), MAX_SHOWN_CHARS);
        return Err(misdirected(format!("this server does not know the host `{shown}`"), hosts));
    }
    match headers.get(ORIGIN) {
        Some(origin) if !origin.to_str().is_ok_and(|origin| hosts.allows_origin(origin)) => Err(foreign_origin(origin)),
        _ => Ok(()),
    }
}

fn misdirected(detail: String, hosts: &AllowedHosts) -> Problem {
    let names = hosts.0.join(", ");
    Problem::new(StatusCode::MISDIRECTED_REQUEST, "Unknown host", detail)
        .hint(format!("use one of these in the URL: {names}"))
}

fn foreign_origin(origin: &HeaderValue) -> Problem {
    let shown = one_line(origin.to_str().unwrap_or("(not text)"), MAX_SHOWN_CHARS);
    Problem::new(StatusCode::FORBIDDEN, "Foreign origin", format!("pages of `{shown}` may not call this server"))
        .hint("call it from a program, not from a web page".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: u16 = 200;

    #[track_caller]
    fn check_headers(given: &[(&'static str, &str)], uri: &str, expected: u16) {
        let hosts = AllowedHosts::loopback(4747).and_host("weir.example", 4747);
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let found = check(&hosts, &headers, &uri.parse().unwrap());
        let found = found.map_or_else(|problem| problem.into_response().status().as_u16(), |()| OK);
        assert_eq!(found, expected, "{given:?} {uri}");
    }

    #[test]
    fn only_known_hosts_are_served() {
        for host in ["localhost:4747", "127.0.0.1:4747", "[::1]:4747", "LOCALHOST:4747", "weir.example:4747"] {
            check_headers(&[("host", host)], "/health", OK);
        }
        for host in ["evil.example:4747", "localhost", "localhost:80", "127.0.0.1:4747.evil.example", "", "127.1:4747"]
        {
            check_headers(&[("host", host)], "/health", 421);
        }
        check_headers(&[], "/health", 421);
        check_headers(&[("host", "localhost:4747"), ("host", "evil.example")], "/health", 421);
        check_headers(&[("host", "localhost:4747")], "http://evil.example/health", 421);
        check_headers(&[("host", "localhost:4747")], "http://localhost:4747/health", OK);
    }

    #[test]
    fn only_pages_of_the_server_itself_may_call_it() {
        let host = ("host", "127.0.0.1:4747");
        for origin in ["http://127.0.0.1:4747", "https://localhost:4747"] {
            check_headers(&[host, ("origin", origin)], "/", OK);
        }
        for origin in
            ["null", "https://evil.example", "http://localhost", "http://localhost:4748", "file://localhost:4747"]
        {
            check_headers(&[host, ("origin", origin)], "/", 403);
        }
    }

    #[test]
    fn a_default_port_may_be_left_out() {
        let hosts = AllowedHosts::loopback(80).and_host("weir.example", 443);
        assert!(hosts.allows("localhost") && hosts.allows("localhost:80") && !hosts.allows("localhost:81"));
        assert!(hosts.allows("weir.example") && hosts.allows("weir.example:443") && !hosts.allows("weir.example:80"));
    }
}
