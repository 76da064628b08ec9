//! Runs calls, which block, and shares the server between tenants.
//!
//! Invariants: a tenant has a bounded number of calls at work, so that the calls of others find a thread and a
//! connection; a call counts until its work ends, even if nobody waits for the answer any more. Memory is bounded by
//! the tenants that have calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use weir_core::TenantId;
use weir_http::problem::Problem;

use super::Service;
use super::callers::Caller;
use super::problem::RETRY_SECONDS;

/// How many calls of a tenant wait for others to end. More are refused at once: each of them holds a connection of the
/// server and the body of its request.
const MAX_WAITING: usize = 64;
/// What to do about a call that may still be carried out.
pub(super) const REPEAT_HINT: &str = "repeat an upload as it is, because nothing is stored twice; so is a note with an \
    `Idempotency-Key`; before you repeat another note, check if it was stored";

impl Service {
    /// Runs work of a caller, as soon as the tenant may have one more call at work. Waiting counts towards the time of
    /// the call.
    pub(super) async fn call_for<T: Send + 'static>(
        self: &Arc<Self>,
        caller: Caller,
        work: impl FnOnce(&Self, &Caller) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (begun, most) = (Instant::now(), self.options.max_call_time);
        let Ok(Some(slot)) = timeout(most, self.tenant_calls.slot(&caller.token.tenant)).await else {
            return Err(too_many_calls());
        };
        let work = move |service: &Self| {
            let done = work(service, &caller);
            drop(slot);
            done
        };
        self.call_within(most.saturating_sub(begun.elapsed()), work).await
    }

    /// Runs work that is not for a tenant, within the time of a call.
    pub(super) async fn call<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.call_within(self.options.max_call_time, work).await
    }

    async fn call_within<T: Send + 'static>(
        self: &Arc<Self>,
        time: Duration,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = Arc::clone(self);
        let running = tokio::task::spawn_blocking(move || work(&service));
        match timeout(time, running).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => {
                (self.options.report)("a call panicked");
                Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "Broken", "the call failed; this is a bug"))
            }
            Err(_) => {
                let seconds = self.options.max_call_time.as_secs_f64();
                let detail = format!("the call was not done after {seconds} s, and may still be carried out");
                Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Time limit", detail).hint(REPEAT_HINT))
            }
        }
    }
}

fn too_many_calls() -> Problem {
    let detail = "this tenant has too many calls at work; nothing was done";
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "Too many calls", detail).retry_after(RETRY_SECONDS)
}

/// The calls of all tenants.
pub(super) struct TenantCalls {
    /// How many calls of one tenant are at work.
    most: usize,
    tenants: Mutex<HashMap<TenantId, Slots>>,
}

/// What the calls of one tenant share.
struct Slots {
    /// One for each call at work.
    working: Arc<Semaphore>,
    /// One for each call that waits.
    waiting: Arc<Semaphore>,
}

impl TenantCalls {
    /// Lets each tenant have this many calls at work.
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(1), tenants: Mutex::default() }
    }

    /// Waits until the tenant may have one more call at work, or returns `None` if too many wait. The call ends with
    /// what is returned.
    async fn slot(&self, tenant: &TenantId) -> Option<OwnedSemaphorePermit> {
        let (place, working) = self.queue_up(tenant)?;
        let slot = working.acquire_owned().await.ok();
        drop(place);
        slot
    }

    /// Returns a place among the calls that wait, and what they wait for.
    fn queue_up(&self, tenant: &TenantId) -> Option<(OwnedSemaphorePermit, Arc<Semaphore>)> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if !tenants.contains_key(tenant) {
            // Each call at work, and each that waits for one, shares the slots.
            tenants.retain(|_, slots| Arc::strong_count(&slots.working) > 1);
        }
        let slots = tenants.entry(tenant.clone()).or_insert_with(|| Slots {
            working: Arc::new(Semaphore::new(self.most)),
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
        });
        let place = Arc::clone(&slots.waiting).try_acquire_owned().ok()?;
        Some((place, Arc::clone(&slots.working)))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn tenant(name: &str) -> TenantId {
        TenantId(name.to_owned())
    }

    /// Returns the slot of a call, or `None` if the call has to wait or is refused.
    fn slot_now(calls: &TenantCalls, name: &str) -> Option<OwnedSemaphorePermit> {
        calls.slot(&tenant(name)).now_or_never().flatten()
    }

    #[test]
    fn a_tenant_waits_for_its_own_calls_and_not_for_those_of_others() {
        let calls = TenantCalls::new(2);
        let at_work = [slot_now(&calls, "acme"), slot_now(&calls, "acme")];
        assert!(at_work.iter().all(Option::is_some));
        assert!(slot_now(&calls, "acme").is_none());
        assert!(slot_now(&calls, "umbrella").is_some());
        drop(at_work);
        assert!(slot_now(&calls, "acme").is_some());
    }

    #[test]
    fn a_bounded_number_of_calls_waits() {
        let calls = TenantCalls::new(1);
        let at_work = slot_now(&calls, "acme");
        let waiting: Vec<_> = (0..MAX_WAITING).map(|_| calls.queue_up(&tenant("acme"))).collect();
        assert!(at_work.is_some() && waiting.iter().all(Option::is_some));
        assert!(calls.queue_up(&tenant("acme")).is_none());
        drop(waiting);
        assert!(calls.queue_up(&tenant("acme")).is_some());
    }

    #[test]
    fn memory_is_for_tenants_that_have_calls() {
        let calls = TenantCalls::new(1);
        let at_work = slot_now(&calls, "acme");
        for number in 0..1_000 {
            assert!(slot_now(&calls, &number.to_string()).is_some());
        }
        assert_eq!(calls.tenants.lock().unwrap().len(), 2, "the one at work, and the last one");
        assert!(slot_now(&calls, "acme").is_none());
        drop(at_work);
    }
}
