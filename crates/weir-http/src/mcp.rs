//! MCP over Streamable HTTP. Invariant: the server keeps nothing between two requests.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::Response;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use weir_host::answer::one_line;

use super::problem::Problem;

/// The longest answer without a content type, in bytes: a sentence of the protocol's implementation.
const MAX_SENTENCE_BYTES: usize = 64 << 10;
/// How much of it is repeated, in characters.
const MAX_SENTENCE_CHARS: usize = 300;

/// Serves MCP without sessions. Cheap to clone.
pub type StatelessMcp<T> = StreamableHttpService<T, NeverSessionManager>;

/// Returns the usual settings. The host and the size of the body are checked before a request gets to MCP.
pub fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(usize::MAX)
        .disable_allowed_hosts()
}

/// Returns a service whose requests are each answered by tools of their own.
pub fn service<T: ServerHandler>(
    config: StreamableHttpServerConfig,
    tools: impl Fn() -> T + Send + Sync + 'static,
) -> StatelessMcp<T> {
    StreamableHttpService::new(move || Ok(tools()), Arc::new(NeverSessionManager::default()), config)
}

/// Answers a request. An error that has only a text gets the form of all others.
pub async fn answer<T: ServerHandler>(service: &StatelessMcp<T>, request: Request) -> Result<Response, Problem> {
    let response = service.handle(request).await.map(Body::new);
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    if !is_error || response.headers().contains_key(CONTENT_TYPE) {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let text = to_bytes(body, MAX_SENTENCE_BYTES).await.unwrap_or_default();
    let text = one_line(&String::from_utf8_lossy(&text), MAX_SENTENCE_CHARS);
    Err(Problem::new(parts.status, "Not an MCP request", text)
        .hint("send a JSON-RPC message as the specification of MCP describes it for Streamable HTTP"))
}

/// Returns who makes a call, as the handler of the request has put it there.
pub fn caller<C: Clone + Send + Sync + 'static>(call: &RequestContext<RoleServer>) -> Result<C, ErrorData> {
    let known = call.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<C>());
    known.cloned().ok_or_else(|| ErrorData::internal_error("the request has no caller", None))
}

/// Returns the result of a call that was refused, as a text that the model can act on.
pub fn refused(problem: &Problem) -> CallToolResponse {
    CallToolResponse::from(CallToolResult::error(vec![ContentBlock::text(problem.to_string())]))
}
