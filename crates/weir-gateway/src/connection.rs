//! A connection to a server: greeting, lists and calls. Invariants: every wait has an end; a call that the client gives
//! up is cancelled at the server; a client that wants to know of progress hears something at least every [`HEARTBEAT`],
//! because some give up on a silent call after a minute.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification, CancelledNotificationParam,
    ClientRequest, ContentBlock, ListToolsRequest, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ServerPeerInfo, ServerResult, Tool,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService, ServiceError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use weir_host::env::Paths;
use weir_host::mutex::lock;

use crate::address::AddressTransport;
use crate::entries::{Launch, ServerEntry};
use crate::failure::ServerFailure;
use crate::forward::{CallProgress, ClientPeer, Forward, Progresses};
use crate::process::{LastWords, Process, Program};
use crate::sign_in::StoredSignIn;
use crate::transport::ProgramTransport;

/// How long a server may take until it can be called. The first start of one may install it.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a server may take to list its tools.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);
/// How many pages of a list are read.
const MAX_PAGES: usize = 100;
/// How long a call may be silent, unless the entry says otherwise.
const SILENT_TIMEOUT: Duration = Duration::from_secs(300);
/// How long a call may take, whatever it says in the meantime.
const CALL_TIMEOUT: Duration = Duration::from_secs(3_600);
/// How often a client that wants to know of progress hears of a call.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a connection may take to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Where and for whom a server is started.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub folder: Arc<Path>,
    pub paths: Paths,
    pub client: ClientPeer,
    /// Whether the client knows the server by its own name, so that what the server tells unasked makes sense to it.
    pub passes_notices: bool,
}

pub(crate) struct Connection {
    service: RunningService<RoleClient, Forward>,
    words: LastWords,
    progresses: Progresses,
    tools_changed: Arc<AtomicBool>,
    silent_timeout: Duration,
    is_used: AtomicBool,
}

/// A call as the client made it.
pub(crate) struct ServerCall {
    pub request: CallToolRequestParams,
    /// Ends when the client gives the call up.
    pub cancelled: CancellationToken,
    /// What the client named the call, if it wants to know of progress.
    pub progress: Option<ProgressToken>,
}

impl Connection {
    /// Starts or reaches a server.
    pub(crate) async fn open(name: &str, entry: &ServerEntry, around: &Surroundings) -> Result<Self, ServerFailure> {
        let (progresses, tools_changed) = (Progresses::default(), Arc::<AtomicBool>::default());
        let forward = Forward {
            server: name.to_owned(),
            client: around.client.clone(),
            progresses: Arc::clone(&progresses),
            tools_changed: Arc::clone(&tools_changed),
            passes_notices: around.passes_notices,
        };
        let mut words = LastWords::default();
        let greeting = async {
            match &entry.launch {
                Launch::Program { command, args, env, cwd } => {
                    let folder = cwd.as_deref().unwrap_or(&around.folder);
                    let program = Program { command, args, env, folder };
                    let (process, output, input) = Process::start(&program)
                        .map_err(|error| ServerFailure::not_started(&format!("{command}: {error}"), ""))?;
                    words = process.words();
                    let transport = ProgramTransport::new(process, output, input);
                    forward.serve(transport).await.map_err(|error| ServerFailure::greeting(name, &error))
                }
                Launch::Address { url, headers } => {
                    let signed_in = entry.sign_in_url().map(|url| StoredSignIn::of(&around.paths, name, url));
                    let signed_in = signed_in.filter(StoredSignIn::exists);
                    let served = match AddressTransport::new(url, headers, signed_in).await? {
                        AddressTransport::Plain(transport) => forward.serve(transport).await,
                        AddressTransport::SignedIn(transport) => forward.serve(transport).await,
                    };
                    served.map_err(|error| ServerFailure::greeting(name, &error))
                }
            }
        };
        let greeted = tokio::time::timeout(START_TIMEOUT, greeting).await;
        let service = greeted.unwrap_or(Err(ServerFailure::Silent(START_TIMEOUT)));
        let service = service.map_err(|failure| failure.with_words(&words.text()))?;
        let silent_timeout = entry.timeout.map_or(SILENT_TIMEOUT, |seconds| Duration::from_secs(seconds.into()));
        Ok(Self { service, words, progresses, tools_changed, silent_timeout, is_used: AtomicBool::new(false) })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.is_transport_closed()
    }

    /// Returns the server, for what is forwarded as it is.
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// Returns what the server said of itself.
    pub(crate) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.service.peer_info()
    }

    /// Returns whether the server has said since the last question that its tools have changed.
    pub(crate) fn take_tools_changed(&self) -> bool {
        self.tools_changed.swap(false, Ordering::Relaxed)
    }

    /// Returns whether nobody has asked this before.
    pub(crate) fn take_first_use(&self) -> bool {
        !self.is_used.swap(true, Ordering::Relaxed)
    }

    /// Lists all tools. One that is not described as the protocol says is left out.
    pub(crate) async fn tools(&self) -> Result<Vec<Tool>, ServerFailure> {
        let mut tools = Vec::new();
        let all = async {
            let mut cursor = None;
            for _ in 0..MAX_PAGES {
                let page = PaginatedRequestParams::default().with_cursor(cursor);
                let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
                let (listed, next) = match self.peer().send_request(request).await? {
                    ServerResult::ListToolsResult(page) => (page.tools, page.next_cursor),
                    ServerResult::CustomResult(page) => known_tools(&page.0).ok_or(ServiceError::UnexpectedResponse)?,
                    _ => return Err(ServiceError::UnexpectedResponse),
                };
                tools.extend(listed);
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            Ok(())
        };
        let listed = tokio::time::timeout(LIST_TIMEOUT, all).await;
        let listed = listed.unwrap_or(Err(ServiceError::Timeout { timeout: LIST_TIMEOUT }));
        listed.map_err(|error| self.failure(error)).map(|()| tools)
    }

    pub(crate) async fn call(&self, call: ServerCall) -> Result<CallToolResult, ServerFailure> {
        let options = PeerRequestOptions::with_timeout(self.silent_timeout)
            .reset_timeout_on_progress()
            .with_max_total_timeout(CALL_TIMEOUT);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call.request));
        let sent = self.peer().send_request_with_option(request, options).await;
        let handle = sent.map_err(|error| self.failure(error))?;
        let token = handle.progress_token.clone();
        if let Some(of_client) = call.progress {
            let progress = CallProgress { token: of_client, reached: 0.0, is_fresh: false };
            lock(&self.progresses).insert(token.clone(), progress);
        }
        let answer = self.answer(handle, &token, &call.cancelled).await;
        lock(&self.progresses).remove(&token);
        match answer? {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::CustomResult(result) => with_known_blocks(result.0).ok_or(ServerFailure::Unsupported),
            _ => Err(ServerFailure::Unsupported),
        }
    }

    async fn answer(
        &self,
        handle: RequestHandle<RoleClient>,
        token: &ProgressToken,
        cancelled: &CancellationToken,
    ) -> Result<ServerResult, ServerFailure> {
        let id = handle.id.clone();
        let mut answer = std::pin::pin!(handle.await_response());
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        heartbeat.tick().await;
        loop {
            tokio::select! {
                answer = &mut answer => return answer.map_err(|error| self.failure(error)),
                () = cancelled.cancelled() => {
                    let about = CancelledNotificationParam::new(Some(id), Some("the client gave the call up".to_owned()));
                    let notice = CancelledNotification::new(about);
                    let _ = self.peer().send_notification(notice.into()).await;
                    return Err(ServerFailure::Cancelled);
                }
                _ = heartbeat.tick() => self.beat(token).await,
            }
        }
    }

    /// Tells the client that a call still runs, if nothing else has since the last time.
    async fn beat(&self, token: &ProgressToken) {
        let due = lock(&self.progresses).get_mut(token).and_then(|call| {
            if std::mem::take(&mut call.is_fresh) {
                return None;
            }
            call.reached += 0.001;
            Some((call.token.clone(), call.reached))
        });
        if let Some(((token, reached), client)) = due.zip(self.service.service().client.get()) {
            let _ = client.notify_progress(ProgressNotificationParam::new(token, reached)).await;
        }
    }

    fn failure(&self, error: ServiceError) -> ServerFailure {
        ServerFailure::of(error).with_words(&self.words.text())
    }

    /// Closes the connection, and ends the server if it is a program.
    pub(crate) async fn close(mut self) {
        let _ = self.service.close_with_timeout(CLOSE_TIMEOUT).await;
    }
}

/// Returns the tools of a page that are described as the protocol says, and where the next page begins.
fn known_tools(page: &Value) -> Option<(Vec<Tool>, Option<String>)> {
    let tools = page["tools"].as_array()?.iter().filter_map(|tool| serde_json::from_value(tool.clone()).ok());
    Some((tools.collect(), page["nextCursor"].as_str().map(str::to_owned)))
}

/// Returns a result that has blocks of unknown kinds, each as the text of its JSON.
fn with_known_blocks(mut result: Value) -> Option<CallToolResult> {
    for block in result.get_mut("content")?.as_array_mut()? {
        if serde_json::from_value::<ContentBlock>(block.clone()).is_err() {
            *block = json!({ "type": "text", "text": block.to_string() });
        }
    }
    serde_json::from_value(result).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_an_unknown_kind_is_text() {
        let result = json!({ "content": [{ "type": "text", "text": "a" }, { "type": "new", "value": 1 }] });
        let result = with_known_blocks(result).unwrap();
        let texts: Vec<&str> = result.content.iter().map(|block| block.as_text().unwrap().text.as_str()).collect();
        assert_eq!(texts, ["a", r#"{"type":"new","value":1}"#]);
        assert_eq!(with_known_blocks(json!({ "other": 1 })), None);
    }
}
