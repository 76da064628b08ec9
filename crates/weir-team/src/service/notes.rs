//! Writes notes, confirms them and removes them. Invariant: what came over HTTP is the word of a model unless the
//! caller says that a person wrote it, and it is never confirmed by being written.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::wording::{flat, one_line};
use weir_core::{EntryKind, NoteKind, Origin, Scope, WhyGone};
use weir_http::problem::Problem;
use weir_records::{
    Audience, Body, ErrorKind, KeptOnce, MAX_NAME_BYTES, NewRecord, NoteFields, Once, PortError, RecordId, RequestKey,
    TokenScope, is_name,
};

use super::Service;
use super::callers::Caller;
use super::entries::{Named, Place, ShownFork, find, fork_of};
use super::problem::invalid;
use super::sync::check_room;

/// Names a request that may be repeated, as draft-ietf-httpapi-idempotency-key-header does.
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The longest title that is made from a text, in characters.
const MAX_TITLE_CHARS: usize = 80;
/// How many notes one note takes the place of.
const MAX_REPLACED: usize = 20;
/// The longest title, topic or name of a branch or commit, in bytes.
const MAX_FIELD_BYTES: usize = 1 << 10;

/// The body of a note.
#[derive(Deserialize, JsonSchema)]
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
    /// The key of the request, if it has one.
    #[serde(skip)]
    request: Option<RequestKey>,
}

impl NewNote {
    /// Creates a note of a tool, which a model has written.
    pub(super) fn of_tool(project: String, text: String, kind: Option<String>, topic: Option<String>) -> Self {
        let (title, commit, branch, origin, audience) = (None, None, None, None, None);
        Self { project, text, kind, title, topic, commit, branch, origin, audience, supersedes: None, request: None }
    }
}

/// A note that was kept.
#[derive(Serialize, JsonSchema)]
pub(super) struct KeptNote {
    pub(super) id: String,
    /// What it is called. One that is gone since has no reference.
    pub(super) reference: Option<String>,
    /// Other current notes on its topic.
    pub(super) fork: Vec<ShownFork>,
}

/// Returns how a client calls a request, if it says so.
pub(super) fn request_name(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    match value.to_str().ok().filter(|name| is_name(name)) {
        Some(name) => Ok(Some(name.to_owned())),
        None => Err(Problem::new(StatusCode::BAD_REQUEST, "Invalid header", "`Idempotency-Key` cannot be used")
            .hint(format!("send 1 to {MAX_NAME_BYTES} printable characters, such as a UUID"))),
    }
}

/// Keeps a note from the body of a request that may have a name.
pub(super) fn keep_named(
    service: &Service,
    caller: &Caller,
    name: Option<&str>,
    note: NewNote,
    body: &[u8],
) -> Result<KeptNote, Problem> {
    let content = String::from_utf8_lossy(body);
    let key = |name: &str| RequestKey::new(&caller.token.user, name, &content, service.now());
    let old: Vec<String> = note.supersedes.clone().into_iter().collect();
    keep_replacing(service, caller, NewNote { request: name.map(key), ..note }, &old)
}

/// Keeps a note in the place of others, which are named by record ids or references. They must exist before anything is
/// stored.
pub(super) fn keep_replacing(
    service: &Service,
    caller: &Caller,
    note: NewNote,
    replaced: &[String],
) -> Result<KeptNote, Problem> {
    let failed = |error: PortError| service.failure(&error);
    if replaced.len() > MAX_REPLACED {
        return Err(invalid(format!("a note replaces at most {MAX_REPLACED} others")));
    }
    let scope = caller.clear_scope(service, note.project.clone())?;
    let request = note.request;
    if let Some(key) = &request {
        match service.shelf.ports().log.request(&scope, key).map_err(failed)? {
            Some(Once::Before(id)) => return kept_before(service, &scope, id, replaced),
            Some(_) => return Err(other_request()),
            None => {}
        }
    }
    let mut old: Vec<RecordId> = Vec::new();
    for name in replaced {
        let id = one(&find(service, &scope, name)?)?;
        if !old.contains(&id) {
            old.push(id);
        }
    }
    let new = new_record(note)?;
    check_room(service, &scope, new.text.len())?;
    let stored = match &request {
        None => service.shelf.keep(&scope, new, service.now()).map(|record| KeptOnce::New(Box::new(record))),
        Some(key) => service.shelf.keep_once(&scope, new, key, service.now()),
    };
    // It may be in the log even if this failed.
    service.announce(&scope);
    match stored.map_err(failed)? {
        KeptOnce::New(record) => {
            old.into_iter().try_for_each(|old| supersede(service, &scope, old, record.id))?;
            answer(service, &scope, record.id)
        }
        KeptOnce::Before(id) => kept_before(service, &scope, id, replaced),
        KeptOnce::Other => Err(other_request()),
    }
}

/// Answers a request that is repeated: as the first one was, and with what that one may have left undone.
fn kept_before(service: &Service, scope: &Scope, id: RecordId, replaced: &[String]) -> Result<KeptNote, Problem> {
    for name in replaced {
        // What is gone since needs no successor.
        let Ok(found) = find(service, scope, name) else { continue };
        for older in found.entries.iter().filter(|older| older.superseded_by.is_none() && older.record.id != id) {
            supersede(service, scope, older.record.id, id)?;
        }
    }
    answer(service, scope, id)
}

fn supersede(service: &Service, scope: &Scope, old: RecordId, by: RecordId) -> Result<(), Problem> {
    service.shelf.supersede(scope, old, by, service.now()).map(drop).map_err(|error| {
        service
            .failure(&error)
            .hint("the note was kept, but the older one does not count as superseded")
            .field("id", by.to_string())
    })
}

/// Describes a note that was kept.
fn answer(service: &Service, scope: &Scope, id: RecordId) -> Result<KeptNote, Problem> {
    let kept = service.shelf.get(scope, id).map_err(|error| service.failure(&error))?;
    let reference = kept.as_ref().and_then(|kept| kept.entry()).map(|entry| entry.reference.as_str().to_owned());
    let fork = kept.map_or_else(|| Ok(Vec::new()), |kept| fork_of(service, scope, &kept))?;
    Ok(KeptNote { id: id.to_string(), reference, fork })
}

fn other_request() -> Problem {
    invalid("another request had this `Idempotency-Key`, and nothing was stored")
        .hint("repeat a request with the same body, and give each new one a key of its own")
}

/// What was confirmed, and by which record.
#[derive(Serialize, JsonSchema)]
pub(super) struct Confirmed {
    confirmed: String,
    id: String,
}

/// Confirms an entry in the name of the caller.
pub(super) fn confirm(service: &Service, caller: &Caller, name: &str, place: Place) -> Result<Confirmed, Problem> {
    let scope = caller.clear_scope(service, place.project)?;
    let id = one(&find(service, &scope, name)?)?;
    check_room(service, &scope, 0)?;
    let record = service.shelf.confirm(&scope, id, service.now()).map_err(|error| service.failure(&error))?;
    service.announce(&scope);
    Ok(Confirmed { confirmed: id.to_string(), id: record.id.to_string() })
}

/// Which entry to forget, besides its name, and by whose right.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Removal {
    pub(super) project: String,
    /// Whether the caller, who is an admin, removes what they need not have written.
    #[serde(default)]
    pub(super) as_admin: bool,
}

/// What was removed, by which record, and what was found of it afterwards.
#[derive(Serialize, JsonSchema)]
pub(super) struct Forgotten {
    pub(super) forgotten: String,
    pub(super) id: String,
    pub(super) left: Left,
}

/// How much of an entry was found after it was removed.
#[derive(Serialize, JsonSchema)]
pub(super) struct Left {
    pub(super) log: u64,
    pub(super) index: u64,
    pub(super) texts: u64,
}

/// Removes an entry from the log, the index and the texts: one of the caller, or as an admin anybody's that they see.
pub(super) fn forget(service: &Service, caller: &Caller, name: &str, removal: Removal) -> Result<Forgotten, Problem> {
    let Removal { project, as_admin } = removal;
    let scope = caller.scope(project)?;
    if as_admin {
        caller.check(TokenScope::Admin)?;
    }
    let id = match sealed(service, &scope, name)? {
        Some(id) => id,
        None => one(&find(service, &scope, name)?)?,
    };
    let forgotten = match as_admin {
        true => service.shelf.forget_as_admin(&scope, id, service.now()),
        false => service.shelf.forget(&scope, id, WhyGone::Forgotten, service.now()),
    };
    let forgotten = forgotten.map_err(|error| {
        // The removal may be in the log already. Then the words still have to leave the index.
        service.announce(&scope);
        let problem = service.failure(&error);
        match error.kind {
            ErrorKind::NotAuthor => problem.hint("an admin of the tenant can remove it: `as_admin=true`"),
            _ => problem,
        }
    })?;
    let left = forgotten.left;
    let left = Left { log: left.in_log, index: left.in_index, texts: left.in_blobs };
    Ok(Forgotten { forgotten: id.to_string(), id: forgotten.removal.id.to_string(), left })
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
