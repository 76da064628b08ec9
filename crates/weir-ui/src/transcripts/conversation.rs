//! One conversation of a transcript, in numbers. Invariant: no text of it is kept but its title.

use std::collections::HashMap;
use std::ops::ControlFlow;

use weir_clients::Client;
use weir_clients::transcript::{Part, Session, Step, TimedStep, ToolResult, Usage};
use weir_core::guide::says_little;
use weir_core::prose::first_sentence;
use weir_core::wording::one_line;
use weir_core::{Reference, Timestamp};
use weir_hook::hold::HELD_AS;
use weir_operations::OPERATIONS;
use weir_pages::session::Compaction;
use weir_session::pauses::CacheCourse;
use weir_session::prefix::Opening;
use weir_session::replay::places::TranscriptLocation;
use weir_session::replay::prices::{Prices, Rates};
use weir_session::window::WindowGrowth;

const MAX_TITLE_CHARS: usize = 120;
/// How many lines around a line that is asked for with `~` an answer shows.
const LINES_AROUND: u64 = 15;

/// A conversation, of a session with the user or of one of its subagents.
pub(crate) struct Conversation {
    pub(crate) client: &'static Client,
    pub(crate) key: String,
    pub(crate) is_subagent: bool,
    /// Its first request that says something; empty if there is none.
    pub(crate) title: String,
    pub(crate) folder: String,
    pub(crate) requests: Vec<Request>,
    /// The requests with a prompt of the user, from 1.
    pub(crate) prompts: Vec<u64>,
    /// The requests after which a tool failed.
    pub(crate) errors: Vec<u64>,
    pub(crate) held: Vec<ShownInstead>,
    /// What the model asked for again.
    pub(crate) asked: Vec<Asked>,
    /// The prices of its model.
    pub(crate) rates: Rates,
    /// The average price of writing a token to the cache, in tokens of input.
    written: f64,
    pub(crate) growth: WindowGrowth,
    pub(crate) opening: Opening,
    /// Its pauses, if the client records when requests were answered.
    pub(crate) pauses: Option<CacheCourse>,
}

pub(crate) struct Request {
    /// When it was answered, if the client records that.
    pub(crate) at: Option<Timestamp>,
    /// The length of the window that was sent, in tokens.
    pub(crate) window: u64,
    /// Its cost, in tokens of input.
    cost: f64,
}

/// What the model got in place of an output.
pub(crate) struct ShownInstead {
    /// The entry with the output; none if the text does not name it.
    pub(crate) reference: Option<Reference>,
    /// The request after which it was held back, from 1.
    pub(crate) request: u64,
    pub(crate) tokens: u64,
}

/// A stored text that the model asked for again.
pub(crate) struct Asked {
    pub(crate) reference: Reference,
    /// The first and the last line, if lines were named.
    pub(crate) lines: Option<(u64, u64)>,
    /// The request in which it asked, from 1.
    pub(crate) request: u64,
    pub(crate) tokens: u64,
}

/// Reads the conversations of a transcript. One that cannot be read has none.
pub(super) fn read(location: &TranscriptLocation, prices: &Prices) -> Vec<Conversation> {
    let mut read: HashMap<(String, String), (Session, Vec<TimedStep>)> = HashMap::new();
    let _ = location.stream(&mut |part: Part| {
        let key = (part.session.key.clone(), part.session.subagent.clone());
        match read.get_mut(&key) {
            // The last part has the requests and the model.
            Some((session, steps)) => {
                *session = part.session;
                steps.extend(part.steps);
            }
            None => drop(read.insert(key, (part.session, part.steps))),
        }
        ControlFlow::Continue(())
    });
    let conversations = read.into_values().filter(|(session, _)| !session.requests.is_empty());
    conversations.map(|(session, steps)| Conversation::of(session, steps, location, prices)).collect()
}

impl Conversation {
    fn of(mut session: Session, steps: Vec<TimedStep>, location: &TranscriptLocation, prices: &Prices) -> Self {
        let rates = prices.of(&session.model);
        session.steps = steps.iter().map(|timed| timed.step.clone()).collect();
        let growth = WindowGrowth::of(&session, &location.name, rates);
        let pauses = CacheCourse::of(&session, &location.name, rates);
        session.steps = Vec::new();
        let request = |used: &Usage| Request { at: None, window: used.window(), cost: rates.cost(used) };
        let mut conversation = Self {
            client: session.client(),
            key: session.key.clone(),
            is_subagent: !session.subagent.is_empty(),
            title: String::new(),
            folder: session.folder.clone(),
            requests: session.requests.iter().map(request).collect(),
            prompts: Vec::new(),
            errors: Vec::new(),
            held: Vec::new(),
            asked: Vec::new(),
            rates,
            written: rates.written(&session.requests),
            growth,
            pauses,
            opening: Opening::of(&session, &steps, rates),
        };
        let mut begun = 0;
        for step in &steps {
            conversation.step(step, &mut begun);
        }
        conversation
    }

    /// Takes in a step. `begun` is how many requests were made so far.
    fn step(&mut self, timed: &TimedStep, begun: &mut usize) {
        match &timed.step {
            Step::Said { request, .. } | Step::Called { request, .. } => {
                *begun = (*begun).max(request + 1);
                if let Some(request) = self.requests.get_mut(*request) {
                    request.at = request.at.or(timed.at);
                }
            }
            Step::Prompt { text } => {
                self.prompts.push(*begun as u64 + 1);
                let is_written = self.title.is_empty() && !text.starts_with('<');
                if let Some(title) = first_sentence(text).filter(|title| is_written && !says_little(title)) {
                    self.title = one_line(title, MAX_TITLE_CHARS);
                }
            }
            Step::Compacted { .. } => {}
            Step::Result(result) => self.result(result, *begun as u64),
        }
    }

    fn result(&mut self, result: &ToolResult, request: u64) {
        if result.failed {
            self.errors.push(request);
        }
        if let Some((_, rest)) = result.text.split_once(HELD_AS) {
            let reference = rest.split(']').next().and_then(|text| Reference::parse(text).ok());
            let tokens = weir_tokens::count(&result.text) as u64;
            self.held.push(ShownInstead { reference, request, tokens });
        }
        let is_get =
            OPERATIONS.iter().any(|operation| operation.follows_references && result.name.ends_with(operation.tool));
        let reference = result.input["ref"].as_str().filter(|_| is_get).and_then(|text| Reference::parse(text).ok());
        if let Some(reference) = reference {
            let lines = result.input["lines"].as_str().and_then(lines);
            let tokens = weir_tokens::count(&result.text) as u64;
            self.asked.push(Asked { reference, lines, request, tokens });
        }
    }

    /// Returns what the conversation has cost in US dollars between two times. Returns `None` if a price or a time is
    /// not known.
    pub(crate) fn spent(&self, since: Timestamp, until: Timestamp) -> Option<f64> {
        let dollars = self.rates.dollars?;
        let is_all = since.0 == i64::MIN && until.0 == i64::MAX;
        self.requests.iter().try_fold(0.0, |sum, request| match request.at {
            Some(at) if since <= at && at < until => Some(sum + request.cost * dollars),
            Some(_) => Some(sum),
            None if is_all => Some(sum + request.cost * dollars),
            None => None,
        })
    }

    /// Returns what a token in the window costs in US dollars, on average: it is written to the cache once, and read by
    /// each later request until the next compaction.
    pub(crate) fn dollars_per_token(&self) -> Option<f64> {
        let all = self.requests.len();
        let ends = self.growth.compactions.iter().map(|made| made.request).chain([all]);
        let (mut pairs, mut start) = (0.0, 0);
        for end in ends {
            let length = end.min(all).saturating_sub(start) as f64;
            pairs += length * (length - 1.0).max(0.0) / 2.0;
            start = start.max(end.min(all));
        }
        let later = pairs / (all as f64).max(1.0);
        Some((self.written + self.rates.read * later) * self.rates.dollars?)
    }

    /// Returns the compactions, each with the last request before it.
    pub(crate) fn compactions(&self) -> impl Iterator<Item = Compaction> {
        let made = self.growth.compactions.iter();
        made.map(|made| Compaction { request: made.request as u64, before: made.before, after: made.after })
    }

    /// Returns the request during which something happened, from 1. A prompt belongs to the request that follows it.
    pub(crate) fn request_at(&self, at: Timestamp, is_prompt: bool) -> Option<u64> {
        let before = self.requests.iter().rposition(|request| request.at.is_some_and(|sent| sent <= at));
        match before {
            Some(before) => Some(before as u64 + 1 + u64::from(is_prompt)),
            None => self.requests.first()?.at.map(|_| 1),
        }
    }

    /// Returns what the next request costs at least: the whole window, read from the cache.
    pub(crate) fn next_request(&self) -> Option<f64> {
        Some(self.window_now()? as f64 * self.rates.read * self.rates.dollars?)
    }

    /// Returns the length of the window of the last request, in tokens.
    pub(crate) fn window_now(&self) -> Option<u64> {
        self.requests.last().map(|request| request.window).filter(|window| *window > 0)
    }
}

/// Returns the lines that were asked for: `10-40`, `10` or `~120`.
fn lines(text: &str) -> Option<(u64, u64)> {
    if let Some(line) = text.trim().strip_prefix('~') {
        let line: u64 = line.trim().parse().ok()?;
        return Some((line.saturating_sub(LINES_AROUND).max(1), line.saturating_add(LINES_AROUND)));
    }
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from <= to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_asked_for() {
        let check = |text: &str, expected: Option<(u64, u64)>| assert_eq!(lines(text), expected, "{text}");
        check("10-40", Some((10, 40)));
        check(" 7 ", Some((7, 7)));
        check("~20", Some((5, 35)));
        check("~3", Some((1, 18)));
        for text in ["", "-20", "10-", "b0-40", "40-10", "x"] {
            check(text, None);
        }
    }
}
