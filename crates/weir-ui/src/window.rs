//! Window: what each window size would have cost, from the transcripts.

use axum::http::StatusCode;
use axum::response::Response;
use weir_context::Context;
use weir_core::SessionKey;
use weir_core::wording::counted;
use weir_host::error::CommandError;
use weir_pages::message::Message;
use weir_pages::today::CheaperWindow;
use weir_pages::window::{ClientChoice, SessionCost, SettingPreview, SizeCost, Window};
use weir_pages::{Money, Page};
use weir_session::window::{CostParts, Limit, Played, Study, studies};
use weir_setup::window_set;

use super::account::dollars;
use super::answer;
use super::transcripts::{Conversation, Facts};
use super::view::{View, session_text};

/// How many seconds later a page looks again for transcripts that are being read.
pub(super) const LOOK_AGAIN_SECONDS: u64 = 2;
/// The maximum number of sizes at which single sessions are compared.
const MAX_COMPARED: usize = 4;
/// The maximum number of sessions that are listed, the most expensive first.
const MAX_LISTED_SESSIONS: usize = 12;

const MEASURED: &str =
    "Tokens of every request, from the transcripts. Length, growth, output and pauses are as they were.";
const NOT_KNOWN: &str = "Whether the model would have done the same work with less in view.";

pub(super) async fn page(view: &View<'_>) -> Result<Response, CommandError> {
    let facts = view.ui.transcripts.facts_soon().await;
    if !facts.is_ready {
        let page = answer::page(StatusCode::OK, being_read(&facts).render_as(&view.shell, Page::Window));
        return Ok(answer::going_on(page, LOOK_AGAIN_SECONDS, view.address()));
    }
    let studies = all_studies(&view.ui.context, &facts);
    let named = view.fields.get("client").and_then(|name| studies.iter().find(|study| study.client.name == name));
    let chosen = named.or(studies.first());
    Ok(answer::page(StatusCode::OK, window(view, &facts, &studies, chosen).render(&view.shell)))
}

/// Returns a window that would have cost clearly less, if there is one.
pub(super) fn cheaper(context: &Context, facts: &Facts) -> Option<CheaperWindow> {
    let studies = all_studies(context, facts);
    let study = studies.first()?;
    let best = study.find(study.best?)?;
    let saved = now(study).total().0.saturating_sub(size(study, best.length).total().0);
    Some(CheaperWindow {
        size: best.length,
        now: length(study.now),
        saved: (saved > 0).then_some(Money(saved)),
        for_whom: study.for_whom(best).into(),
    })
}

pub(super) fn all_studies<'a>(context: &Context, facts: &'a Facts) -> Vec<Study<'a>> {
    studies(facts.all().map(|conversation| &conversation.growth), |client| window_set(context, client))
}

fn length(limit: Limit) -> Option<u64> {
    match limit {
        Limit::Recorded => None,
        Limit::At(length) => Some(length),
    }
}

fn window(view: &View<'_>, facts: &Facts, studies: &[Study<'_>], chosen: Option<&Study<'_>>) -> Window {
    let choice = |study: &Study<'_>| ClientChoice {
        key: study.client.name.into(),
        name: study.client.title.into(),
        is_chosen: Some(study.client.name) == chosen.map(|chosen| chosen.client.name),
    };
    let conversations = || facts.all().filter(|own| Some(own.client.name) == chosen.map(|chosen| chosen.client.name));
    let times = || conversations().flat_map(|own| &own.requests).filter_map(|request| request.at);
    let span = times().min().zip(times().max()).map(|(from, to)| (view.moment(from), view.moment(to)));
    let compared = chosen.map(compared).unwrap_or_default();
    Window {
        clients: studies.iter().map(choice).collect(),
        sessions: chosen.map_or(0, |study| study.sessions.len() as u64),
        span,
        now: chosen.map(now),
        sizes: chosen
            .map(|study| study.lengths.iter().map(|cost| size(study, cost.length)).collect())
            .unwrap_or_default(),
        best: chosen.and_then(|study| study.best),
        recorded: chosen.map(Study::as_recorded).unwrap_or_default().into(),
        verdict: chosen.map(verdict).unwrap_or_default().into(),
        price: format!("at the prices of {}", facts.prices_of).into(),
        by_session: chosen.map(|study| by_session(study, facts, &compared)).unwrap_or_default(),
        compared,
        setting: chosen.and_then(setting),
        measured: measured(chosen, facts).into(),
        assumed: chosen.map(assumed).unwrap_or_default().into(),
        not_known: NOT_KNOWN.into(),
    }
}

/// Says for whom the recommended size is cheaper, or why there is none.
fn verdict(study: &Study<'_>) -> String {
    match study.best.and_then(|best| study.find(best)) {
        Some(best) => format!("It is {}.", study.for_whom(best)),
        None => study.why_keep().to_owned(),
    }
}

fn size(study: &Study<'_>, length: u64) -> SizeCost {
    let of = |played: &Played<'_>| {
        let (at, _) = study.at(played, length);
        (at.parts, at.compactions)
    };
    priced(study, Some(length), of)
}

/// Returns the cost that the others are compared with.
fn now(study: &Study<'_>) -> SizeCost {
    priced(study, length(study.now), |played| (played.now.parts, played.now.compactions))
}

fn priced(study: &Study<'_>, size: Option<u64>, of: impl Fn(&Played<'_>) -> (CostParts, u64)) -> SizeCost {
    let (mut sums, mut compactions) = ([0.0; 4], 0);
    for played in &study.sessions {
        let (parts, times) = of(played);
        let price = played.growth.rates.dollars.unwrap_or(0.0);
        let costs = [parts.reads, parts.writes, parts.output, parts.compacting];
        sums.iter_mut().zip(costs).for_each(|(sum, part)| *sum += part * price);
        compactions += times;
    }
    let [reads, writes, output, compacting] = sums.map(dollars);
    SizeCost { size, reads, writes, output, compacting, compactions }
}

/// Returns the sizes at which single sessions are compared: the recommended one and those around it.
fn compared(study: &Study<'_>) -> Vec<u64> {
    let others: Vec<u64> =
        study.lengths.iter().map(|cost| cost.length).filter(|length| study.now != Limit::At(*length)).collect();
    let best = study.best.and_then(|best| others.iter().position(|length| *length == best)).unwrap_or(0);
    let first = best.saturating_sub(1).min(others.len().saturating_sub(MAX_COMPARED));
    others.into_iter().skip(first).take(MAX_COMPARED).collect()
}

fn by_session(study: &Study<'_>, facts: &Facts, compared: &[u64]) -> Vec<SessionCost> {
    let mut sessions: Vec<(&Played<'_>, &Conversation)> = study
        .sessions
        .iter()
        .filter_map(|played| {
            facts.all().find(|own| std::ptr::eq(&raw const own.growth, played.growth)).map(|own| (played, own))
        })
        .collect();
    sessions.sort_by(|(one, _), (other, _)| other.now.cost.total_cmp(&one.now.cost));
    let row = |(played, own): (&Played<'_>, &Conversation)| {
        let key = SessionKey { client: own.client.session.to_owned(), key: own.key.clone() };
        let title = match (own.title.as_str(), own.is_subagent) {
            ("", true) => "A subagent",
            ("", false) => "A session without a request",
            (title, _) => title,
        };
        SessionCost {
            key: session_text(&key),
            title: title.into(),
            project: own.folder.rsplit('/').next().unwrap_or_default().into(),
            requests: own.requests.len() as u64,
            longest: played.growth.longest,
            changes: compared.iter().map(|length| 100.0 * study.at(played, *length).1).collect(),
            compactions: study.best.map(|best| study.at(played, best).0.compactions),
        }
    };
    sessions.into_iter().take(MAX_LISTED_SESSIONS).map(row).collect()
}

/// Returns how the recommended size is set, where the client has such a setting.
fn setting(study: &Study<'_>) -> Option<SettingPreview> {
    let (window, best) = (study.setting()?, study.best?);
    let value = window.value(best)?;
    let name = study.client.name;
    Some(SettingPreview {
        setting: window.setting.written(&value).into(),
        command: format!("weir setup {name} --window {best}").into(),
        taken_back_by: format!("weir teardown {name}").into(),
    })
}

fn measured(chosen: Option<&Study<'_>>, facts: &Facts) -> String {
    let mut text = MEASURED.to_owned();
    let unpriced = |study: &Study<'_>| study.sessions.iter().filter(|one| one.growth.rates.dollars.is_none()).count();
    match chosen.map_or(0, unpriced) {
        0 => {}
        unpriced => {
            let sessions = counted(unpriced, "long session has", "long sessions have");
            text.push_str(&format!(" {sessions} a model without a known price: its money is not counted."));
        }
    }
    if facts.left_out > 0 {
        let older = counted(facts.left_out, "older transcript was", "older transcripts were");
        text.push_str(&format!(" {older} not read; `weir window` with --newest reads more."));
    }
    text
}

fn assumed(study: &Study<'_>) -> String {
    let each = &study.each;
    let [summary, carried, again, requests] = [each.summary, each.carried, each.again, each.requests]
        .map(|mean| weir_pages::figures::count(mean.round() as u64));
    format!(
        "Each compaction costs a summary of {summary} tokens, leaves {carried} tokens besides what every request has, \
         and {again} tokens are read again in {requests} requests ({}).",
        study.aftermath.basis()
    )
}

pub(super) fn being_read(facts: &Facts) -> Message {
    let (read, all) = facts.progress;
    Message {
        title: "The transcripts are being read".into(),
        meaning: format!("{read} of {all} so far. This page looks again by itself.").into(),
        command: None,
    }
}
