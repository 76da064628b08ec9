//! Pauses: what requests after a pause have written again, and what each choice would have cost, from the transcripts.

use axum::http::StatusCode;
use axum::response::Response;
use weir_core::SessionKey;
use weir_host::error::CommandError;
use weir_pages::Page;
use weir_pages::pauses::{ChoiceRow, ColdPause, PauseGroup, PauseLength, Pauses};
use weir_pages::window::{ClientChoice, SettingPreview};
use weir_session::pauses::{CacheGroup, CacheStudy, Choice, ChoiceCost, ColdReturn, Lifetime, studies};
use weir_session::window::Study;
use weir_setup::lifetimes_set;

use super::account::dollars;
use super::answer;
use super::transcripts::{Conversation, Facts};
use super::view::{View, session_text};
use super::window::{LOOK_AGAIN_SECONDS, all_studies, being_read};

/// The lengths of pauses: the least seconds, and the name where there is room and where there is little.
const LENGTHS: [(f64, &str, &str); 6] = [
    (300.0, "5–10 min", "5 min"),
    (600.0, "10–20 min", "10"),
    (1_200.0, "20–60 min", "20"),
    (3_600.0, "1–4 h", "1 h"),
    (14_400.0, "4–24 h", "4 h"),
    (86_400.0, "over a day", "1 d"),
];
const MAX_COSTLY: usize = 8;

const MEASURED: &str = "When requests were answered, their tokens, and what was written to the cache again, from the \
                        transcripts. Output of which the transcript notes only the beginning is counted from its text.";
const ASSUMED: &str = "A request reads from the cache what the request before it had, unless the pause was longer than \
                       the cache lives, and what was cold without a pause stays cold. Compacted before a pause: as on \
                       the page Window, before each pause of a window above 60,000 tokens. Cleared after a pause: by \
                       the proxy, with a request more for each result of which the model used something later.";

pub(super) async fn page(view: &View<'_>) -> Result<Response, CommandError> {
    let facts = view.ui.transcripts.facts_soon().await;
    if !facts.is_ready {
        let page = answer::page(StatusCode::OK, being_read(&facts).render_as(&view.shell, Page::Pauses));
        return Ok(answer::going_on(page, LOOK_AGAIN_SECONDS, view.address()));
    }
    let context = &view.ui.context;
    let windows = all_studies(context, &facts);
    let compacting = |client: &str| windows.iter().find(|study| study.client.name == client).map(Study::compacting);
    let courses = facts.all().filter_map(|conversation| conversation.pauses.as_ref());
    let all = studies(courses, |client| lifetimes_set(context, client), compacting);
    let named = view.fields.get("client").and_then(|name| all.iter().find(|study| study.client.name == name));
    let page = shown(view, &facts, &all, named.or(all.first()));
    Ok(answer::page(StatusCode::OK, page.render(&view.shell)))
}

fn shown(view: &View<'_>, facts: &Facts, all: &[CacheStudy<'_>], chosen: Option<&CacheStudy<'_>>) -> Pauses {
    let choice = |study: &CacheStudy<'_>| ClientChoice {
        key: study.client.name.into(),
        name: study.client.title.into(),
        is_chosen: Some(study.client.name) == chosen.map(|chosen| chosen.client.name),
    };
    let groups = |study: &CacheStudy<'_>| -> Vec<PauseGroup> {
        study.groups.iter().map(|one| group(view, facts, study, one)).collect()
    };
    Pauses {
        clients: all.iter().map(choice).collect(),
        groups: chosen.map(groups).unwrap_or_default(),
        price: format!("at the prices of {}", facts.prices_of).into(),
        measured: MEASURED.into(),
        assumed: ASSUMED.into(),
    }
}

fn group(view: &View<'_>, facts: &Facts, study: &CacheStudy<'_>, group: &CacheGroup<'_>) -> PauseGroup {
    let mut returns: Vec<(&Conversation, ColdReturn, f64)> = Vec::new();
    for own in facts.all() {
        let Some(course) = own.pauses.as_ref() else { continue };
        if group.courses.iter().any(|known| std::ptr::eq(*known, course)) {
            let price = course.rates.dollars.unwrap_or(0.0);
            returns.extend(course.cold_returns().into_iter().map(|pause| (own, pause, pause.cost * price)));
        }
    }
    returns.sort_by(|(_, _, one), (_, _, other)| other.total_cmp(one));
    let costly = |(own, pause, cost): &(&Conversation, ColdReturn, f64)| ColdPause {
        key: session_text(&SessionKey { client: own.client.session.to_owned(), key: own.key.clone() }),
        title: if own.title.is_empty() { "A session without a request" } else { &own.title }.into(),
        at: view.moment(pause.at),
        seconds: pause.seconds as u64,
        tokens: pause.tokens,
        cost: dollars(*cost),
    };
    PauseGroup {
        is_subagents: group.is_subagents,
        sessions: group.courses.len() as u64,
        finding: group.finding().into(),
        lengths: lengths(&returns),
        choices: group.choices.iter().map(|cost| row(group, cost)).collect(),
        verdict: study.verdict(group).into(),
        setting: study.command(group).map(|(command, setting)| SettingPreview {
            setting: setting.into(),
            command: command.into(),
            taken_back_by: format!("weir teardown {}", study.client.name).into(),
        }),
        costly: returns.iter().take(MAX_COSTLY).map(costly).collect(),
    }
}

fn lengths(returns: &[(&Conversation, ColdReturn, f64)]) -> Vec<PauseLength> {
    let ends = LENGTHS.iter().skip(1).map(|(least, ..)| *least).chain([f64::INFINITY]);
    let length = |((least, name, short), end): (&(f64, &'static str, &'static str), f64)| {
        let own = || returns.iter().filter(|(_, pause, _)| pause.seconds >= *least && pause.seconds < end);
        PauseLength {
            name,
            short,
            count: own().count() as u64,
            tokens: own().map(|(_, pause, _)| pause.tokens).sum(),
            cost: dollars(own().map(|(_, _, cost)| cost).sum()),
        }
    };
    LENGTHS.iter().zip(ends).map(length).collect()
}

fn row(group: &CacheGroup<'_>, cost: &ChoiceCost) -> ChoiceRow {
    let now = group.choices.iter().find(|cost| group.is_now(cost)).map_or(cost.cost, |now| now.cost);
    let [cost_now, cost_then] = if group.is_priced { [now, cost.cost] } else { [0.0; 2] };
    let (short, shortest) = match cost.choice {
        Choice::Lifetime(Lifetime::Minutes) => ("5 minutes", "5 min"),
        Choice::Lifetime(Lifetime::Hour) => ("1 hour", "1 h"),
        Choice::Compact(_) => ("compacted", "comp."),
        Choice::Clear => ("cleared", "clear"),
    };
    ChoiceRow {
        name: cost.choice.title().into(),
        short,
        shortest,
        cost: dollars(cost_then),
        saved: dollars(cost_now - cost_then),
        changes: [cost.change, cost.median, cost.median_project, cost.worst].map(|share| 100.0 * share),
        cheaper: cost.cheaper as u64,
        dearer: cost.dearer as u64,
        is_now: group.is_now(cost),
        is_best: group.best.is_some_and(|best| cost.choice == Choice::Lifetime(best)),
    }
}
