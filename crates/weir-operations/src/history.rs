//! `ctx_history`: lists what happened, in order.

use schemars::JsonSchema;
use serde::Serialize;
use weir_core::{EntryKind, EventKind, Level, Reference, SessionKey, Timestamp, WhyGone};
use weir_host::answer::{Answer, Budget, fit_items, one_line};
use weir_host::choice::Choice;
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_host::random;
use weir_host::when;
use weir_session::sessions;
use weir_session::sessions::SessionData;
use weir_store::{HistoryFilter, Moment, SessionSummary, Store};

use super::{Declared, Effect};
use crate::needs::KnowledgeContext;
use crate::schema::silent;
use lines::HistoryLine;

mod lines;

/// The default budget of an answer, in tokens.
const DEFAULT_BUDGET: u32 = 1_000;

/// The default number of events or sessions in an answer.
const DEFAULT_LIMIT: u32 = 30;

/// Tells a person without events how to get some.
const NOTHING_YET: &str =
    "nothing here yet: `weir setup` connects your clients, and `weir import` imports their past sessions";

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
    /// Only this day; in local time on a terminal, otherwise in UTC
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
    /// Maximum number to list
    #[schemars(transform = silent)]
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
    #[serde(default = "super::fixed::<DEFAULT_LIMIT>")]
    limit: u32,
    /// Maximum tokens in the answer
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long, value_name = "TOKENS", help = "Maximum tokens in the answer [default: none; 1000 for a model]")]
    budget: Option<u32>,
}

impl Declared for History {
    type Context = KnowledgeContext;
    type Data = HistoryData;

    const TOOL: &'static str = weir_tools::HISTORY.name;
    const COMMAND: Option<&'static str> = Some("history");
    const EFFECT: Effect = weir_tools::HISTORY.effect;
    const EXAMPLES: &'static str = "\
Examples:
  weir history
  weir history --session last --kind error
  weir history --work feature/login --since 2d
  weir history --sessions           lists sessions, newest first
  weir history --before 4711        shows the page before event 4711";

    async fn run(self, context: &KnowledgeContext) -> Result<Answer<HistoryData>, CommandError> {
        let limit = (self.limit as usize).clamp(1, 1_000);
        let budget = match self.budget {
            Some(tokens) => Budget::new(tokens),
            None if context.is_for_person() => Budget::for_person(),
            None => Budget::new(DEFAULT_BUDGET),
        };
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
        let (here, is_for_person) = (context.clone(), context.is_for_person());
        let (moments, moved, titles) = context
            .with_stores(move |open| {
                let (mut moments, mut headings) = (Vec::new(), Vec::new());
                if let Some(name) = &session {
                    filter.session = Some(sessions::find_in(open, &scope, name)?.key);
                }
                if let Some(store) = open.existing(Level::Project)? {
                    moments = lines::read(store, &scope, filter)?;
                    if is_for_person {
                        headings = titles(store, &moments)?;
                    }
                }
                let moved = if moments.is_empty() { here.moved_hint(open) } else { None };
                Ok((moments, moved, headings))
            })
            .await?;
        if moments.is_empty() {
            let mut text = match is_filtered {
                true => "no events match: remove a filter",
                false => context.face().word(NOTHING_YET, "nothing here yet"),
            }
            .to_owned();
            text.extend(moved.iter().map(|hint| format!("\n{hint}")));
            return Ok(Answer::nothing(text, HistoryData::Moments { moments: Vec::new(), more: None }));
        }
        let page = Page { moments: &moments, titles: &titles, limit, budget, is_for_person };
        Ok(answer(&page, context.face(), random::mark()?))
    }
}

impl History {
    /// Returns the requested start and end.
    fn times(&self) -> Result<(Option<Timestamp>, Option<Timestamp>), CommandError> {
        match &self.day {
            Some(day) => {
                let from = when::parse(day, when::now())?;
                Ok((Some(from), Some(when::next_day(from))))
            }
            None => Ok((self.since.as_deref().map(|text| when::parse(text, when::now())).transpose()?, None)),
        }
    }

    async fn list(
        self,
        context: &KnowledgeContext,
        limit: usize,
        budget: Budget,
    ) -> Result<Answer<HistoryData>, CommandError> {
        let (named, client) = (self.session, self.client);
        let is_filtered = named.is_some() || client.is_some();
        let found = context
            .with_stores(move |open| {
                let store = open.existing(Level::Project)?;
                let all = store.map(|store| store.sessions(named.as_deref(), usize::MAX)).transpose()?;
                let is_wanted =
                    |session: &SessionSummary| client.as_ref().is_none_or(|client| session.key.client == *client);
                Ok(all.into_iter().flatten().filter(is_wanted).collect::<Vec<_>>())
            })
            .await?;
        if found.is_empty() {
            let text = match is_filtered {
                true => "no sessions match: remove a filter",
                false => "no sessions here yet: `weir import` imports past sessions",
            };
            return Ok(Answer::nothing(text.to_owned(), HistoryData::Sessions { sessions: Vec::new(), more: None }));
        }
        let line = if context.is_for_person() { sessions::titled } else { sessions::line };
        let lines: Vec<String> = found.iter().take(limit).map(line).collect();
        let mark = random::mark()?;
        let mark = mark.as_str();
        let (text, shown) = fit_items(&format!("<<<{mark}"), &lines, budget, |shown| match found.len() - shown {
            0 => format!("{mark}>>>"),
            more => format!("{mark}>>>\n{more} older: raise {}", context.face().option("limit")),
        });
        let sessions = found[..shown].iter().map(SessionData::of).collect();
        Ok(Answer::new(text, HistoryData::Sessions { sessions, more: Some(found.len() - shown) }))
    }
}

/// Past events or sessions, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum HistoryData {
    /// Events.
    Moments {
        moments: Vec<MomentData>,
        /// Whether there are older events.
        #[serde(skip_serializing_if = "Option::is_none")]
        more: Option<bool>,
    },
    /// Sessions.
    Sessions {
        sessions: Vec<SessionData>,
        /// The number of older sessions.
        #[serde(skip_serializing_if = "Option::is_none")]
        more: Option<usize>,
    },
}

/// One event.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MomentData {
    /// The position of the event in the log, for `before`.
    number: i64,
    at: String,
    kind: Choice<EventKind>,
    text: String,
    /// The title of the entry that the event is about.
    title: Option<String>,
    /// The number of files, if the event is that files were indexed.
    files: Option<u64>,
    entry_kind: Option<Choice<EntryKind>>,
    /// Why that entry is gone.
    gone: Option<Choice<WhyGone>>,
    reference: Option<String>,
    session: Option<String>,
    client: Option<String>,
    work: Option<String>,
}

/// A page of events.
struct Page<'a> {
    /// The events, newest first, and one more if there are older ones.
    moments: &'a [HistoryLine],
    /// The sessions that get a heading. Empty if the list has none.
    titles: &'a [(SessionKey, String)],
    limit: usize,
    budget: Budget,
    is_for_person: bool,
}

fn titles(store: &Store, moments: &[HistoryLine]) -> Result<Vec<(SessionKey, String)>, CommandError> {
    let mut titles: Vec<(SessionKey, String)> = Vec::new();
    for key in moments.iter().filter_map(|line| line.moment.logged.session.as_ref()) {
        if titles.iter().any(|(known, _)| known == key) {
            continue;
        }
        let found = store.sessions(Some(&key.key), 2)?.into_iter().find(|session| session.key == *key);
        let title = found.map_or_else(|| one_line(&key.key, 80), |session| sessions::heading(&session));
        titles.push((key.clone(), title));
    }
    Ok(titles)
}

/// Returns the lines of events. Those of a session are below its heading.
fn grouped(page: &[HistoryLine], titles: &[(SessionKey, String)], is_for_person: bool) -> Vec<String> {
    if titles.is_empty() {
        return page.iter().map(|line| line.text(is_for_person)).collect();
    }
    let mut last: Option<Option<&SessionKey>> = None;
    let mut lines = Vec::new();
    for line in page {
        let session = line.moment.logged.session.as_ref();
        let is_new = last != Some(session);
        last = Some(session);
        let title = titles.iter().find(|(key, _)| Some(key) == session).map(|(_, title)| title.as_str());
        let heading = is_new.then(|| format!("{}\n", title.unwrap_or("outside of sessions")));
        lines.push(format!("{}  {}", heading.unwrap_or_default(), line.text(is_for_person)));
    }
    lines
}

fn answer(wanted: &Page<'_>, face: Face, mark: Reference) -> Answer<HistoryData> {
    let Page { moments, titles, limit, budget, is_for_person } = *wanted;
    let page = &moments[..moments.len().min(limit)];
    let lines = grouped(page, titles, is_for_person);
    let mark = mark.as_str();
    let (text, shown) = fit_items(&format!("<<<{mark}"), &lines, budget, |shown| {
        let last = page[..shown].last().map_or(0, |line| line.last);
        let older = if shown < moments.len() {
            format!("\nolder: {}", face.option_as("before", &last.to_string()))
        } else {
            String::new()
        };
        format!("{mark}>>>{older}")
    });
    let described = page[..shown].iter().map(MomentData::of).collect();
    Answer::new(text, HistoryData::Moments { moments: described, more: Some(shown < moments.len()) })
}

impl MomentData {
    fn of(line: &HistoryLine) -> Self {
        let Moment { logged, entry, gone, .. } = &line.moment;
        Self {
            number: logged.seq,
            at: when::show(logged.at),
            kind: Choice(logged.event.kind),
            text: logged.event.text.clone(),
            title: entry.as_ref().map(|(_, title)| title.clone()),
            files: (line.files > 1).then_some(line.files),
            entry_kind: entry.as_ref().map(|(kind, _)| Choice(*kind)),
            gone: gone.map(Choice),
            reference: logged.reference.map(|reference| reference.to_string()),
            session: logged.session.as_ref().map(|session| session.key.clone()),
            client: logged.session.as_ref().map(|session| session.client.clone()),
            work: logged.work.clone(),
        }
    }
}
