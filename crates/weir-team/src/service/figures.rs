//! Counters in the text format of Prometheus. Invariants: no label has a value that a client
//! chooses, so the number of lines is bounded; what is said about a tenant is said to its own admins only.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use weir_core::{ProjectKey, Scope, TenantId};
use weir_http::metrics::Page;
use weir_http::problem::Problem;
use weir_records::PortError;

use super::Service;
use super::busiest::Busiest;
use super::callers::Caller;
use super::copying::CopyFigures;
use super::latencies::Latencies;

/// How many projects of a tenant are measured for one page.
const MAX_MEASURED: usize = 1_000;

/// What has happened since the server was started.
#[derive(Default)]
pub(super) struct Figures {
    /// By route and status.
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    index_failures: AtomicU64,
    /// How many projects are tried again because they could not be indexed.
    index_retries: AtomicU64,
    pub(super) copies: CopyFigures,
    pub(super) latencies: Latencies,
    pub(super) busiest: Busiest,
}

impl Figures {
    /// Counts a request by its route, the status of its answer, and the time until that began.
    pub(super) fn answered(&self, route: &str, status: u16, took: Duration) {
        self.latencies.add(route, took);
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((route.to_owned(), status)).or_default() += 1;
    }

    /// Counts that a project could not be indexed.
    pub(super) fn index_failed(&self) {
        self.index_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets how many projects are tried again because they could not be indexed.
    pub(super) fn set_index_retries(&self, count: u64) {
        self.index_retries.store(count, Ordering::Relaxed);
    }

    /// Adds how often indexing failed, and how many projects are still to be tried again.
    pub(super) fn write_failures(&self, page: &mut Page) {
        let [failures, retries] =
            [&self.index_failures, &self.index_retries].map(|count| count.load(Ordering::Relaxed));
        page.single("weir_index_failures_total", "counter", "Times that a project could not be indexed.", failures);
        let help = "Projects that could not be indexed and are tried again.";
        page.single("weir_index_retries", "gauge", help, retries);
    }

    pub(super) fn write_requests(&self, page: &mut Page) {
        let name = "weir_http_requests_total";
        page.family(name, "counter", "Requests to this server, by route and status.");
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        for ((route, status), count) in requests.iter() {
            page.sample(name, &[("route", route), ("status", &status.to_string())], count);
        }
    }
}

/// Returns the counters of the process, and the figures of the caller's tenant.
pub(super) fn page(service: &Service, caller: &Caller) -> Result<Page, Problem> {
    let failed = |error: PortError| service.failure(&error);
    let tenant = &caller.token.tenant;
    let usage = service.accounts.usage(tenant).map_err(failed)?;
    let projects = service.accounts.projects(tenant).map_err(failed)?;
    let (mut lag, mut worst) = (0u64, 0u64);
    for project in projects.iter().take(MAX_MEASURED) {
        let one = lag_of(service, &place(tenant, project.0.clone())).map_err(failed)?;
        (lag, worst) = (lag.saturating_add(one), worst.max(one));
    }
    let most = usage.max_records.unwrap_or(service.options.max_tenant_records);
    let most_bytes = usage.max_bytes.unwrap_or(service.options.max_tenant_bytes);
    let of_tenant = [
        ("weir_tenant_records", "Records of the tenant.", usage.records),
        ("weir_tenant_records_limit", "Records that the tenant may have.", most),
        ("weir_tenant_bytes", "Bytes of the tenant's records and texts.", usage.bytes),
        ("weir_tenant_bytes_limit", "Bytes that the tenant may have.", most_bytes),
        ("weir_tenant_projects", "Projects of the tenant.", projects.len() as u64),
    ];
    let of_index = [
        ("weir_index_projects_measured", "Projects whose lag is counted.", projects.len().min(MAX_MEASURED) as u64),
        ("weir_index_lag_records", "Positions that the index of this server is behind the log.", lag),
        ("weir_index_lag_records_worst", "The same, of the project that is furthest behind.", worst),
    ];
    let mut page = Page::default();
    page.version(service.options.version);
    for (name, help, value) in of_tenant {
        page.family(name, "gauge", help);
        page.sample(name, &[("tenant", &tenant.0)], value);
    }
    for (name, help, value) in of_index {
        page.single(name, "gauge", help, value);
    }
    service.figures.write_failures(&mut page);
    write_start(service, &mut page);
    service.figures.write_requests(&mut page);
    Ok(page)
}

/// Adds how the index was found, and what has become of its copies.
pub(super) fn write_start(service: &Service, page: &mut Page) {
    if let Some(started) = &service.options.index_started {
        let name = "weir_index_started";
        page.family(name, "gauge", "How the index was found when the server was started.");
        page.sample(name, &[("how", started.as_str())], 1);
    }
    if service.options.copying.is_some() {
        service.figures.copies.write(page);
    }
}

/// Returns how many positions the index is behind the log.
fn lag_of(service: &Service, scope: &Scope) -> Result<u64, PortError> {
    // The position is read first, since the log only grows.
    let at = service.shelf.ports().index.position(scope)?;
    Ok(service.shelf.ports().log.head(scope)?.0.saturating_sub(at.0))
}

fn place(tenant: &TenantId, project: String) -> Scope {
    Scope { tenant: tenant.clone(), ..Scope::project(ProjectKey(project)) }
}
