//! Answers in JSON.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::Value;

pub fn json(status: StatusCode, body: &Value) -> Response {
    written_json(status, body.to_string())
}

/// Returns an answer of JSON that is written already.
pub fn written_json(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Says that the process is alive. Needs no token and touches nothing.
pub async fn health() -> Response {
    json(StatusCode::OK, &serde_json::json!({ "status": "ok" }))
}
