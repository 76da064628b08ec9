//! `ctx_stats`: reports what Weir did to conversations, in tokens.

mod trial;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use weir_core::wording::counted;
use weir_core::{Level, Timestamp};
use weir_store::{MeterAction, MeterRow, OutcomeSum};

use super::{Declared, Effect};
use crate::answer::Answer;
use crate::error::CommandError;
use crate::needs::KnowledgeContext;
use crate::outputs::{SeenOutputs, SeenOutputsData};
use crate::replay::report::table::{Table, number};
use crate::schema::silent;
use crate::when;

/// The length of the longest bar, in characters.
const MAX_BAR_CHARS: i64 = 30;
/// The number of days shown.
const SHOWN_DAYS: usize = 14;
/// The maximum number of sessions with a loss that are named.
const MAX_NAMED_SESSIONS: usize = 5;

/// Say what Weir kept out of conversations here, and what it cost.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Stats {
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

    const TOOL: &'static str = "ctx_stats";
    const COMMAND: Option<&'static str> = Some("stats");
    const EFFECT: Effect = Effect::Reads;
    const EXAMPLES: &'static str = "\
Examples:
  weir stats
  weir stats --since 7d --client claude-code
  weir stats --json

Every output that hooks or `weir proxy` replace is counted: the tokens that the client would have shown by itself, \
and those that the model got. What Weir says unasked and what its tools answer count as its own cost. Tool \
descriptions and prices are not included: `weir replay` works those out from your transcripts.

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

/// The tokens kept out of conversations, and those that Weir added.
#[derive(Debug, Clone, Copy, Default)]
struct TokenTotals {
    held: u64,
    given: u64,
    shown: u64,
    told: u64,
    told_times: u64,
    answered: u64,
    answers: u64,
}

impl TokenTotals {
    fn add(&mut self, row: &MeterRow) {
        let reading = &row.reading;
        match reading.what {
            MeterAction::Held => {
                self.held += reading.times;
                self.given += reading.given;
                self.shown += reading.shown;
            }
            MeterAction::Told => {
                self.told += reading.shown;
                self.told_times += reading.times;
            }
            MeterAction::Answered => {
                self.answered += reading.shown;
                self.answers += reading.times;
            }
            MeterAction::Untouched => {}
        }
    }

    /// Returns the tokens that conversations have been spared. Negative if Weir added more than it held back.
    fn net(&self) -> i64 {
        self.given.cast_signed() - (self.shown + self.told + self.answered).cast_signed()
    }

    fn data(&self) -> TotalsData {
        let Self { held, given, shown, told, told_times, answered, answers } = *self;
        TotalsData { held, given, shown, told, told_times, answered, answers, net: self.net() }
    }
}

/// What Weir kept out of conversations, and what it cost, in tokens.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StatsData {
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
pub(crate) struct ReportData {
    all: TotalsData,
    tools: BTreeMap<String, TotalsData>,
    days: BTreeMap<String, TotalsData>,
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
    sum: TotalsData,
}

/// Sums of tokens and of times.
#[derive(Debug, Serialize, JsonSchema)]
struct TotalsData {
    /// The number of outputs held back.
    held: u64,
    /// The tokens that clients would have shown of them.
    given: u64,
    /// The tokens that the model got instead.
    shown: u64,
    /// The tokens said without being asked, and how often.
    told: u64,
    told_times: u64,
    /// The tokens of answers, and how many there were.
    answered: u64,
    answers: u64,
    /// The tokens that conversations were spared; negative if Weir added more.
    net: i64,
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
        let all = self.sums(|_| ()).into_values().next().unwrap_or_default();
        let sessions = self.sums(|row| (row.session.client.clone(), row.session.key.clone()));
        let (days, tools) = (self.sums(|row| row.day), self.sums(|row| row.reading.tool.clone()));
        let lost = sessions.values().filter(|sum| sum.net() < 0).count();
        let mut parts = vec![head(&all, sessions.len(), &days), by_tool(&tools), by_day(&days)];
        parts.extend(self.outputs.as_ref().map(SeenOutputs::table));
        parts.extend((lost > 0).then(|| lossy(&sessions, lost)));
        parts.extend(self.comparison.as_ref().map(trial::Comparison::text));
        parts.push(
            "Tool descriptions and prices are not counted here: `weir replay` works them out from your transcripts."
                .to_owned(),
        );
        let of_session = |((client, session), sum): (&(String, String), &TokenTotals)| SessionTotals {
            client: client.clone(),
            session: session.clone(),
            sum: sum.data(),
        };
        let data = ReportData {
            all: all.data(),
            tools: tools.iter().map(|(tool, sum)| (tool.clone(), sum.data())).collect(),
            days: days.iter().map(|(day, sum)| (when::day(*day), sum.data())).collect(),
            sessions: sessions.iter().map(of_session).collect(),
            did_not_pay: lost,
            outputs: self.outputs.as_ref().map(SeenOutputs::data),
            comparison: self.comparison.as_ref().map(trial::Comparison::data),
        };
        Answer::new(parts.join("\n\n"), StatsData::Report(Box::new(data)))
    }

    /// Returns the sums of all rows with the same key.
    fn sums<K: Ord>(&self, key: impl Fn(&MeterRow) -> K) -> BTreeMap<K, TokenTotals> {
        let mut sums: BTreeMap<K, TokenTotals> = BTreeMap::new();
        for row in &self.rows {
            sums.entry(key(row)).or_default().add(row);
        }
        sums
    }
}

/// Names the sessions in which Weir added more than it held back.
fn lossy(sessions: &BTreeMap<(String, String), TokenTotals>, lost: usize) -> String {
    let of = counted(sessions.len(), "session", "sessions");
    let mut lines = vec![format!("{lost} of {of} did not pay:")];
    let of_loss = sessions.iter().filter(|(_, sum)| sum.net() < 0).take(MAX_NAMED_SESSIONS);
    lines.extend(of_loss.map(|((client, key), sum)| format!("  {key} ({client}): {} tokens", number(sum.net()))));
    if lost > MAX_NAMED_SESSIONS {
        lines.push(format!("  and {} more", lost - MAX_NAMED_SESSIONS));
    }
    lines.join("\n")
}

fn head(all: &TokenTotals, sessions: usize, days: &BTreeMap<Timestamp, TokenTotals>) -> String {
    let since = days.keys().next().map(|day| when::day(*day)).unwrap_or_default();
    let tokens = |tokens: u64| number(tokens.cast_signed());
    let verdict = if all.net() < 0 { "It did not pay" } else { "Net" };
    format!(
        "Since {since}, in {}: {} held back.\n\
         Clients would have shown {} tokens of them; the model got {}.\n\
         Weir's own: {} tokens said without being asked ({}), {} in {} of its tools.\n\
         {verdict}: {}{} tokens.",
        counted(sessions, "session", "sessions"),
        counted(all.held as usize, "output", "outputs"),
        tokens(all.given),
        tokens(all.shown),
        tokens(all.told),
        counted(all.told_times as usize, "time", "times"),
        tokens(all.answered),
        counted(all.answers as usize, "answer", "answers"),
        if all.net() > 0 { "+" } else { "" },
        number(all.net()),
    )
}

fn by_tool(tools: &BTreeMap<String, TokenTotals>) -> String {
    let mut table = Table::new(&["tool", "times", "without Weir", "with", "net"]);
    for (tool, sum) in tools {
        let times = sum.held + sum.told_times + sum.answers;
        let with = sum.shown + sum.told + sum.answered;
        let number_of = |tokens: u64| number(tokens.cast_signed());
        table.row([tool.clone(), number_of(times), number_of(sum.given), number_of(with), number(sum.net())]);
    }
    table.text()
}

fn by_day(days: &BTreeMap<Timestamp, TokenTotals>) -> String {
    let shown: Vec<_> = days.iter().skip(days.len().saturating_sub(SHOWN_DAYS)).collect();
    let most = shown.iter().map(|(_, sum)| sum.net().abs()).max().unwrap_or(1).max(1);
    let mut table = Table::new(&["day", "net", ""]);
    for (day, sum) in shown {
        let bar = (sum.net().abs() * MAX_BAR_CHARS / most).max(i64::from(sum.net() != 0)) as usize;
        // A day with a loss must look different even without colour.
        let bar = if sum.net() < 0 { "░" } else { "█" }.repeat(bar);
        table.row([when::day(*day), number(sum.net()), bar]);
    }
    table.text()
}
