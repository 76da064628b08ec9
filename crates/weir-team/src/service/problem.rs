//! Failures as answers. Invariant: an answer never repeats what a backend says about itself. The operator is told that,
//! and the caller only what kind of failure it was.

use axum::http::StatusCode;
use weir_http::problem::Problem;
use weir_records::{ErrorKind, PortError};

use super::Service;

/// How long a caller should wait before it tries again, in seconds.
pub(super) const RETRY_SECONDS: u64 = 2;

impl Service {
    /// Returns the error for a failure of a port.
    pub(super) fn failure(&self, error: &PortError) -> Problem {
        let (status, title) = sort_of(error.kind);
        if !status.is_server_error() {
            return Problem::new(status, title, error.to_string());
        }
        (self.options.report)(&error.to_string());
        let known = PortError::new(error.kind, error.at.clone());
        let problem = Problem::new(status, title, known.to_string());
        if error.kind.may_pass() { problem.retry_after(RETRY_SECONDS) } else { problem }
    }
}

/// Returns the error for a request whose content cannot be used.
pub(super) fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid request", detail)
}

/// Returns the error for a call that needs the texts of a sealed project.
pub(super) fn sealed() -> Problem {
    let (status, title) = sort_of(ErrorKind::Sealed);
    Problem::new(status, title, "this project is sealed: search, read and write it on a member's machine")
        .hint("run `weir sync` there, and then `weir search`, `weir get` or `weir note`")
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
        ErrorKind::Busy | ErrorKind::Elsewhere => (StatusCode::SERVICE_UNAVAILABLE, "Busy"),
        ErrorKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "Storage unavailable"),
    }
}
