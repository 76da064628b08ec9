//! Readiness. It needs no token. Invariant: the storage is asked once a second at most, however many requests come. A
//! server that is not ready because of its index answers searches all the while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Mutex;
use weir_http::answer;
use weir_http::problem::Problem;
use weir_records::PortError;

use super::Service;
use super::answers::written;
use crate::index::Started;

/// How long an answer of the storage counts.
const FRESH: Duration = Duration::from_secs(1);

/// How the storage answered last.
#[derive(Default)]
pub(super) struct Readiness(Mutex<Option<LastLook>>);

#[derive(Clone, Copy)]
struct LastLook {
    at: Instant,
    is_ready: bool,
}

/// What a server says that is ready.
#[derive(Serialize, JsonSchema)]
pub(super) struct Ready {
    status: &'static str,
    /// How the index was found when the server was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'static str>,
}

/// Says whether the log and the accounts answer and the index has caught up with the log, and how the index was found
/// when the server was started.
pub(super) async fn ready(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    service.readiness.check(Instant::now, look(&service)).await?;
    let started = service.options.index_started.as_ref().map(Started::as_str);
    if let Some(reason) = service.catch_up.reason() {
        let problem =
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Index behind", reason).retry_after(FRESH.as_secs());
        let problem = problem.hint("wait; searches are answered, and say in `behind` how much they may lack");
        return Err(started.into_iter().fold(problem, |problem, started| problem.field("index", started)));
    }
    Ok(answer::written_json(StatusCode::OK, written(&Ready { status: "ready", index: started })?))
}

impl Readiness {
    /// Returns how the storage answered a moment ago, or asks it. Others wait meanwhile, and get the same answer.
    async fn check(
        &self,
        clock: impl Fn() -> Instant,
        look: impl Future<Output = Result<(), Problem>>,
    ) -> Result<(), Problem> {
        let mut last = self.0.lock().await;
        match *last {
            Some(LastLook { at, is_ready }) if clock().saturating_duration_since(at) < FRESH => {
                if is_ready {
                    Ok(())
                } else {
                    Err(unready())
                }
            }
            _ => {
                let looked = look.await;
                *last = Some(LastLook { at: clock(), is_ready: looked.is_ok() });
                looked
            }
        }
    }
}

/// Asks the log and the accounts something.
async fn look(service: &Arc<Service>) -> Result<(), Problem> {
    let asked = service.call(|service| {
        let failed = |error: PortError| service.failure(&error);
        service.accounts.answers().map_err(failed)?;
        service.shelf.ports().log.answers().map_err(failed)
    });
    asked.await
}

fn unready() -> Problem {
    let detail = "the storage did not answer a moment ago";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Storage unavailable", detail).retry_after(FRESH.as_secs())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_storage_is_asked_once_a_second_and_every_answer_counts() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (readiness, now, looks) = (Readiness::default(), Cell::new(Instant::now()), Cell::new(0));
        let check = |answer: Result<(), Problem>| {
            let look = async {
                looks.set(looks.get() + 1);
                answer
            };
            runtime.block_on(readiness.check(|| now.get(), look)).is_ok()
        };
        assert_eq!((check(Ok(())), check(Err(unready())), looks.get()), (true, true, 1));
        now.set(now.get() + FRESH);
        assert_eq!((check(Err(unready())), check(Ok(())), looks.get()), (false, false, 2));
        now.set(now.get() + FRESH);
        assert_eq!((check(Ok(())), looks.get()), (true, 3));
    }
}
