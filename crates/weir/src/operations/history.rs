//! `ctx_history`: what happened, in order.

use serde_json::{Value, json};
use weir_core::{EventKind, Reference};
use weir_store::{HistoryFilter, Moment};

use super::{Declared, Effect, random_mark};
use crate::answer::{Answer, Budget, fit_items, one_line};
use crate::context::Context;
use crate::error::CommandError;
use crate::faces::schema::silent;
use crate::when;

/// An answer holds so many tokens unless asked otherwise.
const BUDGET: usize = 1_000;

/// List what happened, newest first.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct History {
    /// Only this session
    #[schemars(transform = silent)]
    #[arg(long)]
    session: Option<String>,
    /// Only this work, such as a branch
    #[schemars(transform = silent)]
    #[arg(long)]
    work: Option<String>,
    /// Only since: 6h, 3d or a date
    #[schemars(transform = silent)]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Number, for the next page
    #[arg(long, value_name = "NUMBER")]
    before: Option<u32>,
    /// At most so many [default: 30]
    #[schemars(transform = silent)]
    #[arg(long, value_name = "N")]
    limit: Option<u16>,
    /// Most tokens to answer [default: 1000]
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u32>,
}

impl Declared for History {
    const TOOL: &'static str = "ctx_history";
    const COMMAND: Option<&'static str> = Some("history");
    const EFFECT: Effect = Effect::Reads;
    const EXAMPLES: &'static str = "\
Examples:
  weir history
  weir history --work feature/login --since 2d
  weir history --before 4711        the page before";

    async fn run(self, context: &Context) -> Result<Answer, CommandError> {
        let since = self.since.as_deref().map(|text| when::parse(text, when::now())).transpose()?;
        let limit = usize::from(self.limit.unwrap_or(30)).clamp(1, 1_000);
        let filter = HistoryFilter {
            session: self.session,
            work: self.work,
            since,
            before: self.before.map(i64::from),
            limit: limit + 1,
        };
        let scope = context.scope();
        let is_filtered = filter.session.is_some() || filter.work.is_some() || since.is_some() || self.before.is_some();
        let here = context.clone();
        let (moments, moved) = context
            .with_stores(move |open| {
                let moments = open.project()?.history(&scope, &filter)?;
                let moved = if moments.is_empty() { here.moved_hint(open) } else { None };
                Ok((moments, moved))
            })
            .await?;
        if moments.is_empty() {
            let mut text = match is_filtered {
                true => "nothing here matches: drop a filter",
                false => "nothing here yet: keep something first",
            }
            .to_owned();
            text.extend(moved.iter().map(|hint| format!("\n{hint}")));
            return Ok(Answer::nothing(text, json!({ "moments": [] })));
        }
        Ok(answer(&moments, limit, Budget::new(self.budget, BUDGET), random_mark()?))
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
