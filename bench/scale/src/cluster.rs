//! Nodes that apply uploads one after the other, as discrete events: arrivals, completions, the loss of a node, and its
//! shards served from replicas.
//!
//! Invariant: every upload that was offered is applied exactly once, whatever is lost meanwhile. A client keeps an
//! upload until it is acknowledged, and sends it again; the log recognises one that it has.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::random::Random;
use crate::shards::ShardMap;

/// Nanoseconds since the beginning.
pub(crate) type Time = u64;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The next upload comes from its client.
    Offered,
    /// An upload comes again: it was not acknowledged.
    Repeated { upload: usize },
    /// A node has applied the upload that it worked on. `life` tells a node from what it was before it was lost.
    Done { node: usize, life: u32 },
    /// A node is lost.
    Lost,
    /// The shards of the lost node are served by their replicas.
    Served,
}

/// How long an upload occupies a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Always the same time.
    Fixed,
    /// Random times around a mean, as the closed form of M/M/1 has them.
    #[cfg(test)]
    Exponential,
}

/// What is simulated.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Uploads a second, in all.
    pub(crate) rate: f64,
    /// How long uploads are offered, in seconds.
    pub(crate) seconds: f64,
    /// How long an upload occupies a node, in seconds.
    pub(crate) service: f64,
    pub(crate) law: Service,
    /// Whether uploads come at even intervals, or at random.
    pub(crate) even_arrivals: bool,
    /// The node that is lost, and when, and after how many seconds its shards are served again.
    pub(crate) loss: Option<Loss>,
    pub(crate) seed: u64,
}

/// The loss of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub(crate) node: usize,
    pub(crate) at: f64,
    pub(crate) unserved: f64,
    /// How long acknowledgements are on their way: those of the last moments are lost with the node.
    pub(crate) acknowledgement: f64,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome {
    /// Uploads that were offered, and that were applied.
    pub(crate) offered: usize,
    pub(crate) applied: usize,
    /// Uploads that came again although they were applied, and were recognised.
    pub(crate) recognised: usize,
    /// The most uploads that waited at the clients of the lost node.
    pub(crate) backlog: usize,
    /// When the last upload that had waited for the replicas was applied, in seconds after they served.
    pub(crate) caught_up: f64,
    /// The time from the first offer until it was applied, of each upload, in seconds, in the order of the offers.
    pub(crate) waits: Vec<f64>,
    /// The mean share of time that the nodes were busy.
    pub(crate) busy: f64,
}

struct Node {
    queue: VecDeque<usize>,
    current: Option<usize>,
    life: u32,
    busy: Time,
}

struct Upload {
    shard: usize,
    offered: Time,
    applied: Option<Time>,
    waited_for_replicas: bool,
}

/// The state of a run.
struct Cluster<'a> {
    plan: &'a Plan,
    map: ShardMap,
    ladder: Vec<f64>,
    nodes: Vec<Node>,
    uploads: Vec<Upload>,
    /// Uploads at the clients of the lost node.
    waiting: Vec<usize>,
    lost: Option<usize>,
    served: Time,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
    random: Random,
    outcome: Outcome,
}

/// Runs a plan to its end: until everything that was offered is applied.
pub(crate) fn run(plan: &Plan, map: &ShardMap, loads: &[f64]) -> Outcome {
    let mut sum = 0.0;
    let ladder = loads.iter().map(|load| {
        sum += load;
        sum
    });
    let node = || Node { queue: VecDeque::new(), current: None, life: 0, busy: 0 };
    let mut cluster = Cluster {
        plan,
        map: map.clone(),
        ladder: ladder.collect(),
        nodes: (0..map.count).map(|_| node()).collect(),
        uploads: Vec::new(),
        waiting: Vec::new(),
        lost: None,
        served: 0,
        events: BinaryHeap::new(),
        order: 0,
        random: Random::new(plan.seed),
        outcome: Outcome::default(),
    };
    cluster.schedule(0, Event::Offered);
    if let Some(loss) = plan.loss {
        cluster.schedule(nanos(loss.at), Event::Lost);
        cluster.schedule(nanos(loss.at + loss.unserved), Event::Served);
    }
    let mut now = 0;
    while let Some(Reverse((time, _, event))) = cluster.events.pop() {
        assert!(time >= now, "time only goes forward");
        now = time;
        cluster.handle(now, event);
    }
    cluster.finish(now)
}

impl Cluster<'_> {
    fn schedule(&mut self, time: Time, event: Event) {
        self.order += 1;
        self.events.push(Reverse((time, self.order, event)));
    }

    fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::Offered => self.offer(now),
            Event::Repeated { upload } => self.deliver(now, upload),
            Event::Done { node, life } => self.complete(now, node, life),
            Event::Lost => self.lose(now),
            Event::Served => self.serve(now),
        }
    }

    fn offer(&mut self, now: Time) {
        let point = self.random.share() * self.ladder.last().copied().unwrap_or(1.0);
        let shard = self.ladder.partition_point(|sum| *sum <= point).min(self.ladder.len() - 1);
        self.uploads.push(Upload { shard, offered: now, applied: None, waited_for_replicas: false });
        self.deliver(now, self.uploads.len() - 1);
        let mean = 1.0 / self.plan.rate;
        let gap = if self.plan.even_arrivals { mean } else { self.random.exponential(mean) };
        let next = now + nanos(gap).max(1);
        if next < nanos(self.plan.seconds) {
            self.schedule(next, Event::Offered);
        }
    }

    fn deliver(&mut self, now: Time, upload: usize) {
        let node = self.map.nodes[self.uploads[upload].shard];
        if self.lost == Some(node) {
            self.uploads[upload].waited_for_replicas = true;
            self.waiting.push(upload);
            self.outcome.backlog = self.outcome.backlog.max(self.waiting.len());
            return;
        }
        self.nodes[node].queue.push_back(upload);
        self.begin(now, node);
    }

    fn begin(&mut self, now: Time, node: usize) {
        if self.nodes[node].current.is_some() {
            return;
        }
        let Some(upload) = self.nodes[node].queue.pop_front() else { return };
        let service = match self.plan.law {
            Service::Fixed => self.plan.service,
            #[cfg(test)]
            Service::Exponential => self.random.exponential(self.plan.service),
        };
        self.nodes[node].current = Some(upload);
        self.nodes[node].busy += nanos(service);
        let life = self.nodes[node].life;
        self.schedule(now + nanos(service), Event::Done { node, life });
    }

    fn complete(&mut self, now: Time, node: usize, life: u32) {
        if self.nodes[node].life != life {
            return;
        }
        if let Some(upload) = self.nodes[node].current.take() {
            let served = self.served;
            let upload = &mut self.uploads[upload];
            if upload.applied.is_some() {
                self.outcome.recognised += 1;
            } else {
                upload.applied = Some(now);
                self.outcome.applied += 1;
                if upload.waited_for_replicas {
                    self.outcome.caught_up = self.outcome.caught_up.max(seconds(now.saturating_sub(served)));
                }
            }
        }
        self.begin(now, node);
    }

    /// Loses a node with what it has not applied. What it has applied is on the replicas, since they follow
    /// synchronously; some acknowledgements are lost.
    fn lose(&mut self, now: Time) {
        let Some(loss) = self.plan.loss else { return };
        self.lost = Some(loss.node);
        let node = &mut self.nodes[loss.node];
        node.life += 1;
        let mut again: Vec<usize> = node.queue.drain(..).chain(node.current.take()).collect();
        let since = now.saturating_sub(nanos(loss.acknowledgement));
        let unacknowledged = self.uploads.iter().enumerate().filter(|(_, upload)| {
            self.map.nodes[upload.shard] == loss.node && upload.applied.is_some_and(|applied| applied >= since)
        });
        again.extend(unacknowledged.map(|(number, _)| number));
        for upload in again {
            self.deliver(now, upload);
        }
    }

    /// Serves the shards of the lost node from their replicas. Clients come back within a second.
    fn serve(&mut self, now: Time) {
        let Some(lost) = self.lost.take() else { return };
        for shard in 0..self.map.nodes.len() {
            if self.map.nodes[shard] == lost {
                self.map.nodes[shard] = self.map.replicas[shard];
            }
        }
        self.served = now;
        for upload in std::mem::take(&mut self.waiting) {
            let at = now + nanos(self.random.share());
            self.schedule(at, Event::Repeated { upload });
        }
    }

    fn finish(mut self, now: Time) -> Outcome {
        self.outcome.offered = self.uploads.len();
        let wait = |upload: &Upload| upload.applied.map(|applied| seconds(applied - upload.offered));
        self.outcome.waits = self.uploads.iter().filter_map(wait).collect();
        let busy: Time = self.nodes.iter().map(|node| node.busy).sum();
        self.outcome.busy = seconds(busy) / seconds(now) / self.nodes.len() as f64;
        self.outcome
    }
}

/// Returns the time that this share of the waits stays below.
pub(crate) fn quantile(waits: &[f64], share: f64) -> f64 {
    let mut sorted = waits.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = ((sorted.len().max(1) - 1) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or_default()
}

fn nanos(seconds: f64) -> Time {
    (seconds * 1e9).round() as Time
}

fn seconds(nanos: Time) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::{Replicas, SHARDS};

    fn plan() -> Plan {
        Plan {
            rate: 800.0,
            seconds: 60.0,
            service: 0.001,
            law: Service::Fixed,
            even_arrivals: false,
            loss: None,
            seed: 7,
        }
    }

    /// Returns a map in which everything is on the first node, and the outcome of a plan there.
    fn alone(plan: &Plan) -> Outcome {
        let mut map = ShardMap::even(2, Replicas::Paired);
        map.nodes.fill(0);
        map.replicas.fill(1);
        run(plan, &map, &vec![1.0 / SHARDS as f64; SHARDS])
    }

    fn mean(waits: &[f64]) -> f64 {
        waits.iter().sum::<f64>() / waits.len() as f64
    }

    #[test]
    fn random_times_give_the_mean_of_the_closed_form() {
        for rate in [300.0, 600.0, 800.0] {
            let outcome = alone(&Plan { rate, seconds: 500.0, law: Service::Exponential, ..plan() });
            let expected = 1.0 / (1_000.0 - rate);
            let found = mean(&outcome.waits);
            assert!((found / expected - 1.0).abs() < 0.08, "{found} and {expected} at {rate}");
            assert!((outcome.busy * 2.0 - rate / 1_000.0).abs() < 0.02, "{}", outcome.busy);
        }
    }

    #[test]
    fn even_times_below_the_capacity_never_wait() {
        let outcome = alone(&Plan { rate: 999.0, even_arrivals: true, ..plan() });
        assert!(outcome.waits.iter().all(|wait| (wait - 0.001).abs() < 1e-8));
    }

    #[test]
    fn above_the_capacity_the_queue_grows_as_the_difference() {
        // Offered for a minute at 1,250 a second, done at 1,000 a second: the last one waits for what is left.
        let outcome = alone(&Plan { rate: 1_250.0, even_arrivals: true, ..plan() });
        let last = outcome.waits.last().copied().unwrap();
        assert!((last - 15.0).abs() < 0.01, "{last}");
    }

    #[test]
    fn a_backlog_is_worked_off_at_the_spare_capacity() {
        // A minute without the node leaves 30,000 uploads; the replica has half of its capacity to spare.
        let loss = Loss { node: 0, at: 10.0, unserved: 60.0, acknowledgement: 0.0 };
        let steady = Plan { rate: 500.0, seconds: 300.0, even_arrivals: true, loss: Some(loss), ..plan() };
        let outcome = alone(&steady);
        assert!((outcome.backlog as i64 - 30_000).abs() <= 2, "{}", outcome.backlog);
        // What has waited is done after 30 s of work, during which new ones come in between.
        assert!((30.0..60.0).contains(&outcome.caught_up), "{}", outcome.caught_up);
    }

    #[test]
    fn every_upload_is_applied_exactly_once_whatever_is_lost() {
        let loads: Vec<f64> = (1..=SHARDS).map(|rank| 1.0 / rank as f64).collect();
        for seed in 0..6 {
            for replicas in [Replicas::Paired, Replicas::Spread] {
                let map = ShardMap::even(8, replicas);
                let loss = Loss { node: seed as usize % 8, at: 5.0, unserved: 7.0, acknowledgement: 0.05 };
                let plan = Plan { rate: 3_000.0, seconds: 30.0, loss: Some(loss), seed, ..plan() };
                let outcome = run(&plan, &map, &loads);
                assert_eq!((outcome.applied, outcome.waits.len()), (outcome.offered, outcome.offered));
                assert!(outcome.recognised > 0, "some acknowledgements were lost");
            }
        }
    }
}
