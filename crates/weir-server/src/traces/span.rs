//! Requests as spans, in the JSON form of OTLP. Pure: it makes no request and reads no clock.
//!
//! Invariant: a span has the method, the route and the status of a request, and how long it took. It has no path, no
//! query, no token, no body, and no name of a tenant, user or project.

use serde_json::{Value, json};
use weir_core::Timestamp;
use weir_http::log::name_of;
use weir_http::observe::{AnsweredRequest, NO_ROUTE};

/// How a span names a method that is not known. A client could make up any number of them.
const OTHER_METHOD: &str = "_OTHER";
/// The kind of a span that is a request to a server, and the status of one that failed, as OTLP numbers them.
const SERVER: u64 = 2;
const FAILED: u64 = 2;

/// The trace that a request belongs to, and the span in it that the request came from (W3C Trace Context).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TraceParent {
    trace: String,
    span: String,
    is_sampled: bool,
}

impl TraceParent {
    /// Parses the header `traceparent`. What is not one counts as none, as the specification asks for.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let mut parts = header.splitn(5, '-');
        let [version, trace, span, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
        let is_known = version != "ff" && (version != "00" || parts.next().is_none());
        let sizes = [(version, 2), (trace, 32), (span, 16), (flags, 2)];
        let is_set = |text: &str| text.bytes().any(|byte| byte != b'0');
        if !is_known || !sizes.into_iter().all(|(text, size)| is_hex(text, size)) || !is_set(trace) || !is_set(span) {
            return None;
        }
        let is_sampled = u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1);
        Some(Self { trace: trace.to_owned(), span: span.to_owned(), is_sampled })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    trace: String,
    id: String,
    parent: Option<String>,
    method: &'static str,
    route: Option<String>,
    status: u16,
    /// When it began and ended, in nanoseconds since 1970.
    began: u64,
    ended: u64,
}

impl Span {
    /// Returns the span of a request that was answered just now, with an id of its own. There is none if the trace that
    /// the request belongs to is not recorded.
    pub(super) fn of(request: &AnsweredRequest<'_>, now: Timestamp, bits: [u64; 3]) -> Option<Self> {
        let parent = request.traceparent.and_then(TraceParent::parse);
        if parent.as_ref().is_some_and(|parent| !parent.is_sampled) {
            return None;
        }
        let [id, high, low] = bits;
        let (trace, parent) = match parent {
            Some(TraceParent { trace, span, .. }) => (trace, Some(span)),
            None => (format!("{high:016x}{low:016x}"), None),
        };
        let ended = u64::try_from(now.0).unwrap_or_default().saturating_mul(1_000_000);
        let took = u64::try_from(request.took.as_nanos()).unwrap_or(u64::MAX);
        Some(Self {
            trace,
            id: format!("{id:016x}"),
            parent,
            method: match name_of(request.method) {
                "OTHER" => OTHER_METHOD,
                known => known,
            },
            route: Some(request.route).filter(|route| *route != NO_ROUTE).map(str::to_owned),
            status: request.status,
            began: ended.saturating_sub(took),
            ended,
        })
    }

    fn json(&self) -> Value {
        let verb = if self.method == OTHER_METHOD { "HTTP" } else { self.method };
        let name = self.route.as_ref().map_or_else(|| verb.to_owned(), |route| format!("{verb} {route}"));
        let mut attributes = vec![
            text("http.request.method", self.method),
            json!({ "key": "http.response.status_code", "value": { "intValue": self.status.to_string() } }),
        ];
        attributes.extend(self.route.as_deref().map(|route| text("http.route", route)));
        let status = if self.status >= 500 { json!({ "code": FAILED }) } else { json!({}) };
        let mut span = json!({
            "traceId": self.trace,
            "spanId": self.id,
            "name": name,
            "kind": SERVER,
            "startTimeUnixNano": self.began.to_string(),
            "endTimeUnixNano": self.ended.to_string(),
            "attributes": attributes,
            "status": status,
        });
        if let (Some(parent), Some(fields)) = (&self.parent, span.as_object_mut()) {
            fields.insert("parentSpanId".to_owned(), parent.as_str().into());
        }
        span
    }
}

/// Returns the body of a request that hands spans of a service over.
pub(super) fn export(service: &str, spans: &[Span]) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let spans: Vec<Value> = spans.iter().map(Span::json).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": [text("service.name", service), text("service.version", version)] },
        "scopeSpans": [{ "scope": { "name": "weir-team", "version": version }, "spans": spans }],
    }] })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn is_hex(text: &str, size: usize) -> bool {
    text.len() == size && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    fn request<'a>(method: &'a str, route: &'a str, traceparent: Option<&'a str>) -> AnsweredRequest<'a> {
        let took = Duration::from_micros(1_500);
        AnsweredRequest { id: "i", method, path: "/v1/entries/secret", route, status: 200, took, traceparent }
    }

    #[test]
    fn a_trace_is_continued_if_the_header_is_one_and_says_so() {
        let whole = format!("00-{TRACE}-{PARENT}-01");
        let later = format!("01-{TRACE}-{PARENT}-03-more");
        for header in [whole.as_str(), later.as_str()] {
            let span = Span::of(&request("GET", "/v1/me", Some(header)), Timestamp(2), [1, 2, 3]).unwrap();
            assert_eq!((span.trace.as_str(), span.parent.as_deref()), (TRACE, Some(PARENT)), "{header}");
        }
        let unsampled = format!("00-{TRACE}-{PARENT}-00");
        assert_eq!(Span::of(&request("GET", "/v1/me", Some(&unsampled)), Timestamp(2), [1, 2, 3]), None);
        for header in [
            "",
            "00",
            "garbage",
            &format!("00-{TRACE}-{PARENT}"),
            &format!("00-{TRACE}-{PARENT}-01-more"),
            &format!("ff-{TRACE}-{PARENT}-01"),
            &format!("00-{}-{PARENT}-01", "0".repeat(32)),
            &format!("00-{TRACE}-{}-01", "0".repeat(16)),
            &format!("00-{}-{PARENT}-01", TRACE.to_uppercase()),
            &format!("00-{TRACE}é-{PARENT}-01"),
        ] {
            let span = Span::of(&request("GET", "/v1/me", Some(header)), Timestamp(2), [1, 2, 3]).unwrap();
            assert_eq!(span.trace, format!("{:016x}{:016x}", 2, 3), "{header}");
            assert_eq!(span.parent, None, "{header}");
        }
    }

    #[test]
    fn a_span_has_the_route_and_never_the_path() {
        let span = Span::of(&request("GET", "/v1/entries/{id}", None), Timestamp(2), [1, 2, 3]).unwrap();
        let body = export("weir", std::slice::from_ref(&span));
        let written = &body["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(written["name"], "GET /v1/entries/{id}");
        assert_eq!((&written["startTimeUnixNano"], &written["endTimeUnixNano"]), (&json!("500000"), &json!("2000000")));
        assert_eq!((&written["kind"], &written["status"]), (&json!(2), &json!({})));
        assert!(!body.to_string().contains("secret"), "{body}");
        for (method, route, name) in [("BREW", "/v1/me", "HTTP /v1/me"), ("GET", "none", "GET")] {
            let span = Span::of(&request(method, route, None), Timestamp(2), [1, 2, 3]).unwrap();
            assert_eq!(span.json()["name"], name);
            assert!(!span.json().to_string().contains("BREW"));
        }
    }
}
