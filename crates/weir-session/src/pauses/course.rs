//! One session with its pauses, and what it costs with a cache that lives shorter or longer.
//!
//! The model: a request reads from the cache what the request before it had, and writes the rest. After a pause longer
//! than the cache lives, it writes everything. What was cold without a pause stays cold in every case.

use weir_clients::Client;
use weir_clients::transcript::{Session, Step, Usage};
use weir_core::Timestamp;

use super::clearing;
use crate::replay::prices::Rates;

/// A shorter window, in tokens, says nothing about the cache.
pub(super) const MIN_WINDOW_TOKENS: f64 = 20_000.0;
/// The tools and the system prompt, which a compaction does not change and the cache still has, in tokens.
pub(super) const SHARED_TOKENS: f64 = 18_000.0;
/// The share of a session's first request that has to be written. Other sessions have written the rest.
const FIRST_WRITTEN_SHARE: f64 = 0.6;
/// Below this share of the window before it, what a request read from the cache says that the cache was cold.
const COLD_SHARE: f64 = 0.5;
/// The characters of a token, on average.
pub(super) const TOKEN_CHARACTERS: f64 = 3.6;

/// How long a provider keeps what is in its cache after the last use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    Minutes,
    Hour,
}

impl Lifetime {
    pub const ALL: [Self; 2] = [Self::Minutes, Self::Hour];

    /// Returns the lifetime with this written form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lifetime| lifetime.as_str() == text)
    }

    /// Returns its written form, in commands and in settings of clients.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minutes => "5m",
            Self::Hour => "1h",
        }
    }

    /// Returns its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Minutes => "5 minutes",
            Self::Hour => "1 hour",
        }
    }

    pub fn seconds(self) -> f64 {
        match self {
            Self::Minutes => 300.0,
            Self::Hour => 3_600.0,
        }
    }

    /// Returns the price of writing a token, in tokens of input.
    pub(super) fn write(self, rates: &Rates) -> f64 {
        match self {
            Self::Minutes => rates.write,
            Self::Hour => rates.write_hour,
        }
    }
}

/// A session as a row of requests with pauses between them.
pub struct CacheCourse {
    pub name: String,
    pub client: &'static Client,
    pub folder: String,
    pub is_subagent: bool,
    pub rates: Rates,
    pub(super) turns: Vec<Turn>,
    /// What clearing old results at cold moments changes, for each lifetime.
    cleared: [Vec<Change>; 2],
    /// The number of its first requests that belong to another session.
    copied: usize,
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub used: Usage,
    /// The seconds since the end of the answer before it.
    pub pause: f64,
    /// When its answer began.
    pub at: Timestamp,
    /// The tokens that the model wrote.
    pub written: f64,
    /// The number of steps before it.
    pub steps: usize,
    /// Whether the conversation was compacted since the request before it.
    pub is_compacted: bool,
    /// Whether the cache was cold without a pause.
    pub is_cold: bool,
}

/// What a way of working changes about a request.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Change {
    /// The tokens by which the window is shorter.
    pub freed: f64,
    /// The cost in addition, in tokens of input.
    pub extra: f64,
}

/// A pause after which the cache was cold, as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColdReturn {
    pub at: Timestamp,
    pub seconds: f64,
    /// The tokens that were written to the cache again.
    pub tokens: u64,
    /// What that cost beyond reading them, in tokens of input.
    pub cost: f64,
}

impl CacheCourse {
    /// Returns the course of a session. `None` if its client does not record when requests were answered.
    pub fn of(session: &Session, name: &str, rates: Rates) -> Option<Self> {
        let (turns, copied) = turns(session);
        if turns.is_empty() {
            return None;
        }
        let cleared = Lifetime::ALL.map(|lifetime| clearing::changes(session, &turns, &rates, lifetime));
        Some(Self {
            name: name.to_owned(),
            client: session.client(),
            folder: session.folder.clone(),
            is_subagent: !session.subagent.is_empty(),
            rates,
            copied,
            turns,
            cleared,
        })
    }

    /// Returns its own requests.
    pub(super) fn own(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter().skip(self.copied)
    }

    pub fn requests(&self) -> usize {
        self.own().count()
    }

    pub fn last(&self) -> Option<Timestamp> {
        self.turns.last().map(|turn| turn.at)
    }

    /// Returns what its own requests cost as they were recorded, in tokens of input.
    pub fn recorded(&self) -> f64 {
        let output = |turn: &Turn| turn.written * self.rates.output;
        self.own().map(|turn| self.rates.cost(&Usage { output: 0, ..turn.used }) + output(turn)).sum()
    }

    /// Returns the tokens that it wrote to a cache of 5 minutes, and of an hour.
    pub fn cached(&self) -> [u64; 2] {
        let sum = |of: fn(&Usage) -> u64| self.own().map(|turn| of(&turn.used)).sum();
        [sum(|used| used.cache_write), sum(|used| used.cache_write_hour)]
    }

    /// Returns the pauses after which the cache was cold, as recorded.
    pub fn cold_returns(&self) -> Vec<ColdReturn> {
        let pairs = self.turns.iter().zip(self.turns.iter().skip(1)).skip(self.copied.saturating_sub(1));
        pairs.filter_map(|(before, turn)| self.cold_return(before, turn)).collect()
    }

    fn cold_return(&self, before: &Turn, turn: &Turn) -> Option<ColdReturn> {
        let Usage { cache_write, cache_write_hour, .. } = turn.used;
        let is_paused = turn.pause > Lifetime::Minutes.seconds() && !turn.is_compacted;
        if !is_paused || before.window() <= MIN_WINDOW_TOKENS || !was_cold(before, turn) {
            return None;
        }
        let lost = before.used.window().saturating_sub(turn.used.cache_read);
        let tokens = lost.min(cache_write + cache_write_hour);
        let hour = cache_write_hour.min(tokens) as f64;
        let written = (tokens as f64 - hour) * self.rates.write + hour * self.rates.write_hour;
        let cost = written - tokens as f64 * self.rates.read;
        (tokens > 0).then_some(ColdReturn { at: turn.at, seconds: turn.pause, tokens, cost })
    }

    /// Returns what it costs with a cache of this lifetime, in tokens of input.
    pub fn at(&self, lifetime: Lifetime) -> f64 {
        self.cost(lifetime, &[])
    }

    /// The same with the proxy, if it clears old results when the cache is cold.
    pub fn cleared(&self, lifetime: Lifetime) -> f64 {
        match lifetime {
            Lifetime::Minutes => self.cost(lifetime, &self.cleared[0]),
            Lifetime::Hour => self.cost(lifetime, &self.cleared[1]),
        }
    }

    pub(super) fn cost(&self, lifetime: Lifetime, changes: &[Change]) -> f64 {
        let (read, write) = (self.rates.read, lifetime.write(&self.rates));
        let (mut cost, mut before): (f64, Option<f64>) = (0.0, None);
        for (at, turn) in self.turns.iter().enumerate() {
            let change = changes.get(at).copied().unwrap_or_default();
            let window = match change.freed > 0.0 {
                true => (turn.window() - change.freed).max(SHARED_TOKENS),
                false => turn.window(),
            };
            let cached = match before {
                None => window * (1.0 - FIRST_WRITTEN_SHARE),
                Some(_) if turn.is_compacted => window.min(SHARED_TOKENS),
                Some(_) if turn.is_cold || turn.pause > lifetime.seconds() => 0.0,
                Some(before) => window.min(before),
            };
            before = Some(window);
            if at >= self.copied {
                cost += cached * read + (window - cached) * write + turn.written * self.rates.output + change.extra;
            }
        }
        cost
    }
}

impl Turn {
    pub(super) fn window(&self) -> f64 {
        self.used.window() as f64
    }
}

fn was_cold(before: &Turn, turn: &Turn) -> bool {
    (turn.used.cache_read as f64) < COLD_SHARE * before.window()
}

/// Returns the requests whose length and time are known, and how many of the first belong to another session.
fn turns(session: &Session) -> (Vec<Turn>, usize) {
    let compactions: Vec<usize> =
        session.steps.iter().enumerate().filter_map(|(at, step)| compacted(at, step)).collect();
    let mut turns: Vec<Turn> = Vec::new();
    let (mut ended, mut copied): (Option<Timestamp>, usize) = (None, 0);
    for (nth, (used, moment)) in session.requests.iter().zip(&session.moments).enumerate() {
        let Some(at) = moment.began.filter(|_| used.window() > 0) else { continue };
        let millis = ended.map_or(0, |ended| at.0.saturating_sub(ended.0));
        ended = moment.ended.or(Some(at));
        let mut turn = Turn {
            used: *used,
            pause: millis as f64 / 1_000.0,
            at,
            written: (used.output as f64).max(moment.written as f64 / TOKEN_CHARACTERS),
            steps: moment.steps,
            is_compacted: false,
            is_cold: false,
        };
        if let Some(before) = turns.last() {
            let since = before.steps..turn.steps;
            turn.is_compacted = compactions.iter().any(|at| since.contains(at));
            let is_short = turn.pause <= Lifetime::Minutes.seconds() && before.window() > MIN_WINDOW_TOKENS;
            turn.is_cold = is_short && !turn.is_compacted && was_cold(before, &turn);
        }
        copied += usize::from(nth < session.copied.requests);
        turns.push(turn);
    }
    (turns, copied)
}

fn compacted(at: usize, step: &Step) -> Option<usize> {
    matches!(step, Step::Compacted { .. }).then_some(at)
}
