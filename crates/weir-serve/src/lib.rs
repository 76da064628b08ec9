//! `weir serve`: the operations of a machine over HTTP, as routes and as MCP.
//!
//! The crate owns access tokens ([`tokens`]), the routes and their OpenAPI document, metrics, and the answers to another
//! program's plugins (`compat`). Sockets, limits and guards are `weir-http`'s.
//!
//! It knows no operation by name: the routes of the tools, the scope that each needs and the document come from
//! `OPERATIONS`. Pages are `weir-ui`'s, and the service of a team is `weir-team`'s.
//!
//! # Invariants
//!
//! - Every route but the health checks and the document needs a token, unless another program's plugins may call
//!   (`compat`). Without a readable token file, nobody is let in.
//! - What the document says is what the server does: each status of a route is in it. Each answer has a request ID.
//! - Each call in progress has stores of its own, so no call waits for another's lock. Notes wait for their turn, and
//!   those that wait are written together. A search uses what is indexed, indexes little itself, and says if there is
//!   more (`Freshness::Prompt`).
//! - A client that disconnects cancels its call, and cannot tear it apart.
//! - The server keeps nothing between two requests. There are no sessions of MCP.
//! - No counter has a text that a client chose, except the path, escaped and cut.
//!
//! # The way of a request
//!
//! ```text
//! weir_http        listen: connections, TLS, slow clients, the end after a signal
//! weir_http        observe: request ID, log line, counters (metrics)
//! weir_http        request_limits: the body and the time; guard: Host and Origin
//! caller           token and scope (tokens), session, work
//! tools, mcp       calls: a context from a pool; weir_operations::tool_call: the same call as over MCP
//!   metering       tokens of the answer, counted by a thread
//!   weir_mcp       embedder: index, vectors and housekeeping, by another thread
//! ```

mod caller;
pub mod calls;
pub mod command;
mod compat;
mod context_endpoint;
mod mcp;
mod metering;
mod metrics;
mod openapi;
pub mod tokens;
mod tools;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use weir_context::{Context, LockedStores};
use weir_core::SessionKey;
use weir_host::error::CommandError;
use weir_host::signal;
use weir_mcp::embedder::{EmbedderHandle, IndexUpkeep};

use calls::Calls;
use compat::Compat;
use metering::MeterQueue;
use metrics::Metrics;
use tokens::Tokens;
use weir_http::answer;
use weir_http::guard::{AllowedHosts, guarded};
use weir_http::listen::{Listening, ServerLimits};
use weir_http::log::LogFormat;
use weir_http::observe::{AnsweredRequest, RequestWatcher, observed};
use weir_http::problem::{Problem, wrong_method};
use weir_http::request_limits::limited;

/// How long the stores have to open when the server is asked whether it is ready.
const READY_TIMEOUT: Duration = Duration::from_secs(5);

/// What the routes share.
pub struct ServerState {
    /// The contexts of calls.
    pub calls: Calls,
    /// Who may call.
    pub tokens: Tokens,
    /// Where answers are counted for the user.
    meter: MeterQueue,
    /// Where requests are counted for the operator.
    metrics: Metrics,
    /// Indexes and embeds what calls have added.
    background: EmbedderHandle,
    /// The program whose requests and tools are understood too.
    compat: Option<Compat>,
    log: LogFormat,
    /// The description of the routes, once somebody has asked for it.
    openapi: OnceLock<String>,
}

impl ServerState {
    /// Returns the state of a server whose calls are made in this context.
    fn new(context: &Context, tokens: Tokens, log: LogFormat) -> Self {
        Self {
            calls: Calls::new(&context.with_prompt_searches()),
            tokens,
            meter: MeterQueue::start(context),
            metrics: Metrics::new(),
            background: EmbedderHandle::start(context, IndexUpkeep::Follow),
            compat: None,
            log,
            openapi: OnceLock::new(),
        }
    }

    /// Returns what counts and logs each request.
    fn watcher(self: &Arc<Self>) -> RequestWatcher {
        let state = Arc::clone(self);
        Arc::new(move |request: &AnsweredRequest<'_>| {
            state.metrics.answered(request);
            state.log.write(request);
        })
    }

    /// Returns the same state for a server that another program's plugins may call.
    fn with_compat(self, compat: Option<Compat>) -> Self {
        Self { compat, ..self }
    }
}

/// A server that is about to start.
pub struct Server {
    pub listening: Listening,
    /// The names by which the server may be reached.
    pub hosts: AllowedHosts,
    /// The limits of requests and connections.
    pub limits: ServerLimits,
}

impl Server {
    /// Serves until a signal arrives. Open requests may finish, and runs store their output.
    pub async fn serve(self, context: &Context, state: ServerState) -> Result<(), CommandError> {
        let (state, ended) = (Arc::new(state), CancellationToken::new());
        let router = guarded(routes(&state, ended.clone()), self.hosts);
        let router = metrics::counted(limited(router, self.limits), Arc::clone(&state));
        let router = observed(router, state.watcher());
        let closing = tokio::spawn(state.calls.clone().close_idle());
        let served = self.listening.run(router, self.limits).await;
        closing.abort();
        ended.cancel();
        context.running().end_all(signal::SHUTDOWN_TIMEOUT).await;
        let flushed = tokio::task::spawn_blocking(move || state.meter.flush()).await;
        served.and(flushed.map_err(|error| CommandError::broken(&error.to_string())))
    }
}

fn routes(state: &Arc<ServerState>, ended: CancellationToken) -> Router {
    let mcp = post(mcp::handle).with_state((Arc::clone(state), mcp::service(state, ended)));
    let context = match state.compat {
        Some(Compat::Engram) => compat::routes(),
        None => context_endpoint::routes(),
    };
    Router::new()
        .route("/v1/tools/{name}", post(tools::handle))
        .route("/mcp", mcp)
        .route("/openapi.json", get(openapi::handle))
        .route("/health", get(answer::health))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics::handle))
        .merge(context)
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .with_state(Arc::clone(state))
}

/// Says whether the stores can be opened.
async fn ready(State(state): State<Arc<ServerState>>) -> Result<Response, Problem> {
    let opened = async {
        let nobody: Option<SessionKey> = None;
        let context = state.calls.context(nobody, CancellationToken::new()).await;
        let open_both = |open: &mut LockedStores<'_>| {
            open.project()?;
            open.user()?;
            Ok(())
        };
        context.with_stores(open_both).await
    };
    match tokio::time::timeout(READY_TIMEOUT, opened).await {
        Ok(opened) => {
            opened.map(|()| answer::json(StatusCode::OK, &json!({ "status": "ready" }))).map_err(Problem::from)
        }
        Err(_) => {
            let detail = format!("the stores did not open within {} s", READY_TIMEOUT.as_secs());
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Store unavailable", detail)
                .hint("`weir doctor` says what is wrong with the stores"))
        }
    }
}

async fn not_found(uri: Uri) -> Problem {
    Problem::no_route(&uri).hint("GET /openapi.json describes every route")
}
