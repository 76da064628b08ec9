//! `POST /v1/tools/{name}`: every operation, with its arguments as a JSON object.
//!
//! Invariants: a call goes on in a task of its own, so a client that disconnects cancels it and cannot tear it apart;
//! an answer does not wait for the meter, nor for calls of another sort.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use rmcp::model::JsonObject;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_http::answer;
use weir_http::problem::Problem;
use weir_http::request_limits::whole_body;
use weir_operations::Operation;
use weir_operations::tool_call;
use weir_run::unfinished;

use super::ServerState;
use super::caller::Caller;
use super::calls::in_time;
use super::tokens::TokenScope;

pub(super) struct ToolCall {
    pub operation: &'static Operation,
    pub caller: Caller,
    pub arguments: JsonObject,
    /// Cancelled when the caller gives up.
    pub cancel: CancellationToken,
}

/// What a call returns: the answer, and remarks on audits that were not finished before.
pub(super) struct ToolAnswer {
    /// The answer, or why there is none.
    pub answer: Result<Answer, CommandError>,
    /// What the caller should be told besides.
    pub remarks: Vec<String>,
}

pub(super) async fn handle(
    State(state): State<Arc<ServerState>>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    let operation = tool_call::find(&name);
    let needed = operation.map_or(TokenScope::Read, |operation| TokenScope::for_effect(operation.effect));
    let caller = Caller::of(request.headers(), &state.tokens, needed)?;
    let operation = operation.ok_or_else(|| no_such_tool(&name))?;
    let arguments = arguments_of(request).await?;
    let cancel = CancellationToken::new();
    let _given_up = cancel.clone().drop_guard();
    let call = ToolCall { operation, caller, arguments, cancel };
    let ToolAnswer { answer, remarks } = call.run_apart(state).await?;
    let Answer { mut text, data, found, .. } = answer?;
    for remark in remarks {
        text.push_str(&format!("\n{remark}"));
    }
    let body = [("text", Value::from(text)), ("found", Value::from(found)), ("data", data)];
    Ok(answer::json(StatusCode::OK, &body.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
}

impl ToolCall {
    /// Makes the call in a task of its own, which outlives a client that disconnects, for as long as it takes to notice.
    pub(super) async fn run_apart(self, state: Arc<ServerState>) -> Result<ToolAnswer, Problem> {
        let done = tokio::spawn(async move { self.run(&state).await }).await;
        done.map_err(|error| Problem::from(CommandError::broken(&format!("the call failed: {error}"))))?
    }

    /// Makes the call. The only error is that there are too many calls.
    pub(super) async fn run(self, state: &ServerState) -> Result<ToolAnswer, Problem> {
        let Self { operation, caller, arguments, cancel } = self;
        let context = in_time(state.calls.context_of(operation, caller.session_key(), cancel)).await?;
        let remarks = unfinished::finish_off(context.paths()).await;
        let own = caller.context(&context);
        let scope = own.scope();
        let answer = tool_call::call(operation, own, arguments).await;
        let text = match &answer {
            Ok(answer) => answer.text.clone(),
            Err(error) => error.to_string(),
        };
        let texts = [text.as_str()].into_iter().chain(remarks.iter().map(String::as_str));
        let printed = answer.as_ref().map_or(&[][..], |answer| &answer.printed);
        let session = scope.session.clone();
        state.meter.note(scope, || tool_call::reading(operation, session.as_ref(), printed, texts));
        state.metrics.called(operation.tool, answer.as_ref().err().map(|error| error.kind));
        state.background.wake();
        Ok(ToolAnswer { answer, remarks })
    }
}

/// Reads the arguments in the body of a request.
pub(super) async fn arguments_of(request: Request) -> Result<JsonObject, Problem> {
    let is_json = is_json(request.headers());
    let body = whole_body(request.into_body()).await?;
    if is_json || body.is_empty() { arguments(&body) } else { Err(wrong_media_type()) }
}

/// Returns the arguments in a body. An empty body has none.
fn arguments(body: &Bytes) -> Result<JsonObject, Problem> {
    let invalid = |detail: String| {
        Problem::new(StatusCode::BAD_REQUEST, "Invalid JSON", detail)
            .hint("send the arguments as one JSON object, such as {\"queries\": [\"pool size\"]}")
    };
    if body.is_empty() {
        return Ok(JsonObject::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(invalid("the body is JSON, but not an object".to_owned())),
        Err(error) => Err(invalid(format!("cannot parse the body: {error}"))),
    }
}

/// Whether a body is declared as JSON, in UTF-8.
fn is_json(headers: &HeaderMap) -> bool {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (kind, parameters) = declared.split_once(';').unwrap_or((declared, ""));
    let charset = parameters.trim().to_ascii_lowercase();
    kind.trim().eq_ignore_ascii_case("application/json") && matches!(charset.as_str(), "" | "charset=utf-8")
}

fn no_such_tool(name: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "Not found", tool_call::no_such_tool(name))
        .hint("GET /openapi.json describes every tool")
}

fn wrong_media_type() -> Problem {
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Not JSON", "the body is not declared as JSON".to_owned())
        .hint("send `Content-Type: application/json`")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_an_object_or_nothing() {
        for (body, expected) in [
            ("", Some(json!({}))),
            ("{}", Some(json!({}))),
            (r#"{"a":1}"#, Some(json!({ "a": 1 }))),
            ("[]", None),
            ("null", None),
            ("{", None),
            ("\u{feff}{}", None),
        ] {
            let found = arguments(&Bytes::from(body)).ok().map(Value::Object);
            assert_eq!(found, expected, "{body}");
        }
        assert!(arguments(&Bytes::from("[".repeat(100_000))).is_err());
        assert!(arguments(&Bytes::from_static(b"{\"a\":\"\xff\"}")).is_err());
    }

    #[test]
    fn a_body_is_declared_as_json() {
        for (value, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json; charset=latin1", false),
            ("text/plain", false),
            ("application/jsonp", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(value));
            assert_eq!(is_json(&headers), expected, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
