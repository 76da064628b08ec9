//! Reads what the stores know of some days. Invariant: every list has a limit, so the time does not grow with a store.

use std::sync::Arc;

use weir_context::LockedStores;
use weir_core::{Scope, SessionKey, Timestamp};
use weir_host::error::CommandError;
use weir_pages::ProjectLink;
use weir_run::background::{self, RunningCommand};
use weir_store::{EntryFilter, HistoryFilter, MeterRow, Moment, SessionFilter};

use super::super::events;
use super::super::held::{self, KeptOutput};
use super::super::known::ViewedProject;
use super::super::rows::ProjectSessions;
use super::super::view::View;
use super::Period;

pub(super) const MAX_SESSIONS: usize = 1_000;
/// The maximum number of entries among which outputs are looked for.
const MAX_OUTPUTS: usize = 200;
/// The maximum number of outputs of a project whose tokens are counted, the biggest.
const MAX_COUNTED_OUTPUTS: usize = 8;
/// The maximum number of events among which those that matter are looked for.
const MAX_EVENTS: usize = 400;

/// What the stores know of some days.
pub(super) struct Gathered {
    pub(super) projects: Vec<ProjectDays>,
    /// The stores that could not be read, in whole sentences.
    pub(super) unread: Vec<String>,
}

/// What one store knows of them.
pub(super) struct ProjectDays {
    /// Whether nothing was ever recorded.
    pub(super) is_blank: bool,
    /// The sessions that were active, and the readings of all their days.
    pub(super) list: ProjectSessions,
    /// For each session, on which days of the chart something happened.
    active: Vec<Vec<bool>>,
    /// Outputs that were held back, the biggest first.
    pub(super) held: Vec<KeptOutput>,
    /// The newest events that matter.
    pub(super) events: Vec<Moment>,
    pub(super) running: Vec<RunningCommand>,
}

pub(super) async fn all(view: &View<'_>, period: &Period) -> Result<Gathered, CommandError> {
    let (mut projects, mut unread) = (Vec::new(), Vec::new());
    for project in view.places() {
        projects.extend(view.if_readable(project, one(project, period).await, &mut unread)?);
    }
    Ok(Gathered { projects, unread })
}

async fn one(project: &Arc<ViewedProject>, period: &Period) -> Result<ProjectDays, CommandError> {
    let visit = project.visit().await;
    let (scope, link) = (visit.scope(), project.link());
    let (since, from, chart) = (period.since, period.from, period.chart);
    let mut days = visit
        .with_stores(move |open| {
            let (list, active) = sessions(open, link, from, chart)?;
            let held = outputs(open, &scope, since)?;
            let filter = HistoryFilter { since: Some(since), limit: MAX_EVENTS, ..HistoryFilter::default() };
            let store = open.project()?;
            let mut events = store.history(&scope, &filter)?;
            events.retain(events::matters);
            let ever = HistoryFilter { limit: 1, ..HistoryFilter::default() };
            let is_blank = events.is_empty() && store.history(&scope, &ever)?.is_empty();
            Ok(ProjectDays { is_blank, list, active, held, events, running: Vec::new() })
        })
        .await?;
    days.running = background::running(&visit);
    Ok(days)
}

/// Returns the sessions that were active since the chart begins, and on which of its days each was.
fn sessions(
    open: &mut LockedStores<'_>,
    project: ProjectLink,
    from: Timestamp,
    chart: usize,
) -> Result<(ProjectSessions, Vec<Vec<bool>>), CommandError> {
    let now = open.now;
    let store = open.project()?;
    let filter = SessionFilter { active_since: Some(from), limit: MAX_SESSIONS, ..SessionFilter::default() };
    let sessions = store.sessions_page(&filter)?;
    let first = sessions.iter().map(|session| session.summary.from).min().unwrap_or(from);
    let readings = store.metered_between(first.min(from), now)?;
    let mut active = Vec::with_capacity(sessions.len());
    for session in &sessions {
        active.push(store.active_days(&session.summary.key, from, chart)?);
    }
    Ok((ProjectSessions { project, sessions, readings }, active))
}

/// Returns the biggest outputs that were held back since a time.
fn outputs(open: &mut LockedStores<'_>, scope: &Scope, since: Timestamp) -> Result<Vec<KeptOutput>, CommandError> {
    let store = open.project()?;
    let kinds = held::KINDS.to_vec();
    let mut entries = store.entries(scope, &EntryFilter { kinds, since, limit: MAX_OUTPUTS })?.entries;
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.bytes));
    let mut outputs = Vec::new();
    for entry in entries {
        outputs.extend(KeptOutput::read(store, scope, entry)?);
        if outputs.len() == MAX_COUNTED_OUTPUTS {
            break;
        }
    }
    Ok(outputs)
}

impl Gathered {
    /// Whether a project may have had more sessions than were looked at.
    pub(super) fn is_cut(&self) -> bool {
        self.projects.iter().any(|project| project.list.sessions.len() == MAX_SESSIONS)
    }

    pub(super) fn readings(&self, since: Timestamp) -> Vec<MeterRow> {
        let rows = self.projects.iter().flat_map(|project| &project.list.readings);
        rows.filter(|row| row.day >= since).cloned().collect()
    }

    /// Returns the sessions in which something happened on a day of the chart.
    pub(super) fn active_on(&self, day: usize) -> impl Iterator<Item = &SessionKey> {
        self.sessions().filter(move |(days, _)| days.get(day) == Some(&true)).map(|(_, key)| key)
    }

    pub(super) fn active_since(&self, period: &Period) -> Vec<SessionKey> {
        let first = period.chart.saturating_sub(period.days as usize);
        let active = self.sessions().filter(|(days, _)| days.iter().skip(first).any(|is_active| *is_active));
        active.map(|(_, key)| key.clone()).collect()
    }

    fn sessions(&self) -> impl Iterator<Item = (&Vec<bool>, &SessionKey)> {
        self.projects.iter().flat_map(|project| {
            let keys = project.list.sessions.iter().map(|session| &session.summary.key);
            project.active.iter().zip(keys)
        })
    }
}

impl ProjectDays {
    /// Whether something happened in the session at a place of the list, in the period.
    pub(super) fn is_active(&self, nth: usize, period: &Period) -> bool {
        let first = period.chart.saturating_sub(period.days as usize);
        self.active.get(nth).is_some_and(|days| days.iter().skip(first).any(|is_active| *is_active))
    }
}
