//! Today: what happened, what was held back, and what it comes to.

mod gather;

use weir_core::time::DAY;
use weir_core::{EntryKind, SessionKey, Timestamp};
use weir_host::error::CommandError;
use weir_pages::Text;
use weir_pages::figures::count;
use weir_pages::session::EventLine;
use weir_pages::sessions::SessionRow;
use weir_pages::today::{BackgroundRun, Day, DayFigures, FirstSteps, HeldOutput, Today};
use weir_session::replay::places;
use weir_setup::health;
use weir_store::MeterRow;

use super::account::{self, dollars};
use super::clock::noon_of;
use super::rows::ProjectSessions;
use super::transcripts::Facts;
use super::view::View;
use super::{events, window};
use gather::Gathered;

/// The periods that can be chosen, in days.
const PERIODS: [u64; 4] = [1, 7, 14, 30];
const MIN_CHART_DAYS: usize = 14;
/// The maximum number of outputs, of events and of sessions that are listed.
const MAX_HELD: usize = 8;
const MAX_EVENTS: usize = 12;
const MAX_SESSIONS: usize = 20;

const ESTIMATE: &str = "Money is an estimate: a token counts as written to the cache once, and as read by the later \
                        requests of its session, on average.";

pub(super) async fn page(view: &View<'_>) -> Result<String, CommandError> {
    let days = view.fields.number("days").filter(|days| PERIODS.contains(days)).unwrap_or(1);
    let chart = (days as usize).max(MIN_CHART_DAYS);
    let period = Period { since: view.clock.since(days as usize), from: view.clock.since(chart), days, chart };
    let facts = view.ui.transcripts.facts();
    let gathered = gather::all(view, &period).await?;
    if gathered.unread.is_empty() && gathered.projects.iter().all(|project| project.is_blank) {
        return Ok(first_steps(view).render(&view.shell));
    }
    Ok(today(view, &period, &gathered, &facts).render(&view.shell))
}

/// The days that a page is about.
struct Period {
    /// How many days the account covers, and the beginning of the first.
    days: u64,
    since: Timestamp,
    /// How many days the chart has, and the beginning of the first.
    chart: usize,
    from: Timestamp,
}

fn today(view: &View<'_>, period: &Period, gathered: &Gathered, facts: &Facts) -> Today {
    let readings: Vec<MeterRow> = gathered.readings(period.from);
    let in_period = readings.iter().filter(|row| row.day >= period.since);
    let start = |at: usize| Timestamp(period.from.0 + at as i64 * DAY);
    let days = (0..period.chart).map(|at| day(start(at), gathered.active_on(at).collect(), &readings, facts));
    let mut per_day: Vec<Day> = days.collect();
    if gathered.is_cut() {
        // What sessions cost is not known if some of them were not looked at.
        per_day.iter_mut().filter_map(|day| day.figures.as_mut()).for_each(|figures| figures.spent = None);
    }
    let active: Vec<SessionKey> = gathered.active_since(period);
    let known = active.iter().filter_map(|session| facts.spent(session, period.since, Timestamp(i64::MAX)));
    let (spent, known) = known.fold((0.0, 0), |(sum, known), spent| (sum + spent, known + 1));
    let is_measured = !readings.is_empty() || per_day.iter().all(|day| day.figures.is_none());
    Today {
        days: period.days,
        spent: (dollars(spent), known),
        account: is_measured.then(|| account::account(in_period, facts)),
        exception: exception(&per_day),
        remarks: remarks(view, &per_day, gathered, facts),
        per_day,
        window: facts.is_ready.then(|| window::cheaper(&view.ui.context, facts)).flatten(),
        held: held(view, gathered, facts),
        events: happened(view, gathered),
        session_count: active.len() as u64,
        sessions: sessions(view, period, gathered, facts),
        tools: account::by_tool(&readings),
        background: background(view, gathered),
    }
}

/// Returns a day of the chart, on which these sessions were active.
fn day(start: Timestamp, sessions: Vec<&SessionKey>, readings: &[MeterRow], facts: &Facts) -> Day {
    let has_readings = account::of_day(readings, start).next().is_some();
    let until = Timestamp(start.0 + DAY);
    let figures = (!sessions.is_empty() || has_readings).then(|| DayFigures {
        sessions: sessions.len() as u64,
        account: account::account(account::of_day(readings, start), facts),
        spent: spent(sessions.into_iter(), start, until, facts).map(dollars),
    });
    Day { at: noon_of(start), figures }
}

/// Returns what sessions have cost between two times, in US dollars, if that is known of all of them.
fn spent<'a>(
    mut sessions: impl Iterator<Item = &'a SessionKey>,
    since: Timestamp,
    until: Timestamp,
    facts: &Facts,
) -> Option<f64> {
    sessions.try_fold(0.0, |sum, session| Some(sum + facts.spent(session, since, until)?))
}

/// Says that days did not pay, if there are any.
fn exception(per_day: &[Day]) -> Option<Text> {
    let figures = per_day.iter().filter_map(|day| day.figures);
    match figures.filter(|day| day.account.net_tokens < 0).count() {
        0 => None,
        1 => Some("One day did not pay.".into()),
        lost => Some(format!("{lost} days did not pay.").into()),
    }
}

/// Returns what is to be seen in the chart and what its figures mean.
fn remarks(view: &View<'_>, per_day: &[Day], gathered: &Gathered, facts: &Facts) -> Vec<Text> {
    let figures = || per_day.iter().filter_map(|day| day.figures);
    let has_money = figures().all(|day| day.account.net.is_some());
    let mut remarks: Vec<Text> = Vec::new();
    if exception(per_day).is_some() {
        remarks.push("Weir added more than it held back.".into());
    }
    if !facts.is_ready {
        let (read, all) = facts.progress;
        remarks.push(format!("Transcripts are being read, {read} of {all} so far: money is not known yet.").into());
    } else if has_money && figures().any(|day| day.account.net_tokens != 0) {
        remarks.push(ESTIMATE.into());
    } else if !has_money {
        remarks.push("Bars are tokens, since the price of some sessions is not known.".into());
    }
    if gathered.is_cut() {
        let most = count(gather::MAX_SESSIONS as u64);
        remarks.push(format!("Only the newest {most} sessions of each project are counted.").into());
    }
    if view.clock.is_elsewhere() {
        remarks.push("Days begin at midnight UTC.".into());
    }
    remarks.extend(view.left_out().into_iter().chain(gathered.unread.iter().cloned()).map(Text::from));
    remarks
}

fn held(view: &View<'_>, gathered: &Gathered, facts: &Facts) -> Vec<HeldOutput> {
    let mut held: Vec<_> = gathered.projects.iter().flat_map(|project| &project.held).collect();
    held.sort_by_key(|output| std::cmp::Reverse(output.entry.bytes));
    let shown = held.into_iter().take(MAX_HELD).map(|output| HeldOutput {
        shown: facts.shown(output.session.as_ref(), output.entry.reference),
        again: facts.asked_again(output.session.as_ref(), output.entry.reference),
        reference: output.entry.reference.as_str().into(),
        title: output.entry.title.as_str().into(),
        is_code: output.entry.kind != EntryKind::Page,
        tool: tool_of(output.entry.kind).into(),
        at: view.moment(output.entry.at),
        tokens: output.tokens,
        is_estimated: output.is_estimated,
        bytes: output.entry.bytes,
    });
    shown.collect()
}

fn tool_of(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Page => "page",
        _ => "command",
    }
}

fn happened(view: &View<'_>, gathered: &Gathered) -> Vec<EventLine> {
    let mut moments: Vec<_> = gathered.projects.iter().flat_map(|project| &project.events).collect();
    moments.sort_by_key(|moment| std::cmp::Reverse((moment.logged.at, moment.logged.seq)));
    moments.into_iter().take(MAX_EVENTS).map(|moment| events::line(view, moment)).collect()
}

fn sessions(view: &View<'_>, period: &Period, gathered: &Gathered, facts: &Facts) -> Vec<SessionRow> {
    let mut rows = Vec::new();
    for project in &gathered.projects {
        let list: &ProjectSessions = &project.list;
        let active = list.sessions.iter().enumerate().filter(|(nth, _)| project.is_active(*nth, period));
        rows.extend(active.map(|(_, session)| (session.summary.from, list, session)));
    }
    rows.sort_by_key(|(from, ..)| std::cmp::Reverse(*from));
    rows.into_iter().take(MAX_SESSIONS).map(|(_, list, session)| list.row(view, facts, session)).collect()
}

fn background(view: &View<'_>, gathered: &Gathered) -> Vec<BackgroundRun> {
    let runs = gathered.projects.iter().flat_map(|project| &project.running).map(|run| BackgroundRun {
        reference: run.reference.as_str().into(),
        command: run.title.as_str().into(),
        started: view.moment(run.started),
    });
    runs.collect()
}

/// Returns what to do before anything was recorded.
fn first_steps(view: &View<'_>) -> FirstSteps {
    let context = &view.ui.context;
    let (connected, clients): (Vec<_>, Vec<_>) =
        health::found(context).into_iter().partition(|(_, is_set_up)| *is_set_up);
    let titles = |clients: Vec<(&'static str, bool)>| -> Vec<Text> {
        clients.into_iter().map(|(title, _)| title.into()).collect()
    };
    FirstSteps {
        clients: titles(clients),
        connected: titles(connected),
        earlier_sessions: places::find(context.env(), &[]).ok().map(|places| places.found.len() as u64),
        smallest_held: context.config().hold.by_product_tokens as u64,
    }
}
