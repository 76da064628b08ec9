//! Projects: one row for each that has a store.

use weir_core::{SessionKey, Timestamp};
use weir_host::error::{CommandError, ErrorKind};
use weir_pages::projects::{ProjectRow, Projects};
use weir_store::{MeterRow, SessionFilter, StoreOverview};

use super::account::{account, dollars};
use super::known::ViewedProject;
use super::transcripts::Facts;
use super::view::{MAX_PROJECTS, View, short_path};

/// How many days money and net cover.
const DAYS: usize = 14;
/// The maximum number of sessions of a project whose cost is added up. Of more, it is not known.
const MAX_SESSIONS: usize = 1_000;

pub(super) async fn page(view: &View<'_>) -> Result<String, CommandError> {
    let facts = view.ui.transcripts.facts();
    let mut rows = Vec::new();
    for project in view.projects.iter().take(MAX_PROJECTS) {
        let read = read(project, view.clock.since(DAYS)).await;
        rows.push(match read {
            Ok(read) => row(view, project, &read, &facts),
            Err(error) if error.kind == ErrorKind::Store => {
                ProjectRow { problem: Some(error.message.into()), ..bare(view, project) }
            }
            Err(error) => return Err(error),
        });
    }
    // What is left out has its name and its folder, and nothing that would have to be read.
    rows.extend(view.projects.iter().skip(MAX_PROJECTS).map(|project| bare(view, project)));
    Ok(Projects { rows, days: DAYS as u64 }.render(&view.shell))
}

/// What a store knows of the last days.
struct ReadProject {
    overview: StoreOverview,
    readings: Vec<MeterRow>,
    active: Vec<SessionKey>,
    since: Timestamp,
}

async fn read(project: &ViewedProject, since: Timestamp) -> Result<ReadProject, CommandError> {
    let visit = project.visit().await;
    visit
        .with_stores(move |open| {
            let now = open.now;
            let store = open.project()?;
            let filter = SessionFilter { active_since: Some(since), limit: MAX_SESSIONS, ..SessionFilter::default() };
            let sessions = store.sessions_page(&filter)?;
            Ok(ReadProject {
                overview: store.overview()?,
                readings: store.metered_between(since, now)?,
                active: sessions.into_iter().map(|session| session.summary.key).collect(),
                since,
            })
        })
        .await
}

fn row(view: &View<'_>, project: &ViewedProject, read: &ReadProject, facts: &Facts) -> ProjectRow {
    let account = account(read.readings.iter(), facts);
    let spent = read
        .active
        .iter()
        .try_fold(0.0, |sum, session| Some(sum + facts.spent(session, read.since, Timestamp(i64::MAX))?));
    ProjectRow {
        last: Some(view.moment(read.overview.newest.unwrap_or(project.known.used_at).max(project.known.used_at))),
        sessions: read.overview.sessions,
        entries: Some(read.overview.entries),
        notes: read.overview.notes,
        bytes: Some(read.overview.bytes),
        spent: spent.filter(|_| read.active.len() < MAX_SESSIONS).map(dollars),
        net_tokens: Some(account.net_tokens),
        net: account.net,
        ..bare(view, project)
    }
}

fn bare(view: &View<'_>, project: &ViewedProject) -> ProjectRow {
    let root = project.root();
    ProjectRow {
        key: project.address_key().into(),
        name: project.name.as_str().into(),
        folder: short_path(&root, view.ui.context.env().home.as_deref()).into(),
        is_there: root.is_dir(),
        problem: None,
        last: Some(view.moment(project.known.used_at)),
        sessions: None,
        entries: None,
        notes: None,
        bytes: None,
        spent: None,
        net_tokens: None,
        net: None,
    }
}
