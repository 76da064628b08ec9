//! Health: the checks of `weir doctor`.

use axum::http::StatusCode;
use axum::response::Response;
use weir_core::Timestamp;
use weir_core::time::DAY;
use weir_host::error::CommandError;
use weir_pages::health::{Health, HookDay, HookTimes, LastHook, OutputRow, SeenOutputs, StoreDay};
use weir_pages::message::Message;
use weir_pages::{Page, Shell};
use weir_session::outputs::OutputCount;
use weir_store::HookUse;

use super::answer;
use super::checks::{Report, StoreReport};
use super::clock::{day_of, noon_of};
use super::view::View;

/// How many seconds later a page looks again for checks that are being made.
const LOOK_AGAIN_SECONDS: u64 = 2;

pub(super) async fn page(view: &View<'_>) -> Result<Response, CommandError> {
    let Some(project) = &view.project else {
        // The checks are those of a project.
        return Ok(match view.projects.first() {
            Some(project) => answer::redirect(&Shell::in_project(Page::Health, Some(&project.address_key().into()))),
            None => answer::page(StatusCode::OK, nothing_to_check().render_as(&view.shell, Page::Health)),
        });
    };
    let Some(report) = view.ui.checks.soon(project).await else {
        let page = answer::page(StatusCode::OK, being_made().render_as(&view.shell, Page::Health));
        return Ok(answer::going_on(page, LOOK_AGAIN_SECONDS, view.address()));
    };
    let mut shell = view.shell.clone();
    shell.failing_checks = view.ui.checks.failing(project.address_key());
    Ok(answer::page(StatusCode::OK, health(view, &report)?.render(&shell)))
}

fn health(view: &View<'_>, report: &Report) -> Result<Health, CommandError> {
    let checks = match &report.checks {
        Ok(checks) => checks.clone(),
        Err(error) => {
            let again = CommandError::new(error.kind, error.message.clone());
            return Err(error.hints.iter().fold(again, |error, hint| error.hint(hint.clone())));
        }
    };
    let store = report.store.as_ref();
    Ok(Health {
        checks,
        took: report.took.as_secs_f64() * 1e3,
        hooks: store.map(|store| hooks(view, store)).unwrap_or_default(),
        hook_days: store.map(|store| hook_days(view, store)).unwrap_or_default(),
        outputs: store.and_then(outputs),
        store: store.map(|store| days(view, store)).unwrap_or_default(),
        store_now: store.map(|store| store.now),
        store_limit: store.map(|store| store.limit),
    })
}

fn hooks(view: &View<'_>, store: &StoreReport) -> Vec<LastHook> {
    let title = |client: &str| weir_clients::find(client).map_or_else(|| client.to_owned(), |found| found.title.into());
    let hook = |seen: &HookUse| LastHook {
        client: title(&seen.client).into(),
        event: seen.event.as_str().into(),
        at: view.moment(seen.at),
        millis: seen.micros as f64 / 1e3,
        calls: seen.count,
    };
    store.hooks.iter().map(hook).collect()
}

fn hook_days(view: &View<'_>, store: &StoreReport) -> Vec<HookDay> {
    let today = day_of(view.clock.now).0;
    let millis = |micros: u64| micros as f64 / 1e3;
    let day = |ago: usize| {
        let day = Timestamp(today - ago as i64 * DAY);
        let counted = store.hook_days.iter().find(|counted| counted.day == day);
        HookDay {
            at: noon_of(day),
            times: counted.map(|counted| HookTimes {
                half_millis: millis(counted.within(50)),
                most_millis: millis(counted.within(99)),
                calls: counted.count(),
            }),
        }
    };
    (0..store.days.len()).rev().map(day).collect()
}

fn outputs(store: &StoreReport) -> Option<SeenOutputs> {
    let seen = store.outputs.as_ref()?;
    let row = |(outcome, count): (&'static str, OutputCount)| OutputRow {
        outcome: outcome.into(),
        outputs: count.outputs,
        bytes: count.bytes,
    };
    Some(SeenOutputs { since: noon_of(seen.since()), outcomes: seen.rows().map(row).collect() })
}

fn days(view: &View<'_>, store: &StoreReport) -> Vec<StoreDay> {
    let today = day_of(view.clock.now).0;
    let ago = |at: usize| (store.days.len() - 1 - at) as i64;
    let day =
        |(at, bytes): (usize, &u64)| StoreDay { at: noon_of(Timestamp(today - ago(at) * DAY)), bytes: Some(*bytes) };
    store.days.iter().enumerate().map(day).collect()
}

fn nothing_to_check() -> Message {
    Message {
        title: "No project has a store yet".into(),
        meaning: "There is nothing to check here. The command checks the installation itself.".into(),
        command: Some("weir doctor".into()),
    }
}

fn being_made() -> Message {
    Message {
        title: "The checks are being made".into(),
        meaning: "They read the whole store, so a large one takes longer. This page looks again by itself.".into(),
        command: None,
    }
}
