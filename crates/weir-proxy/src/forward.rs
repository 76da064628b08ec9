//! Passes requests on. Invariant: a body is read into memory only if it may have results of tools, and only up to
//! [`MAX_BODY_BYTES`]; every other body streams through.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, UPGRADE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use weir_host::paint;
use weir_http::problem::Problem;

use super::MAX_BODY_BYTES;
use super::clearing::OngoingUse;
use super::results::{Holder, Replaced};
use super::tally::{Counter, Tally};
use super::upstream::{OutgoingBody, Upstream};
use super::wire::{self, WireFormat};

/// The path that answers with the tally, and is not passed on.
const TALLY_PATH: &str = "/weir/stats";

pub(super) struct Proxy {
    pub(super) upstream: Upstream,
    /// What holds results back.
    pub(super) holder: Arc<Holder>,
    /// What was done so far.
    pub(super) counter: Arc<Counter>,
}

pub(super) fn routes(proxy: Arc<Proxy>) -> Router {
    Router::new().route(TALLY_PATH, get(tally)).fallback(pass_on).with_state(proxy)
}

async fn tally(State(proxy): State<Arc<Proxy>>) -> Json<Tally> {
    Json(proxy.counter.now())
}

async fn pass_on(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    proxy.pass_on(request).await.unwrap_or_else(Problem::into_response)
}

impl Proxy {
    async fn pass_on(&self, request: Request) -> Result<Response, Problem> {
        let (parts, body) = request.into_parts();
        if is_for_websocket(&parts.headers) {
            let detail = "a change of protocol to a WebSocket is not supported".to_owned();
            return Err(Problem::new(StatusCode::NOT_IMPLEMENTED, "Not supported", detail)
                .hint("let the client send plain HTTP requests".to_owned()));
        }
        self.counter.count(|tally| tally.requests += 1);
        let (outgoing, cache) = match wire::format_of(&parts.method, parts.uri.path()) {
            Some(format) => self.outgoing(format, &parts, body).await?,
            None => (OutgoingBody { body, bytes: None }, None),
        };
        let answer = self.upstream.send(parts, outgoing).await?;
        Ok(match cache {
            // The cache is in use until the end of the answer.
            Some(cache) => answer.map(|body| {
                Body::new(body.map_frame(move |frame| {
                    let _in_use = &cache;
                    frame
                }))
            }),
            None => answer,
        })
    }

    /// Returns the body of a request to a model, with what is held back replaced.
    async fn outgoing(
        &self,
        format: &'static WireFormat,
        parts: &Parts,
        body: Body,
    ) -> Result<(OutgoingBody, Option<OngoingUse>), Problem> {
        let gathered = match is_compressed(&parts.headers) || is_too_large(&parts.headers) {
            true => GatheredBody::Streaming(body),
            false => gather(body).await?,
        };
        let whole = match gathered {
            GatheredBody::Whole(whole) => whole,
            GatheredBody::Streaming(body) => {
                self.counter.count(|tally| tally.unread += 1);
                return Ok((OutgoingBody { body, bytes: None }, None));
            }
        };
        let (holder, given) = (Arc::clone(&self.holder), whole.clone());
        let replaced = tokio::task::spawn_blocking(move || holder.replace(format, &given)).await;
        let Replaced { body, cache } = replaced.unwrap_or_else(|error| {
            paint::warn(&format!("weir: a request was passed on as it is: {error}"));
            Replaced::default()
        });
        let body = body.map_or(whole, Bytes::from);
        Ok((OutgoingBody { bytes: Some(body.len() as u64), body: Body::from(body) }, cache))
    }
}

/// Whether a client can go on only with a WebSocket. Any other offer, such as that of HTTP/2 by Java's client, need not
/// be taken up.
fn is_for_websocket(headers: &HeaderMap) -> bool {
    let offers = headers.get_all(UPGRADE).iter().filter_map(|offer| offer.to_str().ok());
    offers.flat_map(|offer| offer.split(',')).any(|protocol| protocol.trim().eq_ignore_ascii_case("websocket"))
}

fn is_compressed(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|encoding| encoding != "identity")
}

fn is_too_large(headers: &HeaderMap) -> bool {
    let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    announced.is_some_and(|bytes| bytes > MAX_BODY_BYTES as u64)
}

/// A body, as far as it was read.
enum GatheredBody {
    Whole(Bytes),
    /// It is too large for that, or must not be read.
    Streaming(Body),
}

/// Reads a body into memory, unless it is too large.
async fn gather(mut body: Body) -> Result<GatheredBody, Problem> {
    let mut first = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Problem::new(StatusCode::BAD_REQUEST, "Broken body", format!("cannot read the request: {error}"))
        })?;
        // Trailers, of which no API knows any.
        let Ok(data) = frame.into_data() else { continue };
        first.extend_from_slice(&data);
        if first.len() > MAX_BODY_BYTES {
            let first = Some(Bytes::from(first));
            return Ok(GatheredBody::Streaming(Body::new(BegunBody { first, rest: body })));
        }
    }
    Ok(GatheredBody::Whole(Bytes::from(first)))
}

/// A body whose beginning was read already.
struct BegunBody {
    first: Option<Bytes>,
    rest: Body,
}

impl HttpBody for BegunBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }
}
