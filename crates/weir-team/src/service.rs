//! The service of a team: records, search and notes over HTTP, on the ports of `weir-records`.
//!
//! Invariants: the tenant and the user of a call come from its token and from nothing else; every route but the health
//! checks and the metadata of OAuth needs a token, and it is checked before the body is read; the ports block, so they
//! are called on threads that may; a server keeps nothing that another one on the same database would need.

mod answers;
mod busiest;
mod callers;
mod calls;
mod copying;
mod entries;
mod figures;
mod indexer;
mod latencies;
mod mcp;
mod news;
mod notes;
mod oauth;
mod observe;
mod operator;
mod problem;
mod rates;
mod readiness;
mod strangers;
mod sync;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use serde_json::json;
use weir_core::{Scope, Timestamp};
use weir_http::answer;
use weir_http::listen::ServerLimits;
use weir_http::log::LogFormat;
use weir_http::observe::{RequestWatcher, observed};
use weir_http::problem::{Problem, wrong_method};
use weir_http::request_limits::{LimitAdvice, limited_with, whole_body};
use weir_records::{Accounts, Ports, Result as PortResult, Shelf, TokenScope, Writer};

use self::answers::{parse_json, read_query};
use self::callers::Caller;
use self::calls::TenantCalls;
pub use self::copying::Copying;
use self::figures::Figures;
use self::indexer::{Announcements, CatchUp};
use self::news::News;
pub use self::oauth::ResourceServer;
use self::rates::{Pace, Rates};
use self::readiness::Readiness;
use self::strangers::{Strangers, network_of};
use self::tools::TeamTool;
use crate::connections::ConnectionWatch;
use crate::index::{Meaning, Started};
use crate::log::DEFAULT_CONNECTIONS;

/// How many records a tenant may have if nothing else was set.
pub const DEFAULT_TENANT_RECORDS: u64 = 1_000_000;
/// How many bytes a tenant may have if nothing else was set: 20 GiB.
pub const DEFAULT_TENANT_BYTES: u64 = 20 << 30;
/// How many projects a tenant may have. A server has the positions of all projects of all tenants in memory.
const DEFAULT_TENANT_PROJECTS: usize = 10_000;
/// How long a call may take.
const DEFAULT_CALL_TIME: Duration = Duration::from_secs(60);
/// How many requests a token may make at once, and how many more each second.
const DEFAULT_BURST: u32 = 200;
const DEFAULT_REQUESTS_PER_SECOND: u32 = 50;
/// How many requests without a good token an address may make at once, and how many more each second.
const DEFAULT_STRANGER_BURST: u32 = 30;
const DEFAULT_STRANGERS_PER_SECOND: u32 = 1;
/// How many calls of a tenant are at work at once: half of the connections to a database.
const DEFAULT_TENANT_CALLS: usize = DEFAULT_CONNECTIONS / 2;

/// What to do about a limit. A call blocks in the storage, and nothing takes it back.
const ADVICE: LimitAdvice = LimitAdvice {
    late: "may still be carried out",
    late_hint: calls::REPEAT_HINT,
    large_hint: "send fewer records at once, or shorter texts",
};

/// What a service is given besides its storage.
#[derive(Clone)]
pub struct ServiceOptions {
    /// Returns the time of day.
    pub now: fn() -> Timestamp,
    /// Tells the operator what went wrong inside the server. Callers are not told.
    pub report: fn(&str),
    /// The version of the program.
    pub version: &'static str,
    /// The limits of a request.
    pub limits: ServerLimits,
    /// How long a call may take.
    pub max_call_time: Duration,
    /// How many requests a token may make at once.
    pub burst: u32,
    /// How many more it may make each second.
    pub requests_per_second: u32,
    /// How many requests without a good token an address may make at once.
    pub stranger_burst: u32,
    /// How many more it may make each second.
    pub strangers_per_second: u32,
    /// How many calls of a tenant are at work at once. It is less than the connections of the log, so that other
    /// tenants find one.
    pub max_tenant_calls: usize,
    /// How many records a tenant may have if nothing else was set for it.
    pub max_tenant_records: u64,
    /// How many bytes a tenant may have if nothing else was set for it.
    pub max_tenant_bytes: u64,
    /// How many projects a tenant may have.
    pub max_tenant_projects: usize,
    /// The issuer whose access tokens are good too, if there is one.
    pub oauth: Option<Arc<ResourceServer>>,
    /// How requests are logged.
    pub log: LogFormat,
    /// Is told of each request too, for traces.
    pub watch: Option<RequestWatcher>,
    /// Says how the connections to the database are used, if there is one.
    pub connections: Option<ConnectionWatch>,
    /// How the index was found, if it says so.
    pub index_started: Option<Started>,
    /// How the index is copied, if it is.
    pub copying: Option<Copying>,
    /// The model that queries are embedded with, if the index has its vectors.
    pub meaning: Option<Meaning>,
    /// How often the server looks for records that other servers have written, so that its index follows them.
    pub walk_every: Duration,
}

impl ServiceOptions {
    /// Returns the usual options.
    pub fn new(now: fn() -> Timestamp, report: fn(&str)) -> Self {
        Self {
            now,
            report,
            version: env!("CARGO_PKG_VERSION"),
            limits: ServerLimits::default(),
            max_call_time: DEFAULT_CALL_TIME,
            burst: DEFAULT_BURST,
            requests_per_second: DEFAULT_REQUESTS_PER_SECOND,
            stranger_burst: DEFAULT_STRANGER_BURST,
            strangers_per_second: DEFAULT_STRANGERS_PER_SECOND,
            max_tenant_calls: DEFAULT_TENANT_CALLS,
            max_tenant_records: DEFAULT_TENANT_RECORDS,
            max_tenant_bytes: DEFAULT_TENANT_BYTES,
            max_tenant_projects: DEFAULT_TENANT_PROJECTS,
            oauth: None,
            log: LogFormat::Off,
            watch: None,
            connections: None,
            index_started: None,
            copying: None,
            meaning: None,
            walk_every: indexer::WALK_EVERY,
        }
    }
}

/// The service of one server.
pub struct Service {
    shelf: Shelf,
    accounts: Arc<dyn Accounts>,
    options: ServiceOptions,
    rates: Rates,
    strangers: Strangers,
    tenant_calls: TenantCalls,
    figures: Figures,
    readiness: Readiness,
    catch_up: CatchUp,
    changed: Announcements,
    news: News,
}

impl Service {
    /// Starts the service, and the tasks that index what is new and copy the index. It must be called on a runtime; the
    /// tasks end with the service.
    pub fn start(ports: Ports, accounts: Arc<dyn Accounts>, options: ServiceOptions) -> PortResult<Arc<Self>> {
        let (changed, waiting) = Announcements::channel();
        let rates = Rates::new(Pace::new(options.burst, options.requests_per_second));
        let strangers = Strangers::new(Pace::new(options.stranger_burst, options.strangers_per_second));
        let tenant_calls = TenantCalls::new(options.max_tenant_calls);
        let news = News::new(options.limits.max_connections);
        let service = Arc::new(Self {
            shelf: Shelf::new(ports, Writer::new()?),
            accounts,
            options,
            rates,
            strangers,
            tenant_calls,
            figures: Figures::default(),
            readiness: Readiness::default(),
            catch_up: CatchUp::default(),
            changed,
            news,
        });
        tokio::spawn(indexer::run(Arc::downgrade(&service), waiting));
        if let Some(copying) = &service.options.copying {
            let copier = Arc::downgrade(&copying.copier);
            tokio::spawn(copying::run(Arc::downgrade(&service), copier, copying.every));
        }
        Ok(service)
    }

    /// Returns the routes.
    pub fn router(self: Arc<Self>) -> Router {
        self.router_behind(|routes| routes)
    }

    /// Returns the routes behind a guard and within the limits. What these refuse is counted and logged too.
    pub fn router_behind(self: Arc<Self>, guard: impl FnOnce(Router) -> Router) -> Router {
        let (limits, watcher) = (self.options.limits, observe::watcher(&self));
        let routes = limited_with(guard(self.routes()), limits, ADVICE);
        observed(routes, watcher).layer(map_response(observe::name_problem))
    }

    /// Returns the page of figures for the operator, which needs no token and belongs on an address of its own.
    pub fn operator_router(self: Arc<Self>) -> Router {
        operator::routes(self)
    }

    fn routes(self: Arc<Self>) -> Router {
        let mut routes = Router::new();
        for path in self.options.oauth.iter().flat_map(|oauth| oauth.paths()) {
            routes = routes.route(path, get(metadata));
        }
        routes
            .route("/v1/me", get(me))
            .route("/v1/sync/records", post(upload).get(download))
            .route("/v1/sync/news", get(news::news))
            .route("/v1/search", post(search))
            .route("/v1/notes", post(note))
            .route("/v1/entries/{id}", get(entry).delete(forget))
            .route("/v1/entries/{id}/confirm", post(confirm))
            .route("/v1/tools/{name}", post(tool))
            .route("/mcp", any(mcp::handle).with_state((Arc::clone(&self), mcp::service(&self))))
            .route("/health", get(answer::health))
            .route("/ready", get(readiness::ready))
            .route("/metrics", get(metrics))
            .fallback(not_found)
            .method_not_allowed_fallback(wrong_method)
            .with_state(self)
    }

    /// Returns the caller of a request, or the answer that refuses it.
    async fn admit(self: &Arc<Self>, parts: &Parts, needed: TokenScope) -> Result<Caller, Problem> {
        let (headers, network) = (parts.headers.clone(), network_of(&parts.extensions));
        let turn = self.strangers.turn(network, self.now()).await;
        let admitted = self.call(move |service| Caller::of(service, &headers, needed)).await;
        drop(turn);
        match admitted {
            Err(refused) if refused.status() == StatusCode::UNAUTHORIZED => {
                Err(match self.strangers.take(network, self.now()) {
                    Ok(()) => refused,
                    Err(seconds) => {
                        let detail = "this address makes too many requests without a valid token";
                        Problem::new(StatusCode::TOO_MANY_REQUESTS, "Too many requests", detail)
                            .hint(format!("check the token, and try again in {seconds} s"))
                            .retry_after(seconds)
                    }
                })
            }
            Ok(caller) => {
                self.figures.busiest.add(&caller.token.tenant, self.now());
                Ok(caller)
            }
            other => other,
        }
    }

    /// Announces that a project has new records, to those who index and to those who listen.
    fn announce(&self, scope: &Scope) {
        if self.news.is_listened(scope)
            // If the log does not say it now, the next walk over the heads does.
            && let Ok(head) = self.shelf.ports().log.head(scope)
        {
            self.news.tell(scope, head);
        }
        self.changed.add(scope);
    }

    fn now(&self) -> Timestamp {
        (self.options.now)()
    }
}

type Served = State<Arc<Service>>;
type Answered = Result<Response, Problem>;
type GivenName = Result<Path<String>, axum::extract::rejection::PathRejection>;

/// Tells the caller whose token they have.
async fn me(State(service): Served, request: Request) -> Answered {
    let (parts, _) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Read).await?;
    Ok(answer::json(StatusCode::OK, &caller.describe()))
}

async fn upload(State(service): Served, request: Request) -> Answered {
    let (parts, body) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Write).await?;
    let body = whole_body(body).await?;
    service.call_for(caller, move |service, caller| sync::upload(service, caller, parse_json(&body)?)).await
}

async fn download(State(service): Served, request: Request) -> Answered {
    let (parts, _) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Read).await?;
    let range: sync::Range = read_query(&parts.uri)?;
    service.call_for(caller, move |service, caller| sync::download(service, caller, &range)).await
}

async fn search(State(service): Served, request: Request) -> Answered {
    let (parts, body) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Read).await?;
    let body = whole_body(body).await?;
    let search = move |service: &Service, caller: &Caller| entries::search(service, caller, parse_json(&body)?);
    Ok(answer::json(StatusCode::OK, &service.call_for(caller, search).await?))
}

async fn note(State(service): Served, request: Request) -> Answered {
    let (parts, body) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Write).await?;
    let name = notes::request_name(&parts.headers)?;
    let body = whole_body(body).await?;
    let keep = move |service: &Service, caller: &Caller| notes::keep_body(service, caller, name.as_deref(), &body);
    Ok(answer::json(StatusCode::CREATED, &service.call_for(caller, keep).await?))
}

async fn entry(State(service): Served, name: GivenName, request: Request) -> Answered {
    let (parts, _) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Read).await?;
    let (name, place): (String, entries::Place) = (name_of(name)?, read_query(&parts.uri)?);
    let done = service.call_for(caller, move |service, caller| entries::get(service, caller, &name, place)).await?;
    Ok(answer::json(StatusCode::OK, &done))
}

async fn forget(State(service): Served, name: GivenName, request: Request) -> Answered {
    let (parts, _) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Write).await?;
    let (name, removal): (String, notes::Removal) = (name_of(name)?, read_query(&parts.uri)?);
    let done = service.call_for(caller, move |service, caller| notes::forget(service, caller, &name, removal)).await?;
    Ok(answer::json(StatusCode::OK, &done))
}

async fn confirm(State(service): Served, name: GivenName, request: Request) -> Answered {
    let (parts, body) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Write).await?;
    let name = name_of(name)?;
    let body = whole_body(body).await?;
    let confirm = move |service: &Service, caller: &Caller| notes::confirm(service, caller, &name, parse_json(&body)?);
    Ok(answer::json(StatusCode::OK, &service.call_for(caller, confirm).await?))
}

/// Describes the server to a client of OAuth. Needs no token.
async fn metadata(State(service): Served) -> Answered {
    let metadata = service.options.oauth.as_ref().map(|oauth| oauth.metadata());
    Ok(answer::json(StatusCode::OK, &metadata.unwrap_or_default()))
}

async fn metrics(State(service): Served, request: Request) -> Answered {
    let (parts, _) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Admin).await?;
    Ok(service.call_for(caller, figures::page).await?.into_response())
}

/// Calls a tool of the team, or says where a tool is that this server does not have.
async fn tool(State(service): Served, name: GivenName, request: Request) -> Answered {
    let (parts, body) = request.into_parts();
    let name = name_of(name);
    let Some(tool) = name.as_deref().ok().and_then(TeamTool::find) else {
        service.admit(&parts, TokenScope::Read).await?;
        return Err(tools::not_here(&name?));
    };
    let caller = service.admit(&parts, tool.scope()).await?;
    let body = whole_body(body).await?;
    let call = move |service: &Service, caller: &Caller| tool.call(service, caller, parse_json(&body)?);
    let answer = service.call_for(caller, call).await?;
    Ok(answer::json(StatusCode::OK, &json!({ "text": answer.text, "data": answer.data })))
}

async fn not_found(uri: Uri) -> Problem {
    Problem::no_route(&uri).hint("docs/team.md lists the routes")
}

/// Returns the last part of a path.
fn name_of(name: GivenName) -> Result<String, Problem> {
    let Path(name) = name.map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "Invalid path", error.body_text()))?;
    Ok(name)
}
