//! Finds and reads entries. Invariant: an answer says how far the index is behind, and what it cut.

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use weir_core::wording::one_line;
use weir_core::{EntryKind, Reference, Scope, Timestamp, UserId};
use weir_http::problem::Problem;
use weir_records::{ErrorKind, KeptRecord, PortError, Record, RecordId, SearchQuery};

use super::Service;
use super::callers::Caller;
use super::problem::invalid;

/// How many hits a search returns at most, and without a limit of the caller.
const MAX_HITS: usize = 50;
const DEFAULT_HITS: usize = 10;
/// The longest query, in bytes.
const MAX_QUERY_BYTES: usize = 4 << 10;
/// How much of a text a hit shows, in bytes.
const EXCERPT_BYTES: u64 = 500;
/// How many entries with one reference are shown.
const MAX_NAMESAKES: usize = 20;
/// What to do about an entry without its text.
const MISSING_TEXT: &str = "the text of this entry can no longer be read; its author can forget the entry and write it \
    again";

/// The body of a search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    project: String,
    query: String,
    limit: Option<usize>,
    kind: Option<String>,
    author: Option<String>,
    source: Option<String>,
    /// Only entries kept at or after this time, in milliseconds since 1970.
    since: Option<i64>,
}

impl Search {
    /// Creates a search of a tool.
    pub(super) fn of_tool(
        project: String,
        query: String,
        limit: Option<usize>,
        kind: Option<String>,
        source: Option<String>,
    ) -> Self {
        Self { project, query, limit, kind, author: None, source, since: None }
    }
}

/// The project that an entry is in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    pub(super) project: String,
}

/// The entries with a record id or a reference, oldest first: one or more.
pub(super) struct Named {
    pub(super) entries: Vec<KeptRecord>,
    /// Whether there are more than these.
    pub(super) has_more: bool,
}

/// Searches a project.
pub(super) fn search(service: &Service, caller: &Caller, search: Search) -> Result<Value, Problem> {
    let scope = caller.clear_scope(service, search.project)?;
    let limit = search.limit.unwrap_or(DEFAULT_HITS);
    if !(1..=MAX_HITS).contains(&limit) {
        return Err(invalid(format!("`limit` must be between 1 and {MAX_HITS}")));
    }
    if search.query.len() > MAX_QUERY_BYTES {
        return Err(invalid(format!("`query` has more than {MAX_QUERY_BYTES} bytes")));
    }
    let query = SearchQuery {
        vector: service.options.meaning.as_ref().and_then(|meaning| meaning.embed(&search.query)),
        kind: search.kind.as_deref().map(kind_of).transpose()?,
        author: search.author.map(UserId),
        source: search.source,
        since: search.since.map(Timestamp),
        ..SearchQuery::new(search.query, limit)
    };
    let failed = |error: PortError| service.failure(&error);
    let found = service.shelf.search(&scope, &query).map_err(failed)?;
    if found.behind > 0 {
        service.announce(&scope);
    }
    let (mut kept, mut forks, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    for hit in found.hits {
        kept.push(hit.kept);
        forks.push(hit.fork);
        scores.push(hit.score);
    }
    let shown = with_excerpts(service, &scope, &kept, &forks)?;
    let hits = shown.into_iter().zip(scores).filter_map(|(shown, score)| {
        let mut shown = shown?;
        shown.insert("score".to_owned(), score.into());
        Some(Value::Object(shown))
    });
    Ok(json!({ "hits": hits.collect::<Vec<_>>(), "behind": found.behind, "by_meaning": found.used_vector }))
}

/// Returns the entries with a record id or a reference. One entry has its text, or says that it is lost; of several,
/// each has an excerpt.
pub(super) fn get(service: &Service, caller: &Caller, name: &str, place: Place) -> Result<Value, Problem> {
    let scope = caller.clear_scope(service, place.project)?;
    let Named { entries: found, has_more } = find(service, &scope, name)?;
    if let [only] = found.as_slice() {
        let text = service.shelf.text(&scope, only.record.id);
        let mut shown = describe(only, &fork_of(service, &scope, only)?);
        let text = match text {
            Ok(text) => text.ok_or_else(|| missing(name))?,
            // It is damaged, or the server ended after it had deleted the text and before it had removed the entry.
            Err(error) if error.kind == ErrorKind::Damaged => {
                (service.options.report)(&error.to_string());
                shown.insert("missing_text".to_owned(), true.into());
                return Ok(json!({ "entries": [shown], "hint": MISSING_TEXT }));
            }
            Err(error) => return Err(service.failure(&error)),
        };
        shown.insert("text".to_owned(), String::from_utf8_lossy(&text).into());
        return Ok(json!({ "entries": [shown] }));
    }
    let entries = shown_in(service, &scope, &found)?;
    let hint = "several entries have this reference; ask for one by its id";
    if has_more {
        let hint = format!("{hint}; these are the {MAX_NAMESAKES} oldest, and there are more");
        return Ok(json!({ "entries": entries, "more": true, "hint": hint }));
    }
    Ok(json!({ "entries": entries, "count": entries.len(), "hint": hint }))
}

/// Describes these entries with the beginnings of their texts, in order, without those that were removed.
pub(super) fn described(service: &Service, scope: &Scope, ids: &[RecordId]) -> Result<Vec<Value>, Problem> {
    let found = service.shelf.get_all(scope, ids).map_err(|error| service.failure(&error))?;
    shown_in(service, scope, &found)
}

/// Returns those of these entries that nothing supersedes, in order. [`shown_in`] describes them.
pub(super) fn current(service: &Service, scope: &Scope, ids: &[RecordId]) -> Result<Vec<KeptRecord>, Problem> {
    let mut found = service.shelf.get_all(scope, ids).map_err(|error| service.failure(&error))?;
    found.retain(|kept| kept.superseded_by.is_none());
    Ok(found)
}

/// Describes entries as [`described`] does.
pub(super) fn shown_in(service: &Service, scope: &Scope, found: &[KeptRecord]) -> Result<Vec<Value>, Problem> {
    let forks = service.shelf.forks_of(scope, found).map_err(|error| service.failure(&error))?;
    let shown = with_excerpts(service, scope, found, &forks)?;
    Ok(shown.into_iter().flatten().map(Value::Object).collect())
}

/// Describes entries with the forks of their topics and the beginnings of their texts: `None` for one that was removed
/// meanwhile.
fn with_excerpts(
    service: &Service,
    scope: &Scope,
    kept: &[KeptRecord],
    forks: &[Vec<KeptRecord>],
) -> Result<Vec<Option<Map<String, Value>>>, Problem> {
    let records: Vec<&Record> = kept.iter().map(|kept| &kept.record).collect();
    let starts = service.shelf.text_ranges(scope, &records, 0..EXCERPT_BYTES);
    let mut shown = Vec::new();
    for ((kept, fork), start) in kept.iter().zip(forks).zip(starts) {
        let start = match start {
            // What is damaged is found by its title, and says so when it is read.
            Err(PortError { kind: ErrorKind::Damaged, .. }) => Some(Vec::new()),
            start => start.map_err(|error| service.failure(&error))?,
        };
        shown.push(start.map(|start| {
            let mut shown = describe(kept, &named(fork));
            shown.insert("excerpt".to_owned(), excerpt(kept, &start).into());
            shown
        }));
    }
    Ok(shown)
}

/// Names the other current notes on the topic of an entry: who wrote them, and when.
pub(super) fn fork_of(service: &Service, scope: &Scope, kept: &KeptRecord) -> Result<Vec<Value>, Problem> {
    let forks = service.shelf.forks_of(scope, std::slice::from_ref(kept)).map_err(|error| service.failure(&error))?;
    Ok(forks.first().map(|fork| named(fork)).unwrap_or_default())
}

fn named(fork: &[KeptRecord]) -> Vec<Value> {
    let named = fork.iter().map(|other| {
        let author = &other.record.author;
        json!({
            "id": other.record.id.to_string(),
            "author": { "user": author.user.0.as_str(), "client": author.client.as_str() },
            "at": other.record.time.millis,
        })
    });
    named.collect()
}

/// Returns the entries with a record id or a reference, or the answer that there are none.
pub(super) fn find(service: &Service, scope: &Scope, name: &str) -> Result<Named, Problem> {
    let found = match (RecordId::parse(name), Reference::parse(name)) {
        (Ok(id), _) => service.shelf.get(scope, id).map(|found| found.into_iter().collect()),
        (Err(_), Ok(reference)) => service.shelf.find(scope, reference, MAX_NAMESAKES + 1),
        (Err(_), Err(_)) => {
            let detail = format!("`{}` is neither a record id nor a reference", one_line(name, 80));
            return Err(invalid(detail).hint("use `id` or `reference` of a hit"));
        }
    };
    let mut entries: Vec<KeptRecord> = found.map_err(|error| service.failure(&error))?;
    let has_more = entries.len() > MAX_NAMESAKES;
    entries.truncate(MAX_NAMESAKES);
    if entries.is_empty() { Err(missing(name)) } else { Ok(Named { entries, has_more }) }
}

fn missing(name: &str) -> Problem {
    let detail = format!("this project has no entry `{}` that you can see", one_line(name, 80));
    Problem::new(StatusCode::NOT_FOUND, "Not found", detail).hint("POST /v1/search finds entries by their words")
}

fn kind_of(name: &str) -> Result<EntryKind, Problem> {
    EntryKind::parse(name).ok_or_else(|| {
        let kinds: Vec<&str> = EntryKind::ALL.iter().map(|kind| kind.as_str()).collect();
        invalid(format!("`{}` is not a kind of entry", one_line(name, 80)))
            .hint(format!("use one of {}", kinds.join(", ")))
    })
}

/// Describes an entry, without its text.
fn describe(kept: &KeptRecord, fork: &[Value]) -> Map<String, Value> {
    let record = &kept.record;
    let users: Vec<&str> = kept.confirmed.iter().map(|one| one.by.0.as_str()).collect();
    let confirmed: Vec<Value> =
        kept.confirmed.iter().map(|one| json!({ "by": one.by.0.as_str(), "at": one.at.0 })).collect();
    let author = json!({ "user": record.author.user.0.as_str(), "client": record.author.client.as_str() });
    let mut shown = Map::new();
    let mut add = |name: &str, value: Value| drop(shown.insert(name.to_owned(), value));
    add("id", record.id.to_string().into());
    add("author", author);
    add("audience", record.audience.as_str().into());
    add("at", record.time.millis.into());
    add("superseded_by", kept.superseded_by.map(|id| id.to_string()).into());
    add("confirmed", confirmed.into());
    add("confirmed_by", users.into());
    add("fork", fork.into());
    if kept.has_more {
        add("more_about", true.into());
    }
    if let Some(entry) = kept.entry() {
        add("reference", entry.reference.as_str().into());
        add("kind", entry.kind.as_str().into());
        add("origin", entry.origin.as_str().into());
        add("title", entry.title.as_str().into());
        add("source", entry.source.clone().into());
        add("note", serde_json::to_value(&entry.note).unwrap_or_default());
        add("bytes", entry.bytes.into());
    }
    shown
}

/// Returns the beginning of the text of an entry as it is shown. The field `bytes` of the entry has the size of the
/// whole.
fn excerpt(kept: &KeptRecord, start: &[u8]) -> String {
    let text = String::from_utf8_lossy(start);
    // The last character may be cut.
    let is_cut = kept.entry().is_some_and(|entry| entry.bytes > EXCERPT_BYTES) && !start.is_empty();
    let text = text.trim_end_matches(|letter: char| is_cut && letter == char::REPLACEMENT_CHARACTER);
    if is_cut { format!("{text}…") } else { text.to_owned() }
}
