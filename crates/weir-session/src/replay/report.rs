//! The report on replayed sessions, for people and as data.

mod data;
mod full;
mod groups;
pub mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;

use weir_clients::Client;
use weir_clients::transcript::{CopiedPart, SeenMessages};
use weir_core::wording::{counted, one_line};
use weir_host::answer::Answer;

use super::figures::{CarriedIdentifiers, Figures, Judgement, Lever};
use super::prices::Rates;
use table::{Table, number, percent};

const MAX_CHARTED_SESSIONS: usize = 10;
const MAX_BAR_CHARS: f64 = 24.0;
/// What the bars of a chart are.
const BARS: &str = "█ saved  ░ lost by asking again and by tool descriptions, in parts of each session's price";
/// The longest name of a session in the chart, in characters.
const MAX_NAME_CHARS: usize = 44;

pub(super) struct ReplayedSession {
    pub name: String,
    pub path: PathBuf,
    pub client: &'static Client,
    /// The client's version, if the transcript states it.
    pub version: String,
    /// The model that answered most requests, if the transcript states it.
    pub model: String,
    pub requests: usize,
    /// The prices of the model's tokens.
    pub rates: Rates,
    pub judged: Judgement,
    pub source: SessionSource,
}

/// Where a session is among the transcripts.
pub(super) struct SessionSource {
    /// The position of its transcript.
    pub transcript: usize,
    /// Its position in the transcript.
    pub session: usize,
    /// How much of it another session has too.
    pub copied: CopiedPart,
}

/// How much of the report is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Extent {
    /// What saved how much, what was hidden, and which settings are worth a change.
    #[default]
    Short,
    /// Every table and remark.
    Full,
}

impl ReplayedSession {
    fn share(&self, price: f64) -> f64 {
        price / self.judged.cost.max(1.0)
    }

    /// Returns the price of one token of input in US dollars, if it and the cost of the session are known.
    fn dollars(&self) -> Option<f64> {
        self.rates.dollars.filter(|_| self.judged.has_cost())
    }

    /// Returns what was lost to requesting again and to tool descriptions.
    fn lost(&self) -> f64 {
        self.judged.all.again_price + self.judged.descriptions.1
    }

    /// Returns the larger of what was saved and what was lost.
    fn effect(&self) -> f64 {
        self.judged.all.saved.abs().max(self.lost())
    }

    /// Returns a bar of what was saved and lost. The bar of `most`, as a part of the price, has the full length.
    fn bar(&self, most: f64) -> String {
        let cells = |price: f64| (self.share(price) / most * MAX_BAR_CHARS).round().max(0.0) as usize;
        format!("{}{}", "█".repeat(cells(self.judged.all.saved)), "░".repeat(cells(self.lost())))
    }
}

/// Everything that was replayed, and what was not.
#[derive(Default)]
pub(super) struct ReplayReport {
    pub sessions: Vec<ReplayedSession>,
    pub skipped_rows: u64,
    /// Files that are not transcripts.
    pub others: Vec<PathBuf>,
    /// Transcripts that could not be read, with the reason.
    pub unreadable: Vec<String>,
    /// The messages of the transcripts so far.
    pub seen: SeenMessages,
    /// The number of requests that were left out because another session has them too.
    pub copied_requests: usize,
    /// The number of older transcripts that were not played.
    pub left_out: usize,
    pub prices_of: String,
    /// How many results with unseen identifiers are shown.
    pub show: usize,
    pub extent: Extent,
    /// What was found out about other settings.
    pub advice: Vec<String>,
}

/// The sum of all sessions. Prices are in tokens of input.
#[derive(Default)]
struct ReplayTotals {
    figures: Figures,
    tools: BTreeMap<&'static str, Figures>,
    levers: BTreeMap<Lever, Figures>,
    cost: f64,
    results_price: f64,
    descriptions: f64,
    guides: (u64, f64),
    carried: CarriedIdentifiers,
    net: f64,
    /// The cost and the net savings of the sessions with a price, in US dollars.
    dollars: (f64, f64),
    priced: usize,
}

impl ReplayTotals {
    fn share(&self, price: f64) -> String {
        table::signed(price / self.cost.max(1.0))
    }
}

impl ReplayReport {
    pub(super) fn answer(&self) -> Answer {
        let sum = self.sum();
        let data = data::of(self, &sum);
        if self.sessions.is_empty() {
            let none = "There are no transcripts to replay. Clients write one per session; `weir setup` needs none.";
            let text = format!("{none}\n{}", self.remarks(&sum).join("\n"));
            return Answer::nothing(text.trim_end().to_owned(), data);
        }
        let mut parts = vec![vec![self.head(&sum)], vec![self.chart()], self.hidden(&sum), self.advice.clone()];
        if self.extent == Extent::Full {
            parts.extend([vec![groups::tools(&sum)], vec![groups::levers(&sum)], vec![full::sessions(self)]]);
        }
        parts.push(self.remarks(&sum));
        let parts: Vec<String> = parts.iter().map(|part| part.join("\n")).filter(|part| !part.is_empty()).collect();
        Answer::new(parts.join("\n\n"), data)
    }

    fn sum(&self) -> ReplayTotals {
        let mut sum = ReplayTotals::default();
        for played in &self.sessions {
            let judged = &played.judged;
            sum.figures.add(&judged.all);
            judged.tools.iter().for_each(|(tool, figures)| sum.tools.entry(*tool).or_default().add(figures));
            judged.levers.iter().for_each(|(lever, figures)| sum.levers.entry(*lever).or_default().add(figures));
            sum.cost += judged.cost;
            sum.results_price += judged.results_price;
            sum.descriptions += judged.descriptions.1;
            sum.guides = (sum.guides.0 + judged.guides.0, sum.guides.1 + judged.guides.1);
            sum.carried.add(&judged.carried);
            sum.net += judged.net();
            if let Some(dollars) = played.dollars() {
                sum.dollars = (sum.dollars.0 + judged.cost * dollars, sum.dollars.1 + judged.net() * dollars);
                sum.priced += 1;
            }
        }
        sum
    }

    fn head(&self, sum: &ReplayTotals) -> String {
        let mut clients: Vec<(&str, usize)> = Vec::new();
        for played in &self.sessions {
            match clients.iter_mut().find(|(title, _)| *title == played.client.title) {
                Some((_, count)) => *count += 1,
                None => clients.push((played.client.title, 1)),
            }
        }
        let clients: Vec<String> = clients.iter().map(|(title, count)| format!("{title} {count}")).collect();
        let sessions = counted(self.sessions.len(), "session", "sessions");
        let requests: usize = self.sessions.iter().map(|played| played.requests).sum();
        let what = match sum.net {
            _ if sum.cost <= 0.0 => "would have changed their cost by an unknown amount".to_owned(),
            net if net > 0.0 => format!("would have saved {} of their cost", percent(net / sum.cost.max(1.0))),
            net => format!("would have cost {} more", percent(-net / sum.cost.max(1.0))),
        };
        let money = match sum.priced {
            0 => String::new(),
            _ => format!(" ({} of {})", dollars(sum.dollars.1), dollars(sum.dollars.0)),
        };
        format!("In {sessions} ({}) with {} requests, Weir {what}{money}.", clients.join(", "), number(requests as i64))
    }

    /// Returns the sessions with a price, the largest effect first.
    fn by_effect(&self) -> Vec<&ReplayedSession> {
        let mut sessions: Vec<&ReplayedSession> = self.sessions.iter().filter(|one| one.judged.has_cost()).collect();
        sessions.sort_by(|one, other| other.effect().total_cmp(&one.effect()));
        sessions
    }

    /// Returns a chart of what the sessions with the largest effect would have saved and lost.
    fn chart(&self) -> String {
        let sessions = self.by_effect();
        let shown = &sessions[..sessions.len().min(MAX_CHARTED_SESSIONS)];
        if shown.is_empty() {
            return String::new();
        }
        let most = shown.iter().map(|played| played.share(played.effect())).fold(f64::EPSILON, f64::max);
        let mut table = Table::new(&["session", "net", ""]);
        for played in shown {
            let net = table::signed(played.share(played.judged.net()));
            table.row([one_line(&played.name, MAX_NAME_CHARS), net, played.bar(most)]);
        }
        let others = match sessions.len() - shown.len() {
            0 => String::new(),
            left => format!("; {} had less effect", counted(left, "other session", "other sessions")),
        };
        format!("{}\n{BARS}{others}", table.text())
    }

    /// Says what would have been hidden, and whether the model needed it.
    fn hidden(&self, sum: &ReplayTotals) -> Vec<String> {
        [vec![shorter(&sum.figures), needed(&sum.figures)], self.unseen()].concat()
    }

    /// Lists the results of which something was used later that could not be seen, most identifiers first.
    fn unseen(&self) -> Vec<String> {
        let mut unseen: Vec<_> = self.sessions.iter().flat_map(|played| &played.judged.unseen).collect();
        unseen.sort_by_key(|unseen| std::cmp::Reverse(unseen.hidden));
        let mut lines: Vec<String> = unseen
            .iter()
            .take(self.show)
            .map(|unseen| {
                let (before, after) = unseen.tokens;
                format!(
                    "  {} {}\n    {} tokens became {}; {} of {} used later not visible: {}",
                    unseen.tool,
                    unseen.given,
                    number(before as i64),
                    number(after as i64),
                    unseen.hidden,
                    unseen.used,
                    unseen.names.join(", "),
                )
            })
            .collect();
        if !lines.is_empty() {
            lines.insert(0, "Used later and not visible:".to_owned());
        }
        lines
    }

    fn remarks(&self, sum: &ReplayTotals) -> Vec<String> {
        let mut remarks = match self.extent {
            Extent::Full => full::remarks(self, sum),
            Extent::Short if self.sessions.is_empty() => Vec::new(),
            Extent::Short => self.price_remarks(sum),
        };
        remarks.extend(copied_requests(self.copied_requests));
        if self.left_out > 0 {
            remarks.push(format!(
                "{} not replayed; --newest N replays more.",
                counted(self.left_out, "older transcript was", "older transcripts were")
            ));
        }
        if self.skipped_rows > 0 {
            remarks.push(format!(
                "{} skipped: not in a known format, or too long.",
                counted(self.skipped_rows as usize, "row was", "rows were")
            ));
        }
        if !self.others.is_empty() {
            remarks.push(format!(
                "{}.",
                counted(self.others.len(), "file is not a transcript", "files are not transcripts")
            ));
        }
        remarks.extend(self.unreadable.iter().map(|problem| format!("Cannot read {problem}")));
        let faults: Vec<&String> = self.sessions.iter().flat_map(|played| &played.judged.faults).collect();
        if let Some(first) = faults.first() {
            remarks.push(format!(
                "✗ {} failed; their results count as not touched. First failure: {first}",
                counted(faults.len(), "hook", "hooks")
            ));
        }
        if self.extent == Extent::Short && !self.sessions.is_empty() {
            remarks.push("`--full` adds the tables by tool, by means and by session.".to_owned());
        }
        remarks
    }

    /// Returns remarks on prices, and on what is not priced.
    fn price_remarks(&self, sum: &ReplayTotals) -> Vec<String> {
        let mut remarks = Vec::new();
        let count = |is_it: fn(&ReplayedSession) -> bool| self.sessions.iter().filter(|played| is_it(played)).count();
        let costless = count(|played| !played.judged.has_cost());
        if costless > 0 {
            let sessions = counted(costless, "session does", "sessions do");
            remarks
                .push(format!("{sessions} not say how many tokens the requests had: no price or share counts them."));
        }
        let unpriced = count(|played| played.rates.dollars.is_none());
        if unpriced > 0 {
            let unpriced = counted(unpriced, "session has", "sessions have");
            remarks.push(format!(
                "{unpriced} a model without a known price: relative prices (cache write 1.25, cache read 0.1, output 5 times the input) \
                 are used instead, and the dollar figures leave it out."
            ));
        }
        if sum.priced > 0 {
            remarks.push(format!("Prices as of {}; `--prices FILE` uses others.", self.prices_of));
        }
        remarks
    }
}

/// Says how much shorter the results of tools would have been.
fn shorter(figures: &Figures) -> String {
    let Figures { results, tokens, touched, less, .. } = *figures;
    format!(
        "{} of {} tool results would have been shown shorter: {} tokens instead of {}. What is left out stays stored.",
        number(touched as i64),
        number(results as i64),
        number(tokens as i64 - less),
        number(tokens as i64),
    )
}

/// Says whether the model would have missed something.
fn needed(figures: &Figures) -> String {
    let Figures { used, unseen, again, .. } = *figures;
    match (used, unseen) {
        (0, _) => "Nothing of what would have been left out was used later.".to_owned(),
        (_, 0) => {
            let names = counted(usize::try_from(used).unwrap_or(usize::MAX), "name or number", "names and numbers");
            format!("The model later used {names} of them, and would still have seen every one.")
        }
        _ => format!(
            "Of {} that the model later used of them, it would still have seen {}; for the others, it would have asked again \
             {}.",
            counted(usize::try_from(used).unwrap_or(usize::MAX), "name or number", "names and numbers"),
            number((used - unseen) as i64),
            counted(usize::try_from(again).unwrap_or(usize::MAX), "time", "times"),
        ),
    }
}

pub fn progress(at: usize, of: usize, name: &str) -> String {
    let done = at * 20 / of.max(1);
    format!("[{}{}] {at}/{of} {}", "#".repeat(done), "-".repeat(20 - done), one_line(name, MAX_NAME_CHARS))
}

/// Returns a remark on the requests that several transcripts have.
pub fn copied_requests(count: usize) -> Option<String> {
    let requests = || counted(count, "request that a fork repeats is", "requests that forks repeat are");
    (count > 0).then(|| format!("{} counted once.", requests()))
}

/// Formats an amount of US dollars.
pub fn dollars(dollars: f64) -> String {
    let sign = if dollars < 0.0 { "−" } else { "" };
    format!("{sign}${:.2}", dollars.abs())
}
