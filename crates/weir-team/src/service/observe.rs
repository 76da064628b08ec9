//! Watches every request: gives it an id, counts it and has a line and a span written about it. Invariants: each answer
//! has the id of its request, and each problem repeats it; no line and no span has a token, a query or a body.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use serde_json::{Map, Value};
use weir_records::HostId;

use super::Service;

/// Names a request, in both directions.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Names the trace that a request belongs to (W3C Trace Context).
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");
/// The longest id that is taken from a client.
const MAX_ID_CHARS: usize = 128;
/// The route of a request that matches none.
const NO_ROUTE: &str = "none";

/// Is told of every request that was answered.
pub type RequestWatcher = Arc<dyn Fn(&AnsweredRequest<'_>) + Send + Sync>;

/// A request that was answered, for the log and for traces.
pub struct AnsweredRequest<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its method.
    pub method: &'a str,
    /// Its path, as the client wrote it.
    pub path: &'a str,
    /// The route that it matched.
    pub route: &'a str,
    /// The status of the answer.
    pub status: u16,
    /// How long the answer took.
    pub took: Duration,
    /// The trace that it belongs to, as the client wrote it. Nothing has checked it.
    pub traceparent: Option<&'a str>,
}

/// Passes a request on, and watches it.
pub(super) async fn observe(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request_id(request.headers());
    let (method, path) = (request.method().as_str().to_owned(), request.uri().path().to_owned());
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let route = route.unwrap_or_else(|| NO_ROUTE.to_owned());
    let traceparent = traceparent(request.headers());
    let mut response = named(next.run(request).await, &id).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let status = response.status().as_u16();
    service.figures.answered(&route, status);
    let (id, method, path, route) = (id.as_str(), method.as_str(), path.as_str(), route.as_str());
    let (took, traceparent) = (begun.elapsed(), traceparent.as_deref());
    let answered = AnsweredRequest { id, method, path, route, status, took, traceparent };
    if let Some(log) = service.options.log {
        log(&answered);
    }
    if let Some(watch) = &service.options.watch {
        watch(&answered);
    }
    response
}

/// Returns the trace that a request names, if it names one.
fn traceparent(headers: &HeaderMap) -> Option<String> {
    let mut all = headers.get_all(TRACE_PARENT).iter();
    match (all.next(), all.next()) {
        (Some(only), None) => only.to_str().ok().map(str::to_owned),
        _ => None,
    }
}

/// Adds the id to a problem. Its body is in memory as a whole already.
async fn named(response: Response, id: &str) -> Response {
    let is_problem = |value: &HeaderValue| value == "application/problem+json";
    if !response.headers().get(CONTENT_TYPE).is_some_and(is_problem) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let Ok(mut problem) = serde_json::from_slice::<Map<String, Value>>(&bytes) else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    problem.insert("request_id".to_owned(), id.into());
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(Value::Object(problem).to_string()))
}

/// Returns the id that the client gave, if it is one, or a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let is_id = |id: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        !id.is_empty() && id.len() <= MAX_ID_CHARS && id.chars().all(plain)
    };
    given.filter(is_id).map_or_else(|| HostId::random().map(|id| id.to_string()).unwrap_or_default(), str::to_owned)
}
