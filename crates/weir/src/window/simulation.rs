//! Models a session as the growth of its window, and computes its cost with compactions at another length.

use std::collections::HashSet;

use serde_json::Value;
use weir_clients::Client;
use weir_clients::transcript::{Session, Step, Usage};
use weir_core::wording::counted;

use crate::replay::prices::Rates;

/// What a model writes to request a text again, in tokens.
const REQUEST_TOKENS: f64 = 150.0;
/// The share of a summary that the model writes. The client adds the rest.
const WRITTEN_SHARE: f64 = 0.8;
/// A step of this many tokens or more is a file or an image from outside, not part of the conversation's growth.
const OUTSIDE_STEP_TOKENS: u64 = 40_000;
/// How many requests after a compaction are searched for files that are read again.
const MAX_LATER_REQUESTS: usize = 40;
/// A window with less room than this after a compaction is full again within a few requests.
const MIN_ROOM_TOKENS: f64 = 20_000.0;

/// The tools of clients that read a file.
const READERS: [&str; 3] = ["read", "read_file", "view"];

/// What follows a compaction, on average.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Aftermath {
    /// The number of compactions.
    compactions: u64,
    /// The number of summaries that can be read, and their tokens. A client may encrypt them.
    summaries: u64,
    summary: u64,
    /// The number of compactions in sessions that read files with a tool for it. What a shell reads is not known.
    readings: u64,
    again: u64,
    requests: u64,
}

impl Aftermath {
    /// Measures the compactions of a session: the summary, and the files that were read both before and after it.
    pub(crate) fn learn(&mut self, session: &Session) {
        let mut known: HashSet<&str> = HashSet::new();
        let mut since: Option<usize> = None;
        let mut request = 0;
        let mut asked: HashSet<usize> = HashSet::new();
        let (mut compactions, mut reads) = (0, false);
        for (at, step) in session.steps.iter().enumerate() {
            let is_own = at >= session.copied.steps;
            match step {
                Step::Said { request: at, .. } | Step::Called { request: at, .. } => request = *at,
                Step::Compacted { .. } if !is_own => since = Some(request),
                Step::Compacted { text } => {
                    compactions += 1;
                    self.summaries += u64::from(!text.is_empty());
                    self.summary += weir_tokens::count(text) as u64;
                    since = Some(request);
                }
                Step::Result(result) => {
                    let Some(path) = path(&result.input) else { continue };
                    let is_again =
                        since.is_some_and(|since| request - since < MAX_LATER_REQUESTS) && known.contains(path);
                    let is_read = READERS.iter().any(|name| result.name.eq_ignore_ascii_case(name));
                    reads |= is_read;
                    if is_again && is_read && is_own {
                        self.again += weir_tokens::count(&result.text) as u64;
                        self.requests += u64::from(asked.insert(request));
                    }
                    known.insert(path);
                }
                Step::Prompt { .. } => {}
            }
        }
        self.compactions += compactions;
        self.readings += if reads { compactions } else { 0 };
    }

    /// Adds the compactions of other sessions.
    pub(crate) fn add(&mut self, other: &Self) {
        self.compactions += other.compactions;
        self.summaries += other.summaries;
        self.readings += other.readings;
        self.summary += other.summary;
        self.again += other.again;
        self.requests += other.requests;
    }

    /// Returns the tokens of a summary, the tokens read again, and the requests for them: measured if possible,
    /// otherwise assumed.
    pub(crate) fn means(&self) -> [f64; 3] {
        let mean = |sum: u64, times: u64, assumed: f64| if times > 0 { sum as f64 / times as f64 } else { assumed };
        [
            mean(self.summary, self.summaries, 5_000.0),
            mean(self.again, self.readings, 11_000.0),
            mean(self.requests, self.readings, 5.0),
        ]
    }

    /// Returns the number of compactions.
    pub(crate) fn compactions(&self) -> u64 {
        self.compactions
    }

    /// Says in a few words whether the figures are measured or assumed.
    pub(crate) fn basis(&self) -> String {
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

/// A session as the growth of its window.
pub(crate) struct WindowGrowth {
    pub name: String,
    pub client: &'static Client,
    pub rates: Rates,
    /// The length of the first request, in tokens.
    pub base: u64,
    /// The length of the longest request, in tokens.
    pub longest: u64,
    /// What each later request added, and what the model wrote in it, in tokens.
    steps: Vec<(u64, u64)>,
    /// The number of its first requests that belong to another session.
    copied: usize,
}

/// The cost of a session at a length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CostAtLength {
    /// The cost in tokens of input.
    pub cost: f64,
    /// The same by what it is for.
    pub parts: CostParts,
    pub compactions: u64,
    /// Whether a compaction leaves so little room that the next is due immediately.
    pub too_small: bool,
}

/// The parts of a cost, in tokens of input.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct CostParts {
    /// Reads from the cache.
    pub reads: f64,
    /// Writes to the cache.
    pub writes: f64,
    /// What the model wrote.
    pub output: f64,
    /// Summaries, and what is read again after them.
    pub compacting: f64,
}

impl WindowGrowth {
    /// Returns the course of a session. A request without input is one whose length is unknown, and is left out.
    pub(crate) fn of(session: &Session, name: &str, rates: Rates) -> Self {
        let known: Vec<&Usage> = session.requests.iter().filter(|used| used.window() > 0).collect();
        let lengths: Vec<u64> = known.iter().map(|used| used.window()).collect();
        let copied = session.requests.iter().take(session.copied.requests).filter(|used| used.window() > 0).count();
        let grown = lengths.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        let grown = grown.map(|grown| if grown < OUTSIDE_STEP_TOKENS { grown } else { 0 });
        Self {
            name: name.to_owned(),
            client: session.client(),
            // Writes are priced as those of the session were, on average: a cache for an hour costs more.
            rates: Rates { write: rates.written(&session.requests), ..rates },
            base: lengths.first().copied().unwrap_or(0),
            longest: lengths.iter().copied().max().unwrap_or(0),
            steps: grown.zip(known.iter().skip(1).map(|used| used.output)).collect(),
            copied,
        }
    }

    /// Returns the number of its own requests whose length is known.
    pub(crate) fn requests(&self) -> usize {
        self.steps.len() + usize::from(self.base > 0) - self.copied
    }

    /// Returns the cost with compactions at a length.
    pub(crate) fn at(&self, length: u64, aftermath: &Aftermath) -> CostAtLength {
        let Rates { write, read, output, .. } = self.rates;
        let [summary, again, requests] = aftermath.means();
        let base = self.base as f64;
        let after = base + summary + again;
        let (mut now, mut cost, mut compactions) = (base, base * write, 0);
        let mut parts = CostParts { writes: base * write, ..CostParts::default() };
        for (at, (grown, written)) in self.steps.iter().enumerate() {
            // The requests up to here are counted with the session that they belong to.
            if at + 1 == self.copied {
                (cost, compactions, parts) = (0.0, 0, CostParts::default());
            }
            cost += now * read + *grown as f64 * write + *written as f64 * output;
            parts.reads += now * read;
            parts.writes += *grown as f64 * write;
            parts.output += *written as f64 * output;
            now += *grown as f64;
            if now > length as f64 {
                compactions += 1;
                let compacting = now * read + summary * WRITTEN_SHARE * output + (summary + again) * write;
                now = after;
                let reading = requests * (now * read + REQUEST_TOKENS * output);
                cost += compacting;
                cost += reading;
                parts.compacting += compacting + reading;
            }
        }
        CostAtLength { cost, parts, compactions, too_small: after + MIN_ROOM_TOKENS > length as f64 }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::replay::prices::Prices;

    /// Returns a session of many equal requests.
    fn course(requests: usize, grown: u64) -> WindowGrowth {
        let client = weir_clients::find("claude").unwrap();
        let rates = Prices::read(None).unwrap().of("unknown");
        let steps = vec![(grown, 100); requests];
        WindowGrowth { name: String::new(), client, rates, base: 20_000, longest: 0, steps, copied: 0 }
    }

    #[test]
    fn a_long_session_is_cheaper_in_a_smaller_window_and_a_short_one_is_not() {
        let none = Aftermath::default();
        let (long, short) = (course(400, 1_500), course(45, 1_500));
        assert!(long.at(80_000, &none).cost < 0.8 * long.at(500_000, &none).cost);
        assert!(short.at(80_000, &none).cost > short.at(500_000, &none).cost);
        assert_eq!((short.at(500_000, &none).compactions, short.at(80_000, &none).compactions), (0, 1));
        assert!(long.at(50_000, &none).too_small && !long.at(80_000, &none).too_small);
        let CostAtLength { cost, parts, .. } = long.at(80_000, &none);
        let sum = parts.reads + parts.writes + parts.output + parts.compacting;
        assert!((sum - cost).abs() < 1e-6 * cost && parts.compacting > 0.0, "{parts:?} is not {cost}");
    }

    #[test]
    fn copied_requests_cost_nothing_but_fill_the_window() {
        let none = Aftermath::default();
        let (parent, both) = (course(60, 1_500), course(100, 1_500));
        let fork = WindowGrowth { copied: parent.requests(), ..course(100, 1_500) };
        assert_eq!(fork.requests(), 40);
        for length in [80_000, 500_000] {
            let [parent, both, fork] = [&parent, &both, &fork].map(|course| course.at(length, &none));
            let sum = parent.cost + fork.cost;
            assert!((sum - both.cost).abs() < 1e-6 * sum, "{sum} is not {}", both.cost);
            assert_eq!(parent.compactions + fork.compactions, both.compactions);
        }
    }

    fn learned(rows: &[Value]) -> Aftermath {
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let read = weir_clients::transcript::read(&mut text.as_bytes()).unwrap().unwrap();
        let mut aftermath = Aftermath::default();
        read.sessions.iter().for_each(|session| aftermath.learn(session));
        aftermath
    }

    #[test]
    fn what_a_compaction_does_not_show_is_assumed() {
        // The summary is encrypted, and a shell reads the files.
        let codex = learned(&[
            json!({ "type": "session_meta", "payload": { "id": "x" } }),
            json!({ "type": "compacted", "payload": { "message": "" } }),
        ]);
        assert_eq!(codex.means(), [5_000.0, 11_000.0, 5.0]);
        assert_eq!(codex.basis(), "partly assumed: 1 compaction did not show all of it");

        let row = |kind: &str, part: Value| json!({ "sessionId": "q", "type": kind, "message": { "parts": [part] } });
        let call = json!({ "id": "1", "name": "read_file", "args": { "file_path": "a.rs" } });
        let called = row("assistant", json!({ "functionCall": call }));
        let response = json!({ "id": "1", "name": "read_file", "response": { "output": "fn main() {}" } });
        let printed = row("tool_result", json!({ "functionResponse": response }));
        let history = json!([{ "parts": [{ "text": "all of it" }] }]);
        let compacted = json!({
            "sessionId": "q", "type": "system", "subtype": "chat_compression",
            "systemPayload": { "compressedHistory": history },
        });
        let qwen = learned(&[called.clone(), printed.clone(), compacted, called, printed]);
        let tokens = ["all of it", "fn main() {}"].map(|text| weir_tokens::count(text) as f64);
        assert_eq!(qwen.means(), [tokens[0], tokens[1], 1.0]);
        assert_eq!(qwen.basis(), "measured at 1 compaction");
    }
}
