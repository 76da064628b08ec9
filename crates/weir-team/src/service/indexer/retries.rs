//! The projects that could not be indexed. Invariant: their number is bounded, and the walk finds those that there was
//! no room for.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;
use weir_core::Scope;

use super::queue::Waiting;
use super::{FIRST_DELAY, Project, project_of};

/// How many projects are remembered.
const MAX_RETRIES: usize = 1_024;
/// The longest time between two attempts.
const MAX_DELAY: Duration = Duration::from_secs(5 * 60);

/// The projects that could not be indexed.
#[derive(Default)]
pub(super) struct Retries {
    projects: HashMap<Project, Retry>,
    /// Whether there was no room for one.
    has_dropped: bool,
}

/// When a project is tried again.
pub(super) struct Retry {
    pub(super) waiting: Waiting,
    pub(super) at: Instant,
    /// How long it waits after the next failure.
    delay: Duration,
}

impl Retries {
    /// Returns the project that is due first.
    pub(super) fn first_due(&self) -> Option<&Retry> {
        self.projects.values().min_by_key(|retry| retry.at)
    }

    pub(super) fn succeeded(&mut self, scope: &Scope) {
        self.projects.remove(&project_of(scope));
    }

    pub(super) fn failed(&mut self, waiting: Waiting, now: Instant) {
        let project = project_of(&waiting.scope);
        if let Some(retry) = self.projects.get_mut(&project) {
            (retry.waiting, retry.at) = (waiting, now + retry.delay);
            retry.delay = retry.delay.saturating_mul(2).min(MAX_DELAY);
        } else if self.projects.len() < MAX_RETRIES {
            self.projects.insert(project, Retry { waiting, at: now + FIRST_DELAY, delay: FIRST_DELAY * 2 });
        } else {
            self.has_dropped = true;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.projects.len()
    }

    /// Returns how many records are missing in the index, of all these projects.
    pub(super) fn missing(&self) -> u64 {
        self.projects.values().fold(0, |sum, retry| sum.saturating_add(retry.waiting.missing))
    }

    /// Returns whether there was no room for a project since this was asked last.
    pub(super) fn has_dropped(&mut self) -> bool {
        std::mem::take(&mut self.has_dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scope;
    use super::*;

    fn waiting(project: &str) -> Waiting {
        Waiting { scope: scope(project), missing: 1 }
    }

    #[test]
    fn what_fails_is_tried_again_at_growing_intervals_until_it_succeeds() {
        let (mut retries, mut now, mut delays) = (Retries::default(), Instant::now(), Vec::new());
        for _ in 0..11 {
            retries.failed(waiting("api"), now);
            let at = retries.first_due().unwrap().at;
            delays.push((at - now).as_secs());
            now = at;
        }
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert_eq!(retries.missing(), 1);
        retries.succeeded(&scope("api"));
        assert!(retries.first_due().is_none());
        retries.failed(waiting("api"), now);
        assert_eq!(retries.first_due().unwrap().at - now, FIRST_DELAY);
    }

    #[test]
    fn the_projects_that_wait_are_bounded_and_the_first_one_due_is_next() {
        let (mut retries, now) = (Retries::default(), Instant::now());
        for number in 0..MAX_RETRIES as u64 {
            retries.failed(waiting(&number.to_string()), now + Duration::from_millis(number));
        }
        assert!(!retries.has_dropped());
        retries.failed(waiting("one more"), now);
        assert_eq!((retries.len(), retries.missing()), (MAX_RETRIES, MAX_RETRIES as u64));
        assert_eq!([retries.has_dropped(), retries.has_dropped()], [true, false]);
        assert_eq!(retries.first_due().unwrap().waiting, waiting("0"));
    }
}
