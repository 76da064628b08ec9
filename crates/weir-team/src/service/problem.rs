//! Errors as HTTP answers: `application/problem+json` (RFC 9457) with a hint that a model or a person can act on.
//!
//! Invariant: an answer never repeats what a backend says about itself. The operator is told that, and the caller only
//! what kind of failure it was.

use std::fmt;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use weir_records::{ErrorKind, PortError};

use super::Service;

/// How long a caller should wait before it tries again, in seconds.
pub(super) const RETRY_SECONDS: u64 = 2;

/// An error as an HTTP answer.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    title: &'static str,
    detail: String,
    hint: Option<String>,
    /// More fields of the body.
    fields: Vec<(String, Value)>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// Returns an error without a hint. The title is the same for every error of its sort.
    pub(super) fn new(status: StatusCode, title: &'static str, detail: impl Into<String>) -> Self {
        let (fields, headers) = (Vec::new(), Vec::new());
        Self { status, title, detail: detail.into(), hint: None, fields, headers }
    }

    /// Returns the error for a request whose content cannot be used.
    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid request", detail)
    }

    /// Returns the error for a call that needs the texts of a sealed project.
    pub(super) fn sealed() -> Self {
        let (status, title) = sort_of(ErrorKind::Sealed);
        Self::new(status, title, "this project is sealed: search, read and write it on a member's machine")
            .hint("run `weir sync` there, and then `weir search`, `weir get` or `weir note`")
    }

    /// Returns the error for a failure of a port.
    pub(super) fn of(service: &Service, error: &PortError) -> Self {
        let (status, title) = sort_of(error.kind);
        if !status.is_server_error() {
            return Self::new(status, title, error.to_string());
        }
        (service.options.report)(&error.to_string());
        let known = PortError::new(error.kind, error.at.clone());
        let problem = Self::new(status, title, known.to_string());
        if error.kind.may_pass() { problem.retry_after(RETRY_SECONDS) } else { problem }
    }

    /// Returns the status of the answer.
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// Adds what to do next.
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Adds a field to the body.
    pub(super) fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.push((name.to_owned(), value.into()));
        self
    }

    /// Adds a header to the answer.
    pub(super) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Says when to try again.
    pub(super) fn retry_after(self, seconds: u64) -> Self {
        let hint = format!("send the same request again in {seconds} s");
        let problem = if self.hint.is_some() { self } else { self.hint(hint) };
        problem.header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    fn body(&self) -> Value {
        let words = self.title.split(|letter: char| !letter.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
        let sort = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
        let mut body = Map::new();
        body.insert("type".to_owned(), format!("urn:weir:problem:{sort}").into());
        body.insert("title".to_owned(), self.title.into());
        body.insert("status".to_owned(), self.status.as_u16().into());
        body.insert("detail".to_owned(), self.detail.as_str().into());
        body.extend(self.hint.as_deref().map(|hint| ("hint".to_owned(), hint.into())));
        body.extend(self.fields.clone());
        Value::Object(body)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.detail)?;
        self.hint.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body().to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.extend(self.headers);
        response
    }
}

/// Returns the status and the title for a kind of failure.
pub(super) fn sort_of(kind: ErrorKind) -> (StatusCode, &'static str) {
    match kind {
        ErrorKind::Conflict => (StatusCode::CONFLICT, "Cloned host"),
        ErrorKind::Erased => (StatusCode::UNPROCESSABLE_ENTITY, "Erased record"),
        ErrorKind::ForeignHost => (StatusCode::CONFLICT, "Host of another user"),
        ErrorKind::OutOfScope => (StatusCode::FORBIDDEN, "Out of scope"),
        ErrorKind::NotAuthor => (StatusCode::FORBIDDEN, "Not the author"),
        ErrorKind::Missing => (StatusCode::NOT_FOUND, "Not found"),
        ErrorKind::Sealed => (StatusCode::UNPROCESSABLE_ENTITY, "Sealed project"),
        ErrorKind::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, "Invalid request"),
        ErrorKind::Newer => (StatusCode::UNPROCESSABLE_ENTITY, "Newer format"),
        ErrorKind::Ahead => (StatusCode::CONFLICT, "Position beyond the head"),
        ErrorKind::Damaged => (StatusCode::INTERNAL_SERVER_ERROR, "Damaged"),
        ErrorKind::Full => (StatusCode::SERVICE_UNAVAILABLE, "No room"),
        ErrorKind::Busy => (StatusCode::SERVICE_UNAVAILABLE, "Busy"),
        ErrorKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "Storage unavailable"),
    }
}
