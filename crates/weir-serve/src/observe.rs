//! Watches every request: gives it an ID, counts it and writes a line about it. Invariants: each answer has the ID of
//! its request; no line has a token, a query or a body, and none can pass for two.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use weir_host::random;
use weir_http::log::{Line, name_of};

use super::ServerState;
use super::metrics::Answered;

/// Names a request, in both directions.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest ID that is taken from a client.
const MAX_ID_CHARS: usize = 128;
/// The route of a request that matches none.
const NO_ROUTE: &str = "none";

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
    let (method, status) = (method.as_str(), status.as_u16());
    state.log.write(&Line { id: &id, method, path: &path, route: &route, status, took });
    response
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
