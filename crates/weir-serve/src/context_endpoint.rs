//! `GET /context`: the last sessions and prompts and the newest notes of a project, as Markdown. Invariant: the
//! parameters are parsed before a store is asked, and one that is not known is refused: it may have been meant to
//! narrow the answer.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use weir_host::answer::{Answer, one_line};
use weir_host::error::CommandError;
use weir_http::problem::Problem;
use weir_operations::Declared;
use weir_operations::coerce::coerce;
use weir_operations::context::{ContextData, Reach, RecentContext};
use weir_operations::needs::KnowledgeContext;

use super::ServerState;
use super::caller::Caller;
use super::calls::in_time;
use super::tokens::TokenScope;

/// The media type of the answer.
pub(super) const MARKDOWN: &str = "text/markdown; charset=utf-8";
/// Says which parameters were not understood.
const REMARK: HeaderName = HeaderName::from_static("weir-remark");

/// The schema of the parameters.
static SCHEMA: LazyLock<Map<String, Value>> = LazyLock::new(|| weir_operations::schema::of::<RecentContext>().1);

/// The parameters of an address, or why they cannot be read.
pub(super) type Parameters = Result<Query<Vec<(String, String)>>, QueryRejection>;

pub(crate) fn routes() -> Router<Arc<ServerState>> {
    Router::new().route("/context", get(handle))
}

async fn handle(
    State(state): State<Arc<ServerState>>,
    headers: HeaderMap,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let caller = Caller::of(&headers, &state.tokens, TokenScope::Read)?;
    let answer = answer(&state, &caller, parameters).await?;
    Ok(markdown(&answer))
}

/// Answers a request. A program with a token of the user may ask for any project of the user.
pub(super) async fn answer(
    state: &ServerState,
    caller: &Caller,
    parameters: Parameters,
) -> Result<Answer<ContextData>, Problem> {
    let wanted = wanted(parameters)?;
    let cancel = CancellationToken::new();
    let _given_up = cancel.clone().drop_guard();
    let call = in_time(state.calls.context(caller.session_key(), cancel)).await?;
    let context = KnowledgeContext::of(&caller.context(&call));
    Ok(wanted.answer(&context, Reach::AnyProject).await?)
}

pub(super) fn markdown(answer: &Answer<ContextData>) -> Response {
    let mut response = format!("{}\n", answer.text).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MARKDOWN));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let remarks = printable(&answer.data.remarks.join("; "));
    if let Some(remarks) = HeaderValue::from_str(&remarks).ok().filter(|_| !remarks.is_empty()) {
        headers.insert(REMARK, remarks);
    }
    response
}

/// Returns the arguments that the parameters mean.
fn wanted(parameters: Parameters) -> Result<RecentContext, Problem> {
    let Query(parameters) = parameters.map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, "Invalid address", format!("cannot read the parameters: {error}"))
            .hint("write them as name=value with percent-encoding, joined by &")
    })?;
    let arguments = parameters.into_iter().map(|(name, value)| (name, Value::String(value)));
    let (arguments, unknown) = coerce(RecentContext::TOOL, Map::from_iter(arguments), &SCHEMA);
    if let Some(name) = unknown.first() {
        let error = CommandError::usage(format!("GET /context has no parameter `{}`", one_line(name, 60)));
        return Err(error.hint("it takes project, scope, limit, compact and budget").into());
    }
    let wanted = serde_json::from_value(Value::Object(arguments));
    Ok(wanted.map_err(|error| CommandError::usage(error.to_string()))?)
}

/// Returns a text that a header can have.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parameters: &[(&str, &str)], is_understood: bool) {
        let owned = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(wanted(Ok(Query(owned))).is_ok(), is_understood, "{parameters:?}");
    }

    #[test]
    fn parameters_are_understood_or_refused_and_never_ignored() {
        check(&[], true);
        check(&[("project", "api"), ("scope", "work"), ("limit", "8"), ("compact", "1"), ("budget", "500")], true);
        check(&[("limit", "many"), ("compact", "maybe"), ("project", ""), ("scope", ""), ("budget", "")], true);
        check(&[("scope", "everything")], false);
        check(&[("budget", "much")], false);
        check(&[("session", "s1")], false);
    }
}
