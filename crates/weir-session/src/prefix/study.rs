//! What the first request of a client consists of, and what it costs to send it again with every request.
//!
//! Invariants: a part is counted or measured, and what is neither is the rest; a tool counts as unused only if no
//! transcript that was read calls or names it.

use std::collections::BTreeMap;
use std::path::Path;

use weir_clients::Client;
use weir_core::Timestamp;
use weir_core::time::DAY;

use super::opening::{Opening, tool_key};
use super::parts::{CountedPart, CountedTool, InlineCause, PartKind};

/// How many of the newest sessions the measured length is the median of.
const MAX_MEASURED: usize = 20;
/// A shorter time than this, in days, says little about a month.
const MIN_DAYS: f64 = 7.0;
const MONTH: f64 = 30.0;

/// The first request of one client.
pub struct Prefix {
    pub client: &'static Client,
    /// The version and the model of the newest session; empty if there is none.
    pub version: String,
    pub model: String,
    /// Whether it defers the descriptions of MCP tools, if that is known. An old version may do so with the server of
    /// its maker only.
    pub defers: Option<bool>,
    /// What keeps it from deferring them.
    pub inline: Option<InlineCause>,
    pub measured: Option<Measured>,
    /// The parts that were counted, the longest first.
    pub parts: Vec<SentPart>,
    /// The number of sessions in which tools were looked for.
    pub sessions: usize,
    /// Servers that were called and are not among the parts, with the number of calls.
    pub others: Vec<(String, u64)>,
    pub pace: Option<Pace>,
}

/// The length of first requests, from transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// The median in tokens, without the user's message.
    pub tokens: u64,
    pub sessions: usize,
    /// Whether the sessions are those of this project.
    pub in_project: bool,
}

/// How often the first request is repeated, and what that costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    pub requests: u64,
    pub days: f64,
    /// What a token of it costs in a month, in US dollars; none if no price is known.
    pub dollars: Option<f64>,
    /// The same for the requests of this project, if it has some.
    pub dollars_in_project: Option<f64>,
    /// The share of it that came from a cache.
    pub cached: f64,
    /// Its share of what the sessions cost.
    pub of_price: f64,
}

/// A part, with what of it is in every request.
pub struct SentPart {
    pub part: CountedPart,
    /// The tokens in every request; none if they were not counted.
    pub sent: Option<u64>,
    /// What it costs in a month, in US dollars.
    pub monthly: Option<f64>,
    /// The tools of a server that no transcript names.
    pub unused: Vec<CountedTool>,
}

impl Prefix {
    /// Returns the prefix of a client. `openings` are its sessions, and `parts` its parts.
    pub fn of(
        client: &'static Client,
        openings: &[&Opening],
        parts: Vec<CountedPart>,
        inline: Option<InlineCause>,
        project: &Path,
    ) -> Self {
        let is_here = |opening: &Opening| !opening.folder.is_empty() && Path::new(&opening.folder).starts_with(project);
        let newest = openings.iter().max_by_key(|opening| opening.span.map(|(_, to)| to));
        let (version, model) = newest.map_or_else(Default::default, |one| (one.version.clone(), one.model.clone()));
        let known = |text| Some(text).filter(|text: &&str| !text.is_empty());
        let applies = client.defers_tools.applies(known(&version), known(&model));
        let defers = match inline {
            Some(_) => Some(false),
            None => applies.filter(|applies| *applies || client.defers_tools.since().is_none()),
        };
        let pace = Pace::of(openings, is_here);
        let mut prefix = Self {
            client,
            version,
            model,
            defers,
            inline,
            measured: measured(openings, is_here),
            parts: Vec::new(),
            sessions: openings.len(),
            others: others(openings, &parts),
            pace,
        };
        prefix.parts = parts.into_iter().map(|part| prefix.sent(part, openings)).collect();
        prefix.parts.sort_by_key(|part| std::cmp::Reverse(part.sent));
        prefix
    }

    fn sent(&self, part: CountedPart, openings: &[&Opening]) -> SentPart {
        let is_deferred = part.kind == PartKind::Server && self.defers == Some(true);
        let sent = match is_deferred {
            true => part.tokens.map(|_| part.tools.len() as u64 * self.client.defers_tools.per_tool()),
            false => part.tokens,
        };
        let per_token = self.pace.and_then(|pace| if part.in_project { pace.dollars_in_project } else { pace.dollars });
        let is_named = |tool: &CountedTool| {
            let key = tool_key(&part.name, &tool.name);
            openings.iter().any(|opening| opening.named.contains(&key))
        };
        let unused = part.tools.iter().filter(|tool| !openings.is_empty() && !is_named(tool)).cloned().collect();
        SentPart { sent, monthly: sent.zip(per_token).map(|(tokens, each)| tokens as f64 * each), unused, part }
    }

    /// Returns the tokens of all counted parts.
    pub fn counted(&self) -> u64 {
        self.parts.iter().filter_map(|part| part.sent).sum()
    }

    /// Returns what was measured and not counted; negative if more was counted than the requests had.
    pub fn rest(&self) -> Option<i64> {
        self.measured.map(|measured| measured.tokens as i64 - self.counted() as i64)
    }

    /// Says what the rest is.
    pub fn about_rest(&self) -> &'static str {
        match self.rest() {
            Some(rest) if rest < 0 => "more was counted than these requests had: something is newer than they are",
            _ => "system text, the client's own tools, and what Weir cannot see",
        }
    }

    /// Returns what some tokens cost in a month, in US dollars.
    pub fn monthly(&self, tokens: u64) -> Option<f64> {
        Some(tokens as f64 * self.pace?.dollars?)
    }
}

/// Returns the median of the newest first requests: of this project if it has some, else of all.
fn measured(openings: &[&Opening], is_here: impl Fn(&Opening) -> bool) -> Option<Measured> {
    let mut begun: Vec<&Opening> =
        openings.iter().copied().filter(|opening| !opening.is_subagent && opening.prefix.is_some()).collect();
    let in_project = begun.iter().any(|opening| is_here(opening));
    if in_project {
        begun.retain(|opening| is_here(opening));
    }
    begun.sort_by_key(|opening| std::cmp::Reverse(opening.span.map(|(_, to)| to)));
    begun.truncate(MAX_MEASURED);
    let mut lengths: Vec<u64> = begun.iter().filter_map(|opening| opening.prefix).collect();
    lengths.sort_unstable();
    let tokens = *lengths.get(lengths.len().checked_sub(1)? / 2)?;
    Some(Measured { tokens, sessions: lengths.len(), in_project })
}

/// Returns the servers that were called and are not among the parts.
fn others(openings: &[&Opening], parts: &[CountedPart]) -> Vec<(String, u64)> {
    let mut calls: BTreeMap<&str, u64> = BTreeMap::new();
    for (server, times) in openings.iter().flat_map(|opening| &opening.servers) {
        *calls.entry(server).or_default() += times;
    }
    let is_part = |server: &str| parts.iter().any(|part| tool_key(&part.name, "") == tool_key(server, ""));
    let mut others: Vec<(String, u64)> = calls
        .into_iter()
        .filter(|(server, _)| !is_part(server))
        .map(|(name, times)| (name.to_owned(), times))
        .collect();
    others.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    others
}

impl Pace {
    fn of(openings: &[&Opening], is_here: impl Fn(&Opening) -> bool) -> Option<Self> {
        let main: Vec<&Opening> = openings.iter().copied().filter(|opening| !opening.is_subagent).collect();
        let sum = |of: &dyn Fn(&Opening) -> f64| main.iter().map(|opening| of(opening)).sum::<f64>();
        let (from, to) = span(&main)?;
        let days = ((to.0 - from.0) as f64 / DAY as f64).max(MIN_DAYS);
        let requests: u64 = main.iter().map(|opening| opening.requests).sum();
        let tokens = sum(&|opening| opening.prefix_tokens);
        let dollars = |opening: &Opening| opening.rates.dollars.map_or(0.0, |each| opening.prefix_cost * each);
        let priced = sum(&|opening| opening.rates.dollars.map_or(0.0, |_| opening.prefix_tokens));
        let each = (priced > 0.0).then(|| sum(&dollars) / priced);
        let here: u64 = main.iter().filter(|opening| is_here(opening)).map(|opening| opening.requests).sum();
        let monthly = |requests: u64| each.map(|each| each * requests as f64 * MONTH / days);
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        // Sessions that began elsewhere say nothing about the share.
        let begun = sum(&|opening| opening.prefix.map_or(0.0, |_| opening.cost));
        Some(Self {
            requests,
            days,
            dollars: monthly(requests),
            dollars_in_project: monthly(here).filter(|_| here > 0),
            cached: share(sum(&|opening| opening.prefix_cached), tokens),
            of_price: share(sum(&|opening| opening.prefix_cost), begun),
        })
    }
}

fn span(openings: &[&Opening]) -> Option<(Timestamp, Timestamp)> {
    let spans = || openings.iter().filter_map(|opening| opening.span);
    spans().map(|(from, _)| from).min().zip(spans().map(|(_, to)| to).max())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::replay::prices::Rates;

    const RATES: Rates = Rates { write: 1.25, write_hour: 2.0, read: 0.1, output: 5.0, dollars: Some(1e-6) };

    /// Returns a session of Gemini CLI on a day, with 10 requests that read a prefix of 20,000 tokens from the cache.
    fn opening(day: i64, folder: &str) -> Opening {
        Opening {
            client: weir_clients::find("gemini").unwrap(),
            version: "0.61.0".to_owned(),
            model: "m".to_owned(),
            folder: folder.to_owned(),
            is_subagent: false,
            prefix: Some(20_000),
            requests: 10,
            span: Some((Timestamp(day * DAY), Timestamp(day * DAY + 1))),
            rates: RATES,
            cost: 100_000.0,
            prefix_cost: 20_000.0,
            prefix_tokens: 200_000.0,
            prefix_cached: 200_000.0,
            servers: BTreeMap::from([("depot".to_owned(), 3)]),
            named: BTreeSet::from([tool_key("tides", "read_level")]),
        }
    }

    fn server(name: &str, tools: &[&str]) -> CountedPart {
        let tools: Vec<CountedTool> =
            tools.iter().map(|name| CountedTool { name: (*name).to_owned(), tokens: 1_000 }).collect();
        CountedPart {
            client: "gemini",
            kind: PartKind::Server,
            name: name.to_owned(),
            tokens: Some(1_000 * tools.len() as u64),
            tools,
            in_project: false,
            settings: None,
            note: None,
        }
    }

    fn prefix(openings: &[Opening], parts: Vec<CountedPart>, inline: Option<InlineCause>) -> Prefix {
        let openings: Vec<&Opening> = openings.iter().collect();
        Prefix::of(weir_clients::find("gemini").unwrap(), &openings, parts, inline, Path::new("/srv/app"))
    }

    #[test]
    fn a_part_costs_its_share_of_what_repeating_the_prefix_cost() {
        // Twenty requests in ten days are sixty in a month, and each token of the prefix costs a tenth of a token.
        let openings = [opening(0, "/srv/app"), Opening { prefix: Some(22_000), ..opening(10, "/srv/app/sub") }];
        let found = prefix(&openings, vec![server("tides", &["read_level", "write_level"])], None);
        assert_eq!(found.measured, Some(Measured { tokens: 20_000, sessions: 2, in_project: true }));
        let pace = found.pace.unwrap();
        assert_eq!((pace.requests, pace.cached, pace.of_price), (20, 1.0, 0.2));
        let monthly = found.parts[0].monthly.unwrap();
        assert!((monthly - 2_000.0 * 0.1e-6 * 60.0).abs() < 1e-6, "{monthly}");
        assert_eq!(found.rest(), Some(18_000));
        assert_eq!(found.parts[0].unused.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["write_level"]);
        assert_eq!(found.others, [("depot".to_owned(), 6)]);
    }

    #[test]
    fn what_nothing_was_recorded_of_has_no_figures() {
        let found = prefix(&[], vec![server("tides", &["read_level"])], None);
        assert_eq!((found.measured, found.pace, found.rest()), (None, None, None));
        assert_eq!((found.defers, found.parts[0].sent, found.parts[0].monthly), (Some(false), Some(1_000), None));
        assert!(found.parts[0].unused.is_empty(), "no transcript could call it");
        // A subagent has another prefix, and one that continues elsewhere has none.
        let others = [Opening { is_subagent: true, ..opening(0, "") }, Opening { prefix: None, ..opening(1, "") }];
        assert_eq!(prefix(&others, Vec::new(), None).measured, None);
    }

    #[test]
    fn an_unused_server_is_removed_and_a_used_one_put_behind_the_gateway() {
        let openings: Vec<Opening> = (0..6).map(|day| opening(day, "/srv/app")).collect();
        let parts = || vec![server("tides", &["read_level", "write_level"]), server("charts", &["draw"])];
        let said = |found: &Prefix| super::super::advice(found).into_iter().map(|one| one.what).collect::<Vec<_>>();
        let found = prefix(&openings, parts(), None);
        assert_eq!(said(&found), ["weir setup gemini --gateway tides", "remove `charts` from the client's settings"]);
        let cause = InlineCause { setting: "X=1".to_owned(), fix: "unset X".to_owned(), own_tokens: 500 };
        let found = prefix(&openings, parts(), Some(cause));
        assert_eq!(said(&found), ["unset X", "remove `charts` from the client's settings"]);
        assert_eq!(super::super::advice(&found)[0].tokens, 3_500);
    }
}
