//! Keeps the index up to date with the log, off the way of those who write.
//!
//! What is written on this server is announced. What is written elsewhere, what was written before the server was
//! started, and what was announced while too many projects waited is found by a walk over the heads of all projects: at
//! the start, and then every [`WALK_EVERY`]. So a removal reaches a server where nobody uses the project.
//!
//! Invariants: it holds the service only while it works, so that it ends with the service; what fails is counted and
//! reported, a panic too, and is tried again later by itself, while other projects have their turn; memory is bounded,
//! however many projects there are.

mod catch_up;
mod queue;
mod retries;

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, timeout_at};
use weir_core::{ProjectKey, Scope, TenantId};
use weir_records::{ErrorKind, Followed, HeadWalk, Index, Position, Result as PortResult};

pub(super) use self::catch_up::CatchUp;
pub(super) use self::queue::Announcements;
use self::queue::{Queue, Waiting};
use self::retries::Retries;
use super::Service;
use crate::index::bucket_of;

/// How often it is looked for projects that have new records.
pub(super) const WALK_EVERY: Duration = Duration::from_secs(30);
/// How many heads are looked at in one statement.
const MAX_LOOKED_AT: usize = 2_048;
/// How many projects are indexed in one commit, at most: those of one bucket that wait.
const MAX_GROUPED: usize = 256;
/// How many changes are indexed before other projects have their turn: as many as an index takes at once.
const MAX_FOLLOWED: usize = 16 << 10;
/// How long after the first failure something is tried again. Each further failure doubles it.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// A project of a tenant.
type Project = (TenantId, ProjectKey);

/// The server ends.
struct Over;

/// Indexes what has new records, until the service ends.
pub(super) async fn run(service: Weak<Service>, mut announced: Receiver<Scope>) {
    let mut indexer = Indexer::new(Instant::now());
    while indexer.wait(&mut announced).await.is_ok() {
        let Some(service) = service.upgrade() else { return };
        if indexer.turn(&service).await.is_err() {
            return;
        }
    }
}

/// What is to be indexed, and when.
struct Indexer {
    queue: Queue,
    retries: Retries,
    walk: HeadWalk,
    /// When the walk goes on, or the next one begins.
    walk_at: Instant,
    /// How long the walk waits after the next failure.
    walk_delay: Duration,
    /// Whether all projects were looked at since the start.
    has_walked: bool,
}

impl Indexer {
    fn new(now: Instant) -> Self {
        Self {
            queue: Queue::default(),
            retries: Retries::default(),
            walk: HeadWalk::default(),
            walk_at: now,
            walk_delay: FIRST_DELAY,
            has_walked: false,
        }
    }

    /// Waits until there is something to do.
    async fn wait(&mut self, announced: &mut Receiver<Scope>) -> Result<(), Over> {
        while !self.queue.is_full() {
            match announced.try_recv() {
                Ok(scope) => self.queue.add(Waiting { scope, missing: 0 }),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(Over),
            }
        }
        if !self.queue.is_empty() {
            return Ok(());
        }
        let due = self.retries.first_due().map_or(self.walk_at, |retry| retry.at.min(self.walk_at));
        if let Ok(announced) = timeout_at(due, announced.recv()).await {
            self.queue.add(Waiting { scope: announced.ok_or(Over)?, missing: 0 });
        }
        Ok(())
    }

    /// Looks for projects with new records if it is time, and indexes a group of those that wait.
    async fn turn(&mut self, service: &Arc<Service>) -> Result<(), Over> {
        // The next page waits for most of the last one, so that a page is all that has to be remembered.
        if self.walk_at <= Instant::now() && self.queue.len() < MAX_GROUPED {
            self.look(service).await?;
        }
        let group = self.queue.take(MAX_GROUPED);
        if !group.is_empty() {
            self.follow(service, group).await?;
        }
        // By itself, so that it does not make others fail.
        let due =
            self.retries.first_due().filter(|retry| retry.at <= Instant::now()).map(|retry| retry.waiting.clone());
        if let Some(waiting) = due {
            self.follow(service, vec![waiting]).await?;
        }
        service.figures.set_index_retries(self.retries.len() as u64);
        service.catch_up.note(self.queue.missing().saturating_add(self.retries.missing()), self.has_walked);
        Ok(())
    }

    /// Goes on with the walk.
    async fn look(&mut self, service: &Arc<Service>) -> Result<(), Over> {
        let (working, walk) = (Arc::clone(service), self.walk);
        let failure = match spawn_blocking(move || look(&working, walk)).await {
            Ok(Ok(found)) => {
                found.behind.into_iter().for_each(|waiting| self.queue.add(waiting));
                (self.walk, self.walk_delay) = (found.next, FIRST_DELAY);
                if found.is_last {
                    self.has_walked = true;
                    self.walk_at = Instant::now() + service.options.walk_every;
                    if self.retries.has_dropped() {
                        self.walk = HeadWalk::default();
                    }
                }
                return Ok(());
            }
            Ok(Err(error)) => error.to_string(),
            Err(error) => panicked(&error)?,
        };
        service.figures.index_failed();
        (service.options.report)(&failure);
        self.walk_at = Instant::now() + self.walk_delay;
        self.walk_delay = self.walk_delay.saturating_mul(2).min(WALK_EVERY);
        Ok(())
    }

    /// Brings the index of a group of projects up to date, or as far as one turn goes.
    async fn follow(&mut self, service: &Arc<Service>, group: Vec<Waiting>) -> Result<(), Over> {
        let scopes: Vec<Scope> = group.iter().map(|waiting| waiting.scope.clone()).collect();
        scopes.iter().for_each(|scope| service.changed.begin(scope));
        let working = Arc::clone(service);
        let mut failures = BTreeSet::new();
        match spawn_blocking(move || working.shelf.follow_all(&scopes, MAX_FOLLOWED)).await {
            Ok(results) => {
                for (waiting, result) in group.into_iter().zip(results) {
                    failures.extend(self.settle(waiting, result));
                }
            }
            Err(error) => {
                failures.insert(panicked(&error)?);
                group.into_iter().for_each(|waiting| self.give_up(waiting));
            }
        }
        for failure in failures {
            service.figures.index_failed();
            (service.options.report)(&failure);
        }
        Ok(())
    }

    /// Remembers what is left to do for a project, and returns what went wrong, if something did.
    fn settle(&mut self, waiting: Waiting, result: PortResult<Followed>) -> Option<String> {
        match result {
            Ok(followed) => {
                self.retries.succeeded(&waiting.scope);
                if followed.is_behind {
                    let missing = waiting.missing.saturating_sub(followed.positions);
                    self.queue.add(Waiting { missing, ..waiting });
                }
                None
            }
            Err(error) => {
                match error.kind {
                    ErrorKind::Damaged => self.give_up(waiting),
                    _ => self.retries.failed(waiting, Instant::now()),
                }
                Some(error.to_string())
            }
        }
    }

    /// Remembers a project that time alone will not repair. It does not keep the server from getting ready.
    fn give_up(&mut self, waiting: Waiting) {
        self.retries.failed(Waiting { missing: 0, ..waiting }, Instant::now());
    }
}

/// What a page of a walk has found.
struct Found {
    behind: Vec<Waiting>,
    next: HeadWalk,
    is_last: bool,
}

/// Looks for projects whose index is not where the log is.
fn look(service: &Service, walk: HeadWalk) -> PortResult<Found> {
    let ports = service.shelf.ports();
    let mut page = ports.log.moved_heads(walk, MAX_LOOKED_AT)?;
    // So that no bucket of the index has to be opened twice for a page.
    page.heads.sort_by_cached_key(|head| bucket_of(&head.tenant));
    let behind = page.heads.into_iter().filter_map(|head| {
        let scope = Scope { tenant: head.tenant, ..Scope::project(head.project) };
        service.news.tell(&scope, head.position);
        behind(ports.index.as_ref(), scope, head.position)
    });
    let behind = behind.collect();
    Ok(Found { behind, next: page.next, is_last: page.is_last })
}

/// Returns a project whose index is not at its head.
fn behind(index: &dyn Index, scope: Scope, head: Position) -> Option<Waiting> {
    // An index that cannot say where it is fails when it is to follow, and is tried again then.
    let position = index.position(&scope).unwrap_or_default();
    (position != head).then(|| Waiting { scope, missing: head.0.saturating_sub(position.0) })
}

/// Returns what to say about work that panicked, unless it was stopped because the server ends.
fn panicked(error: &JoinError) -> Result<String, Over> {
    if error.is_panic() { Ok("the indexing of a project panicked; this is a bug".to_owned()) } else { Err(Over) }
}

fn project_of(scope: &Scope) -> Project {
    (scope.tenant.clone(), scope.project.clone())
}

#[cfg(test)]
fn scope(project: &str) -> Scope {
    Scope { tenant: TenantId("acme".into()), ..Scope::project(ProjectKey(project.into())) }
}
