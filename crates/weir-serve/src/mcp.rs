//! `POST /mcp`: MCP over Streamable HTTP. Invariant: the server keeps nothing between two requests; each carries its
//! token, and the session that it belongs to in a header or in the metadata of the call.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ContentBlock, JsonObject, ListToolsResult, PaginatedRequestParams,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use tokio_util::sync::CancellationToken;
use weir_http::answer;
use weir_http::mcp::{self, StatelessMcp, refused};
use weir_http::problem::Problem;
use weir_http::request_limits::whole_body;
use weir_mcp::message;
use weir_operations::Operation;
use weir_operations::tool_call;

use super::ServerState;
use super::caller::Caller;
use super::compat::Alias;
use super::tokens::TokenScope;
use super::tools::{ToolAnswer, ToolCall};

/// The client of a call that names none.
const DEFAULT_CLIENT: &str = "mcp";

/// Returns the service. Cancelling the token ends the streams that are open.
pub(super) fn service(state: &Arc<ServerState>, ended: CancellationToken) -> StatelessMcp<HttpTools> {
    let state = Arc::clone(state);
    mcp::service(mcp::config().with_cancellation_token(ended), move || HttpTools { state: Arc::clone(&state) })
}

pub(super) async fn handle(
    State((state, service)): State<(Arc<ServerState>, StatelessMcp<HttpTools>)>,
    request: Request,
) -> Result<Response, Problem> {
    let caller = Caller::of(request.headers(), &state.tokens, TokenScope::Read)?;
    let (mut parts, body) = request.into_parts();
    let body = whole_body(body).await?;
    match message::parse(&body) {
        Some(Err(refusal)) => return Ok(answer::json(StatusCode::BAD_REQUEST, &refusal)),
        // A notification that is not known needs no answer.
        None if !body.is_empty() => return Ok(StatusCode::ACCEPTED.into_response()),
        _ => {}
    }
    parts.extensions.insert(caller);
    mcp::answer(&service, Request::from_parts(parts, Body::from(body))).await
}

/// The tools of one request.
pub(super) struct HttpTools {
    state: Arc<ServerState>,
}

impl HttpTools {
    /// Returns who makes a request. The metadata of a call may name a session if no header does.
    fn caller(call: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let Caller { scope, client, session, work } = mcp::caller(call)?;
        let client = client.or_else(|| call.meta.client_info().map(|client| weir_mcp::client_name(&client)));
        let session = match session {
            Some(session) => Some(session),
            None => weir_mcp::named_session(call)?.map(str::to_owned),
        };
        Ok(Caller { scope, client: client.or_else(|| Some(DEFAULT_CLIENT.to_owned())), session, work })
    }

    /// Calls a tool of another program.
    async fn call_alias(
        &self,
        alias: &'static Alias,
        caller: Caller,
        arguments: JsonObject,
        call: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        if let Err(problem) = caller.scope.covers(TokenScope::for_effect(alias.effect)) {
            return refused(&problem);
        }
        let cancel = call.ct.child_token();
        let _given_up = cancel.clone().drop_guard();
        match alias.call(&self.state, caller, arguments, cancel).await {
            Ok(answer) => CallToolResponse::from(weir_mcp::result(answer)),
            Err(problem) => refused(&problem),
        }
    }
}

impl ServerHandler for HttpTools {
    fn get_info(&self) -> ServerConfig {
        weir_mcp::info()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        call: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = Self::caller(&call)?;
        // A tool that every call would be refused for is only in the way.
        let allowed = |operation: &&Operation| TokenScope::for_effect(operation.effect) <= caller.scope;
        let listed = tool_call::listed(&self.state.calls.base().config().tools.list).filter(allowed);
        let aliases = Alias::all(self.state.compat).iter().filter(|alias| alias.is_listed(caller.scope));
        Ok(ListToolsResult::with_all_items(listed.map(tool_call::tool).chain(aliases.map(Alias::tool)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let alias = || Alias::find(self.state.compat, name).map(Alias::tool);
        tool_call::find(name).map(tool_call::tool).or_else(alias)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        call: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = Self::caller(&call)?;
        if let Some(alias) = Alias::find(self.state.compat, &request.name) {
            return Ok(self.call_alias(alias, caller, request.arguments.unwrap_or_default(), &call).await);
        }
        let Some(operation) = tool_call::find(&request.name) else {
            return Err(ErrorData::invalid_params(tool_call::no_such_tool(&request.name), None));
        };
        if let Err(problem) = caller.scope.covers(TokenScope::for_effect(operation.effect)) {
            return Ok(refused(&problem));
        }
        // The call ends by itself when the client gives up, so that nothing is torn apart.
        let cancel = call.ct.child_token();
        let _given_up = cancel.clone().drop_guard();
        let call = ToolCall { operation, caller, arguments: request.arguments.unwrap_or_default(), cancel };
        let state = Arc::clone(&self.state);
        let done = tokio::spawn(async move { call.run(&state).await }).await;
        match done.map_err(|error| ErrorData::internal_error(format!("the call failed: {error}"), None))? {
            Ok(ToolAnswer { answer, remarks }) => {
                let mut result = weir_mcp::result(answer);
                result.content.extend(remarks.into_iter().map(ContentBlock::text));
                Ok(CallToolResponse::from(result))
            }
            Err(problem) => Ok(refused(&problem)),
        }
    }
}
