//! `ctx_history`: lists what happened, in order.

use serde_json::{Value, json};
use weir_core::{EventKind, Reference, Timestamp};
use weir_store::{HistoryFilter, Moment, SessionSummary};

use super::{Declared, Effect, random_mark};
use crate::answer::{Answer, Budget, fit_items, one_line};
use crate::choice::Choice;
use crate::error::CommandError;
use crate::needs::KnowledgeContext;
use crate::schema::silent;
use crate::{sessions, when};

/// The default budget of an answer, in tokens.
const DEFAULT_BUDGET: usize = 1_000;

/// List past events, newest first.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct History {
    /// Only this session: current, last or a session key
    #[schemars(transform = silent)]
    #[arg(long)]
    session: Option<String>,
    /// Only this work, such as a branch
    #[schemars(transform = silent)]
    #[arg(long)]
    work: Option<String>,
    /// Only this client, such as claude-code
    #[schemars(transform = silent)]
    #[arg(long)]
    client: Option<String>,
    /// Only this kind of event
    #[schemars(transform = silent)]
    #[arg(long)]
    kind: Option<Choice<EventKind>>,
    /// Only since: 6h, 3d or a date
    #[schemars(transform = silent)]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only this day (UTC)
    #[schemars(transform = silent)]
    #[arg(long, value_name = "DATE", conflicts_with = "since")]
    day: Option<String>,
    /// List sessions with their first request instead
    #[schemars(transform = silent)]
    #[arg(long, conflicts_with_all = ["kind", "work", "day", "since", "before"])]
    #[serde(default)]
    sessions: bool,
    /// Number, for the next page
    #[arg(long, value_name = "NUMBER")]
    before: Option<u32>,
    /// Maximum number to list [default: 30]
    #[schemars(transform = silent)]
    #[arg(long, value_name = "N")]
    limit: Option<u16>,
    /// Maximum tokens in the answer [default: 1000]
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u32>,
}

impl Declared for History {
    type Context = KnowledgeContext;
    type Data = Value;

    const TOOL: &'static str = "ctx_history";
    const COMMAND: Option<&'static str> = Some("history");
    const EFFECT: Effect = Effect::Reads;
    const EXAMPLES: &'static str = "\
Examples:
  weir history
  weir history --session last --kind error
  weir history --work feature/login --since 2d
  weir history --sessions           lists sessions, newest first
  weir history --before 4711        shows the page before event 4711";

    async fn run(self, context: &KnowledgeContext) -> Result<Answer, CommandError> {
        let limit = usize::from(self.limit.unwrap_or(30)).clamp(1, 1_000);
        let budget = Budget::new(self.budget, DEFAULT_BUDGET);
        if self.sessions {
            return self.list(context, limit, budget).await;
        }
        let (since, until) = self.times()?;
        let mut filter = HistoryFilter {
            session: None,
            work: self.work,
            client: self.client,
            kind: self.kind.map(|kind| kind.0),
            since,
            until,
            before: self.before.map(i64::from),
            limit: limit + 1,
        };
        let (scope, session) = (context.scope(), self.session);
        let is_filtered = session.is_some()
            || filter.work.is_some()
            || filter.client.is_some()
            || filter.kind.is_some()
            || since.is_some()
            || filter.before.is_some();
        let here = context.clone();
        let (moments, moved) = context
            .with_stores(move |open| {
                if let Some(name) = &session {
                    filter.session = Some(sessions::find(open.project()?, &scope, name)?.key);
                }
                let moments = open.project()?.history(&scope, &filter)?;
                let moved = if moments.is_empty() { here.moved_hint(open) } else { None };
                Ok((moments, moved))
            })
            .await?;
        if moments.is_empty() {
            let mut text = match is_filtered {
                true => "no events match: remove a filter",
                false => "nothing here yet",
            }
            .to_owned();
            text.extend(moved.iter().map(|hint| format!("\n{hint}")));
            return Ok(Answer::nothing(text, json!({ "moments": [] })));
        }
        Ok(answer(&moments, limit, budget, random_mark()?))
    }
}

impl History {
    /// Returns the requested start and end.
    fn times(&self) -> Result<(Option<Timestamp>, Option<Timestamp>), CommandError> {
        match &self.day {
            Some(day) => {
                let from = when::parse(day, when::now())?;
                Ok((Some(from), Some(from.plus_days(1))))
            }
            None => Ok((self.since.as_deref().map(|text| when::parse(text, when::now())).transpose()?, None)),
        }
    }

    /// Lists sessions.
    async fn list(self, context: &KnowledgeContext, limit: usize, budget: Budget) -> Result<Answer, CommandError> {
        let (named, client) = (self.session, self.client);
        let found = context
            .with_stores(move |open| {
                let all = open.project()?.sessions(named.as_deref(), usize::MAX)?;
                let is_wanted =
                    |session: &SessionSummary| client.as_ref().is_none_or(|client| session.key.client == *client);
                Ok(all.into_iter().filter(is_wanted).collect::<Vec<_>>())
            })
            .await?;
        if found.is_empty() {
            let text = "no sessions here yet: `weir import` imports past sessions";
            return Ok(Answer::nothing(text.to_owned(), json!({ "sessions": [] })));
        }
        let lines: Vec<String> = found.iter().take(limit).map(sessions::line).collect();
        let mark = random_mark()?;
        let mark = mark.as_str();
        let (text, shown) = fit_items(&format!("<<<{mark}"), &lines, budget, |shown| match found.len() - shown {
            0 => format!("{mark}>>>"),
            more => format!("{mark}>>>\n{more} older: raise `limit`"),
        });
        let described: Vec<Value> = found[..shown].iter().map(sessions::describe).collect();
        Ok(Answer::new(text, json!({ "sessions": described, "more": found.len() - shown })))
    }
}

fn answer(moments: &[Moment], limit: usize, budget: Budget, mark: Reference) -> Answer {
    let page = &moments[..moments.len().min(limit)];
    let lines: Vec<String> = page.iter().map(line).collect();
    let mark = mark.as_str();
    let (text, shown) = fit_items(&format!("<<<{mark}"), &lines, budget, |shown| {
        let last = page[..shown].last().map_or(0, |moment| moment.record.seq);
        let older = if shown < moments.len() { format!("\nolder: before {last}") } else { String::new() };
        format!("{mark}>>>{older}")
    });
    let data =
        json!({ "moments": page[..shown].iter().map(describe).collect::<Vec<_>>(), "more": shown < moments.len() });
    Answer::new(text, data)
}

fn line(moment: &Moment) -> String {
    let record = &moment.record;
    let what = match (&moment.entry, moment.gone) {
        (Some((kind, title)), _) => format!("{kind} {}", one_line(title, 120)),
        (None, Some(why)) => why.to_string(),
        (None, None) => one_line(&record.event.text, 120),
    };
    let kind = match record.event.kind {
        EventKind::Kept | EventKind::Gone => String::new(),
        other => format!("{other} "),
    };
    let reference = record.reference.map(|reference| format!(" {reference}")).unwrap_or_default();
    let work = record.work.as_deref().map(|work| format!(" ({})", one_line(work, 40))).unwrap_or_default();
    format!("{} {} {kind}{what}{reference}{work}", record.seq, when::show(record.at))
}

fn describe(moment: &Moment) -> Value {
    let record = &moment.record;
    json!({
        "number": record.seq,
        "at": when::show(record.at),
        "kind": record.event.kind.as_str(),
        "text": record.event.text,
        "title": moment.entry.as_ref().map(|(_, title)| title),
        "entry_kind": moment.entry.as_ref().map(|(kind, _)| kind.as_str()),
        "gone": moment.gone.map(weir_core::WhyGone::as_str),
        "reference": record.reference.map(|reference| reference.to_string()),
        "session": record.session.as_ref().map(|session| &session.key),
        "client": record.session.as_ref().map(|session| &session.client),
        "work": record.work,
    })
}
