//! The projects that wait to be indexed. Invariant: each waits once, so that one that is written to often leaves room for
//! others.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use tokio::sync::mpsc::{Receiver, Sender, channel};
use weir_core::Scope;

use super::{Project, project_of};
use crate::index::bucket_of;

/// How many announcements wait. What is announced beyond that is found by the next walk.
const MAX_ANNOUNCED: usize = 1_024;
/// From how many projects on no more announcements are taken.
const MAX_QUEUED: usize = 4_096;

/// Where projects with new records are announced.
pub(in crate::service) struct Announcements {
    waiting: Sender<Scope>,
    announced: Mutex<HashSet<Project>>,
}

impl Announcements {
    /// Creates it, with what receives the projects.
    pub(in crate::service) fn channel() -> (Self, Receiver<Scope>) {
        let (waiting, received) = channel(MAX_ANNOUNCED);
        (Self { waiting, announced: Mutex::default() }, received)
    }

    /// Announces a project, unless too many wait.
    pub(in crate::service) fn add(&self, scope: &Scope) {
        let project = project_of(scope);
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        if !announced.contains(&project) && self.waiting.try_send(scope.clone()).is_ok() {
            announced.insert(project);
        }
    }

    /// Notes that a project is about to be indexed, so that what is written from now on is announced again.
    pub(super) fn begin(&self, scope: &Scope) {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner).remove(&project_of(scope));
    }
}

/// A project that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) scope: Scope,
    /// How many records the walk has found that its index did not have. 0 for what was announced.
    pub(super) missing: u64,
}

/// The projects that wait for their turn, in order.
#[derive(Default)]
pub(super) struct Queue {
    /// With the buckets that they are in.
    order: VecDeque<(usize, Scope)>,
    missing: HashMap<Project, u64>,
}

impl Queue {
    /// Adds a project, unless it waits already.
    pub(super) fn add(&mut self, waiting: Waiting) {
        let known = self.missing.entry(project_of(&waiting.scope)).or_insert_with(|| {
            self.order.push_back((bucket_of(&waiting.scope.tenant), waiting.scope));
            0
        });
        *known = waiting.missing.max(*known);
    }

    /// Takes the one that has waited longest, and those of the same bucket that have waited longest: they share a commit.
    pub(super) fn take(&mut self, most: usize) -> Vec<Waiting> {
        let Some((bucket, _)) = self.order.front() else { return Vec::new() };
        let (bucket, mut taken) = (*bucket, Vec::new());
        let order = std::mem::take(&mut self.order).into_iter().filter_map(|(of, scope)| {
            if of != bucket || taken.len() >= most {
                return Some((of, scope));
            }
            let missing = self.missing.remove(&project_of(&scope)).unwrap_or_default();
            taken.push(Waiting { scope, missing });
            None
        });
        self.order = order.collect();
        taken
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.order.len() >= MAX_QUEUED
    }

    /// Returns how many records are missing in the index, of all that wait.
    pub(super) fn missing(&self) -> u64 {
        self.missing.values().fold(0, |sum, missing| sum.saturating_add(*missing))
    }
}

#[cfg(test)]
mod tests {
    use weir_core::TenantId;

    use super::super::scope;
    use super::*;

    #[test]
    fn a_project_waits_once_until_it_is_indexed() {
        let (changed, mut waiting) = Announcements::channel();
        (0..2 * MAX_ANNOUNCED).for_each(|_| changed.add(&scope("busy")));
        changed.add(&scope("other"));
        assert_eq!([waiting.try_recv(), waiting.try_recv()], [Ok(scope("busy")), Ok(scope("other"))]);
        changed.add(&scope("busy"));
        assert!(waiting.try_recv().is_err());
        changed.begin(&scope("busy"));
        changed.add(&scope("busy"));
        assert_eq!(waiting.try_recv(), Ok(scope("busy")));
    }

    #[test]
    fn a_group_has_those_that_have_waited_longest() {
        let mut queue = Queue::default();
        let waiting = |name: &str, missing| Waiting { scope: scope(name), missing };
        for (name, missing) in [("a", 3), ("b", 0), ("a", 0), ("b", 5), ("c", 1)] {
            queue.add(waiting(name, missing));
        }
        assert_eq!((queue.len(), queue.missing()), (3, 9));
        assert_eq!(queue.take(2), [waiting("a", 3), waiting("b", 5)]);
        queue.add(waiting("a", 2));
        assert_eq!(queue.missing(), 3);
        assert_eq!(queue.take(9), [waiting("c", 1), waiting("a", 2)]);
        assert!(queue.is_empty() && queue.missing() == 0);
    }

    #[test]
    fn a_group_is_of_one_bucket_and_the_others_come_next() {
        let mut queue = Queue::default();
        let of =
            |number: usize| Scope { tenant: TenantId(format!("tenant {}", number % 7)), ..scope(&number.to_string()) };
        (0..70).for_each(|number| queue.add(Waiting { scope: of(number), missing: 1 }));
        let mut taken = Vec::new();
        while !queue.is_empty() {
            let group = queue.take(6);
            let buckets: HashSet<usize> = group.iter().map(|waiting| bucket_of(&waiting.scope.tenant)).collect();
            assert!(buckets.len() == 1 && group.len() <= 6);
            taken.extend(group.into_iter().map(|waiting| waiting.scope));
        }
        assert_eq!((taken.len(), taken[0].clone(), queue.missing()), (70, of(0), 0));
        assert!((0..70).all(|number| taken.contains(&of(number))));
    }
}
