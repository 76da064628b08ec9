//! Traces of a team server: a span of each request, sent to a collector by OTLP over HTTP, if the standard variables
//! name one.
//!
//! The spans are written as JSON, one of the two encodings of OTLP over HTTP, by the HTTP client that the program has.
//! OpenTelemetry's own crates (API, SDK, exporter, protocol) would bring prost and another HTTP client, or tonic for
//! gRPC, for one kind of span.
//!
//! Invariants: a request never waits for a span; spans wait in a queue of bounded length; what could not be sent is
//! counted and reported.

mod span;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::uri::Scheme;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use http_body_util::{BodyExt as _, Limited};
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use weir_host::answer::one_line;
use weir_host::env::Env;
use weir_host::error::CommandError;
use weir_host::paint;
use weir_host::when;
use weir_http::observe::{AnsweredRequest, RequestWatcher};
use weir_http::outgoing::{HttpClient, client, is_loopback};

use self::span::{Span, export};

/// How many spans wait to be sent at most. Further ones are lost.
const MAX_WAITING: usize = 2_048;
/// How many spans are sent at once.
const MAX_BATCH: usize = 512;
/// How long a span waits for others, in milliseconds, if `OTEL_BSP_SCHEDULE_DELAY` does not say it.
const DEFAULT_DELAY_MILLIS: u64 = 5_000;
/// How long a batch may take.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the end of the server waits for the last batch.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_ANSWER_BYTES: usize = 64 << 10;
/// The path of traces below the endpoint.
const TRACES_PATH: &str = "/v1/traces";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/// Where spans go, and how.
#[derive(Debug)]
pub(super) struct TraceOptions {
    endpoint: Uri,
    headers: HeaderMap,
    service: String,
    delay: Duration,
}

impl TraceOptions {
    /// Reads the variables. Without an endpoint there are no traces.
    pub(super) fn of(env: &Env) -> Result<Option<Self>, CommandError> {
        let variables = env.beginning_with(&["OTEL_"]).into_iter();
        let readable =
            variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::from_variables(&readable.collect::<Vec<_>>())
    }

    fn from_variables(variables: &[(String, String)]) -> Result<Option<Self>, CommandError> {
        let set = variables.iter().filter(|(_, value)| !value.trim().is_empty());
        let set: Vec<(&str, &str)> = set.map(|(name, value)| (name.as_str(), value.trim())).collect();
        let get = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let is_off = get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || get("OTEL_TRACES_EXPORTER").is_some_and(|value| value != "otlp");
        let (name, endpoint) = match (get(TRACES_ENDPOINT), get(ENDPOINT)) {
            _ if is_off => return Ok(None),
            (Some(whole), _) => (TRACES_ENDPOINT, whole.to_owned()),
            (None, Some(base)) => (ENDPOINT, format!("{}{TRACES_PATH}", base.trim_end_matches('/'))),
            (None, None) => return Ok(None),
        };
        if let Some(protocol) = PROTOCOLS.into_iter().find_map(get).filter(|protocol| !protocol.starts_with("http/")) {
            let shown = one_line(protocol, 40);
            return Err(CommandError::usage(format!(
                "cannot send traces by `{shown}`: only OTLP over HTTP is supported"
            ))
            .hint("set OTEL_EXPORTER_OTLP_PROTOCOL=http/json, and the endpoint to the port for HTTP, such as 4318"));
        }
        let endpoint = endpoint_of(name, &endpoint)?;
        let headers = get(HEADERS).map(headers_of).transpose()?.unwrap_or_default();
        let is_plain = endpoint.scheme() == Some(&Scheme::HTTP);
        if is_plain && !headers.is_empty() && !endpoint.host().is_some_and(is_loopback) {
            return Err(CommandError::usage(format!("cannot send the headers of {HEADERS} without TLS"))
                .hint("use an endpoint with https://, or one on this machine"));
        }
        let delay = get("OTEL_BSP_SCHEDULE_DELAY").and_then(|millis| millis.parse().ok());
        let service = get("OTEL_SERVICE_NAME").unwrap_or("weir").to_owned();
        let delay = Duration::from_millis(delay.unwrap_or(DEFAULT_DELAY_MILLIS));
        Ok(Some(Self { endpoint, headers, service, delay }))
    }
}

fn endpoint_of(name: &str, text: &str) -> Result<Uri, CommandError> {
    let unusable = |why: &str| {
        CommandError::usage(format!("cannot send traces to the address in {name}: {why}"))
            .hint("name a collector, such as http://127.0.0.1:4318 or https://otel.example.com")
    };
    let uri: Uri = text.parse().map_err(|error: axum::http::uri::InvalidUri| unusable(&error.to_string()))?;
    let is_http = uri.scheme().is_some_and(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS);
    match uri.authority() {
        Some(authority) if is_http && !authority.as_str().contains('@') => Ok(uri),
        Some(_) if is_http => Err(unusable("it has credentials")),
        _ => Err(unusable("it is neither https:// nor http://")),
    }
}

/// Reads headers that are written as `name=value,name=value`. No error repeats a value, which may be a secret.
fn headers_of(text: &str) -> Result<HeaderMap, CommandError> {
    let mut headers = HeaderMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // An encoded value would be sent as another one.
        let value = Some(value.trim()).filter(|value| !value.is_empty() && !value.contains('%'));
        let name = HeaderName::from_bytes(name.trim().as_bytes()).ok();
        let Some((name, mut value)) = name.zip(value.and_then(|value| HeaderValue::from_str(value).ok())) else {
            return Err(CommandError::usage(format!("cannot read {HEADERS}"))
                .hint("write name=value,name=value; percent-encoded values are not supported"));
        };
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// What waits to be sent.
enum Message {
    Span(Span),
    End,
}

/// The spans of a server on their way to a collector.
pub(super) struct Traces {
    sender: Sender<Message>,
    lost: Arc<AtomicU64>,
    sending: JoinHandle<()>,
}

impl Traces {
    /// Starts the task that sends spans. It must be called on a runtime.
    pub(super) fn start(options: TraceOptions) -> Result<Self, CommandError> {
        let (sender, waiting) = channel(MAX_WAITING);
        let client = client(options.endpoint.scheme().unwrap_or(&Scheme::HTTP))?;
        let lost = Arc::new(AtomicU64::new(0));
        let exporter = Exporter { options, client, lost: Arc::clone(&lost), is_failing: false };
        Ok(Self { sender, lost, sending: tokio::spawn(exporter.run(waiting)) })
    }

    pub(super) fn watcher(&self) -> RequestWatcher {
        let (sender, lost) = (self.sender.clone(), Arc::clone(&self.lost));
        Arc::new(move |request: &AnsweredRequest<'_>| {
            let drawn = [getrandom::u64(), getrandom::u64(), getrandom::u64()];
            let is_sent = match drawn {
                [Ok(id), Ok(high), Ok(low)] => match Span::of(request, when::now(), [id, high, low]) {
                    Some(span) => sender.try_send(Message::Span(span)).is_ok(),
                    None => true,
                },
                _ => false,
            };
            if !is_sent {
                lost.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    /// Sends what waits, within a bounded time.
    pub(super) async fn finish(self) {
        let Self { sender, sending, .. } = self;
        let rest = async move {
            if sender.send(Message::End).await.is_ok() {
                let _ = sending.await;
            }
        };
        if timeout(FINISH_TIMEOUT, rest).await.is_err() {
            paint::warn("weir: ended before the last traces were sent");
        }
    }
}

/// The task that sends spans.
struct Exporter {
    options: TraceOptions,
    client: HttpClient,
    /// How many spans could not be sent and have not been reported.
    lost: Arc<AtomicU64>,
    is_failing: bool,
}

impl Exporter {
    async fn run(mut self, mut waiting: Receiver<Message>) {
        let (mut batch, mut due) = (Vec::new(), None);
        loop {
            let next = match due {
                Some(at) => timeout_at(at, waiting.recv()).await.ok(),
                None => Some(waiting.recv().await),
            };
            let is_over = match next {
                Some(Some(Message::Span(span))) => {
                    batch.push(span);
                    if due.is_none() {
                        due = Some(Instant::now() + self.options.delay);
                    }
                    if batch.len() < MAX_BATCH {
                        continue;
                    }
                    false
                }
                // It is time.
                None => false,
                Some(Some(Message::End) | None) => true,
            };
            if !batch.is_empty() {
                self.send(&batch).await;
            }
            if is_over {
                self.report_lost();
                return;
            }
            batch.clear();
            due = None;
        }
    }

    /// Sends spans once. What fails is lost: a collector that is away must not fill the memory. The first failure is
    /// reported, and how much was lost when it is over.
    async fn send(&mut self, spans: &[Span]) {
        let sent = timeout(SEND_TIMEOUT, self.post(spans)).await;
        let sent = sent.unwrap_or_else(|_| Err(format!("no answer within {} s", SEND_TIMEOUT.as_secs())));
        let was_failing = std::mem::replace(&mut self.is_failing, sent.is_err());
        match sent {
            Ok(refused) => {
                self.lost.fetch_add(refused, Ordering::Relaxed);
                self.report_lost();
            }
            Err(why) => {
                self.lost.fetch_add(spans.len() as u64, Ordering::Relaxed);
                if !was_failing {
                    let (endpoint, why) = (&self.options.endpoint, one_line(&why, 200));
                    paint::warn(&format!("weir: cannot send traces to {endpoint}: {why}"));
                }
            }
        }
    }

    fn report_lost(&self) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            paint::warn(&format!("weir: {lost} spans were lost: not sent, or refused by the collector"));
        }
    }

    /// Sends spans, and returns how many of them the collector has refused, or why nothing was sent.
    async fn post(&self, spans: &[Span]) -> Result<u64, String> {
        let mut request = Request::new(Body::from(export(&self.options.service, spans).to_string()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.options.endpoint.clone();
        *request.headers_mut() = self.options.headers.clone();
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let answer = self.client.request(request).await.map_err(|error| causes(&error))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
        if !status.is_success() {
            return Err(format!("the collector answered with status {}", status.as_u16()));
        }
        let said: Value = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok()).unwrap_or_default();
        let refused = &said["partialSuccess"]["rejectedSpans"];
        Ok(refused.as_u64().or_else(|| refused.as_str()?.parse().ok()).unwrap_or_default())
    }
}

/// Returns why a request could not be made.
fn causes(error: &hyper_util::client::legacy::Error) -> String {
    let first: Option<&(dyn Error + 'static)> = Some(error);
    let all = std::iter::successors(first, |&cause| cause.source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<TraceOptions>, CommandError> {
        let owned: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        TraceOptions::from_variables(&owned)
    }

    fn endpoint(variables: &[(&str, &str)]) -> Option<String> {
        read(variables).unwrap().map(|options| options.endpoint.to_string())
    }

    #[test]
    fn an_endpoint_turns_traces_on_and_nothing_else_does() {
        let base = (ENDPOINT, "http://collector:4318/");
        assert_eq!(endpoint(&[]), None);
        assert_eq!(endpoint(&[(ENDPOINT, " ")]), None);
        assert_eq!(endpoint(&[("OTEL_SERVICE_NAME", "notes")]), None);
        assert_eq!(endpoint(&[base]).unwrap(), "http://collector:4318/v1/traces");
        let whole = (TRACES_ENDPOINT, "https://otel.example.com/x");
        assert_eq!(endpoint(&[base, whole]).unwrap(), "https://otel.example.com/x");
        assert_eq!(endpoint(&[base, ("OTEL_SDK_DISABLED", "true")]), None);
        assert_eq!(endpoint(&[base, ("OTEL_TRACES_EXPORTER", "none")]), None);
        assert!(endpoint(&[base, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")]).is_some());
    }

    #[test]
    fn what_cannot_be_used_is_refused_without_repeating_secrets() {
        let local = (ENDPOINT, "http://127.0.0.1:4318");
        for variables in [
            &[local, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")][..],
            &[(ENDPOINT, "collector:4318")],
            &[(ENDPOINT, "http://user:hush@collector")],
            &[local, (HEADERS, "api-key")],
            &[local, (HEADERS, "api-key=hush%20")],
            &[(ENDPOINT, "http://collector:4318"), (HEADERS, "api-key=hush")],
        ] {
            let error = read(variables).unwrap_err();
            assert!(!error.message.contains("hush"), "{}", error.message);
        }
        let options = read(&[local, (HEADERS, "api-key=hush, x=y=z")]).unwrap().unwrap();
        assert_eq!(options.headers["api-key"], "hush");
        assert_eq!(options.headers["x"], "y=z");
        assert!(!format!("{options:?}").contains("hush"));
    }
}
