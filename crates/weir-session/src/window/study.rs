//! Compares the long sessions of a client at every length that it can be set to, and decides whether to recommend one.
//!
//! Invariants: the comparison is with what the sessions cost as they were, or as the client is set now; a length that
//! is recommended costs less in all and is not dearer for the median session, and the client can be set to it.

use std::collections::HashMap;

use weir_clients::Client;
use weir_clients::setup::Window;

use super::MIN_REQUESTS;
use super::simulation::{Aftermath, CompactionCost, CostAtLength, Limit, WindowGrowth};
use crate::pauses::Compacting;

/// The lengths to try, in tokens.
const LENGTHS: [u64; 10] = [60_000, 80_000, 100_000, 120_000, 140_000, 167_000, 200_000, 300_000, 500_000, 967_000];
/// The share of the cost that a length must save to be recommended.
const MIN_SAVED: f64 = 0.02;
/// A longer window is better if it saves this much less at most, because the model forgets less.
const MAX_GIVEN_UP: f64 = 0.01;
/// The share of sessions that may have too little room at a length that is recommended or set.
const MAX_TOO_SMALL: f64 = 0.1;
/// With fewer sessions, no length is recommended.
const MIN_SESSIONS: usize = 5;
/// A session whose cost changes by less than this share costs the same.
pub(super) const SAME: f64 = 0.005;

/// The long sessions of one client, at several lengths.
pub struct Study<'a> {
    pub client: &'static Client,
    pub sessions: Vec<Played<'a>>,
    /// What each compaction costs, and on what that is based.
    pub each: CompactionCost,
    pub aftermath: Aftermath,
    /// The limit that the others are compared with: the one that is set, or else what was recorded.
    pub now: Limit,
    /// Whether the price of every session is known. Costs are in US dollars then, and otherwise in tokens of input.
    pub is_priced: bool,
    /// The lengths, the shortest first.
    pub lengths: Vec<LengthCost>,
    pub best: Option<u64>,
}

/// A session, with what is known of it from the others.
pub struct Played<'a> {
    pub growth: &'a WindowGrowth,
    /// The tokens that every request has, which no compaction removes.
    pub prefix: u64,
    /// The cost at the limit that the others are compared with.
    pub now: CostAtLength,
}

/// All sessions at one length.
pub struct LengthCost {
    pub length: u64,
    /// The cost in all, and the number of compactions.
    pub cost: f64,
    pub compactions: u64,
    /// The change of the cost in all and of the median session, as a share.
    pub change: f64,
    pub median: f64,
    /// The change of the session that loses most.
    pub worst: f64,
    /// The number of sessions that cost less, that cost more, and that would have been full again at once.
    pub cheaper: usize,
    pub dearer: usize,
    pub too_small: usize,
}

impl<'a> Study<'a> {
    /// Plays the long sessions of a client. `all` are its sessions, the short ones included; `set` is the length to
    /// which it is set.
    pub fn of(client: &'static Client, all: &[&'a WindowGrowth], set: Option<u64>) -> Option<Self> {
        let prefixes = Prefixes::of(all);
        let mut aftermath = Aftermath::default();
        all.iter().for_each(|growth| aftermath.add(growth, prefixes.of_session(growth)));
        let (each, now) = (aftermath.means(), set.map_or(Limit::Recorded, Limit::At));
        let long = all.iter().copied().filter(|growth| growth.requests() >= MIN_REQUESTS);
        let played = long.map(|growth| {
            let prefix = prefixes.of_session(growth);
            Played { growth, prefix, now: growth.at(now, prefix, &each) }
        });
        let sessions: Vec<Played<'a>> = played.filter(|played| played.now.cost > 0.0).collect();
        let is_priced = sessions.iter().all(|played| played.growth.rates.dollars.is_some());
        let mut study = Self { client, sessions, each, aftermath, now, is_priced, lengths: Vec::new(), best: None };
        study.lengths = study.tried().into_iter().map(|length| study.length(length)).collect();
        study.best = study.recommended();
        (!study.sessions.is_empty()).then_some(study)
    }

    /// Returns the lengths to try: those that can be set, up to the first that no session fills, and the default.
    fn tried(&self) -> Vec<u64> {
        let longest = self.sessions.iter().map(|played| played.growth.longest).max().unwrap_or(0);
        let smallest = self.setting().map_or(0, |window| window.smallest);
        let enough = LENGTHS.iter().position(|length| *length >= longest).map_or(LENGTHS.len(), |at| at + 1);
        let mut lengths: Vec<u64> = LENGTHS[..enough].to_vec();
        lengths.extend(self.setting().map(|window| window.default));
        lengths.retain(|length| *length > smallest);
        lengths.extend((smallest > LENGTHS[0]).then_some(smallest));
        lengths.extend(match self.now {
            Limit::At(length) => Some(length),
            Limit::Recorded => None,
        });
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }

    fn length(&self, length: u64) -> LengthCost {
        let priced: Vec<(CostAtLength, f64)> = self.sessions.iter().map(|played| self.at(played, length)).collect();
        let mut changes: Vec<f64> = priced.iter().map(|(_, change)| *change).collect();
        changes.sort_by(f64::total_cmp);
        let cost = self.sum(|played| self.at(played, length).0.cost);
        LengthCost {
            length,
            cost,
            compactions: priced.iter().map(|(at, _)| at.compactions).sum(),
            change: cost / self.cost_now() - 1.0,
            median: changes.get(changes.len() / 2).copied().unwrap_or(0.0),
            worst: changes.last().copied().unwrap_or(0.0),
            cheaper: changes.iter().filter(|change| **change < -SAME).count(),
            dearer: changes.iter().filter(|change| **change > SAME).count(),
            too_small: priced.iter().filter(|(at, _)| at.too_small).count(),
        }
    }

    /// Returns the cost of a session at a length, and its change as a share.
    pub fn at(&self, played: &Played<'_>, length: u64) -> (CostAtLength, f64) {
        let at = played.growth.at(Limit::At(length), played.prefix, &self.each);
        (at, at.cost / played.now.cost - 1.0)
    }

    /// Returns the cost at the limit that the others are compared with.
    pub fn cost_now(&self) -> f64 {
        self.sum(|played| played.now.cost)
    }

    fn sum(&self, cost: impl Fn(&Played<'_>) -> f64) -> f64 {
        let price = |played: &Played<'_>| played.growth.rates.dollars.filter(|_| self.is_priced).unwrap_or(1.0);
        self.sessions.iter().map(|played| cost(played) * price(played)).sum()
    }

    /// Returns the length to recommend: the longest of those that save about as much as the one that saves most.
    fn recommended(&self) -> Option<u64> {
        let setting = self.setting()?;
        let is_better = |cost: &&LengthCost| {
            cost.change <= -MIN_SAVED
                && cost.median <= 0.0
                && cost.cheaper >= cost.dearer
                && !is_too_small(cost.too_small, self.sessions.len())
                && setting.value(cost.length).is_some()
        };
        let is_enough = self.sessions.len() >= MIN_SESSIONS;
        let better: Vec<&LengthCost> = self.lengths.iter().filter(|_| is_enough).filter(is_better).collect();
        let least = better.iter().map(|cost| cost.change).fold(f64::INFINITY, f64::min);
        better.into_iter().rev().find(|cost| cost.change <= least + MAX_GIVEN_UP).map(|cost| cost.length)
    }

    /// Returns what a compaction of these sessions costs and leaves.
    pub fn compacting(&self) -> Compacting {
        let mut prefixes: Vec<u64> = self.sessions.iter().map(|played| played.prefix).collect();
        prefixes.sort_unstable();
        let prefix = prefixes.get(prefixes.len() / 2).copied().unwrap_or(0) as f64;
        let CompactionCost { summary, carried, again, requests } = self.each;
        Compacting { after: prefix + carried, summary, again, requests }
    }

    /// Says why no length is recommended.
    pub fn why_keep(&self) -> &'static str {
        match self.sessions.len() < MIN_SESSIONS {
            true => "Keep what you have: these sessions are too few to tell.",
            false => "Keep what you have: no other length is clearly cheaper.",
        }
    }

    /// Returns how the client is set, if it can be.
    pub fn setting(&self) -> Option<Window> {
        weir_clients::recipe(self.client.name).and_then(|recipe| recipe.window)
    }

    /// Returns the figures of a length that was tried.
    pub fn find(&self, length: u64) -> Option<&LengthCost> {
        self.lengths.iter().find(|cost| cost.length == length)
    }
}

/// Whether so many of these sessions have too little room that a length must not be set.
pub fn is_too_small(sessions: usize, all: usize) -> bool {
    sessions as f64 > MAX_TOO_SMALL * all as f64
}

/// What every request of a session has: the system prompt, the tools, instructions. The first request has the first
/// prompt too, and a recording may begin in the middle of a conversation, so other sessions of the project are asked.
struct Prefixes<'a> {
    /// The median of the first requests of a project's sessions, those of subagents apart.
    by_project: HashMap<(&'a str, bool), u64>,
    all: HashMap<bool, u64>,
}

impl<'a> Prefixes<'a> {
    fn of(sessions: &[&'a WindowGrowth]) -> Self {
        let begun = || sessions.iter().filter(|growth| growth.first > 0 && !growth.is_continued);
        Self {
            by_project: medians(begun().map(|growth| ((growth.folder.as_str(), growth.is_subagent), growth.first))),
            all: medians(begun().map(|growth| (growth.is_subagent, growth.first))),
        }
    }

    fn of_session(&self, growth: &WindowGrowth) -> u64 {
        let project = self.by_project.get(&(growth.folder.as_str(), growth.is_subagent));
        let usual = project.or_else(|| self.all.get(&growth.is_subagent)).copied();
        [usual, growth.least_after].into_iter().flatten().fold(growth.first, u64::min)
    }
}

fn medians<K: std::hash::Hash + Eq>(values: impl Iterator<Item = (K, u64)>) -> HashMap<K, u64> {
    let mut all: HashMap<K, Vec<u64>> = HashMap::new();
    values.for_each(|(key, value)| all.entry(key).or_default().push(value));
    let median = |mut values: Vec<u64>| {
        values.sort_unstable();
        values[(values.len() - 1) / 2]
    };
    all.into_iter().map(|(key, values)| (key, median(values))).collect()
}
