//! How long requests take, by route, as histograms. Invariant: memory is bounded by the routes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use weir_http::metrics::Page;

/// The upper bounds of the buckets, in milliseconds.
const BOUNDS: [u64; 13] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];

/// The times of all routes.
#[derive(Default)]
pub(super) struct Latencies(Mutex<BTreeMap<String, Histogram>>);

#[derive(Default)]
struct Histogram {
    /// How many requests fell into each bucket and no smaller one.
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: Duration,
}

impl Latencies {
    /// Counts a request of a route.
    pub(super) fn add(&self, route: &str, took: Duration) {
        let mut routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Histogram::default());
        }
        let Some(histogram) = routes.get_mut(route) else { return };
        histogram.count += 1;
        histogram.sum = histogram.sum.saturating_add(took);
        let fits = |bound: &u64| took <= Duration::from_millis(*bound);
        if let Some(bucket) = BOUNDS.iter().position(fits).and_then(|at| histogram.buckets.get_mut(at)) {
            *bucket += 1;
        }
    }

    /// Adds the histograms to a page.
    pub(super) fn write(&self, page: &mut Page) {
        let name = "weir_http_request_seconds";
        page.family(name, "histogram", "Time until the answer to a request began, by route.");
        let (bucket, sum, total) = (format!("{name}_bucket"), format!("{name}_sum"), format!("{name}_count"));
        for (route, histogram) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let mut below = 0;
            for (bound, count) in BOUNDS.iter().zip(histogram.buckets) {
                below += count;
                let bound = Duration::from_millis(*bound).as_secs_f64().to_string();
                page.sample(&bucket, &[("route", route), ("le", &bound)], below);
            }
            page.sample(&bucket, &[("route", route), ("le", "+Inf")], histogram.count);
            page.sample(&sum, &[("route", route)], histogram.sum.as_secs_f64());
            page.sample(&total, &[("route", route)], histogram.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_counts_what_took_no_longer_than_its_bound() {
        let latencies = Latencies::default();
        for millis in [5, 6, 90, 61_000] {
            latencies.add("/v1/me", Duration::from_millis(millis));
        }
        let mut page = Page::default();
        latencies.write(&mut page);
        for (bound, count) in [("0.005", 1), ("0.01", 2), ("0.1", 3), ("60", 3), ("+Inf", 4)] {
            let line = format!("weir_http_request_seconds_bucket{{route=\"/v1/me\",le=\"{bound}\"}} {count}\n");
            assert!(page.as_str().contains(&line), "{line}{}", page.as_str());
        }
        assert!(
            page.as_str().contains("weir_http_request_seconds_sum{route=\"/v1/me\"} 61.101\n"),
            "{}",
            page.as_str()
        );
    }
}
