//! Copies the index to the store of the texts from time to time. Invariants: it holds the service only while it works,
//! so that it ends with the service; a copy that fails is counted and reported, and nothing else depends on it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at};
use weir_http::metrics::Page;

use super::Service;
use crate::index::{BucketCopier, Copied};

/// How often it is looked whether a copy is due. One that has words which were removed from the index is due then.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// How an index is copied.
#[derive(Clone)]
pub struct Copying {
    /// What copies it.
    pub copier: Arc<BucketCopier>,
    /// How often it is copied if it has changed.
    pub every: Duration,
}

/// What has become of the copies since the server was started.
#[derive(Default)]
pub(super) struct CopyFigures {
    made: AtomicU64,
    failed: AtomicU64,
    written_bytes: AtomicU64,
    /// When the index was last as it is in its copy, in milliseconds; 0 if there was no copy yet.
    current_at: AtomicI64,
}

impl CopyFigures {
    /// Adds the figures to a page for Prometheus.
    pub(super) fn write(&self, page: &mut Page) {
        let counters = [
            ("weir_index_copies_total", "Copies of the index that were made.", &self.made),
            ("weir_index_copy_failures_total", "Copies of the index that failed.", &self.failed),
            ("weir_index_copy_bytes_total", "Bytes that were written for copies of the index.", &self.written_bytes),
        ];
        for (name, help, value) in counters {
            page.single(name, "counter", help, value.load(Ordering::Relaxed));
        }
        let current_at = self.current_at.load(Ordering::Relaxed);
        if current_at > 0 {
            let name = "weir_index_copy_timestamp_seconds";
            let help = "When the copy of the index was last up to date.";
            page.single(name, "gauge", help, current_at / 1_000);
        }
    }
}

/// Copies the index each time the interval has passed, and soon after something was removed from it.
pub(super) async fn run(service: Weak<Service>, copier: Weak<BucketCopier>, every: Duration) {
    let mut ticks = interval_at(Instant::now() + LOOK_EVERY, LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut copied_at = Instant::now();
    loop {
        ticks.tick().await;
        let (Some(service), Some(copier)) = (service.upgrade(), copier.upgrade()) else { return };
        if copied_at.elapsed() >= every || copier.is_urgent() {
            copied_at = Instant::now();
            service.copy_index().await;
        }
    }
}

impl Service {
    /// Copies the index, if it is to be copied and has changed. A failure is reported to the operator.
    pub async fn copy_index(self: &Arc<Self>) {
        if self.options.copying.is_some() {
            let service = Arc::clone(self);
            let copied = tokio::task::spawn_blocking(move || service.copy_now()).await;
            if copied.is_err_and(|error| error.is_panic()) {
                self.figures.copies.failed.fetch_add(1, Ordering::Relaxed);
                (self.options.report)("the copying of the index panicked; this is a bug");
            }
        }
    }

    fn copy_now(&self) {
        let Some(copying) = &self.options.copying else { return };
        let figures = &self.figures.copies;
        let begun_at = self.now();
        match copying.copier.copy() {
            Ok(copied) => {
                if let Copied::Made { written_bytes, .. } = copied {
                    figures.made.fetch_add(1, Ordering::Relaxed);
                    figures.written_bytes.fetch_add(written_bytes, Ordering::Relaxed);
                }
                figures.current_at.store(begun_at.0, Ordering::Relaxed);
            }
            Err(error) => {
                figures.failed.fetch_add(1, Ordering::Relaxed);
                (self.options.report)(&error.to_string());
            }
        }
    }
}
