//! `weir mcp --server NAME`: one server behind Weir, in its own name, for a client that finds tools by itself.
//!
//! Invariants: everything but the results of tools passes as it is; the greeting and the tools come from what the
//! server listed last, so that the client waits for it only the first time.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer, ServiceError};
use rmcp::{ErrorData, ServerHandler};
use weir_context::Context;
use weir_gateway::lists::StoredList;
use weir_gateway::{Asked, ClientPeer, Gateway, ServerFailure};
use weir_host::error::CommandError;
use weir_host::random;

use crate::{asker, failed_call, served, session_of, tool_request};

/// Serves one server until the client closes the connection.
pub async fn serve_one(context: Context, name: &str, session: Option<String>) -> Result<(), CommandError> {
    let gateway = Gateway::of_one(&context, ClientPeer::default(), name)?;
    let fallback_session = session.map_or_else(random::name, Ok)?;
    let known = gateway.stored(name);
    let server = Passing { context, gateway: gateway.clone(), name: name.to_owned(), fallback_session, known };
    let ended = served(server).await;
    gateway.end().await;
    ended
}

struct Passing {
    context: Context,
    gateway: Gateway,
    name: String,
    fallback_session: String,
    /// What was known of the server when this process started.
    known: Option<Arc<StoredList>>,
}

impl Passing {
    fn greeting(&self, known: Option<&StoredList>) -> ServerConfig {
        let info = known.and_then(|list| list.info.clone());
        let capabilities = info.as_ref().map(|info| info.capabilities.clone());
        let own = || ServerCapabilities::builder().enable_tools().build();
        let named = info.as_ref().and_then(|info| info.server_info.clone());
        let named = named.unwrap_or_else(|| Implementation::new(self.name.clone(), env!("CARGO_PKG_VERSION")));
        let mut greeting = ServerConfig::new(capabilities.unwrap_or_else(own)).with_server_info(named);
        greeting.instructions = info.and_then(|info| info.instructions);
        greeting
    }

    async fn peer(&self) -> Result<Peer<RoleClient>, ErrorData> {
        self.gateway.peer(&self.name).await.map_err(|failure| self.unreachable(&failure))
    }

    fn unreachable(&self, failure: &ServerFailure) -> ErrorData {
        ErrorData::internal_error(format!("cannot reach {}: {failure}", self.name), None)
    }
}

fn passed<T>(answer: Result<T, ServiceError>) -> Result<T, ErrorData> {
    answer.map_err(|error| match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    })
}

#[expect(deprecated, reason = "clients and servers use subscriptions and log levels, whatever a later protocol says")]
impl ServerHandler for Passing {
    fn get_info(&self) -> ServerConfig {
        self.greeting(self.known.as_deref())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        call: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        call.peer.set_peer_info(request.clone());
        self.gateway.client().set(call.peer.clone());
        let list = self.gateway.list(&self.name).await.map_err(|failure| self.unreachable(&failure))?;
        let mut greeting = self.greeting(Some(&list));
        greeting.protocol_version = self.negotiate_initialize(&request)?.protocol_version;
        Ok(greeting)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        call: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.gateway.client().set(call.peer.clone());
        let tools = self.gateway.passed(&self.name).await.map_err(|failure| self.unreachable(&failure))?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        call: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.gateway.client().set(call.peer.clone());
        let (session, _) = session_of(&call, &self.fallback_session)?;
        let context = self.context.for_call(Some(session), call.ct.clone()).with_consent_prompt(asker(&call.peer));
        let mut wanted = tool_request(request, &call, Asked::ByClient);
        wanted.server.clone_from(&self.name);
        let result = self.gateway.call(&context, wanted).await;
        Ok(CallToolResponse::from(result.unwrap_or_else(failed_call)))
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        passed(self.peer().await?.list_prompts(page).await)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        passed(self.peer().await?.get_prompt_once(request).await)
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        passed(self.peer().await?.list_resources(page).await)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        passed(self.peer().await?.list_resource_templates(page).await)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        passed(self.peer().await?.read_resource_once(request).await)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        passed(self.peer().await?.complete(request).await)
    }

    async fn subscribe(
        &self,
        request: rmcp::model::SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        passed(self.peer().await?.subscribe(request).await)
    }

    async fn unsubscribe(
        &self,
        request: rmcp::model::UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        passed(self.peer().await?.unsubscribe(request).await)
    }

    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        passed(self.peer().await?.set_level(request).await)
    }
}
