//! What a server asks of its client, forwarded to the client that Weir serves, and the progress of calls.
//!
//! Invariants: a server gets what the client would have given it, and no more; a client that cannot do something is not
//! claimed to; the user sees which server asks.

#![expect(deprecated, reason = "clients and servers use roots, sampling and logging, whatever a later protocol says")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorData, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProgressToken, RequestMetaObject, ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleClient, RoleServer, ServiceError};
use rmcp::{ClientHandler, ErrorData as McpError};
use weir_host::consent;
use weir_host::mutex::lock;

/// What a client of the protocol of 2026-07-28 says of itself in every request. It is about the client's connection to
/// Weir, and a server that Weir has greeted in the older way refuses it.
const OF_CONNECTION: &[&str] = &[
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/logLevel",
];

/// Returns what a client adds to a call, without what is about its connection.
pub(crate) fn of_call(mut meta: RequestMetaObject) -> RequestMetaObject {
    meta.retain(|name, _| !OF_CONNECTION.contains(&name.as_str()));
    meta
}

/// The client for which servers are called, once it has said hello. The command line has none.
#[derive(Clone, Default)]
pub struct ClientPeer(Arc<Mutex<Option<Peer<RoleServer>>>>);

impl ClientPeer {
    pub fn set(&self, peer: Peer<RoleServer>) {
        *lock(&self.0) = Some(peer);
    }

    pub fn get(&self) -> Option<Peer<RoleServer>> {
        lock(&self.0).clone()
    }

    /// Returns what the client says of itself, as far as Weir passes it on, or what Weir says if there is no client.
    pub(crate) fn config(&self) -> ClientConfig {
        let known = self.get().and_then(|peer| peer.peer_info());
        let of_weir = || Implementation::new("weir", env!("CARGO_PKG_VERSION"));
        let named = known.as_ref().map_or_else(of_weir, |info| info.client_info.clone());
        let mut capabilities = ClientCapabilities::default();
        if let Some(known) = known.map(|info| info.capabilities.clone()) {
            (capabilities.roots, capabilities.sampling) = (known.roots, known.sampling);
            capabilities.elicitation = known.elicitation;
        }
        ClientConfig::new(capabilities, named)
    }
}

/// The progress of a call, on its way to the client.
#[derive(Debug, Clone)]
pub(crate) struct CallProgress {
    /// What the client named its call.
    pub token: ProgressToken,
    /// How far the call was when the client was last told.
    pub reached: f64,
    /// Whether the client was told anything since it was last asked.
    pub is_fresh: bool,
}

/// The calls whose progress a client wants to know, by the names that the server knows them by.
pub(crate) type Progresses = Arc<Mutex<HashMap<ProgressToken, CallProgress>>>;

/// The client's half of a connection to a server.
pub(crate) struct Forward {
    pub server: String,
    pub client: ClientPeer,
    pub progresses: Progresses,
    /// Whether the server said that its tools have changed.
    pub tools_changed: Arc<AtomicBool>,
    /// Whether what the server tells unasked reaches the client, which knows the server by its own name.
    pub passes_notices: bool,
}

impl Forward {
    /// Returns the client, if it can do something.
    fn client(&self, can: impl Fn(&ClientCapabilities) -> bool) -> Result<Peer<RoleServer>, McpError> {
        let is_able = |peer: &Peer<RoleServer>| peer.peer_info().is_some_and(|info| can(&info.capabilities));
        self.client.get().filter(is_able).ok_or_else(|| unsupported("the client does not support this"))
    }

    fn listener(&self) -> Option<Peer<RoleServer>> {
        self.client.get().filter(|_| self.passes_notices)
    }
}

fn unsupported(why: &str) -> McpError {
    ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, why.to_owned(), None)
}

fn forwarded(error: ServiceError) -> McpError {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}

impl ClientHandler for Forward {
    fn get_info(&self) -> ClientConfig {
        self.client.config()
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, McpError> {
        self.client(|can| can.roots.is_some())?.list_roots().await.map_err(forwarded)
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, McpError> {
        self.client(|can| can.sampling.is_some())?.create_message(request).await.map_err(forwarded)
    }

    async fn create_elicitation(
        &self,
        mut request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, McpError> {
        let client = self.client(|can| can.elicitation.is_some())?;
        if let ElicitRequestParams::FormElicitationParams { message, .. }
        | ElicitRequestParams::UrlElicitationParams { message, .. } = &mut request
        {
            *message = format!("The MCP server {} asks: {}", self.server, consent::visible(message));
        }
        client.create_elicitation(request).await.map_err(forwarded)
    }

    async fn on_progress(&self, mut progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let known = {
            let mut known = lock(&self.progresses);
            known.get_mut(&progress.progress_token).map(|call| {
                // A heartbeat may have gone further than the server.
                call.reached = progress.progress.max(call.reached);
                call.is_fresh = true;
                (call.token.clone(), call.reached)
            })
        };
        if let Some(((token, reached), client)) = known.zip(self.client.get()) {
            (progress.progress_token, progress.progress) = (token, reached);
            let _ = client.notify_progress(progress).await;
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.store(true, Ordering::Relaxed);
        if let Some(client) = self.listener() {
            let _ = client.notify_tool_list_changed().await;
        }
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        if let Some(client) = self.listener() {
            let _ = client.notify_prompt_list_changed().await;
        }
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        if let Some(client) = self.listener() {
            let _ = client.notify_resource_list_changed().await;
        }
    }

    async fn on_resource_updated(&self, notice: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(client) = self.listener() {
            let _ = client.notify_resource_updated(notice).await;
        }
    }

    async fn on_logging_message(&self, notice: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(client) = self.listener() {
            let _ = client.notify_logging_message(notice).await;
        }
    }
}
