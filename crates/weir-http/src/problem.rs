//! Errors as HTTP answers: `application/problem+json` (RFC 9457) with a hint that a model or a person can act on.
//!
//! Invariant: an error that the caller can avoid is a 4xx, and a bug or a broken store is a 5xx.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use weir_host::answer::one_line;
use weir_host::error::{CommandError, ErrorKind};

/// The media type of an error.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// An error as an HTTP answer.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    title: &'static str,
    detail: String,
    hints: Vec<String>,
    /// More fields of the body.
    fields: Vec<(&'static str, Value)>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// Returns an error without a hint. The title is the same for every error of its sort, the detail says what was
    /// wrong with this request.
    pub fn new(status: StatusCode, title: &'static str, detail: impl Into<String>) -> Self {
        let (hints, fields, headers) = (Vec::new(), Vec::new(), Vec::new());
        Self { status, title, detail: detail.into(), hints, fields, headers }
    }

    /// Returns the error for a path that has no route.
    pub fn no_route(uri: &Uri) -> Self {
        let detail = format!("there is nothing at `{}`", one_line(uri.path(), 80));
        Self::new(StatusCode::NOT_FOUND, "Not found", detail)
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the same error with another status.
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Adds what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a field to the body.
    pub fn field(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Adds a header to the answer.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Says when to try again. Without another hint, that is the hint.
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// Returns what to do next, each on a line.
    fn hints(&self) -> Vec<String> {
        let again = |(name, value): &(HeaderName, HeaderValue)| {
            let seconds = value.to_str().ok().filter(|_| *name == RETRY_AFTER)?;
            Some(format!("send the same request again in {seconds} s"))
        };
        if self.hints.is_empty() {
            self.headers.iter().find_map(again).into_iter().collect()
        } else {
            self.hints.clone()
        }
    }

    fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("type".to_owned(), type_of(self.title).into());
        body.insert("title".to_owned(), self.title.into());
        body.insert("status".to_owned(), self.status.as_u16().into());
        body.insert("detail".to_owned(), self.detail.as_str().into());
        let hints = self.hints();
        if !hints.is_empty() {
            body.insert("hint".to_owned(), hints.join("\n").into());
        }
        body.extend(self.fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Value::Object(body)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error: {}", self.detail)?;
        self.hints().iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

/// Answers a request with a method that its route does not have.
pub async fn wrong_method(method: Method, uri: Uri) -> Problem {
    let detail = format!("`{}` does not take {}", one_line(uri.path(), 80), one_line(method.as_str(), 20));
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", detail)
        .hint("the header Allow names the methods")
}

/// Returns the URI that names a sort of error, made from its title.
fn type_of(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    format!("urn:weir:problem:{}", words.join("-"))
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body().to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.extend(self.headers);
        response
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        let (status, title) = match error.kind {
            ErrorKind::Usage => (StatusCode::UNPROCESSABLE_ENTITY, "Invalid arguments"),
            ErrorKind::NotFound => (StatusCode::NOT_FOUND, "Not found"),
            ErrorKind::Denied => (StatusCode::FORBIDDEN, "Not allowed"),
            ErrorKind::Failed => (StatusCode::UNPROCESSABLE_ENTITY, "Failed"),
            ErrorKind::Store => (StatusCode::SERVICE_UNAVAILABLE, "Store unavailable"),
            ErrorKind::Sandbox => (StatusCode::SERVICE_UNAVAILABLE, "Sandbox unavailable"),
            ErrorKind::Cancelled => (StatusCode::SERVICE_UNAVAILABLE, "Cancelled"),
            ErrorKind::Broken => (StatusCode::INTERNAL_SERVER_ERROR, "Broken"),
            ErrorKind::Config => (StatusCode::INTERNAL_SERVER_ERROR, "Unusable configuration"),
        };
        Self { hints: error.hints, ..Self::new(status, title, error.message) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_keeps_its_words_and_its_hints() {
        let error = CommandError::new(ErrorKind::NotFound, "no entry [ctx:k7f2m9q4xz]").hint("one").hint("two");
        let expected = json!({
            "type": "urn:weir:problem:not-found", "title": "Not found", "status": 404,
            "detail": "no entry [ctx:k7f2m9q4xz]", "hint": "one\ntwo",
        });
        assert_eq!(Problem::from(error).body(), expected);
    }

    #[test]
    fn when_to_try_again_is_the_hint_unless_there_is_another() {
        let busy = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Busy", "busy").retry_after(2);
        assert_eq!(busy().body()["hint"], "send the same request again in 2 s");
        let kept = busy().hint("the note was kept").field("id", "7");
        assert_eq!((&kept.body()["hint"], &kept.body()["id"]), (&json!("the note was kept"), &json!("7")));
        assert_eq!(kept.into_response().headers()[RETRY_AFTER], "2");
    }

    #[test]
    fn an_error_without_a_hint_has_no_empty_one() {
        let problem = Problem::new(StatusCode::BAD_REQUEST, "Invalid JSON", "expected an object");
        assert_eq!(problem.body().get("hint"), None);
        let response = problem.into_response();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(response.headers()[CONTENT_TYPE], PROBLEM_JSON);
    }
}
