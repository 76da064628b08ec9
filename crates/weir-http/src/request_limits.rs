//! The limits of one request: the size of its body, the time to send it, and the time until it is answered. Invariant:
//! a body beyond a limit is never held in memory.

use std::error::Error as StdError;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, EXPECT};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::Sleep;
use weir_host::answer::size;

use super::listen::ServerLimits;
use super::problem::Problem;

/// How many times as long as its head a body may take.
const BODY_TIMEOUT_FACTOR: u32 = 3;
/// How much of a body that is too large is read and thrown away, so that the client gets to read the answer.
const MAX_DISCARDED_BYTES: usize = 64 << 20;

/// What an answer says about a limit. Servers differ in what a client can do about it.
#[derive(Debug, Clone, Copy)]
pub struct LimitAdvice {
    /// What became of a call that was not answered in time.
    pub late: &'static str,
    /// What to do about such a call.
    pub late_hint: &'static str,
    /// What to do about a body that is too large.
    pub large_hint: &'static str,
}

/// The advice of a server that has a project, and whose calls end when they are dropped.
const USUAL_ADVICE: LimitAdvice = LimitAdvice {
    late: "was cancelled",
    late_hint: "ask for less at once, or start the run in the background",
    large_hint: "send a long text in parts, or name a file of the project instead",
};

/// The limits of a request, and what to say about them.
#[derive(Clone, Copy)]
struct Bounds {
    limits: ServerLimits,
    advice: LimitAdvice,
}

/// Returns the same routes within the limits.
pub fn limited(router: Router, limits: ServerLimits) -> Router {
    limited_with(router, limits, USUAL_ADVICE)
}

/// Returns the same routes within the limits, with advice of their own.
pub fn limited_with(router: Router, limits: ServerLimits, advice: LimitAdvice) -> Router {
    router.layer(from_fn_with_state(Bounds { limits, advice }, limit))
}

pub async fn whole_body(body: Body) -> Result<Bytes, Problem> {
    let error = match body.collect().await {
        Ok(body) => return Ok(body.to_bytes()),
        Err(error) => error,
    };
    if let Some(LargeBody { most, hint }) = cause::<LargeBody>(&error) {
        return Err(too_large(format!("the body is larger than {}", size(*most as u64)), hint));
    }
    let detail = format!("cannot read the body: {error}");
    if cause::<SlowBody>(&error).is_some() {
        return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "Slow request", detail)
            .hint("send the request again, without pauses in its body".to_owned())
            .header(CONNECTION, close()));
    }
    Err(Problem::new(StatusCode::BAD_REQUEST, "Broken body", detail)
        .hint("send as many bytes as Content-Length says, or complete chunks".to_owned())
        .header(CONNECTION, close()))
}

async fn limit(State(bounds): State<Bounds>, request: Request, next: Next) -> Response {
    let Bounds { limits, advice } = bounds;
    let body_time = limits.header_timeout * BODY_TIMEOUT_FACTOR;
    let bound = |most: usize| {
        let large = LargeBody { most, hint: advice.large_hint };
        move |body: Body| Body::new(BoundedBody::new(body, large, body_time))
    };
    if let Some(bytes) = announced_length(request.headers()).filter(|bytes| *bytes > limits.max_body_bytes as u64) {
        let detail = format!("the body has {}, and the limit is {}", size(bytes), size(limits.max_body_bytes as u64));
        if !request.headers().contains_key(EXPECT) {
            discard(bound(MAX_DISCARDED_BYTES)(request.into_body())).await;
        }
        return too_large(detail, advice.large_hint).into_response();
    }
    let request = request.map(bound(limits.max_body_bytes));
    let Some(limit) = limits.request_timeout else { return next.run(request).await };
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let detail = format!("the request was not answered within {} s, and {}", limit.as_secs(), advice.late);
            Problem::new(StatusCode::GATEWAY_TIMEOUT, "Time limit", detail)
                .hint(advice.late_hint.to_owned())
                .into_response()
        }
    }
}

fn announced_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a body without keeping it. A client that is still sending when the connection closes may lose the answer.
async fn discard(mut body: Body) {
    while let Some(Ok(_)) = body.frame().await {}
}

fn too_large(detail: String, hint: &str) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "Body too large", detail)
        .hint(hint.to_owned())
        .header(CONNECTION, close())
}

fn close() -> HeaderValue {
    HeaderValue::from_static("close")
}

/// Returns the error of this type that is the reason of another, at any depth.
fn cause<E: StdError + 'static>(error: &axum::Error) -> Option<&E> {
    std::iter::successors(error.source(), |&error| error.source()).find_map(|error| error.downcast_ref())
}

/// A body with a limit on its size and on the time that it takes once it keeps the server waiting.
struct BoundedBody {
    inner: Limited<Body>,
    large: LargeBody,
    time: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl BoundedBody {
    fn new(body: Body, large: LargeBody, time: Duration) -> Self {
        Self { inner: Limited::new(body, large.most), large, time, deadline: None }
    }
}

impl HttpBody for BoundedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(cx) {
            let large = self.large;
            let worded = |error: BoxError| if error.is::<LengthLimitError>() { large.into() } else { error };
            return Poll::Ready(frame.map(|frame| frame.map_err(worded)));
        }
        let time = self.time;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        deadline.as_mut().poll(cx).map(|()| Some(Err(SlowBody(time).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Says that a body has more bytes than it may have, and what to do about it.
#[derive(Debug, Clone, Copy)]
struct LargeBody {
    most: usize,
    hint: &'static str,
}

impl std::fmt::Display for LargeBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "it has more than {} bytes", self.most)
    }
}

impl StdError for LargeBody {}

/// Says that a body was not complete in time.
#[derive(Debug)]
struct SlowBody(Duration);

impl std::fmt::Display for SlowBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "it was not complete after {} s", self.0.as_secs())
    }
}

impl StdError for SlowBody {}
