//! Watches every request: gives it an ID, and tells what became of it. Invariants: each answer has the ID of its
//! request; what is told has no token, no query and no body.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use weir_host::random;

/// Names a request, in both directions.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The route of a request that matches none.
pub const NO_ROUTE: &str = "none";
/// Names the trace that a request belongs to (W3C Trace Context).
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");
/// The longest ID that is taken from a client.
const MAX_ID_CHARS: usize = 128;

/// Is told of every request that was answered.
pub type RequestWatcher = Arc<dyn Fn(&AnsweredRequest<'_>) + Send + Sync>;

/// A request that was answered, for the log, the figures and traces.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredRequest<'a> {
    pub id: &'a str,
    /// Its method, as the client wrote it.
    pub method: &'a str,
    /// Its path, as the client wrote it.
    pub path: &'a str,
    /// The pattern that the path matched.
    pub route: &'a str,
    pub status: u16,
    /// How long it took until the answer began.
    pub took: Duration,
    /// The trace that it belongs to, as the client wrote it. Nothing has checked it.
    pub traceparent: Option<&'a str>,
}

/// Returns the same routes, watched.
pub fn observed(router: Router, watcher: RequestWatcher) -> Router {
    router.layer(from_fn_with_state(watcher, observe))
}

async fn observe(State(watcher): State<RequestWatcher>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request_id(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let traceparent = traceparent(request.headers());
    let mut response = next.run(request).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    watcher(&AnsweredRequest {
        id: &id,
        method: method.as_str(),
        path: &path,
        route: route.as_deref().unwrap_or(NO_ROUTE),
        status: response.status().as_u16(),
        took: begun.elapsed(),
        traceparent: traceparent.as_deref(),
    });
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

/// Returns the ID that the client gave, if it is one, or a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let is_id = |id: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        !id.is_empty() && id.len() <= MAX_ID_CHARS && id.chars().all(plain)
    };
    given.filter(is_id).map_or_else(|| random::name().unwrap_or_default(), str::to_owned)
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
}
