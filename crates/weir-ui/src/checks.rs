//! The checks of `weir doctor`, made in the background, since they take longer the more a store has.
//!
//! Invariant: one check of a project at a time, and no page waits long for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;
use weir_context::LockedStores;
use weir_core::Timestamp;
use weir_core::time::DAY;
use weir_host::error::CommandError;
use weir_operations::{Arguments, OPERATIONS};
use weir_pages::Prose;
use weir_pages::health::{Check, CheckState};
use weir_session::outputs::SeenOutputs;
use weir_store::{HookDay, HookUse};

use super::clock::day_of;
use super::known::ViewedProject;

/// How long a result counts as made just now.
const MAX_AGE: Duration = Duration::from_secs(10);
/// How long a page waits for a result.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// How many days the course of the store and the times of hooks cover.
const DAYS: usize = 14;
/// The tool of the operation that checks.
const DOCTOR: &str = "ctx_doctor";
/// The programs with which a fix begins if it is a command.
const COMMANDS: [&str; 4] = ["weir ", "chmod ", "rm ", "mv "];
/// The checks that only say how things are, such as which languages are installed and which are not.
const FACTS: [&str; 7] = ["weir", "project", "languages", "parsers", "outputs", "last hooks", "background runs"];

/// The results of the checks, by project.
pub(super) struct Checks {
    made: Mutex<HashMap<String, Made>>,
    news: watch::Sender<()>,
}

#[derive(Default)]
struct Made {
    result: Option<(Instant, Arc<Report>)>,
    is_running: bool,
}

pub(super) struct Report {
    /// The checks, or why they could not be made.
    pub(super) checks: Result<Vec<Check>, CommandError>,
    pub(super) took: Duration,
    /// What else there is to know of the store.
    pub(super) store: Option<StoreReport>,
}

/// How a store has grown, who calls hooks, and what became of outputs.
pub(super) struct StoreReport {
    pub(super) hooks: Vec<HookUse>,
    /// The days on which hooks ran, oldest first.
    pub(super) hook_days: Vec<HookDay>,
    /// What became of the outputs that hooks saw.
    pub(super) outputs: Option<SeenOutputs>,
    /// What the store takes now, in bytes.
    pub(super) now: u64,
    /// What the texts that are kept now took at the end of each day, in bytes, the newest last.
    pub(super) days: Vec<u64>,
    /// The quota, in bytes.
    pub(super) limit: u64,
}

impl Checks {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { made: Mutex::default(), news: watch::Sender::new(()) })
    }

    /// Returns how many checks of a project did not pass, if they were made.
    pub(super) fn failing(&self, project: &str) -> Option<u64> {
        let made = self.lock();
        let (_, report) = made.get(project)?.result.as_ref()?;
        let checks = report.checks.as_ref().ok()?;
        Some(checks.iter().filter(|check| check.state == CheckState::Wrong).count() as u64)
    }

    /// Returns a new result, and starts the checks if there is none. Returns `None` if they take long.
    pub(super) async fn soon(self: &Arc<Self>, project: &Arc<ViewedProject>) -> Option<Arc<Report>> {
        let mut news = self.news.subscribe();
        if let Some(report) = self.fresh_or_start(project) {
            return Some(report);
        }
        let wait = async {
            loop {
                news.changed().await.ok()?;
                if let Some(report) = self.fresh(project.address_key()) {
                    return Some(report);
                }
            }
        };
        tokio::time::timeout(MAX_WAIT, wait).await.ok().flatten()
    }

    fn fresh_or_start(self: &Arc<Self>, project: &Arc<ViewedProject>) -> Option<Arc<Report>> {
        if let Some(report) = self.fresh(project.address_key()) {
            return Some(report);
        }
        let mut made = self.lock();
        let state = made.entry(project.address_key().to_owned()).or_default();
        if !state.is_running {
            state.is_running = true;
            let (checks, project) = (Arc::clone(self), Arc::clone(project));
            tokio::spawn(async move {
                let report = Arc::new(check(&project).await);
                let result = Some((Instant::now(), report));
                checks.lock().insert(project.address_key().to_owned(), Made { result, is_running: false });
                checks.news.send_replace(());
            });
        }
        None
    }

    fn fresh(&self, project: &str) -> Option<Arc<Report>> {
        let made = self.lock();
        let (at, report) = made.get(project)?.result.as_ref()?;
        (at.elapsed() < MAX_AGE).then(|| Arc::clone(report))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn check(project: &ViewedProject) -> Report {
    let visit = project.visit().await;
    let begun = Instant::now();
    let started = OPERATIONS
        .iter()
        .find(|operation| operation.tool == DOCTOR)
        .ok_or_else(|| CommandError::broken("there is no operation that checks"))
        .and_then(|doctor| doctor.start(visit.clone(), Arguments::Json(json!({}))));
    let answered = match started {
        Ok(running) => running.await,
        Err(error) => Err(error),
    };
    let checks = answered.map(|answer| {
        let checks = answer.data["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
        checks.iter().map(read).collect()
    });
    let took = begun.elapsed();
    let store = visit.with_stores(grown).await.ok();
    Report { checks, took, store }
}

fn read(check: &Value) -> Check {
    let text = |key: &str| check[key].as_str().unwrap_or_default();
    let fix = check["fix"].as_str().filter(|fix| !fix.is_empty());
    let (command, advice): (Option<&str>, Option<&str>) = match fix {
        Some(fix) if COMMANDS.iter().any(|program| fix.starts_with(program)) => (Some(fix), None),
        advice => (None, advice),
    };
    Check {
        name: text("name").into(),
        state: match check["good"].as_bool() == Some(true) {
            true if FACTS.contains(&text("name")) => CheckState::Told,
            true => CheckState::Fine,
            false => CheckState::Wrong,
        },
        found: Prose::of(text("text")),
        advice: advice.map(Prose::of),
        command: command.map(Into::into),
    }
}

/// Returns how the project's store has grown, and what hooks recorded in it.
fn grown(open: &mut LockedStores<'_>) -> Result<StoreReport, CommandError> {
    let today = day_of(open.now);
    let store = open.project()?;
    let from = Timestamp(today.0 - (DAYS as i64 - 1) * DAY);
    let (overview, kept) = (store.overview()?, store.kept_by_day(from, DAYS)?);
    let mut size = overview.text_bytes.saturating_sub(kept.iter().sum());
    let days = kept.iter().map(|bytes| {
        size += bytes;
        size
    });
    Ok(StoreReport {
        hooks: store.hooks_seen()?,
        hook_days: store.hook_days(from)?,
        outputs: SeenOutputs::of(&store.outcomes(None)?),
        now: overview.bytes,
        days: days.collect(),
        limit: store.limits().quota_bytes,
    })
}
