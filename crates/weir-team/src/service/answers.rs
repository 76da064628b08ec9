//! Bodies and queries of requests as types, and answers as JSON. Invariant: a field that is not known is refused rather
//! than ignored.

use std::fmt::Display;

use axum::extract::{Path, Query};
use axum::http::{StatusCode, Uri};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use weir_core::wording::one_line;
use weir_http::problem::Problem;

use super::GivenName;
use super::problem::invalid;

/// How much of a complaint about JSON is repeated, in characters.
const MAX_COMPLAINT_CHARS: usize = 300;

/// Reads a body as JSON. A small body can become a value that takes many times its size, so this belongs into a call,
/// of which a tenant has few at a time.
pub(super) fn parse_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        if error.is_data() {
            return invalid(format!("cannot use the body: {}", complaint(&error))).hint("docs/team.md has the fields");
        }
        Problem::new(StatusCode::BAD_REQUEST, "Invalid JSON", format!("cannot read the body: {}", complaint(&error)))
    })
}

/// Reads the query of an address.
pub(super) fn read_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let Query(query) = Query::<T>::try_from_uri(uri)
        .map_err(|error| invalid(complaint(&error.body_text())).hint("docs/team.md has the parameters"))?;
    Ok(query)
}

/// Returns the last part of a path.
pub(super) fn name_of(name: GivenName) -> Result<String, Problem> {
    let Path(name) = name.map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "Invalid path", error.body_text()))?;
    Ok(name)
}

/// Returns what is wrong with a value, on one line. The reader of JSON repeats the value itself, however long it is.
pub(super) fn complaint(error: &impl Display) -> String {
    one_line(&error.to_string(), MAX_COMPLAINT_CHARS)
}

/// Writes an answer as JSON.
pub(super) fn written(answer: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(answer).map_err(|error| broken(&error))
}

/// Returns an answer as a value.
pub(super) fn value_of(answer: &impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(answer).map_err(|error| broken(&error))
}

fn broken(error: &serde_json::Error) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "Broken", format!("cannot write the answer: {error}"))
}
