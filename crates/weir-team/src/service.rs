//! The service of a team: records, search and notes over HTTP, on the ports of `weir-records`.
//!
//! Invariants: the tenant and the user of a call come from its token and from nothing else; every route but the health
//! checks, the document, an invitation and the metadata of OAuth needs a token, and it is checked before the body is read; the ports block, so they
//! are called on threads that may; a server keeps nothing that another one on the same database would need.

mod answers;
mod busiest;
mod callers;
mod calls;
mod copying;
mod entries;
mod figures;
mod indexer;
mod invitations;
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
mod routes;
mod strangers;
mod sync;
mod tools;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::middleware::map_response;
use axum::routing::any;
use weir_core::{Scope, Timestamp};
use weir_http::listen::ServerLimits;
use weir_http::log::LogFormat;
use weir_http::observe::{RequestWatcher, observed};
use weir_http::peer::Network;
use weir_http::problem::{Problem, wrong_method};
use weir_http::request_limits::{LimitAdvice, limited_with};
use weir_records::{Accounts, Ports, Result as PortResult, Shelf, TokenScope, Writer};

use self::callers::Caller;
use self::calls::TenantCalls;
pub use self::copying::Copying;
use self::figures::Figures;
use self::indexer::{Announcements, CatchUp};
use self::news::News;
pub use self::oauth::ResourceServer;
use self::rates::{Pace, Rates};
use self::readiness::Readiness;
use self::routes::Route;
use self::strangers::{Strangers, network_of};
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
    /// The description of the routes.
    openapi: OnceLock<String>,
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
            openapi: OnceLock::new(),
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
        let (all, mcp) = (routes::all(&self), any(mcp::handle).with_state((Arc::clone(&self), mcp::service(&self))));
        self.openapi.get_or_init(|| routes::document(&all, self.options.version).to_string());
        let routes = all.into_iter().map(Route::served);
        routes
            .fold(Router::new(), |router, (path, route)| router.route(&path, route))
            .route("/mcp", mcp)
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
                Err(self.take_stranger(network).map_or_else(|limited| limited, |()| refused))
            }
            Ok(caller) => {
                self.figures.busiest.add(&caller.token.tenant, self.now());
                Ok(caller)
            }
            other => other,
        }
    }

    /// Counts a request of an address without a good token, or refuses it.
    fn take_stranger(&self, network: Network) -> Result<(), Problem> {
        self.strangers.take(network, self.now()).map_err(|seconds| {
            let detail = "this address makes too many requests without a valid token";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "Too many requests", detail)
                .hint(format!("check the token, and try again in {seconds} s"))
                .retry_after(seconds)
        })
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
type GivenName = Result<Path<String>, axum::extract::rejection::PathRejection>;

async fn not_found(uri: Uri) -> Problem {
    Problem::no_route(&uri).hint("GET /openapi.json describes every route")
}
