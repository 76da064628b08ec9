//! Window: what each window size would have cost, from the transcripts.

use axum::http::StatusCode;
use axum::response::Response;
use weir_clients::Client;
use weir_clients::setup;
use weir_core::SessionKey;
use weir_core::wording::counted;
use weir_pages::message::Message;
use weir_pages::today::CheaperWindow;
use weir_pages::window::{ClientChoice, SessionCost, SettingPreview, SizeCost, Window};
use weir_pages::{Money, Page};

use super::account::dollars;
use super::answer;
use super::transcripts::{Conversation, Facts};
use super::view::{View, session_text};
use crate::context::Context;
use crate::error::CommandError;
use crate::setup::current_window;
use crate::window::{Aftermath, DEFAULT_COMPARED_LENGTH, LENGTHS, MIN_REQUESTS};

/// How many seconds later a page looks again for transcripts that are being read.
const LOOK_AGAIN_SECONDS: u64 = 2;
/// The share of the present cost that another size must save to be recommended, in hundredths.
const MIN_SAVED_PERCENT: i64 = 2;
/// The maximum number of sizes at which single sessions are compared.
const MAX_COMPARED: usize = 4;
/// The maximum number of sessions that are listed, the most expensive first.
const MAX_LISTED_SESSIONS: usize = 12;

const MEASURED: &str = "Tokens of every request, from the transcripts. Length, growth and output are as they were.";
const NOT_KNOWN: &str = "Whether the model would have done the same work with less in view.";

pub(super) async fn page(view: &View<'_>) -> Result<Response, CommandError> {
    let facts = view.ui.transcripts.facts_soon().await;
    if !facts.is_ready {
        let page = answer::page(StatusCode::OK, being_read(&facts).render_as(&view.shell, Page::Window));
        return Ok(answer::going_on(page, LOOK_AGAIN_SECONDS, view.address()));
    }
    let context = &view.ui.context;
    let study = Study::of(context, &facts, view.fields.get("client"));
    Ok(answer::page(StatusCode::OK, study.page(view, &facts).render(&view.shell)))
}

/// Returns a window that would have cost clearly less, if there is one.
pub(super) fn cheaper(context: &Context, facts: &Facts) -> Option<CheaperWindow> {
    let study = Study::of(context, facts, None);
    let best = study.best?;
    let cost = |size: u64| study.sizes.iter().find(|cost| cost.size == size).map(|cost| cost.total().0);
    let saved = Money(cost(study.now)?.saturating_sub(cost(best)?));
    Some(CheaperWindow { size: best, now: study.now, saved, sessions: study.sessions.len() as u64 })
}

/// The long conversations of one client at every size.
struct Study<'a> {
    clients: Vec<&'static Client>,
    client: Option<&'static Client>,
    sessions: Vec<&'a Conversation>,
    /// How many long conversations have no known price.
    unpriced: usize,
    aftermath: Aftermath,
    now: u64,
    sizes: Vec<SizeCost>,
    best: Option<u64>,
}

impl<'a> Study<'a> {
    /// Plays the conversations of a client, or of the one with the most requests.
    fn of(context: &Context, facts: &'a Facts, named: Option<&str>) -> Self {
        let is_long = |conversation: &&Conversation| conversation.growth.requests() >= MIN_REQUESTS;
        let mut long: Vec<&'a Conversation> = facts.all().filter(is_long).collect();
        long.sort_by(|one, other| other.requests.len().cmp(&one.requests.len()).then_with(|| one.key.cmp(&other.key)));
        let mut clients: Vec<&'static Client> = Vec::new();
        for conversation in &long {
            if !clients.iter().any(|client| client.name == conversation.client.name) {
                clients.push(conversation.client);
            }
        }
        let client = named.and_then(|name| clients.iter().find(|client| client.name == name)).or(clients.first());
        let client = client.copied();
        long.retain(|conversation| Some(conversation.client.name) == client.map(|client| client.name));
        let (sessions, unpriced): (Vec<_>, Vec<_>) =
            long.into_iter().partition(|conversation| conversation.rates.dollars.is_some());
        let mut aftermath = Aftermath::default();
        facts.all().for_each(|conversation| aftermath.add(&conversation.aftermath));
        let recipe = client.and_then(|client| setup::find(client.name));
        let now = recipe.and_then(|recipe| current_window(context, recipe)).unwrap_or(DEFAULT_COMPARED_LENGTH);
        let mut study =
            Self { clients, client, sessions, unpriced: unpriced.len(), aftermath, now, sizes: Vec::new(), best: None };
        if !study.sessions.is_empty() {
            study.sizes = study.lengths().into_iter().map(|size| study.cost(size)).collect();
            study.best = study.best_size();
        }
        study
    }

    /// Returns the sizes to try: up to the first that no session fills, and the present one.
    fn lengths(&self) -> Vec<u64> {
        let longest = self.sessions.iter().map(|session| session.growth.longest).max().unwrap_or(0);
        let enough = LENGTHS.iter().position(|length| *length >= longest).map_or(LENGTHS.len(), |at| at + 1);
        let mut lengths: Vec<u64> = LENGTHS[..enough].to_vec();
        lengths.push(self.now);
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }

    fn cost(&self, size: u64) -> SizeCost {
        let (mut parts, mut compactions) = ([0.0; 4], 0);
        for session in &self.sessions {
            let cost = session.growth.at(size, &self.aftermath);
            let price = session.rates.dollars.unwrap_or(0.0);
            let costs = [cost.parts.reads, cost.parts.writes, cost.parts.output, cost.parts.compacting];
            for (sum, part) in parts.iter_mut().zip(costs) {
                *sum += part * price;
            }
            compactions += cost.compactions;
        }
        let [reads, writes, output, compacting] = parts.map(dollars);
        SizeCost { size, reads, writes, output, compacting, compactions }
    }

    /// Returns the size that costs least, unless it saves little or leaves a session no room.
    fn best_size(&self) -> Option<u64> {
        let has_room = |size: u64| {
            let at = |session: &&Conversation| session.growth.at(size, &self.aftermath);
            !self.sessions.iter().any(|session| at(session).too_small && at(session).compactions > 0)
        };
        let now = self.sizes.iter().find(|cost| cost.size == self.now)?.total();
        let fitting = self.sizes.iter().filter(|cost| has_room(cost.size));
        let best = fitting.min_by_key(|cost| cost.total())?;
        let limit = now.0 - now.0 / 100 * MIN_SAVED_PERCENT;
        (best.size != self.now && best.total().0 < limit).then_some(best.size)
    }

    fn page(&self, view: &View<'_>, facts: &Facts) -> Window {
        let choice = |client: &&'static Client| ClientChoice {
            key: client.name.into(),
            name: client.title.into(),
            is_chosen: Some(client.name) == self.client.map(|chosen| chosen.name),
        };
        let times = || self.sessions.iter().flat_map(|session| &session.requests).filter_map(|request| request.at);
        let span = times().min().zip(times().max());
        let compared = self.compared();
        Window {
            clients: self.clients.iter().map(choice).collect(),
            sessions: self.sessions.len() as u64,
            span: span.map(|(from, to)| (view.moment(from), view.moment(to))),
            sizes: self.sizes.clone(),
            now: self.now,
            best: self.best,
            price: format!("at the prices of {}", facts.prices_of).into(),
            by_session: self.by_session(&compared),
            compared,
            setting: self.setting(),
            measured: self.measured(facts).into(),
            assumed: self.assumed().into(),
            not_known: NOT_KNOWN.into(),
        }
    }

    /// Returns the sizes at which single sessions are compared: the recommended one and those around it.
    fn compared(&self) -> Vec<u64> {
        let others: Vec<u64> = self.sizes.iter().map(|cost| cost.size).filter(|size| *size != self.now).collect();
        let best = self.best.and_then(|best| others.iter().position(|size| *size == best)).unwrap_or(0);
        let first = best.saturating_sub(1).min(others.len().saturating_sub(MAX_COMPARED));
        others.into_iter().skip(first).take(MAX_COMPARED).collect()
    }

    fn by_session(&self, compared: &[u64]) -> Vec<SessionCost> {
        let mut sessions: Vec<(f64, &Conversation)> =
            self.sessions.iter().map(|session| (session.growth.at(self.now, &self.aftermath).cost, *session)).collect();
        sessions.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let row = |(now, session): (f64, &Conversation)| {
            let change = |size: &u64| 100.0 * (session.growth.at(*size, &self.aftermath).cost / now - 1.0);
            let key = SessionKey { client: session.client.session.to_owned(), key: session.key.clone() };
            SessionCost {
                key: session_text(&key),
                title: if session.title.is_empty() {
                    session.key.as_str().into()
                } else {
                    session.title.as_str().into()
                },
                project: session.folder.rsplit('/').next().unwrap_or_default().into(),
                requests: session.requests.len() as u64,
                longest: session.growth.longest,
                changes: compared.iter().map(change).collect(),
                compactions: self.best.map(|best| session.growth.at(best, &self.aftermath).compactions),
            }
        };
        sessions.into_iter().take(MAX_LISTED_SESSIONS).map(row).collect()
    }

    /// Returns how the recommended size is set, where the client has such a setting.
    fn setting(&self) -> Option<SettingPreview> {
        let (client, best) = (self.client?, self.best?);
        let window = setup::find(client.name)?.window.as_ref()?;
        let value = window.value(best)?;
        Some(SettingPreview {
            setting: window.setting.written(&value).into(),
            command: format!("weir setup {} --window {best}", client.name).into(),
            taken_back_by: format!("weir teardown {}", client.name).into(),
        })
    }

    fn measured(&self, facts: &Facts) -> String {
        let mut text = MEASURED.to_owned();
        if self.unpriced > 0 {
            let sessions = counted(self.unpriced, "long session has", "long sessions have");
            text.push_str(&format!(" {sessions} a model without a known price and are not in it."));
        }
        if facts.left_out > 0 {
            let older = counted(facts.left_out, "older transcript was", "older transcripts were");
            text.push_str(&format!(" {older} not read; `weir window` with --newest reads more."));
        }
        text
    }

    fn assumed(&self) -> String {
        let [summary, again, requests] = self.aftermath.means().map(|mean| mean.round() as u64);
        format!(
            "After each compaction: a summary of {summary} tokens, and {again} tokens read again in {requests} \
             requests ({}).",
            self.aftermath.basis()
        )
    }
}

fn being_read(facts: &Facts) -> Message {
    let (read, all) = facts.progress;
    Message {
        title: "The transcripts are being read".into(),
        meaning: format!("{read} of {all} so far. This page looks again by itself.").into(),
        command: None,
    }
}
