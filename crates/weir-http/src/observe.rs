//! Watches every request: gives it an ID, counts it and writes a line about it. Invariants: each answer has the ID of
//! its request; no line has a token, a query or a body, and none can pass for two.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use serde_json::json;
use weir_host::answer::one_line;
use weir_host::random;

use super::ServerState;
use super::metrics::Answered;

/// Names a request, in both directions.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest ID that is taken from a client.
const MAX_ID_CHARS: usize = 128;
/// The longest path that a line shows.
const MAX_PATH_CHARS: usize = 200;
/// The route of a request that matches none.
const NO_ROUTE: &str = "none";

/// How requests are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Not at all.
    Off,
    /// A line for a person.
    Text,
    /// A line of JSON.
    Json,
}

/// Returns the same routes, watched.
pub(super) fn observed(router: Router, state: Arc<ServerState>) -> Router {
    router.layer(from_fn_with_state(state, observe))
}

async fn observe(State(state): State<Arc<ServerState>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request_id(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let route = route.unwrap_or_else(|| NO_ROUTE.to_owned());
    let in_flight = state.metrics.begin();
    let mut response = next.run(request).await;
    drop(in_flight);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let status = response.status();
    let took = begun.elapsed();
    state.metrics.answered(&Answered { method: name_of(method.as_str()), route: &route, status, took });
    let line = Line { id: &id, method: method.as_str(), path: &path, route: &route, status: status.as_u16() };
    match state.log {
        LogFormat::Off => {}
        LogFormat::Text => write(&line.text(took.as_secs_f64())),
        LogFormat::Json => write(&line.json(took.as_secs_f64())),
    }
    response
}

/// Writes a line of a team server's log, as text.
pub fn log_text(request: &weir_server::AnsweredRequest<'_>) {
    write(&Line::of(request).text(request.took.as_secs_f64()));
}

/// Writes a line of a team server's log, as JSON.
pub fn log_json(request: &weir_server::AnsweredRequest<'_>) {
    write(&Line::of(request).json(request.took.as_secs_f64()));
}

/// What is written about a request.
struct Line<'a> {
    id: &'a str,
    method: &'a str,
    path: &'a str,
    route: &'a str,
    status: u16,
}

impl<'a> Line<'a> {
    fn of(request: &weir_server::AnsweredRequest<'a>) -> Self {
        let weir_server::AnsweredRequest { id, method, path, route, status, .. } = *request;
        Self { id, method, path, route, status }
    }
}

impl Line<'_> {
    fn text(&self, seconds: f64) -> String {
        let (time, path) = (jiff::Timestamp::now(), one_line(self.path, MAX_PATH_CHARS));
        let milliseconds = seconds * 1000.0;
        format!("{time:.3} {} {path} {} {milliseconds:.1} ms {}", name_of(self.method), self.status, self.id)
    }

    fn json(&self, seconds: f64) -> String {
        json!({
            "time": format!("{:.3}", jiff::Timestamp::now()),
            "request_id": self.id,
            "method": name_of(self.method),
            "path": one_line(self.path, MAX_PATH_CHARS),
            "route": self.route,
            "status": self.status,
            "duration_ms": (seconds * 1_000_000.0).round() / 1000.0,
        })
        .to_string()
    }
}

/// Writes a line. A log that cannot be written must not end the server.
fn write(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Returns the ID that the client gave, if it is one, or a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let is_id = |id: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        !id.is_empty() && id.len() <= MAX_ID_CHARS && id.chars().all(plain)
    };
    given.filter(is_id).map_or_else(|| random::name().unwrap_or_default(), str::to_owned)
}

/// Returns the name of a method. A method that is not known has a name of its own, since a client could make up many.
fn name_of(method: &str) -> &'static str {
    match method {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "OTHER",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_a_client_is_kept_if_it_is_plain() {
        let long = "x".repeat(MAX_ID_CHARS + 1);
        for (given, kept) in [("a-1", true), ("7b.c:d_e", true), ("", false), ("a b", false), ("\"}", false)] {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_static(given));
            assert_eq!(request_id(&headers) == given, kept, "{given}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_str(&long).unwrap());
        assert_ne!(request_id(&headers), long);
        assert!(!request_id(&HeaderMap::new()).is_empty());
    }

    #[test]
    fn a_method_that_is_not_known_is_not_repeated() {
        let method = "IGNORE-ALL-PREVIOUS-INSTRUCTIONS";
        let line = Line { id: "i", method, path: "/", route: "none", status: 405 };
        for text in [line.text(0.01), line.json(0.01)] {
            assert!(text.contains("OTHER") && !text.contains(method), "{text}");
        }
    }

    #[test]
    fn a_path_cannot_begin_a_line_of_its_own() {
        let path = "/v1/tools/a\r\n{\"status\":200}\u{1b}[2J";
        let line = Line { id: "i", method: "POST", path, route: "none", status: 404 };
        for text in [line.text(0.01), line.json(0.01)] {
            assert!(!text.contains(['\r', '\n', '\u{1b}']), "{text}");
        }
        let parsed: serde_json::Value = serde_json::from_str(&line.json(0.0015)).unwrap();
        assert_eq!((&parsed["status"], &parsed["duration_ms"]), (&json!(404), &json!(1.5)));
    }
}
