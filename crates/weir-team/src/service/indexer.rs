//! Indexes what is new, off the way of those who write. Invariants: it holds the service only while it works, so that
//! it ends with the service; what fails is counted and reported, a panic too, and is tried again later, while other
//! projects have their turn.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, timeout_at};
use weir_core::{ProjectKey, Scope, TenantId};

use super::Service;

/// How many projects wait to be indexed. More are indexed when somebody searches them.
const MAX_WAITING: usize = 1_024;
/// How many changes are indexed before another project has its turn: as many as an index takes at once.
const MAX_FOLLOWED: usize = 16 << 10;
/// How long after the first failure a project is tried again. Each further failure doubles it.
const FIRST_DELAY: Duration = Duration::from_secs(1);
/// The longest time between two attempts.
const MAX_DELAY: Duration = Duration::from_secs(5 * 60);

/// A project of a tenant.
type Project = (TenantId, ProjectKey);

/// Where projects with new records are announced.
pub(super) struct Announcements {
    waiting: Sender<Scope>,
    /// The projects that wait. Each waits once, so that one that is written to often leaves room for others.
    announced: Mutex<HashSet<Project>>,
}

impl Announcements {
    /// Creates it, with what receives the projects.
    pub(super) fn channel() -> (Self, Receiver<Scope>) {
        let (waiting, received) = channel(MAX_WAITING);
        (Self { waiting, announced: Mutex::default() }, received)
    }

    /// Announces a project, unless too many wait.
    pub(super) fn add(&self, scope: &Scope) {
        let project = project_of(scope);
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        if !announced.contains(&project) && self.waiting.try_send(scope.clone()).is_ok() {
            announced.insert(project);
        }
    }

    /// Notes that a project is about to be indexed, so that what is written from now on is announced again.
    fn begin(&self, scope: &Scope) {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner).remove(&project_of(scope));
    }
}

/// Indexes the projects that are announced, one after the other, and those that failed when they are due.
pub(super) async fn run(service: Weak<Service>, mut waiting: Receiver<Scope>) {
    let mut retries = Retries::default();
    while let Some(scope) = next(&mut waiting, &retries).await {
        let Some(service) = service.upgrade() else { return };
        service.changed.begin(&scope);
        let (working, followed) = (Arc::clone(&service), scope.clone());
        match tokio::task::spawn_blocking(move || follow(&working, &followed)).await {
            Ok(true) => retries.succeeded(&scope),
            Ok(false) => retries.failed(scope, Instant::now()),
            Err(error) if error.is_panic() => {
                retries.failed(scope, Instant::now());
                service.figures.index_failed();
                (service.options.report)("the indexing of a project panicked; this is a bug");
            }
            // The server ends.
            Err(_) => return,
        }
        service.figures.set_index_retries(retries.0.len() as u64);
    }
}

/// Waits for the next project to be indexed, or returns `None` at the end of the service.
async fn next(waiting: &mut Receiver<Scope>, retries: &Retries) -> Option<Scope> {
    loop {
        let Some(retry) = retries.first_due() else { return waiting.recv().await };
        if retry.at <= Instant::now() {
            return Some(retry.scope.clone());
        }
        if let Ok(announced) = timeout_at(retry.at, waiting.recv()).await {
            return announced;
        }
    }
}

/// Brings the index of a project up to date, and returns whether it could.
fn follow(service: &Service, scope: &Scope) -> bool {
    match service.shelf.follow(scope, MAX_FOLLOWED) {
        Ok(followed) => {
            if followed >= MAX_FOLLOWED {
                service.announce(scope);
            }
            true
        }
        Err(error) => {
            service.figures.index_failed();
            (service.options.report)(&error.to_string());
            false
        }
    }
}

/// The projects that could not be indexed. At most [`MAX_WAITING`]; others are indexed when somebody searches them or
/// writes to them.
#[derive(Default)]
struct Retries(HashMap<Project, Retry>);

/// When a project is tried again.
struct Retry {
    scope: Scope,
    at: Instant,
    /// How long it waits after the next failure.
    delay: Duration,
}

impl Retries {
    /// Returns the project that is due first.
    fn first_due(&self) -> Option<&Retry> {
        self.0.values().min_by_key(|retry| retry.at)
    }

    fn succeeded(&mut self, scope: &Scope) {
        self.0.remove(&project_of(scope));
    }

    fn failed(&mut self, scope: Scope, now: Instant) {
        let project = project_of(&scope);
        if let Some(retry) = self.0.get_mut(&project) {
            retry.at = now + retry.delay;
            retry.delay = retry.delay.saturating_mul(2).min(MAX_DELAY);
        } else if self.0.len() < MAX_WAITING {
            self.0.insert(project, Retry { scope, at: now + FIRST_DELAY, delay: FIRST_DELAY * 2 });
        }
    }
}

fn project_of(scope: &Scope) -> Project {
    (scope.tenant.clone(), scope.project.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(project: &str) -> Scope {
        Scope { tenant: TenantId("acme".into()), ..Scope::project(ProjectKey(project.into())) }
    }

    #[test]
    fn a_project_waits_once_until_it_is_indexed() {
        let (changed, mut waiting) = Announcements::channel();
        (0..2 * MAX_WAITING).for_each(|_| changed.add(&scope("busy")));
        changed.add(&scope("other"));
        assert_eq!([waiting.try_recv(), waiting.try_recv()], [Ok(scope("busy")), Ok(scope("other"))]);
        changed.add(&scope("busy"));
        assert!(waiting.try_recv().is_err());
        changed.begin(&scope("busy"));
        changed.add(&scope("busy"));
        assert_eq!(waiting.try_recv(), Ok(scope("busy")));
    }

    #[test]
    fn what_fails_is_tried_again_at_growing_intervals_until_it_succeeds() {
        let (mut retries, mut now, mut delays) = (Retries::default(), Instant::now(), Vec::new());
        for _ in 0..11 {
            retries.failed(scope("api"), now);
            let at = retries.first_due().unwrap().at;
            delays.push((at - now).as_secs());
            now = at;
        }
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        retries.succeeded(&scope("api"));
        assert!(retries.first_due().is_none());
        retries.failed(scope("api"), now);
        assert_eq!(retries.first_due().unwrap().at - now, FIRST_DELAY);
    }

    #[test]
    fn the_projects_that_wait_are_bounded_and_the_first_one_due_is_next() {
        let (mut retries, now) = (Retries::default(), Instant::now());
        for number in 0..MAX_WAITING as u64 + 10 {
            retries.failed(scope(&number.to_string()), now + Duration::from_millis(number));
        }
        assert_eq!(retries.0.len(), MAX_WAITING);
        assert_eq!(retries.first_due().unwrap().scope, scope("0"));
    }
}
