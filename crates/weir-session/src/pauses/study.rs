//! Compares the choices that a user has about pauses, and decides whether to recommend one.
//!
//! Invariants: the comparison is with the lifetime in use; a lifetime that is recommended costs less in all and is not
//! dearer for the median session, and the client can be set to it.

use std::collections::{BTreeMap, HashMap};

use weir_clients::Client;
use weir_clients::setup::CacheSettings;

use super::compacting::Compacting;
use super::course::{CacheCourse, ColdReturn, Lifetime};

/// The fewest requests of a session that counts.
const MIN_REQUESTS: usize = 5;
/// With fewer sessions, nothing is recommended.
const MIN_SESSIONS: usize = 5;
/// The share of the cost that a lifetime must save to be recommended.
const MIN_SAVED: f64 = 0.02;
/// A session whose cost changes by less than this share costs the same.
const SAME: f64 = 0.005;
/// How many of the newest sessions tell which lifetime is in use.
const NEWEST_SESSIONS: usize = 10;

/// The lifetimes that a client is set to, for main conversations and for subagents.
pub type LifetimesSet = [Option<Lifetime>; 2];

/// The sessions of one client.
pub struct CacheStudy<'a> {
    pub client: &'static Client,
    /// Main conversations and subagents, if there are any.
    pub groups: Vec<CacheGroup<'a>>,
    /// The number of sessions that were too short to count.
    pub short: usize,
}

/// The main conversations of a client, or its subagents.
pub struct CacheGroup<'a> {
    pub is_subagents: bool,
    pub courses: Vec<&'a CacheCourse>,
    /// The lifetime in use: the one that is set, or else the one that was recorded last.
    pub now: Lifetime,
    pub is_set: bool,
    /// Whether the price of every session is known. Costs are in US dollars then, and otherwise in tokens of input.
    pub is_priced: bool,
    /// What the sessions have cost.
    pub recorded: f64,
    /// The pauses after which the cache was cold, and what they have cost.
    pub returns: Vec<ColdReturn>,
    pub rewritten: f64,
    pub choices: Vec<ChoiceCost>,
    pub best: Option<Lifetime>,
}

/// What can be done about pauses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    Lifetime(Lifetime),
    /// Compacting before each pause that is longer than the cache lives.
    Compact(Compacting),
    /// Clearing old results after it, which the proxy can do.
    Clear,
}

/// What the sessions would have cost with a choice.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceCost {
    pub choice: Choice,
    pub cost: f64,
    /// The change of the cost in all, of the median session and of the median project, as a share.
    pub change: f64,
    pub median: f64,
    pub median_project: f64,
    /// The change of the session that loses most.
    pub worst: f64,
    /// The number of sessions that cost less, and that cost more.
    pub cheaper: usize,
    pub dearer: usize,
}

/// Studies the sessions of each client, the one with the most requests first. `set` returns the lifetimes to which a
/// client is set, and `compacting` what a compaction of its sessions costs, if that is known.
pub fn studies<'a>(
    courses: impl IntoIterator<Item = &'a CacheCourse>,
    set: impl Fn(&str) -> LifetimesSet,
    compacting: impl Fn(&str) -> Option<Compacting>,
) -> Vec<CacheStudy<'a>> {
    let mut by_client: BTreeMap<&str, Vec<&'a CacheCourse>> = BTreeMap::new();
    courses.into_iter().for_each(|course| by_client.entry(course.client.name).or_default().push(course));
    let of_client = |(name, all): (&str, Vec<&'a CacheCourse>)| CacheStudy::of(all, set(name), compacting(name));
    let mut studies: Vec<CacheStudy<'a>> = by_client.into_iter().filter_map(of_client).collect();
    studies.sort_by_key(|study| std::cmp::Reverse(study.requests()));
    studies
}

impl<'a> CacheStudy<'a> {
    fn of(all: Vec<&'a CacheCourse>, set: LifetimesSet, compacting: Option<Compacting>) -> Option<Self> {
        let client = all.first()?.client;
        let (long, short): (Vec<_>, Vec<_>) = all.into_iter().partition(|course| course.requests() >= MIN_REQUESTS);
        let (subagents, main): (Vec<_>, Vec<_>) = long.into_iter().partition(|course| course.is_subagent);
        let [of_main, of_subagents] = set;
        let groups = [
            CacheGroup::of(main, false, of_main, compacting),
            CacheGroup::of(subagents, true, of_subagents, compacting),
        ];
        let groups: Vec<CacheGroup<'a>> = groups.into_iter().flatten().collect();
        (!groups.is_empty()).then_some(Self { client, groups, short: short.len() })
    }

    pub fn requests(&self) -> usize {
        self.groups.iter().flat_map(|group| &group.courses).map(|course| course.requests()).sum()
    }

    /// Returns how the client is set, if it can be.
    pub fn settings(&self) -> Option<CacheSettings> {
        weir_clients::recipe(self.client.name).and_then(|recipe| recipe.cache)
    }
}

impl<'a> CacheGroup<'a> {
    fn of(
        courses: Vec<&'a CacheCourse>,
        is_subagents: bool,
        set: Option<Lifetime>,
        compacting: Option<Compacting>,
    ) -> Option<Self> {
        if courses.is_empty() {
            return None;
        }
        let mut group = Self {
            is_subagents,
            now: set.unwrap_or_else(|| in_use(&courses)),
            is_set: set.is_some(),
            is_priced: courses.iter().all(|course| course.rates.dollars.is_some()),
            recorded: 0.0,
            returns: courses.iter().flat_map(|course| course.cold_returns()).collect(),
            rewritten: 0.0,
            choices: Vec::new(),
            best: None,
            courses,
        };
        group.recorded = group.sum(CacheCourse::recorded);
        group.rewritten = group.sum(|course| course.cold_returns().iter().map(|pause| pause.cost).sum());
        let lifetimes = Lifetime::ALL.into_iter().map(Choice::Lifetime);
        let choices = lifetimes.chain(compacting.map(Choice::Compact)).chain([Choice::Clear]);
        group.choices = choices.map(|choice| group.choice(choice)).collect();
        group.best = group.recommended();
        Some(group)
    }

    fn choice(&self, choice: Choice) -> ChoiceCost {
        let cost = |course: &CacheCourse| match choice {
            Choice::Lifetime(lifetime) => course.at(lifetime),
            Choice::Compact(each) => course.compacted(self.now, &each),
            Choice::Clear => course.cleared(self.now),
        };
        let now = |course: &CacheCourse| course.at(self.now);
        let changes: Vec<f64> = self.courses.iter().map(|course| share(cost(course), now(course))).collect();
        let mut projects: HashMap<&str, (f64, f64)> = HashMap::new();
        for course in &self.courses {
            let price = self.price(course);
            let sums = projects.entry(course.folder.as_str()).or_default();
            *sums = (sums.0 + cost(course) * price, sums.1 + now(course) * price);
        }
        let all = self.sum(cost);
        ChoiceCost {
            choice,
            cost: all,
            change: share(all, self.sum(now)),
            worst: changes.iter().copied().fold(0.0, f64::max),
            cheaper: changes.iter().filter(|change| **change < -SAME).count(),
            dearer: changes.iter().filter(|change| **change > SAME).count(),
            median: median(changes),
            median_project: median(projects.into_values().map(|(cost, now)| share(cost, now)).collect()),
        }
    }

    /// Returns the lifetime to recommend, if another than the one in use pays.
    fn recommended(&self) -> Option<Lifetime> {
        let pays = |cost: &&ChoiceCost| {
            cost.change <= -MIN_SAVED && cost.median <= 0.0 && cost.median_project <= 0.0 && cost.cheaper >= cost.dearer
        };
        let is_enough = self.courses.len() >= MIN_SESSIONS;
        self.choices.iter().filter(|_| is_enough).filter(pays).find_map(|cost| match cost.choice {
            Choice::Lifetime(lifetime) => Some(lifetime),
            Choice::Compact(_) | Choice::Clear => None,
        })
    }

    fn sum(&self, of: impl Fn(&CacheCourse) -> f64) -> f64 {
        self.courses.iter().map(|course| of(course) * self.price(course)).sum()
    }

    fn price(&self, course: &CacheCourse) -> f64 {
        course.rates.dollars.filter(|_| self.is_priced).unwrap_or(1.0)
    }

    /// Returns the share of the cost that was written to the cache again after pauses.
    pub fn rewritten_share(&self) -> f64 {
        if self.recorded > 0.0 { self.rewritten / self.recorded } else { 0.0 }
    }
}

/// Returns the lifetime that the newest sessions wrote most tokens for.
fn in_use(courses: &[&CacheCourse]) -> Lifetime {
    let mut newest = courses.to_vec();
    newest.sort_by_key(|course| std::cmp::Reverse(course.last()));
    let written = newest.iter().take(NEWEST_SESSIONS).map(|course| course.cached());
    let [minutes, hour] = written.fold([0, 0], |sum: [u64; 2], own| [sum[0] + own[0], sum[1] + own[1]]);
    if hour > minutes { Lifetime::Hour } else { Lifetime::Minutes }
}

fn share(cost: f64, now: f64) -> f64 {
    if now > 0.0 { cost / now - 1.0 } else { 0.0 }
}

fn median(mut changes: Vec<f64>) -> f64 {
    changes.sort_by(f64::total_cmp);
    changes.get(changes.len() / 2).copied().unwrap_or(0.0)
}
