//! Prefix: what every request of a client repeats, from the transcripts and from what `weir prefix` has counted.
//! Invariant: a page starts no MCP server.

use axum::http::StatusCode;
use axum::response::Response;
use weir_host::error::CommandError;
use weir_host::project::Project;
use weir_operations::counted_parts;
use weir_pages::Page;
use weir_pages::prefix::{Prefix as PrefixPage, PrefixPart, ShorterPrefix, UnusedTools};
use weir_pages::window::ClientChoice;
use weir_session::prefix::{Prefix, SentPart, Starts, advice, deferral, note, pace, prefixes, unused_names};

use super::account::dollars;
use super::answer;
use super::view::View;
use super::window::{LOOK_AGAIN_SECONDS, being_read};

pub(super) async fn page(view: &View<'_>) -> Result<Response, CommandError> {
    let facts = view.ui.transcripts.facts_soon().await;
    if !facts.is_ready {
        let page = answer::page(StatusCode::OK, being_read(&facts).render_as(&view.shell, Page::Prefix));
        return Ok(answer::going_on(page, LOOK_AGAIN_SECONDS, view.address()));
    }
    let context = match &view.project {
        Some(project) => view.ui.context.viewing(Project::of_known(&project.known)),
        None => view.ui.context.clone(),
    };
    let counting = tokio::task::spawn_blocking(move || {
        let counted = counted_parts(&context, Starts::Nothing);
        prefixes(facts.all().map(|conversation| &conversation.opening), counted, &context.project().root)
    });
    let found = counting.await.map_err(|error| CommandError::broken(&error.to_string()))?;
    let named = view.fields.get("client").and_then(|name| found.iter().find(|prefix| prefix.client.name == name));
    let page = shown(&found, named.or(found.first()));
    Ok(answer::page(StatusCode::OK, page.render(&view.shell)))
}

fn shown(all: &[Prefix], chosen: Option<&Prefix>) -> PrefixPage {
    let choice = |prefix: &Prefix| ClientChoice {
        key: prefix.client.name.into(),
        name: prefix.client.title.into(),
        is_chosen: Some(prefix.client.name) == chosen.map(|chosen| chosen.client.name),
    };
    let measured = chosen.and_then(|chosen| chosen.measured);
    PrefixPage {
        clients: all.iter().map(choice).collect(),
        first: measured.map(|measured| measured.tokens),
        sessions: measured.map_or(0, |measured| measured.sessions as u64),
        pace: chosen.map(pace).unwrap_or_default().into(),
        deferral: chosen.map(deferral).unwrap_or_default().into(),
        parts: chosen.map(parts).unwrap_or_default(),
        unused: chosen.map(unused).unwrap_or_default(),
        advice: chosen.map(shorter).unwrap_or_default(),
    }
}

fn parts(prefix: &Prefix) -> Vec<PrefixPart> {
    let part = |sent: &SentPart| PrefixPart {
        kind: sent.part.kind.title().into(),
        name: sent.part.name.as_str().into(),
        tokens: sent.sent,
        monthly: sent.monthly.map(dollars),
        note: note(prefix, sent).into(),
    };
    let rest = prefix.rest().map(|rest| {
        let tokens = u64::try_from(rest).ok();
        PrefixPart {
            kind: "the rest".into(),
            name: "".into(),
            tokens,
            monthly: tokens.and_then(|tokens| prefix.monthly(tokens)).map(dollars),
            note: prefix.about_rest().into(),
        }
    });
    prefix.parts.iter().map(part).chain(rest).collect()
}

fn unused(prefix: &Prefix) -> Vec<UnusedTools> {
    let of_server = |sent: &SentPart| UnusedTools {
        server: sent.part.name.as_str().into(),
        unused: sent.unused.len() as u64,
        all: sent.part.tools.len() as u64,
        tokens: sent.unused.iter().map(|tool| tool.tokens).sum(),
        names: unused_names(sent).into(),
    };
    prefix.parts.iter().filter(|sent| !sent.unused.is_empty()).map(of_server).collect()
}

fn shorter(prefix: &Prefix) -> Vec<ShorterPrefix> {
    let shown = |one: weir_session::prefix::Advice| ShorterPrefix {
        what: one.what.into(),
        why: one.why.into(),
        tokens: one.tokens,
        monthly: one.monthly.map(dollars),
    };
    advice(prefix).into_iter().map(shown).collect()
}
