//! `ctx_reflect`: sums up a session or a work.

use weir_core::Level;
use weir_core::guide::{self, Form, Span, Wanted};
use weir_core::wording::counted;
use weir_hook::guides::facts;
use weir_host::answer::{Answer, Budget};
use weir_host::error::CommandError;
use weir_host::random;
use weir_host::when;
use weir_session::sessions;
use weir_store::{HistoryFilter, Moment};

use super::{Declared, Effect};
use crate::needs::KnowledgeContext;
use crate::schema::silent;

/// The default budget of an answer, in tokens.
const DEFAULT_BUDGET: u32 = 600;
/// How many of the newest events are read.
const MAX_EVENTS: usize = 10_000;

/// Sum up a session: done, decided, failed, open.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Reflect {
    /// Session: current, last or a session key [default: current, else last]
    #[schemars(transform = silent)]
    #[serde(default)]
    session: Option<String>,
    /// Summarize a work, such as a branch, instead of a session
    #[schemars(transform = silent)]
    #[arg(long, conflicts_with = "session")]
    #[serde(default)]
    work: Option<String>,
    /// Only since: 6h, 3d or a date
    #[schemars(transform = silent)]
    #[arg(long, value_name = "WHEN")]
    #[serde(default)]
    since: Option<String>,
    /// Write Markdown for a pull request or a handover
    #[schemars(transform = silent)]
    #[arg(long)]
    #[serde(default)]
    markdown: bool,
    /// Maximum tokens in the answer
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    #[serde(default = "super::fixed::<DEFAULT_BUDGET>")]
    budget: u32,
}

impl Declared for Reflect {
    type Context = KnowledgeContext;
    type Data = ReflectData;

    const TOOL: &'static str = weir_tools::REFLECT.name;
    const COMMAND: Option<&'static str> = Some("reflect");
    const EFFECT: Effect = weir_tools::REFLECT.effect;
    const EXAMPLES: &'static str = "\
Examples:
  weir reflect                              the last session in this project
  weir reflect --work login --since 7d      the last week of work on a branch
  weir reflect --markdown --budget 2000 > HANDOVER.md
  weir history --sessions                   the sessions to choose from

The numbers in brackets are event numbers from `weir history`. The same events always produce the same text; nothing \
is invented.";

    async fn run(self, context: &KnowledgeContext) -> Result<Answer<ReflectData>, CommandError> {
        let now = when::now();
        let since = self.since.as_deref().map(|text| when::parse(text, now)).transpose()?;
        let scope = context.scope();
        let (work, session) = (self.work.clone(), self.session.clone());
        let found = context
            .with_stores(move |open| {
                let own = match (&scope.session, open.existing(Level::Project)?) {
                    (Some(own), Some(store)) if !store.sessions(Some(&own.key), 1)?.is_empty() => Some(own.clone()),
                    _ => None,
                };
                let session = match (&work, session.as_deref(), own) {
                    (Some(_), ..) => None,
                    (None, None, Some(own)) => Some(own),
                    (None, name, _) => Some(sessions::find_in(open, &scope, name.unwrap_or("last"))?),
                };
                let client = session.as_ref().map(|session| session.client.clone());
                let key = session.as_ref().map(|session| session.key.clone());
                let filter =
                    HistoryFilter { session: key, client, work, since, limit: MAX_EVENTS, ..HistoryFilter::default() };
                let store = open.existing(Level::Project)?;
                let mut moments = store.map(|store| store.history(&scope, &filter)).transpose()?.unwrap_or_default();
                moments.reverse();
                Ok((session.map(|session| session.key), moments))
            })
            .await?;
        let (session, moments) = found;
        if moments.is_empty() {
            let text = "no events there: `weir history --sessions` lists the sessions";
            return Ok(Answer::nothing(text.to_owned(), ReflectData { session, entries: 0, summary: None }));
        }
        let form = if self.markdown { Form::Markdown } else { Form::Text };
        let facts = facts(&moments);
        let span = guide::span(&facts);
        let head = self.head(session.as_deref(), &moments, span, form);
        let budget = Budget::new(self.budget);
        // The text quotes others, so it is enclosed in marks.
        let mark = random::mark()?;
        let mark = mark.as_str();
        let around = format!("<<<{mark}\n\n{mark}>>>");
        let room = budget.tokens().saturating_sub(weir_tokens::count(&around) + 1);
        let wanted = Wanted { budget: room, count: weir_tokens::count, now, head: &head, summary: "" };
        let text = guide::reflect(&facts, &wanted, form);
        let (minutes, pauses) = (span.millis / 60_000, span.pauses);
        let summary = Some(SummaryData { work: self.work.clone(), minutes, pauses, text: text.clone() });
        let data = ReflectData { session, entries: moments.len(), summary };
        // A file for a person needs no marks.
        let is_file = self.markdown && context.face().is_person();
        let shown = if is_file { text } else { format!("<<<{mark}\n{text}\n{mark}>>>") };
        Ok(Answer::new(shown, data))
    }
}

/// A session or a work, summed up.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct ReflectData {
    session: Option<String>,
    /// The number of events.
    entries: usize,
    /// Present if there are events.
    #[serde(flatten)]
    summary: Option<SummaryData>,
}

#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
struct SummaryData {
    work: Option<String>,
    /// The time spent, without pauses.
    minutes: i64,
    pauses: usize,
    text: String,
}

impl Reflect {
    /// Returns the first line: how much, over which period, and of what.
    fn head(&self, session: Option<&str>, moments: &[Moment], span: Span, form: Form) -> String {
        let (first, last) = (&moments[0].logged, &moments[moments.len() - 1].logged);
        let events = match moments.len() {
            MAX_EVENTS => format!("at least {MAX_EVENTS} events"),
            count => counted(count, "event", "events"),
        };
        let minutes = span.millis / 60_000;
        let time = match (minutes / 60, minutes % 60) {
            (0, minutes) => format!("{minutes} min"),
            (hours, minutes) => format!("{hours} h {minutes} min"),
        };
        let pauses = match span.pauses {
            0 => String::new(),
            pauses => format!(", not counting {}", counted(pauses, "pause", "pauses")),
        };
        let subject = match (session, &self.work) {
            (Some(session), _) => format!("Session {session}"),
            (None, Some(work)) => format!("Work {work}"),
            (None, None) => "This project".to_owned(),
        };
        let client = first.session.as_ref().map(|session| format!("{}, ", session.client)).unwrap_or_default();
        let branch = last.work.as_ref().map(|work| format!("branch {work}, ")).unwrap_or_default();
        let (from, to) = (when::show(first.at), when::show(last.at));
        let line = format!("{subject} has {events} over {time}{pauses} ({client}{branch}{from} to {to})");
        match form {
            Form::Text => line,
            Form::Markdown => format!("# {line}"),
        }
    }
}
