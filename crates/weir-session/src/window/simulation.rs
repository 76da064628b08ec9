//! Models a session as the growth of its window, and computes its cost with compactions at other lengths.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use weir_clients::Client;
use weir_clients::transcript::{Session, Step, Usage};
use weir_core::wording::counted;

use crate::pauses::{REQUEST_TOKENS, WRITTEN_SHARE};
use crate::replay::prices::Rates;

/// How many requests after a compaction are searched for files that are read again.
const MAX_LATER_REQUESTS: usize = 40;
/// A compaction of a shorter window, in tokens, says nothing about those of long ones.
const MIN_COMPACTED_TOKENS: u64 = 50_000;
/// A window with less room than this after a compaction, in tokens, is full again within a few requests.
const MIN_ROOM_TOKENS: f64 = 20_000.0;
/// From this share of cached input on, the first request of a session continues a conversation.
pub(crate) const CONTINUED_SHARE: f64 = 0.98;

/// The tools of clients that read a file.
const READERS: [&str; 3] = ["read", "read_file", "view"];

/// What follows compactions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Aftermath {
    compactions: u64,
    /// The number of summaries that can be read, and their tokens. A client may encrypt them.
    summaries: u64,
    summary: u64,
    /// What the first requests afterwards have above what every request has, in tokens.
    carried: u64,
    /// The number of compactions in sessions that read files with a tool for it. What a shell reads is not known.
    readings: u64,
    again: u64,
    requests: u64,
}

/// What follows one compaction, on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactionCost {
    /// The tokens of the summary.
    pub summary: f64,
    /// The tokens that the next request has above what every request has: the summary, and what the client restores.
    pub carried: f64,
    /// The tokens read again, and the requests for them.
    pub again: f64,
    pub requests: f64,
}

impl Aftermath {
    /// Adds the compactions of a session in which every request has `prefix` tokens.
    pub fn add(&mut self, session: &WindowGrowth, prefix: u64) {
        let own = &session.aftermath;
        self.compactions += own.compactions;
        self.summaries += own.summaries;
        self.summary += own.summary;
        self.carried += own.carried.saturating_sub(own.compactions * prefix);
        self.readings += own.readings;
        self.again += own.again;
        self.requests += own.requests;
    }

    /// Returns what one compaction costs: measured if possible, otherwise assumed.
    pub fn means(&self) -> CompactionCost {
        let mean = |sum: u64, times: u64, assumed: f64| if times > 0 { sum as f64 / times as f64 } else { assumed };
        CompactionCost {
            summary: mean(self.summary, self.summaries, 5_000.0),
            carried: mean(self.carried, self.compactions, 13_000.0),
            again: mean(self.again, self.readings, 8_000.0),
            requests: mean(self.requests, self.readings, 5.0),
        }
    }

    pub fn compactions(&self) -> u64 {
        self.compactions
    }

    /// Says in a few words whether the figures are measured or assumed.
    pub fn basis(&self) -> String {
        let times = || counted(self.compactions as usize, "compaction", "compactions");
        match (self.compactions, self.summaries.min(self.readings)) {
            (0, _) => "assumed, since these sessions have none".to_owned(),
            (_, 0) => format!("partly assumed: {} did not show all of it", times()),
            _ => format!("measured at {}", times()),
        }
    }
}

fn path(input: &Value) -> Option<&str> {
    ["file_path", "filePath", "path", "absolute_path"].iter().find_map(|key| input[*key].as_str())
}

/// When a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Where it really was.
    Recorded,
    /// At a length, in tokens.
    At(u64),
}

/// A session as the growth of its window.
pub struct WindowGrowth {
    pub name: String,
    pub client: &'static Client,
    pub folder: String,
    pub is_subagent: bool,
    pub rates: Rates,
    /// The length of the first request, in tokens.
    pub first: u64,
    /// Whether the first request continues a conversation that the transcript does not have.
    pub is_continued: bool,
    /// The length of the longest request, in tokens.
    pub longest: u64,
    /// Where it was compacted.
    pub compactions: Vec<RecordedCompaction>,
    /// The least that a request had after a compaction, without the summary, in tokens.
    pub least_after: Option<u64>,
    /// What followed its compactions. `carried` is the length of the requests afterwards.
    aftermath: Aftermath,
    /// The later requests.
    steps: Vec<GrowthStep>,
    /// The number of its first requests that belong to another session.
    copied: usize,
}

/// A compaction that was really made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedCompaction {
    /// The number of requests before it.
    pub request: usize,
    /// The lengths of the requests before and after it, in tokens.
    pub before: u64,
    pub after: u64,
}

/// What a request adds to the window.
#[derive(Debug, Clone, Copy, Default)]
struct GrowthStep {
    /// The tokens by which the window is longer than before; negative if something was removed.
    grown: f64,
    /// The tokens that the model wrote.
    written: f64,
    /// The share of the window before that was no longer in the cache.
    cold: f64,
    /// The length of the window and what of it was read from the cache, if the conversation was compacted before.
    compacted: Option<(f64, f64)>,
    /// The tokens of files that are read again because of a compaction.
    again: Option<f64>,
}

/// The cost of a session at a length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostAtLength {
    /// The cost in tokens of input.
    pub cost: f64,
    pub parts: CostParts,
    pub compactions: u64,
    /// Whether a compaction leaves so little room that the next is due immediately.
    pub too_small: bool,
}

/// The parts of a cost, in tokens of input.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CostParts {
    pub reads: f64,
    pub writes: f64,
    /// What the model wrote.
    pub output: f64,
    /// Summaries, and what is read again after them.
    pub compacting: f64,
}

impl CostParts {
    fn sum(&self) -> f64 {
        self.reads + self.writes + self.output + self.compacting
    }
}

/// The compactions of a session, as its steps tell of them.
#[derive(Default)]
struct Compactions {
    /// The requests that came first after one.
    first_after: HashSet<usize>,
    /// The tokens that requests got by reading files again.
    again: HashMap<usize, u64>,
    /// The tokens of the summaries that can be read.
    summaries: Vec<u64>,
    /// Whether the session reads files with a tool for it.
    reads_files: bool,
}

impl Compactions {
    fn of(session: &Session) -> Self {
        let mut all = Self::default();
        let mut known: HashSet<&str> = HashSet::new();
        let (mut next, mut since): (usize, Option<usize>) = (0, None);
        for (at, step) in session.steps.iter().enumerate() {
            let is_own = at >= session.copied.steps;
            match step {
                Step::Said { request, .. } | Step::Called { request, .. } => next = next.max(request + 1),
                Step::Compacted { text } => {
                    since = Some(next);
                    all.first_after.insert(next);
                    let is_long = next.checked_sub(1).and_then(|last| session.requests.get(last));
                    let is_long = is_long.is_none_or(|used| used.window() >= MIN_COMPACTED_TOKENS);
                    if is_own && is_long && !text.is_empty() {
                        all.summaries.push(weir_tokens::count(text) as u64);
                    }
                }
                Step::Result(result) => {
                    let Some(path) = path(&result.input) else { continue };
                    let is_read = READERS.iter().any(|name| result.name.eq_ignore_ascii_case(name));
                    let is_soon = since.is_some_and(|since| next - since < MAX_LATER_REQUESTS);
                    all.reads_files |= is_read;
                    if is_soon && is_read && is_own && known.contains(path) {
                        *all.again.entry(next).or_default() += weir_tokens::count(&result.text) as u64;
                    }
                    known.insert(path);
                }
                Step::Prompt { .. } => {}
            }
        }
        all
    }
}

impl WindowGrowth {
    /// Returns the course of a session. A request without input is one whose length is unknown, and is left out.
    pub fn of(session: &Session, name: &str, rates: Rates) -> Self {
        let compactions = Compactions::of(session);
        let known = || session.requests.iter().enumerate().filter(|(_, used)| used.window() > 0);
        let copied = known().take_while(|(at, _)| *at < session.copied.requests).count();
        let first = known().next().map(|(_, used)| *used).unwrap_or_default();
        let mut growth = Self {
            name: name.to_owned(),
            client: session.client(),
            folder: session.folder.clone(),
            is_subagent: !session.subagent.is_empty(),
            // What is not read from the cache is priced as in the session, on average: a cache for an hour costs more.
            rates: Rates { write: rates.written(&session.requests), ..rates },
            first: first.window(),
            is_continued: first.cache_read as f64 >= CONTINUED_SHARE * first.window().max(1) as f64,
            longest: known().map(|(_, used)| used.window()).max().unwrap_or(0),
            compactions: Vec::new(),
            least_after: None,
            aftermath: Aftermath::default(),
            steps: Vec::new(),
            copied,
        };
        let mut is_due = false;
        for ((before, last), (at, used)) in known().zip(known().skip(1)) {
            // A transcript may tell of a compaction a little before the last request that is still long.
            is_due |= (before + 1..=at).any(|at| compactions.first_after.contains(&at));
            let is_compacted = is_due && used.window() < last.window();
            is_due &= !is_compacted;
            let again = compactions.again.get(&at).map(|tokens| *tokens as f64);
            growth.steps.push(GrowthStep { again, ..GrowthStep::between(last, used, is_compacted) });
            if is_compacted && at >= session.copied.requests {
                let made = RecordedCompaction { request: at, before: last.window(), after: used.window() };
                growth.compacted(made, &compactions);
            }
        }
        growth.aftermath.summaries = compactions.summaries.len() as u64;
        growth.aftermath.summary = compactions.summaries.iter().sum();
        if compactions.reads_files {
            growth.aftermath.readings = growth.aftermath.compactions;
            growth.aftermath.again = compactions.again.values().sum();
            growth.aftermath.requests = compactions.again.len() as u64;
        }
        growth
    }

    /// Takes in a compaction that was really made.
    fn compacted(&mut self, made: RecordedCompaction, all: &Compactions) {
        let summary = all.summaries.get(self.compactions.len()).copied().unwrap_or(0);
        let least = made.after.saturating_sub(summary);
        self.least_after = Some(self.least_after.map_or(least, |known| known.min(least)));
        if made.before >= MIN_COMPACTED_TOKENS {
            self.aftermath.compactions += 1;
            self.aftermath.carried += made.after;
        }
        self.compactions.push(made);
    }

    /// Returns the number of its own requests whose length is known.
    pub fn requests(&self) -> usize {
        self.steps.len() + usize::from(self.first > 0) - self.copied
    }

    /// Returns the cost with compactions at a limit, after each of which `prefix` tokens are left besides what it
    /// carries over.
    pub fn at(&self, limit: Limit, prefix: u64, each: &CompactionCost) -> CostAtLength {
        let Rates { write, read, output, .. } = self.rates;
        let after = prefix as f64 + each.carried + each.again;
        let (mut now, mut compactions) = (self.first as f64, 0);
        let mut parts = CostParts { writes: now * write, ..CostParts::default() };
        for (at, step) in self.steps.iter().enumerate() {
            // The requests up to here are counted with the session that they belong to.
            if at + 1 == self.copied {
                (compactions, parts) = (0, CostParts::default());
            }
            let summing_up = now * read + each.summary * WRITTEN_SHARE * output;
            match (limit, step.compacted, step.again) {
                (Limit::Recorded, Some((length, cached)), _) => {
                    compactions += 1;
                    parts.compacting += summing_up + cached * read + (length - cached) * write;
                    parts.output += step.written * output;
                    now = length;
                }
                // A request that only reads again would not have been made without a compaction.
                (Limit::At(_), _, Some(again)) => {
                    let grown = (step.grown - again).max(0.0);
                    parts.writes += grown * write;
                    parts.output += (step.written - REQUEST_TOKENS).max(0.0) * output;
                    now += grown;
                }
                _ => {
                    let kept = (now + step.grown.min(0.0)).max(prefix as f64);
                    parts.reads += kept * (1.0 - step.cold) * read;
                    parts.writes += (kept * step.cold + step.grown.max(0.0)) * write;
                    parts.output += step.written * output;
                    now = kept + step.grown.max(0.0);
                }
            }
            if matches!(limit, Limit::At(length) if now > length as f64) {
                compactions += 1;
                let summing_up = now * read + each.summary * WRITTEN_SHARE * output;
                let reading = each.requests * (after * read + REQUEST_TOKENS * output);
                parts.compacting += summing_up + (each.carried + each.again) * write + reading;
                now = after;
            }
        }
        let too_small = matches!(limit, Limit::At(length) if after + MIN_ROOM_TOKENS > length as f64);
        CostAtLength { cost: parts.sum(), parts, compactions, too_small: too_small && compactions > 0 }
    }
}

impl GrowthStep {
    /// Returns what a request adds to the one before it.
    fn between(before: &Usage, used: &Usage, is_compacted: bool) -> Self {
        let [before, length, cached] = [before.window(), used.window(), used.cache_read].map(|tokens| tokens as f64);
        let written = used.output as f64;
        if is_compacted {
            return Self { written, compacted: Some((length, cached)), ..Self::default() };
        }
        let kept = before.min(length);
        let cold = ((length - cached - (length - kept)) / kept.max(1.0)).clamp(0.0, 1.0);
        Self { grown: length - before, written, cold, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::replay::prices::Prices;

    const ASSUMED: CompactionCost =
        CompactionCost { summary: 5_000.0, carried: 13_000.0, again: 8_000.0, requests: 5.0 };

    fn read(rows: &[Value]) -> WindowGrowth {
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let read = weir_clients::transcript::read(&mut text.as_bytes()).unwrap().unwrap();
        WindowGrowth::of(&read.sessions[0], "", Prices::read(None).unwrap().of("unknown"))
    }

    /// Returns a request of Claude Code whose window has these tokens, of which so many were cached.
    fn request(number: usize, window: u64, cached: u64) -> Value {
        let usage = json!({
            "cache_creation_input_tokens": window - cached, "cache_read_input_tokens": cached, "output_tokens": 100,
        });
        let content = json!([{ "type": "text", "text": "on" }]);
        let message = json!({ "id": format!("m{number}"), "model": "m", "content": content, "usage": usage });
        json!({ "type": "assistant", "sessionId": "s", "message": message })
    }

    fn course(requests: usize, grown: u64) -> WindowGrowth {
        let length = |at: usize| 20_000 + at as u64 * grown;
        let rows: Vec<Value> =
            (0..=requests).map(|at| request(at, length(at), if at == 0 { 0 } else { length(at - 1) })).collect();
        read(&rows)
    }

    fn at(growth: &WindowGrowth, length: u64) -> CostAtLength {
        growth.at(Limit::At(length), growth.first, &ASSUMED)
    }

    #[test]
    fn a_long_session_is_cheaper_in_a_smaller_window_and_a_short_one_is_not() {
        let (long, short) = (course(400, 1_500), course(45, 1_500));
        assert!(at(&long, 80_000).cost < 0.8 * at(&long, 700_000).cost);
        assert!(at(&short, 80_000).cost > at(&short, 700_000).cost);
        assert_eq!((at(&short, 700_000).compactions, at(&short, 80_000).compactions), (0, 1));
        assert!(at(&long, 50_000).too_small && !at(&long, 80_000).too_small && !at(&short, 700_000).too_small);
        assert!(at(&long, 80_000).parts.compacting > 0.0);
    }

    #[test]
    fn a_session_as_it_was_costs_what_was_paid() {
        // The cache had gone cold at the fourth request, and something was removed before the sixth.
        let lengths =
            [(30_000, 0), (32_000, 30_000), (35_000, 32_000), (36_000, 0), (40_000, 36_000), (33_000, 20_000)];
        let rows: Vec<Value> = (0..).zip(lengths).map(|(at, (length, cached))| request(at, length, cached)).collect();
        let growth = read(&rows);
        let written: u64 = lengths.iter().map(|(length, cached)| length - cached).sum();
        let cached: u64 = lengths.iter().map(|(_, cached)| cached).sum();
        // The output of the first request is in no step.
        let paid = written as f64 * 1.25 + cached as f64 * 0.1 + 500.0 * 5.0;
        for limit in [Limit::Recorded, Limit::At(100_000)] {
            let cost = growth.at(limit, 20_000, &ASSUMED).cost;
            assert!((cost - paid).abs() < 1.0, "{cost} is not {paid}");
        }
    }

    #[test]
    fn copied_requests_cost_nothing_but_fill_the_window() {
        let (parent, both) = (course(60, 1_500), course(100, 1_500));
        let fork = WindowGrowth { copied: parent.requests(), ..course(100, 1_500) };
        assert_eq!(fork.requests(), 40);
        for length in [80_000, 500_000] {
            let [parent, both, fork] = [&parent, &both, &fork].map(|course| at(course, length));
            let sum = parent.cost + fork.cost;
            assert!((sum - both.cost).abs() < 1e-6 * sum, "{sum} is not {}", both.cost);
            assert_eq!(parent.compactions + fork.compactions, both.compactions);
        }
    }

    fn measured(growth: &WindowGrowth, prefix: u64) -> (CompactionCost, String) {
        let mut aftermath = Aftermath::default();
        aftermath.add(growth, prefix);
        (aftermath.means(), aftermath.basis())
    }

    #[test]
    fn what_a_compaction_does_not_show_is_assumed() {
        // The summary is encrypted, and a shell reads the files.
        let codex = read(&[
            json!({ "type": "session_meta", "payload": { "id": "x" } }),
            json!({ "type": "compacted", "payload": { "message": "" } }),
        ]);
        assert_eq!(measured(&codex, 0), (ASSUMED, "assumed, since these sessions have none".to_owned()));
    }

    #[test]
    fn what_follows_a_compaction_is_measured() {
        let reads = |id: &str| {
            let content = json!([{ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": "a.rs" } }]);
            move |mut row: Value| {
                row["message"]["content"] = content.clone();
                row
            }
        };
        let result = |id: &str| {
            let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": "fn main() {}" }]);
            json!({ "type": "user", "sessionId": "s", "message": { "role": "user", "content": content } })
        };
        let summary = json!({
            "type": "user", "sessionId": "s", "isCompactSummary": true,
            "message": { "role": "user", "content": "all of it" },
        });
        let rows = |before: u64| {
            vec![
                reads("1")(request(0, 30_000, 0)),
                result("1"),
                request(1, before, 30_000),
                summary.clone(),
                reads("2")(request(2, 40_000, 25_000)),
                result("2"),
                request(3, 41_000, 40_000),
            ]
        };
        let growth = read(&rows(120_000));
        let tokens = ["all of it", "fn main() {}"].map(|text| weir_tokens::count(text) as f64);
        let expected = CompactionCost { summary: tokens[0], carried: 10_000.0, again: tokens[1], requests: 1.0 };
        assert_eq!(measured(&growth, 30_000), (expected, "measured at 1 compaction".to_owned()));
        assert_eq!(growth.compactions, [RecordedCompaction { request: 2, before: 120_000, after: 40_000 }]);
        assert_eq!(growth.least_after, Some(40_000 - tokens[0] as u64));
        // A compaction of a short window, as somebody tried it out, does not count.
        assert_eq!(measured(&read(&rows(40_000)), 30_000).1, "assumed, since these sessions have none");
    }
}
