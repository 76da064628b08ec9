//! One session: its window, its timeline, the guide as the model would get it, and what came of it.

use axum::http::StatusCode;
use axum::response::Response;
use weir_core::guide::{Outcome, Outcomes, outcomes};
use weir_core::{Scope, SessionKey};
use weir_pages::session::{
    Compaction, Figures, Guide, Item, Reflection, Session, Statement, Statements, Timeline, TimelineFilter,
    WindowCourse,
};
use weir_pages::words::Words;
use weir_store::{HistoryFilter, ListedSession, MeterRow, Moment};

use super::account::{account, dollars, of_session};
use super::answer;
use super::events;
use super::known::ViewedProject;
use super::rows::ALWAYS;
use super::transcripts::{Conversation, Facts};
use super::view::{View, client_name, session_key, session_text, title_of};
use crate::context::LockedStores;
use crate::error::{CommandError, ErrorKind};
use crate::hook::guides;

/// The maximum number of events of a session that are read, the newest.
const MAX_EVENTS: usize = 10_000;
/// The number of events of a page.
const PAGE_EVENTS: usize = 300;
/// The maximum number of statements of each sort.
const MAX_STATEMENTS: usize = 12;

const FILTERS: [TimelineFilter; 5] = [
    TimelineFilter::WhatMatters,
    TimelineFilter::Prompts,
    TimelineFilter::Errors,
    TimelineFilter::Files,
    TimelineFilter::Everything,
];

pub(super) async fn page(view: &View<'_>, key: &str) -> Result<Response, CommandError> {
    let key = session_key(key).ok_or_else(|| unknown(key))?;
    let Some(project) = &view.project else {
        let mut unread = Vec::new();
        for project in view.places() {
            if view.if_readable(project, has(project, &key).await, &mut unread)? == Some(true) {
                return Ok(answer::redirect(&view.address_in(project)));
            }
        }
        return Err(unread.into_iter().chain(view.not_looked_through()).fold(unknown(&key.key), CommandError::hint));
    };
    let missing = || view.not_looked_through().into_iter().fold(unknown(&key.key), CommandError::hint);
    let session = read(project, &key).await?.ok_or_else(missing)?;
    let facts = view.ui.transcripts.facts();
    let page = show(view, project, &session, &facts);
    Ok(answer::page(StatusCode::OK, page.render(&view.shell)))
}

/// What a store knows of a session.
struct ReadSession {
    listed: ListedSession,
    /// Its newest events, oldest first.
    moments: Vec<Moment>,
    /// Whether it has older events.
    is_cut: bool,
    readings: Vec<MeterRow>,
    earlier: Option<SessionKey>,
    later: Option<SessionKey>,
    /// The guide that it would be given now, with its tokens and the most it may have.
    guide: (String, u64, u64),
    outcomes: Outcomes,
}

/// Whether a project's store has a session.
async fn has(project: &ViewedProject, key: &SessionKey) -> Result<bool, CommandError> {
    let key = key.clone();
    project.visit().await.with_stores(move |open| Ok(open.project()?.session(&key)?.is_some())).await
}

async fn read(project: &ViewedProject, key: &SessionKey) -> Result<Option<ReadSession>, CommandError> {
    let visit = project.visit().await;
    let scope = Scope { session: Some(key.clone()), ..visit.scope() };
    let (key, budget) = (key.clone(), visit.config().guide_tokens);
    visit.with_stores(move |open| read_here(open, &scope, &key, budget)).await
}

fn read_here(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    key: &SessionKey,
    budget: usize,
) -> Result<Option<ReadSession>, CommandError> {
    let now = open.now;
    let store = open.project()?;
    let Some(listed) = store.session(key)? else { return Ok(None) };
    let filter = HistoryFilter {
        session: Some(key.key.clone()),
        client: Some(key.client.clone()),
        limit: MAX_EVENTS + 1,
        ..HistoryFilter::default()
    };
    let mut moments = store.history(scope, &filter)?;
    let is_cut = moments.len() > MAX_EVENTS;
    moments.truncate(MAX_EVENTS);
    moments.reverse();
    let (earlier, later) = store.sessions_beside(&listed.place)?;
    let readings = store.metered_between(listed.summary.from, listed.summary.to)?;
    let text = guides::preview(&moments, budget, now);
    let tokens = weir_tokens::count(&text) as u64;
    let outcomes = outcomes(&guides::facts(&moments));
    let guide = (text, tokens, budget as u64);
    Ok(Some(ReadSession { listed, moments, is_cut, readings, earlier, later, guide, outcomes }))
}

fn show(view: &View<'_>, project: &ViewedProject, session: &ReadSession, facts: &Facts) -> Session {
    let summary = &session.listed.summary;
    let own = facts.of(&summary.key);
    let account = account(of_session(&session.readings, &summary.key), facts);
    let (text, tokens, budget) = &session.guide;
    let guide = Guide { text: text.as_str().into(), tokens: *tokens, budget: *budget, was_given: false };
    Session {
        key: session_text(&summary.key),
        title: title_of(summary),
        project: project.name.as_str().into(),
        client: client_name(&summary.key.client).into(),
        branch: summary.work.as_deref().map(Into::into),
        from: view.moment(summary.from),
        to: view.moment(summary.to),
        earlier: session.earlier.as_ref().map(session_text),
        later: session.later.as_ref().map(session_text),
        figures: Figures {
            requests: own.map(|own| own.requests.len() as u64),
            window_now: own.and_then(Conversation::window_now),
            next_request: own.and_then(Conversation::next_request).map(dollars),
            spent: facts.spent(&summary.key, ALWAYS.0, ALWAYS.1).map(dollars),
            net_tokens: Some(account.net_tokens()),
            net: account.net,
        },
        window: own.filter(|own| own.window_now().is_some()).map(course),
        timeline: timeline(view, session),
        guides: Vec::new(),
        guide: (!text.is_empty()).then_some(guide),
        carried: None,
        reflection: reflection(&session.outcomes),
    }
}

/// Returns the length of the window over the requests.
fn course(own: &Conversation) -> WindowCourse {
    let lengths: Vec<u64> = own.requests.iter().map(|request| request.window).collect();
    let compaction = |&request: &usize| {
        let (before, after) = (lengths.get(request.checked_sub(1)?)?, lengths.get(request)?);
        Some(Compaction { request: request as u64, before: *before, after: *after, by: None })
    };
    let compactions: Vec<Compaction> = own.compacted.iter().filter_map(compaction).collect();
    let remark = match compactions.len() {
        0 => "The conversation was not compacted.".into(),
        1 => "The conversation was compacted once.".into(),
        times => format!("The conversation was compacted {times} times.").into(),
    };
    let last = lengths.len() as u64;
    let within = |requests: &[u64]| requests.iter().copied().filter(|request| (1..=last).contains(request)).collect();
    WindowCourse {
        base: None,
        without: Vec::new(),
        limit: None,
        compactions,
        prompts: within(&own.prompts),
        errors: within(&own.errors),
        held: within(&own.held),
        remarks: vec![remark],
        lengths,
    }
}

/// Returns the events that the address asks for.
fn timeline(view: &View<'_>, session: &ReadSession) -> Timeline {
    let word = view.fields.get("events").unwrap_or_default();
    let filter = FILTERS.into_iter().find(|filter| filter.word() == word).unwrap_or(TimelineFilter::WhatMatters);
    let count = |filter: TimelineFilter| {
        session.moments.iter().filter(|moment| events::is_shown(moment, filter)).count() as u64
    };
    let before = view.fields.number("before");
    let number = |moment: &Moment| moment.logged.seq.cast_unsigned();
    let end = session.moments.iter().position(|moment| Some(number(moment)) == before);
    let end = end.unwrap_or(session.moments.len());
    let mut shown: Vec<&Moment> =
        session.moments[..end].iter().filter(|moment| events::is_shown(moment, filter)).collect();
    let left = shown.len().saturating_sub(PAGE_EVENTS);
    let shown = shown.split_off(left);
    let oldest = shown.first().map(|moment| number(moment));
    Timeline {
        items: shown.iter().map(|moment| item(view, moment)).collect(),
        filters: FILTERS.map(|filter| (filter, count(filter))).to_vec(),
        filter,
        total: session.moments.len() as u64,
        is_cut: session.is_cut,
        older: oldest.filter(|_| left > 0),
        is_newest: end == session.moments.len(),
    }
}

fn item(view: &View<'_>, moment: &Moment) -> Item {
    if !events::is_summary(moment) {
        return Item::Event(events::line(view, moment));
    }
    Item::Compacted {
        at: view.moment(moment.logged.at),
        request: None,
        by: None,
        tokens: None,
        summary: moment.logged.reference.map(|reference| reference.as_str().into()),
        guide: None,
    }
}

fn reflection(outcomes: &Outcomes) -> Reflection {
    let statement = |outcome: &Outcome| Statement {
        text: outcome.text.as_str().into(),
        words: Words::of(outcome.origin),
        reference: outcome.reference.map(|reference| reference.as_str().into()),
    };
    let some = |all: &[Outcome]| Statements {
        shown: all.iter().take(MAX_STATEMENTS).map(statement).collect(),
        left_out: all.len().saturating_sub(MAX_STATEMENTS) as u64,
    };
    Reflection {
        done: some(&outcomes.done),
        decided: some(&outcomes.decided),
        failed: some(&outcomes.failed),
        open: some(&outcomes.open),
    }
}

fn unknown(key: &str) -> CommandError {
    CommandError::new(ErrorKind::NotFound, format!("no session `{key}` was found"))
        .hint("`weir import` imports past sessions from the transcripts of your clients")
}
