//! One session: its window, its timeline, the guide as the model would get it, and what came of it.

use axum::http::StatusCode;
use axum::response::Response;
use weir_context::LockedStores;
use weir_core::guide::{Outcome, Outcomes, outcomes};
use weir_core::wording::size;
use weir_core::{EventKind, Scope, SessionKey};
use weir_hook::guides;
use weir_host::error::{CommandError, ErrorKind};
use weir_pages::figures::count;
use weir_pages::session::{
    Compaction, EventLine, Figures, Guide, GuideChoice, Item, Reflection, Session, Statement, Statements, Timeline,
    TimelineFilter, WindowCourse,
};
use weir_pages::words::Words;
use weir_setup::window_set;
use weir_store::{HistoryFilter, ListedSession, MeterRow, Moment};

use super::account::{account, dollars, of_session};
use super::answer;
use super::events;
use super::held::KeptOutput;
use super::known::ViewedProject;
use super::rows::ALWAYS;
use super::transcripts::{Conversation, Facts, ShownInstead};
use super::view::{View, client_name, session_key, session_text, title_of};

/// The maximum number of events of a session that are read, the newest.
const MAX_EVENTS: usize = 10_000;
const PAGE_EVENTS: usize = 300;
/// The maximum number of outputs whose tokens are counted, the newest, and of earlier guides.
const MAX_HELD_OUTPUTS: usize = 100;
const MAX_GUIDES: usize = 5;
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
    held: Vec<KeptOutput>,
    /// The guides after each compaction, and the one that it would be given now.
    guides: Vec<String>,
    /// The most tokens that a guide may have.
    budget: usize,
    outcomes: Outcomes,
}

async fn has(project: &ViewedProject, key: &SessionKey) -> Result<bool, CommandError> {
    let key = key.clone();
    project.visit().await.with_stores(move |open| Ok(open.project()?.session(&key)?.is_some())).await
}

async fn read(project: &ViewedProject, key: &SessionKey) -> Result<Option<ReadSession>, CommandError> {
    let visit = project.visit().await;
    let scope = Scope { session: Some(key.clone()), ..visit.scope() };
    let (key, budget) = (key.clone(), visit.config().guide.tokens_after(0));
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
    let mut held = Vec::new();
    let kept = moments.iter().rev().filter(|moment| moment.logged.event.kind == EventKind::Kept);
    for reference in kept.filter_map(|moment| moment.logged.reference).take(MAX_HELD_OUTPUTS) {
        if let Some(entry) = store.entry(scope, reference)? {
            held.extend(KeptOutput::read(store, scope, entry)?);
        }
    }
    let ends = moments.iter().enumerate().filter(|(_, moment)| events::is_summary(moment)).map(|(at, _)| at);
    let ends = ends.take(MAX_GUIDES).chain([moments.len()]);
    let before = |end: usize| moments.get(end).map_or(now, |moment| moment.logged.at);
    let guides = ends.map(|end| guides::preview(&moments[..end], budget, before(end))).collect();
    let outcomes = outcomes(&guides::facts(&moments));
    Ok(Some(ReadSession { listed, moments, is_cut, readings, earlier, later, held, guides, budget, outcomes }))
}

fn show(view: &View<'_>, project: &ViewedProject, session: &ReadSession, facts: &Facts) -> Session {
    let summary = &session.listed.summary;
    let own = facts.of(&summary.key);
    let account = account(of_session(&session.readings, &summary.key), facts);
    let (guides, guide) = guides_of(view, session);
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
            net_tokens: Some(account.net_tokens),
            net: account.net,
        },
        window: own.filter(|own| own.window_now().is_some()).map(|own| course(view, own, &session.held)),
        timeline: timeline(view, session, facts),
        guides,
        guide,
        reflection: reflection(&session.outcomes),
    }
}

/// Returns which guides there are, and the one that the address asks for.
fn guides_of(view: &View<'_>, session: &ReadSession) -> (Vec<GuideChoice>, Option<Guide>) {
    let now = session.guides.len().saturating_sub(1);
    let asked = view.fields.number("guide").and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
    let chosen = asked.filter(|at| *at < now).unwrap_or(now);
    let after = |at: usize| (at < now).then_some(at as u64 + 1);
    let choices = (0..=now).map(|at| GuideChoice { after: after(at), is_chosen: at == chosen }).collect();
    let guide = session.guides.get(chosen).filter(|text| !text.is_empty()).map(|text| Guide {
        text: text.as_str().into(),
        tokens: weir_tokens::count(text) as u64,
        budget: session.budget as u64,
        after: after(chosen),
    });
    (choices, guide)
}

/// Returns the length of the window over the requests.
fn course(view: &View<'_>, own: &Conversation, held: &[KeptOutput]) -> WindowCourse {
    let lengths: Vec<u64> = own.requests.iter().map(|request| request.window).collect();
    let compactions: Vec<Compaction> = own.compactions().collect();
    let remark = match compactions.len() {
        0 => "The conversation was not compacted.".into(),
        1 => "The conversation was compacted once.".into(),
        times => format!("The conversation was compacted {times} times.").into(),
    };
    let last = lengths.len() as u64;
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let setting = weir_clients::recipe(own.client.name).and_then(|recipe| recipe.window);
    let limit = setting.and_then(|setting| Some(window_set(&view.ui.context, own.client.name)?.max(setting.smallest)));
    let limit = limit.or(setting.map(|setting| setting.default));
    let within = |requests: &[u64]| requests.iter().copied().filter(|request| (1..=last).contains(request)).collect();
    WindowCourse {
        without: without(own, held, limit),
        // A limit that is far away would flatten the curve.
        limit: limit.filter(|limit| *limit <= longest.saturating_mul(2)),
        compactions,
        prompts: within(&own.prompts),
        errors: within(&own.errors),
        held: within(&own.held.iter().map(|shown| shown.request).collect::<Vec<_>>()),
        remarks: vec![remark],
        lengths,
    }
}

/// Returns the lengths that requests would have had without holding back, until a compaction: what would have followed
/// is not known.
fn without(own: &Conversation, held: &[KeptOutput], limit: Option<u64>) -> Vec<(u64, u64)> {
    let alone = |shown: &ShownInstead| held.iter().find(|one| Some(one.entry.reference) == shown.reference)?.alone;
    let spared: Vec<(u64, i64)> = own
        .held
        .iter()
        .filter_map(|shown| Some((shown.request, alone(shown)?.cast_signed() - shown.tokens.cast_signed())))
        .collect();
    let end = own.growth.compactions.first().map_or(usize::MAX, |made| made.request);
    let mut lengths = Vec::new();
    for (request, used) in (1..).zip(&own.requests).take(end) {
        let more: i64 = spared.iter().filter(|(after, _)| *after < request).map(|(_, more)| more).sum();
        let length = used.window.saturating_add_signed(more);
        if more != 0 {
            lengths.push((request, length));
        }
        if limit.is_some_and(|limit| length >= limit) {
            break;
        }
    }
    lengths
}

fn timeline(view: &View<'_>, session: &ReadSession, facts: &Facts) -> Timeline {
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
        items: shown.iter().map(|moment| item(view, session, moment, facts)).collect(),
        filters: FILTERS.map(|filter| (filter, count(filter))).to_vec(),
        filter,
        total: session.moments.len() as u64,
        is_cut: session.is_cut,
        older: oldest.filter(|_| left > 0),
        is_newest: end == session.moments.len(),
    }
}

fn item(view: &View<'_>, session: &ReadSession, moment: &Moment, facts: &Facts) -> Item {
    let own = facts.of(&session.listed.summary.key);
    let reference = moment.logged.reference;
    if events::is_summary(moment) {
        let number =
            session.moments.iter().filter(|other| events::is_summary(other) && other.logged.seq < moment.logged.seq);
        let compaction = own.and_then(|own| own.compactions().nth(number.count()));
        return Item::Compacted {
            at: view.moment(moment.logged.at),
            request: compaction.map(|compaction| compaction.request),
            tokens: compaction.map(|compaction| (compaction.before, compaction.after)),
            summary: reference.map(|reference| reference.as_str().into()),
        };
    }
    let is_prompt = moment.logged.event.kind == EventKind::Prompt;
    let request = own.and_then(|own| own.request_at(moment.logged.at, is_prompt));
    let mut line = EventLine { request, ..events::line(view, moment) };
    if let Some(output) = session.held.iter().find(|output| Some(output.entry.reference) == reference) {
        let shown = facts.shown(Some(&session.listed.summary.key), output.entry.reference);
        let tokens =
            output.tokens.map_or_else(|| size(output.entry.bytes), |tokens| format!("{} tokens", count(tokens)));
        let shown = shown.map(|shown| format!(" as {}", count(shown))).unwrap_or_default();
        (line.kind, line.outcome) = ("held back".into(), Some(format!("{tokens}{shown}").into()));
    }
    Item::Event(line)
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
