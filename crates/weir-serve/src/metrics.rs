//! `GET /metrics`: counters in the text format of Prometheus. Invariant: no label has a value that a client chooses, so
//! the number of lines is bounded.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn_with_state};
use weir_host::error::ErrorKind;
use weir_host::mutex::lock;
use weir_host::when;
use weir_http::log::name_of;
use weir_http::metrics::Page;
use weir_http::observe::AnsweredRequest;
use weir_http::problem::Problem;

use super::ServerState;
use super::tokens::TokenScope;

/// The upper bounds of the buckets of durations, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 10.0, 60.0];

/// What has happened since the server was started.
pub(super) struct Metrics {
    started: i64,
    in_flight: AtomicI64,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    /// By method, route and status.
    requests: BTreeMap<(&'static str, String, u16), u64>,
    /// By route.
    durations: BTreeMap<String, Durations>,
    /// By tool and outcome.
    calls: BTreeMap<(&'static str, &'static str), u64>,
}

#[derive(Default)]
struct Durations {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

/// A request in progress, until it is dropped.
struct InFlight<'a>(&'a AtomicI64);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    pub(super) fn new() -> Self {
        Self { started: when::now().0, in_flight: AtomicI64::new(0), counts: Mutex::default() }
    }

    /// Counts a request as in progress.
    fn begin(&self) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(&self.in_flight)
    }

    pub(super) fn answered(&self, answered: &AnsweredRequest<'_>) {
        let mut counts = lock(&self.counts);
        let key = (name_of(answered.method), answered.route.to_owned(), answered.status);
        *counts.requests.entry(key).or_default() += 1;
        let durations = counts.durations.entry(answered.route.to_owned()).or_default();
        let seconds = answered.took.as_secs_f64();
        let buckets = durations.buckets.iter_mut().zip(BUCKETS);
        buckets.filter(|(_, bound)| seconds <= *bound).for_each(|(bucket, _)| *bucket += 1);
        durations.count += 1;
        durations.seconds += seconds;
    }

    pub(super) fn called(&self, tool: &'static str, error: Option<ErrorKind>) {
        let outcome = error.map_or("ok", ErrorKind::as_str);
        *lock(&self.counts).calls.entry((tool, outcome)).or_default() += 1;
    }

    fn render(&self, gauges: &[(&str, &str, u64)]) -> Page {
        let mut page = Page::default();
        page.version(env!("CARGO_PKG_VERSION"));
        let (started, in_flight) = (self.started as f64 / 1000.0, self.in_flight.load(Ordering::Relaxed));
        let help = "When the server was started, in seconds since 1970.";
        page.single("process_start_time_seconds", "gauge", help, started);
        page.single("weir_http_requests_in_flight", "gauge", "Requests that are not answered yet.", in_flight);
        for (name, help, value) in gauges {
            page.single(name, "gauge", help, value);
        }
        let counts = lock(&self.counts);
        page.family("weir_http_requests_total", "counter", "Requests, by method, route and status.");
        for ((method, route, status), count) in &counts.requests {
            let status = status.to_string();
            let labels = [("method", *method), ("route", route.as_str()), ("status", status.as_str())];
            page.sample("weir_http_requests_total", &labels, count);
        }
        page.family("weir_http_request_duration_seconds", "histogram", "Time until an answer begins, by route.");
        for (route, durations) in &counts.durations {
            durations.write(&mut page, "weir_http_request_duration_seconds", route);
        }
        page.family("weir_tool_calls_total", "counter", "Calls of tools, by tool and outcome.");
        for ((tool, outcome), count) in &counts.calls {
            page.sample("weir_tool_calls_total", &[("tool", *tool), ("outcome", *outcome)], count);
        }
        page
    }
}

impl Durations {
    fn write(&self, page: &mut Page, name: &str, route: &str) {
        let bucket = format!("{name}_bucket");
        for (bound, count) in BUCKETS.iter().zip(self.buckets) {
            let bound = bound.to_string();
            page.sample(&bucket, &[("route", route), ("le", bound.as_str())], count);
        }
        page.sample(&bucket, &[("route", route), ("le", "+Inf")], self.count);
        page.sample(&format!("{name}_sum"), &[("route", route)], self.seconds);
        page.sample(&format!("{name}_count"), &[("route", route)], self.count);
    }
}

/// Returns the same routes. A request is counted as in progress until its answer begins, or until its client has gone.
pub(super) fn counted(router: Router, state: Arc<ServerState>) -> Router {
    let count = async |State(state): State<Arc<ServerState>>, request: Request, next: Next| {
        let _in_flight = state.metrics.begin();
        next.run(request).await
    };
    router.layer(from_fn_with_state(state, count))
}

pub(super) async fn handle(State(state): State<Arc<ServerState>>, headers: HeaderMap) -> Result<Page, Problem> {
    state.tokens.require(&headers, TokenScope::Read)?;
    let calls = state.calls.in_progress();
    let gauges = [
        ("weir_reading_calls_in_progress", "Calls in progress that only read.", calls.reading as u64),
        ("weir_writing_calls_in_progress", "All other calls in progress.", calls.writing as u64),
        ("weir_idle_contexts", "Contexts with open stores and no call.", state.calls.idle_count() as u64),
        ("weir_meter_readings_lost", "Answers that the meter could not count.", state.meter.lost()),
    ];
    Ok(state.metrics.render(&gauges))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_page_has_every_family_once() {
        let metrics = Metrics { started: 1_500, ..Metrics::new() };
        let (took, id) = (std::time::Duration::from_micros(3_500), "i");
        let (method, path, route) = ("GET", "/health", "/health");
        for status in [200, 200, 404] {
            metrics.answered(&AnsweredRequest { id, method, path, route, status, took, traceparent: None });
        }
        metrics.called("ctx_get", None);
        metrics.called("ctx_get", Some(ErrorKind::NotFound));
        let in_flight = metrics.begin();
        let page = metrics.render(&[("weir_idle_contexts", "Contexts.", 2)]);
        drop(in_flight);
        let page: Vec<&str> = page.as_str().lines().filter(|line| !line.starts_with("# HELP")).collect();
        let version = env!("CARGO_PKG_VERSION");
        expect![[r#"
            # TYPE weir_build_info gauge
            weir_build_info{version="VERSION"} 1
            # TYPE process_start_time_seconds gauge
            process_start_time_seconds 1.5
            # TYPE weir_http_requests_in_flight gauge
            weir_http_requests_in_flight 1
            # TYPE weir_idle_contexts gauge
            weir_idle_contexts 2
            # TYPE weir_http_requests_total counter
            weir_http_requests_total{method="GET",route="/health",status="200"} 2
            weir_http_requests_total{method="GET",route="/health",status="404"} 1
            # TYPE weir_http_request_duration_seconds histogram
            weir_http_request_duration_seconds_bucket{route="/health",le="0.001"} 0
            weir_http_request_duration_seconds_bucket{route="/health",le="0.002"} 0
            weir_http_request_duration_seconds_bucket{route="/health",le="0.005"} 3
            weir_http_request_duration_seconds_bucket{route="/health",le="0.01"} 3
            weir_http_request_duration_seconds_bucket{route="/health",le="0.025"} 3
            weir_http_request_duration_seconds_bucket{route="/health",le="0.1"} 3
            weir_http_request_duration_seconds_bucket{route="/health",le="0.25"} 3
            weir_http_request_duration_seconds_bucket{route="/health",le="1"} 3
            weir_http_request_duration_seconds_bucket{route="/health",le="10"} 3
            weir_http_request_duration_seconds_bucket{route="/health",le="60"} 3
            weir_http_request_duration_seconds_bucket{route="/health",le="+Inf"} 3
            weir_http_request_duration_seconds_sum{route="/health"} 0.0105
            weir_http_request_duration_seconds_count{route="/health"} 3
            # TYPE weir_tool_calls_total counter
            weir_tool_calls_total{tool="ctx_get",outcome="not_found"} 1
            weir_tool_calls_total{tool="ctx_get",outcome="ok"} 1"#]]
        .assert_eq(&page.join("\n").replace(version, "VERSION"));
    }
}
