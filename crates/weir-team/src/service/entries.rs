//! Finds and reads entries. Invariant: an answer says how far the index is behind, and what it cut.

mod shown;

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::wording::one_line;
use weir_core::{EntryKind, Reference, Scope, Timestamp, UserId};
use weir_http::problem::Problem;
use weir_records::{ErrorKind, KeptRecord, PortError, Record, RecordId, Result as PortResult, SearchQuery};

pub(super) use self::shown::{ShownEntry, ShownFork};
use self::shown::{excerpt, named};
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
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    project: String,
    query: String,
    #[schemars(range(min = 1, max = MAX_HITS))]
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
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    pub(super) project: String,
}

/// What a search found, best first.
#[derive(Serialize, JsonSchema)]
pub(super) struct Hits {
    pub(super) hits: Vec<ShownEntry>,
    /// How many newer records the index does not have yet.
    pub(super) behind: u64,
    /// Whether the vector of the query was used.
    by_meaning: bool,
}

/// The entries with a name.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Entries {
    pub(super) entries: Vec<ShownEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    /// Whether there are more than these.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

/// The entries with a record id or a reference, oldest first: one or more.
pub(super) struct Named {
    pub(super) entries: Vec<KeptRecord>,
    /// Whether there are more than these.
    pub(super) has_more: bool,
}

/// Searches a project.
pub(super) fn search(service: &Service, caller: &Caller, search: Search) -> Result<Hits, Problem> {
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
    let records: Vec<&Record> = kept.iter().map(|kept| &kept.record).collect();
    let starts = service.shelf.text_ranges_of(&scope, &records, 0..EXCERPT_BYTES, &found.texts);
    let shown = with_excerpts(service, &kept, forks, starts)?;
    let scored = |(shown, score): (Option<ShownEntry>, f64)| Some(ShownEntry { score: Some(score), ..shown? });
    let hits = shown.into_iter().zip(scores).filter_map(scored).collect();
    Ok(Hits { hits, behind: found.behind, by_meaning: found.used_vector })
}

/// Returns the entries with a record id or a reference. One entry has its text, or says that it is lost; of several,
/// each has an excerpt.
pub(super) fn get(service: &Service, caller: &Caller, name: &str, place: Place) -> Result<Entries, Problem> {
    let scope = caller.clear_scope(service, place.project)?;
    let Named { entries: found, has_more } = find(service, &scope, name)?;
    if let [only] = found.as_slice() {
        let text = service.shelf.text(&scope, only.record.id);
        let mut shown = ShownEntry::of(only, fork_of(service, &scope, only)?);
        let mut hint = None;
        match text {
            Ok(text) => {
                let text = text.ok_or_else(|| missing(name))?;
                shown.text = Some(String::from_utf8_lossy(&text).into_owned());
            }
            // It is damaged, or the server ended after it had deleted the text and before it had removed the entry.
            Err(error) if error.kind == ErrorKind::Damaged => {
                (service.options.report)(&error.to_string());
                shown.missing_text = true;
                hint = Some(MISSING_TEXT.to_owned());
            }
            Err(error) => return Err(service.failure(&error)),
        }
        return Ok(Entries { entries: vec![shown], hint, ..Entries::default() });
    }
    let entries = shown_in(service, &scope, &found)?;
    let hint = "several entries have this reference; ask for one by its id";
    if has_more {
        let hint = format!("{hint}; these are the {MAX_NAMESAKES} oldest, and there are more");
        return Ok(Entries { entries, more: true, hint: Some(hint), ..Entries::default() });
    }
    Ok(Entries { count: Some(entries.len()), entries, hint: Some(hint.to_owned()), ..Entries::default() })
}

/// Describes these entries with the beginnings of their texts, in order, without those that were removed.
pub(super) fn described(service: &Service, scope: &Scope, ids: &[RecordId]) -> Result<Vec<ShownEntry>, Problem> {
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
pub(super) fn shown_in(service: &Service, scope: &Scope, found: &[KeptRecord]) -> Result<Vec<ShownEntry>, Problem> {
    let forks = service.shelf.forks_of(scope, found).map_err(|error| service.failure(&error))?;
    let records: Vec<&Record> = found.iter().map(|kept| &kept.record).collect();
    let starts = service.shelf.text_ranges(scope, &records, 0..EXCERPT_BYTES);
    Ok(with_excerpts(service, found, forks, starts)?.into_iter().flatten().collect())
}

/// Describes entries with the forks of their topics and the beginnings of their texts: `None` for one that was removed
/// since.
fn with_excerpts(
    service: &Service,
    kept: &[KeptRecord],
    forks: Vec<Vec<KeptRecord>>,
    starts: Vec<PortResult<Option<Vec<u8>>>>,
) -> Result<Vec<Option<ShownEntry>>, Problem> {
    let mut shown = Vec::new();
    for ((kept, fork), start) in kept.iter().zip(forks).zip(starts) {
        let start = match start {
            // What is damaged is found by its title, and says so when it is read.
            Err(PortError { kind: ErrorKind::Damaged, .. }) => Some(Vec::new()),
            start => start.map_err(|error| service.failure(&error))?,
        };
        let with = |start: Vec<u8>| {
            let excerpt = Some(excerpt(kept, &start));
            ShownEntry { excerpt, ..ShownEntry::of(kept, named(&fork)) }
        };
        shown.push(start.map(with));
    }
    Ok(shown)
}

/// Names the other current notes on the topic of an entry: who wrote them, and when.
pub(super) fn fork_of(service: &Service, scope: &Scope, kept: &KeptRecord) -> Result<Vec<ShownFork>, Problem> {
    let forks = service.shelf.forks_of(scope, std::slice::from_ref(kept)).map_err(|error| service.failure(&error))?;
    Ok(forks.first().map(|fork| named(fork)).unwrap_or_default())
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
