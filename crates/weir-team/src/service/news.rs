//! Tells machines at once that a project has new records, so that they need not ask every few minutes.
//!
//! Invariants: who listens holds a connection and neither a thread, a connection to the database nor a call of the
//! tenant; the number of listeners is bounded, and one tenant leaves room for others; what is written while somebody
//! begins to listen is told.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep_until};
use weir_core::{ProjectKey, Scope, TenantId};
use weir_http::listen::asked_to_end;
use weir_http::problem::Problem;
use weir_records::{Position, TokenScope};

use super::Service;
use super::answers::read_query;
use super::callers::Caller;

/// How long an answer lasts at most. A token that was revoked meanwhile is noticed then.
const MAX_LISTENING: Duration = Duration::from_secs(60 * 60);
/// How often a line is sent while there is nothing new, so that what lies between keeps the connection.
const HEARTBEAT: Duration = Duration::from_secs(25);
/// How many pieces of news a listener is told at once, and how long after that another one. Each of them makes a machine
/// ask for records, and a team that writes all the time costs no more than machines that ask every few minutes.
const BURST: u32 = 4;
const REFILL: Duration = Duration::from_secs(5 * 60);
/// When a machine that found no room should try again.
const RETRY_SECONDS: u64 = 5 * 60;

/// The query of a listener.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    project: String,
    /// What the machine has read.
    #[serde(default)]
    after: u64,
}

/// A project of a tenant.
type Project = (TenantId, ProjectKey);

/// The listeners of a server.
pub(super) struct News {
    room: Arc<Semaphore>,
    /// How many listeners a tenant may have.
    most_of_tenant: usize,
    tenants: Mutex<HashMap<TenantId, Arc<Semaphore>>>,
    /// Where those who listen to a project learn its head. Changes before they began are no news.
    projects: Mutex<HashMap<Project, watch::Sender<Position>>>,
}

/// A place among the listeners of a project.
struct Listener {
    head: watch::Receiver<Position>,
    _places: [OwnedSemaphorePermit; 2],
}

/// When a listener may be told something.
struct Allowance {
    /// When all that was told is paid for.
    paid: Instant,
}

impl Allowance {
    fn new(now: Instant) -> Self {
        Self { paid: now }
    }

    /// Returns when the next piece of news may be told.
    fn next(&self) -> Option<Instant> {
        self.paid.checked_sub(REFILL * (BURST - 1))
    }

    fn spend(&mut self, now: Instant) {
        self.paid = self.paid.max(now) + REFILL;
    }
}

impl News {
    /// Leaves half of the connections of a server to other requests, and half of the places to other tenants.
    pub(super) fn new(max_connections: usize) -> Self {
        let most = (max_connections / 2).max(1);
        Self {
            room: Arc::new(Semaphore::new(most)),
            most_of_tenant: most.div_ceil(2),
            tenants: Mutex::default(),
            projects: Mutex::default(),
        }
    }

    /// Whether anybody listens to a project.
    pub(super) fn is_listened(&self, scope: &Scope) -> bool {
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.get(&project_of(scope)).is_some_and(|listeners| listeners.receiver_count() > 0)
    }

    /// Tells those who listen to a project where its head is, if they do not know.
    pub(super) fn tell(&self, scope: &Scope, head: Position) {
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listeners) = projects.get(&project_of(scope)) {
            listeners.send_if_modified(|known| std::mem::replace(known, head) != head);
        }
    }

    /// Notes where the head of a project was when somebody began to listen.
    fn note(&self, scope: &Scope, head: Position) {
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listeners) = projects.get(&project_of(scope)) {
            // What was told since is newer.
            listeners.send_if_modified(|known| {
                *known = head.max(*known);
                false
            });
        }
    }

    /// Returns a place, or `None` if too many listen.
    fn listen(&self, scope: &Scope) -> Option<Listener> {
        let of_all = Arc::clone(&self.room).try_acquire_owned().ok()?;
        let of_tenant = {
            let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            if !tenants.contains_key(&scope.tenant) {
                // Each listener shares the places of its tenant.
                tenants.retain(|_, places| Arc::strong_count(places) > 1);
            }
            let places = tenants.entry(scope.tenant.clone());
            Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(self.most_of_tenant))))
        };
        let of_tenant = of_tenant.try_acquire_owned().ok()?;
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let project = project_of(scope);
        if !projects.contains_key(&project) {
            projects.retain(|_, listeners| listeners.receiver_count() > 0);
        }
        let head = projects.entry(project).or_insert_with(|| watch::channel(Position(0)).0).subscribe();
        Some(Listener { head, _places: [of_all, of_tenant] })
    }
}

/// Sends an event whenever the project of the query has new records, for a bounded time.
pub(super) async fn news(State(service): State<Arc<Service>>, request: Request) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let caller = service.admit(&parts, TokenScope::Read).await?;
    let wanted: Wanted = read_query(&parts.uri)?;
    let scope = caller.scope(wanted.project)?;
    let until = Instant::now() + MAX_LISTENING;
    // The place is taken before the log is read, so that nothing is written in between unnoticed.
    let listener = service.news.listen(&scope).ok_or_else(no_room)?;
    let head = move |service: &Service, _: &Caller| {
        let head = service.shelf.ports().log.head(&scope).map_err(|error| service.failure(&error))?;
        service.news.note(&scope, head);
        Ok(head)
    };
    let is_behind = service.call_for(caller, head).await? != Position(wanted.after);
    let allowance = Allowance::new(Instant::now());
    let told =
        stream::unfold((listener, allowance, is_behind), move |(mut listener, mut allowance, is_behind)| async move {
            let news = async {
                if !is_behind {
                    listener.head.changed().await.ok()?;
                }
                if let Some(next) = allowance.next() {
                    sleep_until(next).await;
                }
                Some(())
            };
            tokio::select! {
                news = news => news?,
                () = sleep_until(until) => return None,
                () = asked_to_end() => return None,
            }
            // What was told meanwhile is told with it.
            listener.head.mark_unchanged();
            allowance.spend(Instant::now());
            Some((Ok::<_, Infallible>(Event::default().event("news").data("new")), (listener, allowance, false)))
        });
    let waiting = KeepAlive::new().interval(HEARTBEAT).text("nothing new");
    Ok(Sse::new(told).keep_alive(waiting).into_response())
}

fn no_room() -> Problem {
    let detail = "too many machines wait for news";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "No room", detail)
        .hint("ask for records every few minutes instead; the operator can raise `--max-connections`")
        .retry_after(RETRY_SECONDS)
}

fn project_of(scope: &Scope) -> Project {
    (scope.tenant.clone(), scope.project.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(tenant: &str, project: &str) -> Scope {
        Scope { tenant: TenantId(tenant.into()), ..Scope::project(ProjectKey(project.into())) }
    }

    #[test]
    fn those_who_listen_to_a_project_are_told_and_others_are_not() {
        let news = News::new(64);
        let listen = |tenant: &str, project: &str| news.listen(&scope(tenant, project)).unwrap();
        let listeners = [("acme", "api"), ("acme", "api"), ("acme", "web"), ("umbrella", "api")];
        let listeners = listeners.map(|(tenant, project)| listen(tenant, project));
        let has_changed = || {
            let changed = listeners.iter().map(|listener| listener.head.has_changed().unwrap());
            changed.collect::<Vec<_>>()
        };
        news.note(&scope("acme", "api"), Position(7));
        news.tell(&scope("acme", "api"), Position(7));
        assert_eq!(has_changed(), [false; 4]);
        news.tell(&scope("acme", "api"), Position(8));
        news.tell(&scope("nobody", "listens"), Position(8));
        news.note(&scope("acme", "api"), Position(7));
        assert_eq!(has_changed(), [true, true, false, false]);
        assert!(news.is_listened(&scope("acme", "web")) && !news.is_listened(&scope("nobody", "listens")));
        drop(listeners);
        assert!(!news.is_listened(&scope("acme", "api")));
    }

    #[test]
    fn news_come_at_once_until_there_were_many() {
        let begun = Instant::now() + REFILL * BURST;
        let (mut allowance, mut now, mut told) = (Allowance::new(begun), begun, Vec::new());
        for _ in 0..BURST + 2 {
            now = now.max(allowance.next().unwrap());
            told.push((now - begun).as_secs());
            allowance.spend(now);
        }
        assert_eq!(told, [0, 0, 0, 0, 300, 600]);
        now += REFILL * 2;
        assert_eq!(allowance.next().unwrap(), now - REFILL);
    }

    #[test]
    fn a_tenant_leaves_room_for_others_and_a_place_can_be_taken_again() {
        let news = News::new(16);
        let mut of_acme: Vec<_> = (0..4).map(|_| news.listen(&scope("acme", "api")).unwrap()).collect();
        assert!(news.listen(&scope("acme", "web")).is_none());
        let others: Vec<_> = (0..4).map(|_| news.listen(&scope("umbrella", "api")).unwrap()).collect();
        assert!(news.listen(&scope("third", "api")).is_none());
        of_acme.pop();
        assert!(news.listen(&scope("third", "api")).is_some());
        drop((of_acme, others));
        assert!(news.listen(&scope("fourth", "api")).is_some());
        assert_eq!([news.tenants.lock().unwrap().len(), news.projects.lock().unwrap().len()], [1, 1]);
    }
}
