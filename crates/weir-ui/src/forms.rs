//! Forms: what the user changes from a page. Invariants: a form counts only with the token of the pages and from their
//! origin; each ends with a redirect, so that reloading a page repeats nothing; one that is sent twice does its work
//! once, and one about a revision that is not the newest is refused.

use axum::http::request::Parts;
use axum::response::Response;
use serde_json::{Value, json};
use weir_context::{Context, LockedStores};
use weir_core::{Entry, Level, NoteKind, Origin, Reference};
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_knowledge::staleness;
use weir_operations::{Arguments, OPERATIONS};
use weir_pages::routes::Act;
use weir_store::Found;

use super::fields::Fields;
use super::known::Visit;
use super::route::{Destination, Place};
use super::view::{Asked, KEYS, THEME, View};
use super::{Ui, answer, entry};

/// The longest address that a form may return to, in bytes.
const MAX_BACK_BYTES: usize = 4 << 10;
const MAX_REVISIONS: usize = 1_000;
/// The tools of the operations that forms use.
const ANNOTATE: &str = "ctx_annotate";
const FORGET: &str = "ctx_forget";

pub(super) async fn answer(ui: &Ui, place: &Place, parts: &Parts, form: &[u8]) -> Result<Response, CommandError> {
    let fields = Fields::parse(form);
    if !ui.entrance.accepts(&parts.headers, fields.get("token")) {
        let message = "the form was not accepted: it was not sent by one of these pages";
        return Err(CommandError::new(ErrorKind::Denied, message).hint("open the page again, and repeat it there"));
    }
    let back = fields.get("back").filter(|back| is_local(back)).unwrap_or("/");
    let done = answer::redirect(back);
    let asked = Asked { project: place.project.as_deref(), query: "", path: back, headers: &parts.headers };
    match &place.at {
        Destination::Theme => {
            let theme = fields.get("theme").filter(|theme| ["light", "dark", "system"].contains(theme));
            Ok(answer::with_choice(done, THEME, theme.unwrap_or("system")))
        }
        Destination::Keys => {
            Ok(answer::with_choice(done, KEYS, if fields.get("keys") == Some("off") { "off" } else { "on" }))
        }
        Destination::NewNote => new_note(&View::new(ui, asked).await?, &fields).await.map(|()| done),
        Destination::Act(act, reference) => {
            let reference = Reference::parse(reference).map_err(|error| CommandError::usage(error.to_string()))?;
            act_on(&View::new(ui, asked).await?, *act, reference, &fields).await.map(|()| done)
        }
        Destination::Page(_) | Destination::Session(_) | Destination::Entry(_) | Destination::Raw(_) => Ok(done),
    }
}

fn is_local(address: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    address.len() <= MAX_BACK_BYTES
        && address.starts_with('/')
        && !address.starts_with("//")
        && address.bytes().all(is_plain)
}

/// Stores a note, for the project or, from a page over all of them, for the user.
async fn new_note(view: &View<'_>, fields: &Fields) -> Result<(), CommandError> {
    let (visit, level) = match &view.project {
        Some(project) => (project.visit().await, Level::Project),
        None => (view.ui.projects.visit().await, Level::User),
    };
    let kind = fields.get("kind").and_then(NoteKind::parse).unwrap_or(NoteKind::Finding);
    let topic = fields.get("topic").map(|topic| topic.trim().to_owned()).filter(|topic| !topic.is_empty());
    let text = text_of(fields)?;
    let arguments = json!({ "text": text, "kind": kind.as_str(), "topic": topic, "scope": level.as_str() });
    let scope = visit.scope();
    let is_kept = visit.with_stores(move |open| {
        let store = open.store(level)?;
        let Some(same) = store.note_with_text(&scope, &text)? else { return Ok(false) };
        let entry = store.entry(&scope, same)?.filter(|entry| entry.level == level);
        Ok(entry.and_then(|entry| entry.note).is_some_and(|note| note.kind == kind && note.topic == topic))
    });
    if is_kept.await? {
        return Ok(());
    }
    call(&visit, ANNOTATE, arguments).await.map(drop)
}

async fn act_on(view: &View<'_>, act: Act, reference: Reference, fields: &Fields) -> Result<(), CommandError> {
    let place = entry::find(view, reference).await?;
    let (visit, level) = (place.visit(view).await, place.level());
    match act {
        Act::Confirm => confirm(&visit, level, reference).await,
        Act::Edit => {
            let note = note(&visit, level, reference).await?;
            revise(&visit, &note, text_of(fields)?).await
        }
        Act::Forget => forget(&visit, level, reference).await,
    }
}

/// Records that the user stands behind a note. One that something speaks against is written again, as it is now.
async fn confirm(visit: &Visit, level: Level, reference: Reference) -> Result<(), CommandError> {
    let note = note(visit, level, reference).await?;
    let doubts = staleness::labels(visit, &[&note], staleness::GIT_TIMEOUT).await.concat();
    let scope = visit.scope();
    if note.superseded_by.is_some() || !doubts.is_empty() {
        let text = visit.with_stores(move |open| {
            let text = open.store(level)?.text(&scope, reference)?.ok_or_else(|| no_note(reference))?.all()?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        });
        return revise(visit, &note, text.await?).await;
    }
    if note.origin == Origin::Model {
        let confirmed = visit.with_stores(move |open| {
            let now = open.now;
            Ok(open.store(level)?.confirm(&scope, reference, now)?)
        });
        confirmed.await?.ok_or_else(|| no_note(reference))?;
    }
    Ok(())
}

/// Writes a new revision of a note, unless the note has one with the same text. Another one must not be replaced by a
/// text that was written without knowing it.
async fn revise(visit: &Visit, entry: &Entry, text: String) -> Result<(), CommandError> {
    let Some(note) = &entry.note else { return Err(no_note(entry.reference)) };
    if let Some(newer) = entry.superseded_by {
        let (scope, level) = (visit.scope(), entry.level);
        let is_same =
            move |open: &mut LockedStores<'_>| Ok(open.store(level)?.note_with_text(&scope, &text)? == Some(newer));
        return match visit.with_stores(is_same).await? {
            true => Ok(()),
            false => Err(CommandError::usage("the note has been revised since this page was opened")
                .hint("open Notes, and change the newest revision")),
        };
    }
    let arguments = json!({
        "text": text,
        "kind": note.kind.as_str(),
        "topic": note.topic,
        "supersedes": [entry.reference.as_str()],
        "files": note.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
        "scope": entry.level.as_str(),
    });
    call(visit, ANNOTATE, arguments).await.map(drop)
}

/// Removes an entry; of a note, the older revisions too.
async fn forget(visit: &Visit, level: Level, reference: Reference) -> Result<(), CommandError> {
    let scope = visit.scope();
    let revisions = visit.with_stores(move |open| {
        let store = open.store(level)?;
        let mut all = vec![reference];
        let mut next = 0;
        while let Some(reference) = all.get(next).copied().filter(|_| all.len() < MAX_REVISIONS) {
            next += 1;
            let older = store.entry(&scope, reference)?.and_then(|entry| entry.note).map(|note| note.supersedes);
            let new = older.into_iter().flatten().filter(|older| !all.contains(older));
            let new: Vec<Reference> = new.collect();
            all.extend(new);
        }
        Ok(all)
    });
    let references: Vec<String> = revisions.await?.iter().map(|one| one.as_str().to_owned()).collect();
    let plan = call(visit, FORGET, json!({ "refs": references })).await?;
    let Some(confirmation) = plan.data["confirm"].as_str() else {
        let scope = visit.scope();
        let look = move |open: &mut LockedStores<'_>| {
            let now = open.now;
            Ok(matches!(open.store(level)?.get(&scope, reference, now)?, Found::Gone(_)))
        };
        return if visit.with_stores(look).await? { Ok(()) } else { Err(entry::never(reference)) };
    };
    call(visit, FORGET, json!({ "refs": references, "confirm": confirmation })).await.map(drop)
}

async fn note(visit: &Visit, level: Level, reference: Reference) -> Result<Entry, CommandError> {
    let scope = visit.scope();
    let found = visit.with_stores(move |open| Ok(open.store(level)?.entry(&scope, reference)?)).await?;
    found.filter(|entry| entry.note.is_some()).ok_or_else(|| no_note(reference))
}

async fn call(context: &Context, tool: &str, arguments: Value) -> Result<Answer, CommandError> {
    let operation = OPERATIONS.iter().find(|operation| operation.tool == tool);
    let operation = operation.ok_or_else(|| CommandError::broken(&format!("there is no operation {tool}")))?;
    operation.start(context.clone(), Arguments::Json(arguments))?.await
}

/// Returns the text of a note. Browsers end the lines of a field as networks do.
fn text_of(fields: &Fields) -> Result<String, CommandError> {
    let text = fields.get("text").filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| CommandError::usage("the note is empty").hint("go back, and write something"))?;
    Ok(text.replace("\r\n", "\n"))
}

fn no_note(reference: Reference) -> CommandError {
    CommandError::new(ErrorKind::NotFound, format!("there is no note {reference}"))
        .hint("it may have been forgotten; Notes lists those that are there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_returns_to_our_pages_only() {
        for address in ["/", "/in/app-01/notes?show=all", "/search?q=a%20b"] {
            assert!(is_local(address), "{address}");
        }
        let long = format!("/{}", "a".repeat(MAX_BACK_BYTES));
        for address in ["", "//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb", "/a b", "/é", &long]
        {
            assert!(!is_local(address), "{address}");
        }
    }
}
