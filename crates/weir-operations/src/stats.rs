//! `ctx_stats`: reports what Weir did to conversations, in tokens.

pub mod account;
mod trial;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use weir_core::wording::counted;
use weir_core::{Level, Timestamp};
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_host::when;
use weir_session::outputs::{SeenOutputs, SeenOutputsData};
use weir_session::replay::report::table::{Table, number};
use weir_store::{MeterAction, MeterRow, OutcomeSum};

use self::account::Account;
use super::{Declared, Effect};
use crate::needs::KnowledgeContext;
use crate::schema::silent;

/// The length of the longest bar, in characters.
const MAX_BAR_CHARS: i64 = 30;
const SHOWN_DAYS: usize = 14;
/// The maximum number of sessions with a loss that are named.
const MAX_NAMED_SESSIONS: usize = 5;

/// Say what Weir kept out of conversations here, and what it cost.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub struct Stats {
    /// Only since: 3d, 2w or a date; includes the whole day (UTC)
    #[schemars(transform = silent)]
    #[arg(long, value_name = "WHEN")]
    #[serde(default)]
    since: Option<String>,
    /// Only this client, such as claude-code
    #[schemars(transform = silent)]
    #[arg(long)]
    #[serde(default)]
    client: Option<String>,
}

impl Declared for Stats {
    type Context = KnowledgeContext;
    type Data = StatsData;

    const TOOL: &'static str = weir_tools::STATS.name;
    const COMMAND: Option<&'static str> = Some("stats");
    const EFFECT: Effect = weir_tools::STATS.effect;
    const EXAMPLES: &'static str = "\
Examples:
  weir stats
  weir stats --since 7d --client claude-code
  weir stats --json

Every output that hooks or `weir proxy` replace is counted: its tokens, those that the client would have shown of it \
by itself, and those that the model got. What a program printed that Weir's tools ran counts as if the client's own \
shell had run it; if it is not known how much that shows, 30,000 characters are assumed. What Weir says unasked and \
what its tools answer count as its own cost. Tool descriptions and prices are not included: `weir replay` works those \
out from your transcripts.

Hooks also count the outputs that they left alone, and why, for 90 days. What passes through `weir proxy` is not among \
them.";

    async fn run(self, context: &KnowledgeContext) -> Result<Answer<StatsData>, CommandError> {
        let since = self.since.as_deref().map(|text| when::parse_utc(text, when::now())).transpose()?;
        let (mut rows, mut seen) = context
            .with_stores(move |open| {
                let Some(store) = open.existing(Level::Project)? else { return Ok((Vec::new(), Vec::new())) };
                Ok((store.metered(since)?, store.outcomes(since)?))
            })
            .await?;
        rows.retain(|row| self.client.as_ref().is_none_or(|client| row.session.client == *client));
        seen.retain(|sum| self.client.as_ref().is_none_or(|client| is_of(sum, client)));
        let outputs = SeenOutputs::of(&seen);
        if rows.is_empty() {
            let is_filtered = since.is_some() || self.client.is_some();
            let scope = if is_filtered { "that matches the filters" } else { "here yet" };
            let text = match &outputs {
                Some(outputs) => format!("Nothing was held back, told or asked for {scope}.\n\n{}", outputs.table()),
                None if is_filtered => format!("nothing was held back, told or asked for {scope}: remove a filter"),
                None => {
                    format!("nothing was held back, told or asked for {scope}; `weir` says which clients are connected")
                }
            };
            let outputs = outputs.as_ref().map(SeenOutputs::data);
            return Ok(Answer::nothing(text, StatsData::Nothing { sessions: 0, outputs }));
        }
        let comparison = trial::Arms::of(&rows).map(|arms| arms.compare(context)).transpose()?.flatten();
        rows.retain(|row| row.reading.what != MeterAction::Untouched);
        Ok(StatsReport { rows, comparison, outputs }.answer())
    }
}

/// Whether these outputs are of a client, by the name that its sessions have.
fn is_of(sum: &OutcomeSum, client: &str) -> bool {
    weir_clients::find(&sum.client).is_some_and(|found| found.session == client)
}

/// What Weir kept out of conversations, and what it cost, in tokens.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StatsData {
    /// Nothing was recorded.
    Nothing {
        /// Always 0.
        sessions: usize,
        /// The outputs that hooks saw.
        outputs: Option<SeenOutputsData>,
    },
    /// What was recorded.
    Report(Box<ReportData>),
}

/// What was recorded: all of it, and the same by tool, by day and by session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportData {
    all: Account,
    tools: BTreeMap<String, Account>,
    days: BTreeMap<String, Account>,
    sessions: Vec<SessionTotals>,
    /// The number of sessions in which Weir added more than it held back.
    did_not_pay: usize,
    /// The outputs that hooks saw, and what became of them.
    outputs: Option<SeenOutputsData>,
    /// The comparison with sessions that were left alone.
    comparison: Option<trial::ComparisonData>,
}

/// The sums of one session.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionTotals {
    client: String,
    session: String,
    sum: Account,
}

struct StatsReport {
    rows: Vec<MeterRow>,
    /// The comparison with sessions that were left alone, if there are any.
    comparison: Option<trial::Comparison>,
    /// The outputs that hooks saw, if there are any.
    outputs: Option<SeenOutputs>,
}

impl StatsReport {
    fn answer(&self) -> Answer<StatsData> {
        let all = Account::of(&self.rows);
        let sessions = self.sums(|row| (row.session.client.clone(), row.session.key.clone()));
        let (days, tools) = (self.sums(|row| row.day), self.sums(|row| row.reading.tool.clone()));
        let lost = sessions.values().filter(|sum| sum.net < 0).count();
        let mut parts = vec![head(&all, sessions.len(), &days), by_tool(&tools), by_day(&days)];
        parts.extend(self.outputs.as_ref().map(SeenOutputs::table));
        parts.extend((lost > 0).then(|| lossy(&sessions, lost)));
        parts.extend(self.comparison.as_ref().map(trial::Comparison::text));
        parts.push(
            "Tool descriptions and prices are not counted here: `weir replay` works them out from your transcripts."
                .to_owned(),
        );
        let of_session = |((client, session), sum): (&(String, String), &Account)| SessionTotals {
            client: client.clone(),
            session: session.clone(),
            sum: *sum,
        };
        let data = ReportData {
            all,
            tools,
            days: days.iter().map(|(day, sum)| (when::day(*day), *sum)).collect(),
            sessions: sessions.iter().map(of_session).collect(),
            did_not_pay: lost,
            outputs: self.outputs.as_ref().map(SeenOutputs::data),
            comparison: self.comparison.as_ref().map(trial::Comparison::data),
        };
        Answer::new(parts.join("\n\n"), StatsData::Report(Box::new(data)))
    }

    fn sums<K: Ord>(&self, key: impl Fn(&MeterRow) -> K) -> BTreeMap<K, Account> {
        let mut sums: BTreeMap<K, Account> = BTreeMap::new();
        for row in &self.rows {
            let sum = sums.entry(key(row)).or_default();
            *sum = sum.with(row);
        }
        sums
    }
}

/// Names the sessions in which Weir added more than it held back.
fn lossy(sessions: &BTreeMap<(String, String), Account>, lost: usize) -> String {
    let of = counted(sessions.len(), "session", "sessions");
    let mut lines = vec![format!("{lost} of {of} did not pay:")];
    let of_loss = sessions.iter().filter(|(_, sum)| sum.net < 0).take(MAX_NAMED_SESSIONS);
    lines.extend(of_loss.map(|((client, key), sum)| format!("  {key} ({client}): {} tokens", number(sum.net))));
    if lost > MAX_NAMED_SESSIONS {
        lines.push(format!("  and {} more", lost - MAX_NAMED_SESSIONS));
    }
    lines.join("\n")
}

fn head(all: &Account, sessions: usize, days: &BTreeMap<Timestamp, Account>) -> String {
    let since = days.keys().next().map(|day| when::day(*day)).unwrap_or_default();
    let tokens = |tokens: u64| number(tokens.cast_signed());
    let verdict = if all.net < 0 { "It did not pay" } else { "Net" };
    format!(
        "Since {since}, in {}: {} held back, {} tokens of output → {}.\n\
         Clients would have shown {} tokens of them by themselves.\n\
         Weir's own: {} tokens said without being asked ({}), {} in {} of its tools.\n\
         Asked for again: {} tokens in {}.\n\
         {verdict}: {}{} tokens.",
        counted(sessions, "session", "sessions"),
        counted(all.held as usize, "output", "outputs"),
        tokens(all.output),
        tokens(all.shown),
        tokens(all.given),
        tokens(all.told),
        counted(all.told_times as usize, "time", "times"),
        tokens(all.answered),
        counted(all.answers as usize, "answer", "answers"),
        tokens(all.again),
        counted(all.again_answers as usize, "answer", "answers"),
        if all.net > 0 { "+" } else { "" },
        number(all.net),
    )
}

fn by_tool(tools: &BTreeMap<String, Account>) -> String {
    let mut table = Table::new(&["tool", "times", "output", "without Weir", "with", "net"]);
    for (tool, sum) in tools {
        let figures = [sum.times(), sum.output, sum.given, sum.with_weir()].map(|figure| number(figure.cast_signed()));
        let [times, output, without, with] = figures;
        table.row([tool.clone(), times, output, without, with, number(sum.net)]);
    }
    table.text()
}

fn by_day(days: &BTreeMap<Timestamp, Account>) -> String {
    let shown: Vec<_> = days.iter().skip(days.len().saturating_sub(SHOWN_DAYS)).collect();
    let most = shown.iter().map(|(_, sum)| sum.net.abs()).max().unwrap_or(1).max(1);
    let mut table = Table::new(&["day", "net", ""]);
    for (day, sum) in shown {
        let bar = (sum.net.abs() * MAX_BAR_CHARS / most).max(i64::from(sum.net != 0)) as usize;
        // A day with a loss must look different even without colour.
        let bar = if sum.net < 0 { "░" } else { "█" }.repeat(bar);
        table.row([when::day(*day), number(sum.net), bar]);
    }
    table.text()
}
