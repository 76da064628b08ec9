//! A server with a JSON API that the user named, such as a team's. The guard does not apply, since its address comes
//! from the user alone.
//!
//! Invariants: the token is sent to this server only, and never after a redirect; an answer takes a bounded amount of
//! memory and time; without encryption, only this machine itself is reached, unless the user allows more.

use std::io::{BufRead as _, BufReader, Read};
use std::ops::ControlFlow;
use std::time::Duration;

use ureq::Agent as Connections; // tidy: allow(agent)
use ureq::Proxy;
use ureq::http::Response;
use url::{Host, Url};

use crate::transport::{RootCertificates, tls_of};
use crate::{Proxies, proxy, text};

const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// The longest line that is read of an answer that comes line by line.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// The address of a server and how to reach it.
#[derive(Clone, Default)]
pub struct ApiServer {
    /// The URL, such as `https://weir.example.org`.
    pub url: String,
    pub token: String,
    pub timeout: Duration,
    pub proxies: Proxies,
    pub roots: RootCertificates,
    /// Whether the token may be sent without encryption to another machine.
    pub is_insecure: bool,
}

/// A server, and the connections to it.
pub struct ApiClient {
    url: Url,
    authorization: String,
    connections: Connections,
}

/// An answer, whatever its status.
#[derive(Debug, Clone)]
pub struct ApiAnswer {
    pub status: u16,
    /// How many seconds to wait before the next request, if the server says so.
    pub retry_after: Option<u64>,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    #[error("{0}")]
    Address(String),
    /// The server cannot be reached, or does not answer in time.
    #[error("{0}")]
    Unanswered(String),
}

impl ApiClient {
    /// Creates a client. No connection is made yet.
    pub fn new(server: &ApiServer) -> Result<Self, ApiError> {
        // The text is not repeated, since it may have credentials.
        let mut url = Url::parse(server.url.trim())
            .map_err(|error| ApiError::Address(format!("the address is not a URL: {error}")))?;
        let shown = text::one_line(&text::without_secrets(&url), 200);
        let wrong = |why: &str| ApiError::Address(format!("`{shown}` {why}"));
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong("does not begin with https://"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("has credentials, a query or a fragment"));
        }
        if url.scheme() == "http" && !is_this_machine(&url) && !server.is_insecure {
            return Err(wrong("is not encrypted, so others on the network could read the token"));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        let proxy = server.proxies.of(&url).map(|proxy| Proxy::new(&proxy::address(proxy))).transpose();
        let proxy = proxy.map_err(|_| ApiError::Address("cannot parse the URL of the proxy".to_owned()))?;
        let config = Connections::config_builder()
            .tls_config(tls_of(&server.roots))
            .proxy(proxy)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(server.timeout))
            .user_agent(concat!("weir/", env!("CARGO_PKG_VERSION"))) // tidy: allow(agent)
            .build();
        let authorization = format!("Bearer {}", server.token);
        Ok(Self { url, authorization, connections: Connections::new_with_config(config) })
    }

    /// Asks for a path, with the fields of a query.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<ApiAnswer, ApiError> {
        let url = self.asked(path, query);
        let request = self.connections.get(url.as_str()).header("authorization", &self.authorization);
        self.answered(request.call())
    }

    /// Asks for a path, and passes each line of a good answer on as it comes. Returns the answer without these lines.
    pub fn follow(
        &self,
        path: &str,
        query: &[(&str, &str)],
        mut each: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<ApiAnswer, ApiError> {
        let url = self.asked(path, query);
        let request = self.connections.get(url.as_str()).header("authorization", &self.authorization);
        let answer = request.call();
        if answer.as_ref().map_or(0, |answer| answer.status().as_u16()) != 200 {
            return self.answered(answer);
        }
        let answer = answer.map_err(|error| self.unanswered(&error.to_string()))?;
        let mut lines = BufReader::new(answer.into_body().into_reader());
        loop {
            let mut line = Vec::new();
            let read = lines.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
            let is_over = read.map_err(|error| self.unanswered(&error.to_string()))? == 0;
            if is_over || each(String::from_utf8_lossy(&line).trim_end()).is_break() {
                return Ok(ApiAnswer { status: 200, retry_after: None, body: Vec::new() });
            }
        }
    }

    /// Sends JSON to a path.
    pub fn post(&self, path: &str, body: &str) -> Result<ApiAnswer, ApiError> {
        let url = self.at(path);
        let request = self.connections.post(url.as_str()).header("authorization", &self.authorization);
        self.answered(request.header("content-type", "application/json").send(body))
    }

    /// Deletes what is at a path, with the fields of a query.
    pub fn delete(&self, path: &str, query: &[(&str, &str)]) -> Result<ApiAnswer, ApiError> {
        let url = self.asked(path, query);
        let request = self.connections.delete(url.as_str()).header("authorization", &self.authorization);
        self.answered(request.call())
    }

    fn asked(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.at(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    fn at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{path}", self.url.path().trim_end_matches('/')));
        url
    }

    fn answered(&self, answer: Result<Response<ureq::Body>, ureq::Error>) -> Result<ApiAnswer, ApiError> {
        let answer = answer.map_err(|error| self.unanswered(&error.to_string()))?;
        let status = answer.status().as_u16();
        let retry_after =
            answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let mut body = Vec::new();
        let read = answer.into_body().into_reader().take(MAX_ANSWER_BYTES + 1).read_to_end(&mut body);
        let size = read.map_err(|error| self.unanswered(&error.to_string()))?;
        if size as u64 > MAX_ANSWER_BYTES {
            return Err(self.unanswered(&format!("its answer has more than {} MiB", MAX_ANSWER_BYTES >> 20)));
        }
        Ok(ApiAnswer { status, retry_after, body })
    }

    fn unanswered(&self, why: &str) -> ApiError {
        ApiError::Unanswered(format!("{}: {why}", self.url))
    }
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: Result<&str, &str>) {
        let made = ApiClient::new(&ApiServer { url: url.to_owned(), ..ApiServer::default() });
        let found = made.map(|client| client.at("/v1/me").to_string()).map_err(|error| error.to_string());
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{url}");
    }

    #[test]
    fn only_an_address_that_keeps_the_token_safe_is_taken() {
        check("https://weir.example.org/", Ok("https://weir.example.org/v1/me"));
        check("http://127.0.0.1:4747", Ok("http://127.0.0.1:4747/v1/me"));
        check("http://localhost:4747/team/", Ok("http://localhost:4747/team/v1/me"));
        check(
            "http://weir.example.org",
            Err("`http://weir.example.org` is not encrypted, so others on the network could read the token"),
        );
        for url in ["https://a:secret@weir.example.org", "https://weir.example.org/?token=secret"] {
            check(url, Err("`https://weir.example.org` has credentials, a query or a fragment"));
        }
        check("https://a:secret@", Err("the address is not a URL: empty host"));
        check("ftp://weir.example.org", Err("`ftp://weir.example.org` does not begin with https://"));
    }
}
