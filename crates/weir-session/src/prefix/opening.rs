//! What a session says of its first request, of the tools it called, and of what its prefix cost.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

use weir_clients::transcript::{Part, SeenMessages, Session, Step, TimedStep, Usage};
use weir_clients::{Client, Tool};
use weir_core::Timestamp;

use crate::replay::places::TranscriptLocation;
use crate::replay::prices::{Prices, Rates};
use crate::window::CONTINUED_SHARE;

/// How the names of MCP tools begin where a script or a search names them.
const MCP_NAME: &str = "mcp__";
/// The beginnings of messages that a client writes in the user's place.
const OF_CLIENT: [&str; 2] = ["<", "# AGENTS.md"];

/// The beginning of a session, and what it cost to repeat it.
pub struct Opening {
    pub client: &'static Client,
    pub version: String,
    pub model: String,
    pub folder: String,
    pub is_subagent: bool,
    /// The tokens of the first request without the user's message. Unknown if the conversation began elsewhere.
    pub prefix: Option<u64>,
    pub requests: u64,
    /// The time of the first and of the last step.
    pub span: Option<(Timestamp, Timestamp)>,
    pub rates: Rates,
    /// The cost of all requests, in tokens of input.
    pub cost: f64,
    /// What of it was for the prefix.
    pub prefix_cost: f64,
    /// How many tokens of prefix the requests had together, and how many of them came from a cache.
    pub prefix_tokens: f64,
    pub prefix_cached: f64,
    /// How often each server was called.
    pub servers: BTreeMap<String, u64>,
    /// The tools that were called, or named in a call, by `tool_key`.
    pub named: BTreeSet<String>,
}

impl Opening {
    /// Returns the sessions of a transcript. One that cannot be read has none.
    pub fn read(
        location: &TranscriptLocation,
        prices: &Prices,
        seen: &mut SeenMessages,
    ) -> std::io::Result<Option<Vec<Self>>> {
        let mut read: HashMap<(String, String), (Session, Vec<TimedStep>)> = HashMap::new();
        let streamed = location.stream(&mut |part: Part| {
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
        })?;
        if streamed.is_none() {
            return Ok(None);
        }
        let mut openings = Vec::new();
        for (mut session, steps) in read.into_values() {
            session.find_copies(seen);
            if !session.requests.is_empty() && !session.is_copy() {
                let rates = prices.of(&session.model);
                openings.push(Self::of(&session, &steps, rates));
            }
        }
        Ok(Some(openings))
    }

    /// Returns the beginning of a session, given its steps.
    pub fn of(session: &Session, steps: &[TimedStep], rates: Rates) -> Self {
        let own = &session.requests[session.copied.requests..];
        let times = || steps.iter().filter_map(|timed| timed.at);
        let mut opening = Self {
            client: session.client(),
            version: session.version.clone(),
            model: session.model.clone(),
            folder: session.folder.clone(),
            is_subagent: !session.subagent.is_empty(),
            prefix: prefix(session, steps),
            requests: own.len() as u64,
            span: times().min().zip(times().max()),
            rates,
            cost: own.iter().map(|used| rates.cost(used)).sum(),
            prefix_cost: 0.0,
            prefix_tokens: 0.0,
            prefix_cached: 0.0,
            servers: BTreeMap::new(),
            named: BTreeSet::new(),
        };
        for used in own {
            opening.repeat(used);
        }
        steps.iter().for_each(|timed| opening.step(&timed.step));
        opening
    }

    /// Adds what the prefix cost in a request. It comes first, so that a cache has it before anything else.
    fn repeat(&mut self, used: &Usage) {
        let Some(prefix) = self.prefix else { return };
        let length = prefix.min(used.window());
        let cached = length.min(used.cache_read);
        self.prefix_tokens += length as f64;
        self.prefix_cached += cached as f64;
        let written = self.rates.written(std::slice::from_ref(used));
        self.prefix_cost += cached as f64 * self.rates.read + (length - cached) as f64 * written;
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Result(result) => {
                self.named.insert(tool_key("", &result.name));
                if let Tool::Mcp { server, .. } = (self.client.tool)(&result.name, &result.input) {
                    *self.servers.entry(server).or_default() += 1;
                }
            }
            Step::Called { given, .. } => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                let words = given.split(|c: char| !is_part(c)).filter(|word| word.starts_with(MCP_NAME));
                self.named.extend(words.map(|word| tool_key("", word)));
            }
            Step::Prompt { .. } | Step::Said { .. } | Step::Compacted { .. } => {}
        }
    }
}

/// Returns the tokens of the first request without what the user wrote.
fn prefix(session: &Session, steps: &[TimedStep]) -> Option<u64> {
    let first = session.requests.first().filter(|_| session.copied.requests == 0)?;
    let is_continued = first.cache_read as f64 >= CONTINUED_SHARE * first.window().max(1) as f64;
    if is_continued || first.window() == 0 {
        return None;
    }
    let before = steps.iter().map(|timed| &timed.step).take_while(|step| matches!(step, Step::Prompt { .. }));
    let written = before.filter_map(|step| match step {
        Step::Prompt { text } if !OF_CLIENT.iter().any(|start| text.starts_with(start)) => Some(text),
        _ => None,
    });
    let written: usize = written.map(|text| weir_tokens::count(text)).sum();
    Some(first.window().saturating_sub(written as u64))
}

/// Returns the name of a tool in a form in which all clients agree: they join server and tool in their own ways, and
/// replace characters.
pub(super) fn tool_key(server: &str, tool: &str) -> String {
    let tool = if server.is_empty() { tool.strip_prefix("mcp_").unwrap_or(tool) } else { tool };
    let mut key = String::new();
    for c in server.chars().chain(['_']).chain(tool.chars()) {
        let c = if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        if c != '_' || !(key.is_empty() || key.ends_with('_')) {
            key.push(c);
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_agree_on_the_name_of_a_tool() {
        let key = tool_key("my-server", "get_page");
        assert_eq!(key, "my_server_get_page");
        for name in ["mcp__my-server__get_page", "mcp_my-server_get_page", "my_server_get_page"] {
            assert_eq!(tool_key("", name), key, "{name}");
        }
    }
}
