//! Answers to browsers: pages, redirects, files and plain texts. Invariant: each carries the headers that keep it out
//! of caches and frames, and nothing in it can run.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION, REFRESH, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use weir_host::error::{CommandError, ErrorKind};
use weir_pages::message::Message;
use weir_pages::{ASSETS, Text};

/// What every page of a stored text forbids: to run, to load and to be framed.
const RAW_POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

pub(super) fn page(status: StatusCode, html: String) -> Response {
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    for (name, value) in weir_pages::headers() {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// Returns the same answer with another header. A value that no header can have is left out.
pub(super) fn with_header(mut response: Response, name: HeaderName, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().append(name, value);
    }
    response
}

/// Returns the same answer, after which a browser goes on to an address.
pub(super) fn going_on(response: Response, seconds: u64, address: &str) -> Response {
    with_header(response, REFRESH, &format!("{seconds}; url={address}"))
}

/// Returns an answer that leads to another page of ours.
pub(super) fn redirect(address: &str) -> Response {
    with_header(page(StatusCode::SEE_OTHER, String::new()), LOCATION, address)
}

/// Returns the same answer with a cookie of a year, for something that the user has chosen.
pub(super) fn with_choice(response: Response, name: &str, value: &str) -> Response {
    let cookie = format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000");
    with_header(response, SET_COOKIE, &cookie)
}

/// Returns a file that pages refer to, if a path is that of one. Its name changes with its content.
pub(super) fn asset(path: &str) -> Option<Response> {
    let asset = ASSETS.into_iter().find(|asset| asset.path() == path)?;
    let mut response = page(StatusCode::OK, asset.body.to_owned());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    Some(response)
}

pub(super) fn raw(text: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(text));
    let fixed = [
        (CONTENT_TYPE, "text/plain; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, RAW_POLICY),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("referrer-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns the page for someone who was not let in.
pub(super) fn refused() -> Response {
    message_alone(
        "These pages are closed",
        "They open with a link that works once, in the browser that opened it. The command prints a new link.",
    )
}

/// Returns the page for a link that does not work, or not any more.
pub(super) fn used_link() -> Response {
    message_alone(
        "This link does not work",
        "A link opens the pages once, so that a copy of it is worth nothing. The command prints a new one.",
    )
}

fn message_alone(title: &str, meaning: &str) -> Response {
    let message = Message { title: title.into(), meaning: meaning.into(), command: Some("weir ui".into()) };
    page(StatusCode::FORBIDDEN, message.render_alone())
}

/// Returns an error as the words of a page, and its status.
pub(super) fn explain(error: &CommandError) -> (StatusCode, Message) {
    let (status, title) = match error.kind {
        ErrorKind::NotFound => (StatusCode::NOT_FOUND, "Not found"),
        ErrorKind::Usage => (StatusCode::BAD_REQUEST, "Not accepted"),
        ErrorKind::Denied => (StatusCode::FORBIDDEN, "Not allowed"),
        ErrorKind::Store | ErrorKind::Cancelled => (StatusCode::SERVICE_UNAVAILABLE, "The store cannot be read"),
        ErrorKind::Failed | ErrorKind::Broken | ErrorKind::Config | ErrorKind::Sandbox => {
            (StatusCode::INTERNAL_SERVER_ERROR, "Failed")
        }
    };
    let hints = error.hints.iter().map(|hint| format!(" {}.", capital(hint.trim_end_matches('.'))));
    let meaning = format!("{}.{}", capital(error.message.trim_end_matches('.')), hints.collect::<String>());
    (status, Message { title: title.into(), meaning: Text::from(meaning), command: None })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
