//! Bodies and queries of requests as types, and answers as JSON. Invariant: a body beyond the limit is never held in
//! memory, and a field that is not known is refused rather than ignored.

use std::error::Error;
use std::fmt::Display;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Query;
use axum::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::Response;
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use weir_core::wording::{one_line, size};

use super::problem::Problem;

/// How much of a complaint about JSON is repeated, in characters.
const MAX_COMPLAINT_CHARS: usize = 300;

/// Reads a body.
pub(super) async fn read_body(body: Body, max_bytes: usize) -> Result<Bytes, Problem> {
    to_bytes(body, max_bytes).await.map_err(|error| {
        let problem = if is_too_large(&error) {
            let detail = format!("the body is larger than {}", size(max_bytes as u64));
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "Body too large", detail)
                .hint("send fewer records at once, or shorter texts")
        } else {
            Problem::new(StatusCode::BAD_REQUEST, "Broken body", format!("cannot read the body: {error}"))
        };
        problem.header(CONNECTION, HeaderValue::from_static("close"))
    })
}

/// Reads a body as JSON. A small body can become a value that takes many times its size, so this belongs into a call,
/// of which a tenant has few at a time.
pub(super) fn parse_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        if error.is_data() {
            return Problem::invalid(format!("cannot use the body: {}", complaint(&error)))
                .hint("docs/team.md has the fields");
        }
        Problem::new(StatusCode::BAD_REQUEST, "Invalid JSON", format!("cannot read the body: {}", complaint(&error)))
    })
}

/// Reads the query of an address.
pub(super) fn read_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let Query(query) = Query::<T>::try_from_uri(uri)
        .map_err(|error| Problem::invalid(complaint(&error.body_text())).hint("docs/team.md has the parameters"))?;
    Ok(query)
}

/// Returns what is wrong with a value, on one line. The reader of JSON repeats the value itself, however long it is.
pub(super) fn complaint(error: &impl Display) -> String {
    one_line(&error.to_string(), MAX_COMPLAINT_CHARS)
}

/// Returns an answer of JSON.
pub(super) fn json_answer(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}
