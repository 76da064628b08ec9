//! Writes notes, confirms them and removes them. Invariant: what came over HTTP is the word of a model unless the
//! caller says that a person wrote it, and it is never confirmed by being written.

use serde::Deserialize;
use serde_json::{Value, json};
use weir_core::wording::{flat, one_line};
use weir_core::{EntryKind, NoteKind, Origin, Scope, WhyGone};
use weir_http::problem::Problem;
use weir_records::{Audience, Body, NewRecord, NoteFields, PortError, RecordId};

use super::Service;
use super::callers::Caller;
use super::entries::{Named, Place, find, fork_of};
use super::problem::invalid;
use super::sync::check_room;

/// The longest title that is made from a text, in characters.
const MAX_TITLE_CHARS: usize = 80;
/// How many notes one note takes the place of.
const MAX_REPLACED: usize = 20;
/// The longest title, topic or name of a branch or commit, in bytes.
const MAX_FIELD_BYTES: usize = 1 << 10;

/// The body of a note.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewNote {
    project: String,
    text: String,
    kind: Option<String>,
    title: Option<String>,
    topic: Option<String>,
    commit: Option<String>,
    branch: Option<String>,
    /// `user` if a person wrote the text; a model did otherwise.
    origin: Option<String>,
    /// `author` if nobody else shall see it; the team does otherwise.
    audience: Option<String>,
    /// The record whose place it takes, by its id or its reference.
    supersedes: Option<String>,
}

impl NewNote {
    /// Creates a note of a tool, which a model has written.
    pub(super) fn of_tool(project: String, text: String, kind: Option<String>, topic: Option<String>) -> Self {
        let (title, commit, branch) = (None, None, None);
        Self { project, text, kind, title, topic, commit, branch, origin: None, audience: None, supersedes: None }
    }
}

/// Keeps a note.
pub(super) fn keep(service: &Service, caller: &Caller, note: NewNote) -> Result<Value, Problem> {
    let old: Vec<String> = note.supersedes.clone().into_iter().collect();
    keep_replacing(service, caller, note, &old)
}

/// Keeps a note in the place of others, which are named by record ids or references. They must exist before anything is
/// stored.
pub(super) fn keep_replacing(
    service: &Service,
    caller: &Caller,
    note: NewNote,
    replaced: &[String],
) -> Result<Value, Problem> {
    let failed = |error: PortError| service.failure(&error);
    if replaced.len() > MAX_REPLACED {
        return Err(invalid(format!("a note replaces at most {MAX_REPLACED} others")));
    }
    let scope = caller.clear_scope(service, note.project.clone())?;
    let mut old: Vec<RecordId> = Vec::new();
    for name in replaced {
        let id = one(&find(service, &scope, name)?)?;
        if !old.contains(&id) {
            old.push(id);
        }
    }
    let new = new_record(note)?;
    check_room(service, &scope, new.text.len())?;
    let stored = service.shelf.keep(&scope, new, service.now());
    // It may be in the log even if this failed.
    service.announce(&scope);
    let record = stored.map_err(failed)?;
    for old in old {
        service.shelf.supersede(&scope, old, record.id, service.now()).map_err(|error| {
            service
                .failure(&error)
                .hint("the note was kept, but the older one does not count as superseded")
                .field("id", record.id.to_string())
        })?;
    }
    let reference = record.body.kept().map(|kept| kept.reference.as_str().to_owned());
    let kept = service.shelf.get(&scope, record.id).map_err(failed)?;
    let fork = kept.map_or_else(|| Ok(Vec::new()), |kept| fork_of(service, &scope, &kept))?;
    Ok(json!({ "id": record.id.to_string(), "reference": reference, "fork": fork }))
}

/// Confirms an entry in the name of the caller.
pub(super) fn confirm(service: &Service, caller: &Caller, name: &str, place: Place) -> Result<Value, Problem> {
    let scope = caller.clear_scope(service, place.project)?;
    let id = one(&find(service, &scope, name)?)?;
    check_room(service, &scope, 0)?;
    let record = service.shelf.confirm(&scope, id, service.now()).map_err(|error| service.failure(&error))?;
    service.announce(&scope);
    Ok(json!({ "confirmed": id.to_string(), "id": record.id.to_string() }))
}

/// Removes an entry of the caller from the log, the index and the texts.
pub(super) fn forget(service: &Service, caller: &Caller, name: &str, place: Place) -> Result<Value, Problem> {
    let scope = caller.scope(place.project)?;
    let id = match sealed(service, &scope, name)? {
        Some(id) => id,
        None => one(&find(service, &scope, name)?)?,
    };
    let forgotten = service.shelf.forget(&scope, id, WhyGone::Forgotten, service.now()).map_err(|error| {
        // The removal may be in the log already. Then the words still have to leave the index.
        service.announce(&scope);
        service.failure(&error)
    })?;
    let left = forgotten.left;
    let left = json!({ "log": left.in_log, "index": left.in_index, "texts": left.in_blobs });
    Ok(json!({ "forgotten": id.to_string(), "id": forgotten.removal.id.to_string(), "left": left }))
}

/// Returns the id of a sealed entry, if this is one. The server knows no reference of it.
fn sealed(service: &Service, scope: &Scope, name: &str) -> Result<Option<RecordId>, Problem> {
    let Ok(id) = RecordId::parse(name) else { return Ok(None) };
    let found = service.shelf.ports().log.records(scope, &[id]).map_err(|error| service.failure(&error))?;
    Ok(found.iter().find(|stored| matches!(stored.record.body, Body::Sealed(_))).map(|stored| stored.record.id))
}

fn new_record(note: NewNote) -> Result<NewRecord, Problem> {
    let fields = [&note.title, &note.topic, &note.commit, &note.branch];
    if note.text.trim().is_empty() {
        return Err(invalid("`text` is empty"));
    }
    if fields.into_iter().flatten().any(|field| field.len() > MAX_FIELD_BYTES) {
        return Err(invalid(format!("a field besides `text` has more than {MAX_FIELD_BYTES} bytes")));
    }
    if note.topic.as_deref().is_some_and(|topic| topic.contains('\0')) {
        return Err(invalid("`topic` has a zero byte, and could not be looked up"));
    }
    let kind = choice("kind", note.kind.as_deref(), NoteKind::Finding, NoteKind::ALL, NoteKind::as_str)?;
    let audience = choice("audience", note.audience.as_deref(), Audience::Team, Audience::ALL, Audience::as_str)?;
    let origins = [Origin::User, Origin::Model];
    let origin = choice("origin", note.origin.as_deref(), Origin::Model, &origins, Origin::as_str)?;
    let title = note.title.map_or_else(|| flat(&note.text, MAX_TITLE_CHARS), |title| flat(&title, MAX_TITLE_CHARS));
    let fields = NoteFields { kind, topic: note.topic, files: Vec::new(), commit: note.commit, branch: note.branch };
    Ok(NewRecord { origin, note: Some(fields), ..NewRecord::new(EntryKind::Note, audience, title, note.text) })
}

/// Returns the one of several that a word names, or the usual one if there is no word.
fn choice<T: Copy>(
    field: &str,
    word: Option<&str>,
    usual: T,
    all: &[T],
    written: fn(T) -> &'static str,
) -> Result<T, Problem> {
    let Some(word) = word else { return Ok(usual) };
    all.iter().copied().find(|one| written(*one) == word).ok_or_else(|| {
        let words: Vec<&str> = all.iter().copied().map(written).collect();
        invalid(format!("`{field}` cannot be `{}`", one_line(word, 80)))
            .hint(format!("use one of {}", words.join(", ")))
    })
}

/// Returns the id of the only entry, or the answer that there are several.
fn one(named: &Named) -> Result<RecordId, Problem> {
    match named.entries.as_slice() {
        [only] if !named.has_more => Ok(only.record.id),
        several => {
            let shown: Vec<String> = several.iter().map(|kept| kept.record.id.to_string()).collect();
            let more = if named.has_more { "more than " } else { "" };
            Err(invalid(format!("{more}{} entries have this reference", several.len()))
                .hint(format!("name one by its id: {}", shown.join(", "))))
        }
    }
}
