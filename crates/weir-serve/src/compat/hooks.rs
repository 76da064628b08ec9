//! The requests of engram's plugins: that a session began, a prompt, the output of a subagent, and the context for a
//! new session. Their answers have the fields that the plugins read.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, AUTHORIZATION};
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde::de::DeserializeOwned;
use serde_json::json;
use weir_http::answer;
use weir_http::peer::Peer;
use weir_http::problem::Problem;
use weir_http::request_limits::whole_body;
use weir_operations::context::Reach;

use super::super::ServerState;
use super::super::caller::Caller;
use super::super::context_endpoint::{self, Parameters};
use super::super::tokens::TokenScope;
use super::record::{Learned, Place, Subject};

/// The longest key of a session.
const MAX_KEY_CHARS: usize = 200;
/// A header that browsers send, and only they.
const FROM_BROWSER: &str = "sec-fetch-site";
/// Where learnings came from, if the plugin does not say.
const DEFAULT_SOURCE: &str = "passive";

/// The body of `POST /sessions`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct SessionBody {
    id: String,
    project: Option<String>,
    directory: Option<String>,
}

/// The body of `POST /prompts` and `POST /observations/passive`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct TextBody {
    session_id: String,
    content: String,
    project: Option<String>,
    source: Option<String>,
}

/// Answers `GET /context` as engram does, with the Markdown in an object, unless the client asks for Markdown itself.
pub(super) async fn context(
    State(state): State<Arc<ServerState>>,
    headers: HeaderMap,
    parameters: Parameters,
    extensions: Extensions,
) -> Result<Response, Problem> {
    admit(&state, &headers, &extensions, TokenScope::Read)?;
    let caller = Caller { scope: TokenScope::Read, client: None, session: None, work: None };
    let answer = context_endpoint::answer(&state, &caller, parameters).await?;
    let wants_markdown = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.contains("text/markdown"));
    if headers.get_all(ACCEPT).iter().any(wants_markdown) {
        return Ok(context_endpoint::markdown(&answer));
    }
    // A plugin puts the text into the conversation as it is, so it gets none if there is nothing to say.
    let text = if answer.found { answer.text } else { String::new() };
    Ok(answer::json(StatusCode::OK, &json!({ "context": text })))
}

/// Answers `POST /sessions`.
pub(super) async fn begin_session(
    State(state): State<Arc<ServerState>>,
    request: Request,
) -> Result<Response, Problem> {
    let body: SessionBody = read(&state, request).await?;
    let session = key(&body.id, "id")?;
    let subject = Subject { project: body.project, folder: body.directory.clone(), session, reach: Reach::AnyProject };
    let is_new = Place::find(&state, &subject).await?.begin(body.directory.as_deref()).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(answer::json(status, &json!({ "id": subject.session, "status": if is_new { "created" } else { "known" } })))
}

/// Answers `POST /prompts`.
pub(super) async fn keep_prompt(State(state): State<Arc<ServerState>>, request: Request) -> Result<Response, Problem> {
    let body: TextBody = read(&state, request).await?;
    let place = Place::find(&state, &body.subject()?).await?;
    Ok(match place.prompt(body.text()?).await? {
        Some(number) => answer::json(StatusCode::CREATED, &json!({ "id": number, "status": "saved" })),
        None => answer::json(StatusCode::OK, &json!({ "id": null, "status": "skipped" })),
    })
}

/// Answers `POST /observations/passive`.
pub(super) async fn capture(State(state): State<Arc<ServerState>>, request: Request) -> Result<Response, Problem> {
    let body: TextBody = read(&state, request).await?;
    let place = Place::find(&state, &body.subject()?).await?;
    let source = body.source.as_deref().unwrap_or(DEFAULT_SOURCE);
    let learned: Learned = place.learn(&body.content, source).await?;
    Ok(answer::json(StatusCode::OK, &json!(learned)))
}

impl TextBody {
    fn subject(&self) -> Result<Subject, Problem> {
        let session = key(&self.session_id, "session_id")?;
        Ok(Subject { project: self.project.clone(), folder: None, session, reach: Reach::AnyProject })
    }

    fn text(&self) -> Result<&str, Problem> {
        Some(self.content.as_str()).filter(|text| !text.trim().is_empty()).ok_or_else(|| missing("content"))
    }
}

/// Lets a request in that has a good token, or that a process of this user made on this machine: the plugins have no
/// token.
fn admit(state: &ServerState, headers: &HeaderMap, extensions: &Extensions, needed: TokenScope) -> Result<(), Problem> {
    // A browser of this user is a process of this user too, but it acts for any page.
    let is_program = !headers.contains_key(AUTHORIZATION) && !headers.contains_key(FROM_BROWSER);
    if is_program && extensions.get::<Peer>().is_some_and(Peer::is_this_user) {
        return Ok(());
    }
    state.tokens.require(headers, needed).map(drop)
}

/// Reads the body of a request that may store something.
async fn read<T: DeserializeOwned>(state: &ServerState, request: Request) -> Result<T, Problem> {
    admit(state, request.headers(), request.extensions(), TokenScope::Write)?;
    let body = whole_body(request.into_body()).await?;
    serde_json::from_slice(&body).map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, "Invalid JSON", format!("cannot parse the body: {error}"))
            .hint("send one JSON object, as the plugins of engram do")
    })
}

fn key(text: &str, field: &'static str) -> Result<String, Problem> {
    let text = text.trim();
    let is_key = !text.is_empty() && text.chars().count() <= MAX_KEY_CHARS && !text.contains(char::is_control);
    if is_key { Ok(text.to_owned()) } else { Err(missing(field)) }
}

fn missing(field: &'static str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "Invalid body", format!("`{field}` is missing or cannot be used"))
        .hint(format!("send `{field}` as a text of one line, with at most {MAX_KEY_CHARS} characters if it is a key"))
}
