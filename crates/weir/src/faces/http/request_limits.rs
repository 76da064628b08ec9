//! The limits of one request: the size of its body, the time to send it, and the time until it is answered.

use std::error::Error as _;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, EXPECT};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::listen::ServerLimits;
use super::problem::Problem;
use crate::answer::size;

/// How long a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of a body that is too large is read and thrown away, so that the client gets to read the answer.
const MAX_DISCARDED_BYTES: usize = 64 << 20;

/// Returns the same routes within the limits.
pub(super) fn limited(router: Router, limits: ServerLimits) -> Router {
    router.layer(from_fn_with_state(limits, limit))
}

/// Reads a body to its end.
pub(crate) async fn whole_body(body: Body) -> Result<Bytes, Problem> {
    match tokio::time::timeout(BODY_TIMEOUT, body.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if is_too_long(&error) => Err(too_large("the body is larger than the limit".to_owned())),
        Ok(Err(error)) => Err(Problem::new(StatusCode::BAD_REQUEST, "Broken body", format!("cannot read: {error}"))),
        Err(_) => {
            let detail = format!("the body was not complete after {} s", BODY_TIMEOUT.as_secs());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "Slow request", detail).header(CONNECTION, close()))
        }
    }
}

async fn limit(State(limits): State<ServerLimits>, request: Request, next: Next) -> Response {
    if let Some(bytes) = announced_length(request.headers()).filter(|bytes| *bytes > limits.max_body_bytes as u64) {
        let detail = format!("the body has {}, and the limit is {}", size(bytes), size(limits.max_body_bytes as u64));
        if !request.headers().contains_key(EXPECT) {
            discard(request.into_body()).await;
        }
        return too_large(detail).into_response();
    }
    let request = request.map(|body| Body::new(Limited::new(body, limits.max_body_bytes)));
    let Some(limit) = limits.request_timeout else { return next.run(request).await };
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let detail = format!("the request was not answered within {} s, and was cancelled", limit.as_secs());
            Problem::new(StatusCode::GATEWAY_TIMEOUT, "Time limit", detail)
                .hint("ask for less at once, or start the run in the background".to_owned())
                .into_response()
        }
    }
}

fn announced_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a body without keeping it. A client that is still sending when the connection closes may lose the answer.
async fn discard(body: Body) {
    let mut body = Limited::new(body, MAX_DISCARDED_BYTES);
    let read = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = tokio::time::timeout(BODY_TIMEOUT, read).await;
}

fn too_large(detail: String) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "Body too large", detail)
        .hint("send a long text in parts, or name a file of the project instead".to_owned())
        .header(CONNECTION, close())
}

fn close() -> HeaderValue {
    HeaderValue::from_static("close")
}

/// Whether the limit is the reason of an error, at any depth.
fn is_too_long(error: &axum::Error) -> bool {
    std::iter::successors(error.source(), |error| error.source()).any(|error| error.is::<LengthLimitError>())
}
