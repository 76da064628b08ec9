//! The API that requests are passed on to. Invariants: a request and its answer pass unchanged, apart from the headers
//! that belong to a single connection; plain HTTP does not leave this machine unless the user allows it; nothing is
//! logged.

use std::error::Error;
use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONNECTION, CONTENT_LENGTH};
use axum::http::request::Parts;
use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, Version};
use axum::response::Response;
use weir_host::error::CommandError;
use weir_http::outgoing::{HttpClient, client, is_loopback};
use weir_http::problem::Problem;

/// The headers that belong to a connection and not to a request or an answer. `Host` is that of the API, and the client
/// has been told to continue by the time its body is passed on.
const OF_CONNECTION: [&str; 11] = [
    "connection", "expect", "host", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
];

/// An API, and the connections to it.
pub(super) struct Upstream {
    scheme: Scheme,
    authority: Authority,
    /// What its paths begin with.
    prefix: String,
    client: HttpClient,
}

pub(super) struct OutgoingBody {
    pub(super) body: Body,
    /// Its length, if the body is in memory.
    pub(super) bytes: Option<u64>,
}

impl Upstream {
    /// Returns the API at an address. No connection is made yet.
    pub(super) fn at(url: &str, is_insecure: bool) -> Result<Self, CommandError> {
        let uri = url.parse::<Uri>().map_err(|error| unusable(url, &error.to_string()))?;
        let (scheme, authority) = match (uri.scheme(), uri.authority()) {
            (Some(scheme), Some(authority)) => (scheme.clone(), authority.clone()),
            _ => return Err(unusable(url, "it does not begin with https://")),
        };
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(unusable(url, "it has credentials or a query"));
        }
        if scheme != Scheme::HTTPS && scheme != Scheme::HTTP {
            return Err(unusable(url, "it is neither https:// nor http://"));
        }
        if scheme == Scheme::HTTP && !is_loopback(authority.host()) && !is_insecure {
            return Err(unusable(url, "others on the network could read your key")
                .hint("add --insecure if you trust the network"));
        }
        let prefix = uri.path().trim_end_matches('/').to_owned();
        let client = client(&scheme)?;
        Ok(Self { scheme, authority, prefix, client })
    }

    /// Whether the API would be the proxy itself.
    pub(super) fn is_itself(&self, address: SocketAddr) -> bool {
        is_loopback(self.authority.host()) && self.authority.port_u16() == Some(address.port())
    }

    /// Passes a request on, and returns the answer as it arrives.
    pub(super) async fn send(&self, parts: Parts, outgoing: OutgoingBody) -> Result<Response, Problem> {
        let mut request = Request::new(outgoing.body);
        *request.uri_mut() = self.uri(&parts.uri)?;
        *request.method_mut() = parts.method;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = passed_on(&parts.headers);
        if let Some(bytes) = outgoing.bytes {
            request.headers_mut().insert(CONTENT_LENGTH, bytes.into());
        }
        let answer = self.client.request(request).await.map_err(|error| self.unreachable(&error))?;
        let (mut parts, body) = answer.into_parts();
        parts.headers = passed_on(&parts.headers);
        parts.version = Version::HTTP_11;
        Ok(Response::from_parts(parts, Body::new(body)))
    }

    fn uri(&self, asked: &Uri) -> Result<Uri, Problem> {
        let path = asked.path_and_query().map_or("/", |path| path.as_str());
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        uri.path_and_query(format!("{}{path}", self.prefix)).build().map_err(|error| {
            Problem::new(StatusCode::BAD_REQUEST, "Unusable path", format!("cannot pass the path on: {error}"))
        })
    }

    fn unreachable(&self, error: &hyper_util::client::legacy::Error) -> Problem {
        let causes = std::iter::successors(error.source(), |&cause| cause.source());
        let why: Vec<String> = causes.map(ToString::to_string).collect();
        let what = if error.is_connect() { "cannot connect to" } else { "no answer from" };
        Problem::new(StatusCode::BAD_GATEWAY, "Upstream unreachable", format!("{what} {self}: {}", why.join(": ")))
            .hint("check the network, and the address that `weir proxy --upstream` was given".to_owned())
    }
}

impl std::fmt::Display for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.prefix)
    }
}

fn unusable(url: &str, why: &str) -> CommandError {
    CommandError::usage(format!("cannot pass requests on to `{url}`: {why}"))
        .hint("name the address of the API, such as https://api.anthropic.com or https://api.openai.com")
}

fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|names| names.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect();
    let is_of_connection =
        |name: &HeaderName| OF_CONNECTION.contains(&name.as_str()) || named.iter().any(|other| name == other.as_str());
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        if !is_of_connection(name) {
            passed.append(name.clone(), value.clone());
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(url: &str, expected: Expect) {
        let found = Upstream::at(url, false).map_or_else(|error| error.message, |upstream| upstream.to_string());
        expected.assert_eq(&found);
    }

    #[test]
    fn only_an_address_that_is_safe_to_use_is_taken() {
        check("http://127.0.0.1:9/", expect!["http://127.0.0.1:9"]);
        check("http://localhost:9/api/", expect!["http://localhost:9/api"]);
        check("http://[::1]:9", expect!["http://[::1]:9"]);
        check(
            "http://api.example",
            expect!["cannot pass requests on to `http://api.example`: others on the network could read your key"],
        );
        check("api.example", expect!["cannot pass requests on to `api.example`: it does not begin with https://"]);
        check(
            "ftp://api.example",
            expect!["cannot pass requests on to `ftp://api.example`: it is neither https:// nor http://"],
        );
        check(
            "http://key@127.0.0.1",
            expect!["cannot pass requests on to `http://key@127.0.0.1`: it has credentials or a query"],
        );
        assert!(Upstream::at("http://api.example", true).is_ok());
    }

    #[test]
    fn a_path_is_appended_as_it_is() {
        let upstream = Upstream::at("http://127.0.0.1:9/api", false).unwrap();
        let uri = upstream.uri(&"/v1/messages?beta=true&x=%2F".parse().unwrap()).unwrap();
        assert_eq!(uri, "http://127.0.0.1:9/api/v1/messages?beta=true&x=%2F");
    }

    #[test]
    fn headers_of_the_connection_stay_behind() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("host", "127.0.0.1:4748"),
            ("authorization", "Bearer made-up"),
            ("connection", "keep-alive, X-Hop"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("anthropic-beta", "one"),
            ("anthropic-beta", "two"),
        ] {
            headers.append(name, value.parse().unwrap());
        }
        let passed: Vec<String> =
            passed_on(&headers).iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        assert_eq!(passed, ["authorization: Bearer made-up", "anthropic-beta: one", "anthropic-beta: two"]);
    }
}
