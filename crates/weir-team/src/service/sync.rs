//! Takes in records of a user's machines, and gives out what is new. Invariants: an upload can be repeated, and changes
//! nothing the second time; what is refused is named one by one; over its quota, a tenant can still repeat and remove;
//! an answer never skips a record, whatever it cuts.

mod page;

use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weir_core::Scope;
use weir_core::wording::{one_line, size};
use weir_http::problem::Problem;
use weir_records::{Body, ErrorKind, Incoming, PortError, Position, Record, RecordId, Sender};

use self::page::{Page, PlacedRecord};
use super::Service;
use super::answers::complaint;
use super::callers::Caller;
use super::problem::invalid;

/// How many records one upload may have.
const MAX_UPLOADED: usize = 1_000;
/// How many records one download has at most, and without a limit of the caller.
const MAX_DOWNLOADED: usize = 500;
const DEFAULT_DOWNLOADED: usize = 100;
/// How many records are looked up at once. A sealed one may have 2 MiB.
const MAX_READ: usize = 20;
/// How many refused records an answer names.
const MAX_NAMED: usize = 100;

/// The body of an upload.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Upload {
    project: String,
    records: Vec<Value>,
    /// The texts of the records, by their keys.
    #[serde(default)]
    texts: BTreeMap<String, String>,
}

/// The query of a download.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    project: String,
    #[serde(default)]
    after: u64,
    #[schemars(range(min = 1, max = MAX_DOWNLOADED))]
    limit: Option<usize>,
}

/// What became of an upload.
#[derive(Serialize, JsonSchema)]
pub(super) struct Uploaded {
    /// How many of its records are new.
    accepted: u64,
    /// How many the log had before.
    known: u64,
    /// The position of the newest of them.
    head: u64,
}

/// Part of the log, in order.
#[derive(Serialize, JsonSchema)]
pub(super) struct Downloaded {
    records: Vec<PlacedRecord>,
    /// The texts of the records, by their keys.
    texts: BTreeMap<String, String>,
    /// The position after which the next page begins.
    next: u64,
    head: u64,
    more: bool,
    /// The keys of texts that can no longer be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_texts: Vec<String>,
}

/// A record that was not taken.
struct Refusal {
    id: String,
    error: PortError,
}

/// Takes in records of the caller.
pub(super) fn upload(service: &Service, caller: &Caller, upload: Upload) -> Result<Uploaded, Problem> {
    let scope = caller.scope(upload.project)?;
    if upload.records.len() > MAX_UPLOADED {
        let detail = format!("an upload has at most {MAX_UPLOADED} records, and this one has {}", upload.records.len());
        return Err(invalid(detail).hint("send the records in several requests, in their order"));
    }
    let (mut incoming, mut refused) = read(upload.records, &upload.texts, service.options.limits.max_body_bytes)?;
    // What was in the log before has a position up to here, since positions are given in the order of the log.
    let before = check_project(service, &scope)?;
    let excess = check_quota(service, &scope, &incoming)?;
    if let Some(excess) = &excess {
        incoming.retain(|one| !excess.refused.contains(&one.record.id));
    }
    let results = service.shelf.import(&scope, &incoming, &Sender::Author, service.now());
    let (mut accepted, mut known, mut head) = (0u64, 0u64, before);
    for (one, result) in incoming.iter().zip(results) {
        head = head.max(result.as_ref().copied().unwrap_or_default());
        match result {
            Ok(position) if position <= before => known += 1,
            Ok(_) => accepted += 1,
            Err(error) => refused.push(Refusal { id: one.record.id.to_string(), error }),
        }
    }
    // A record may be in the log even if it counts as refused, because its text could not be stored.
    if known < incoming.len() as u64 {
        service.announce(&scope);
    }
    let Position(head) = head;
    let problem = match excess {
        Some(excess) => excess.problem,
        None if refused.is_empty() => return Ok(Uploaded { accepted, known, head }),
        None => refusal(service, &refused),
    };
    Err(problem.field("accepted", accepted).field("known", known).field("head", head))
}

/// Gives out the records after a position that the caller may see, with their texts.
pub(super) fn download(service: &Service, caller: &Caller, range: &Range) -> Result<Downloaded, Problem> {
    let scope = caller.scope(range.project.clone())?;
    let limit = range.limit.unwrap_or(DEFAULT_DOWNLOADED);
    if !(1..=MAX_DOWNLOADED).contains(&limit) {
        return Err(invalid(format!("`limit` must be between 1 and {MAX_DOWNLOADED}")));
    }
    let failed = |error: PortError| {
        let is_ahead = error.kind == ErrorKind::Ahead;
        let problem = service.failure(&error);
        if is_ahead { problem.hint("read again from `after=0`; records that you have keep their ids") } else { problem }
    };
    let (mut page, mut next, mut left) = (Page::default(), Position(range.after), limit);
    let head = loop {
        let batch = service.shelf.read_since(&scope, next, left).map_err(failed)?;
        let head = batch.head;
        left = left.saturating_sub(batch.records.len());
        next = page.add(service, &scope, batch)?;
        if left == 0 || page.is_full() || next >= head {
            break head;
        }
    };
    let Page { records, texts, missing: missing_texts, .. } = page;
    Ok(Downloaded { records, texts, next: next.0, head: head.0, more: next < head, missing_texts })
}

/// Why the new records of an upload do not fit into the quota of the tenant.
struct Excess {
    problem: Problem,
    /// The records of the upload that are not taken for it.
    refused: BTreeSet<RecordId>,
}

/// Checks whether the new records of an upload fit into the quota of the tenant. Over it, only removals are taken, and
/// records that the log has already; neither needs room. Far over it, a removal has to remove something: otherwise
/// removals of nothing could fill the disk.
fn check_quota(service: &Service, scope: &Scope, incoming: &[Incoming]) -> Result<Option<Excess>, Problem> {
    let failed = |error: PortError| service.failure(&error);
    let usage = service.accounts.usage(&scope.tenant).map_err(failed)?;
    let most = usage.max_records.unwrap_or(service.options.max_tenant_records);
    let most_bytes = usage.max_bytes.unwrap_or(service.options.max_tenant_bytes);
    let bytes_with = |records: &[&Record]| {
        records.iter().try_fold(usage.bytes, |bytes, record| {
            let json = record.to_json().map_err(failed)?;
            Ok::<_, Problem>(bytes.saturating_add(record.stored_bytes(&json)))
        })
    };
    let fits = |records: &[&Record]| {
        let count = usage.records.saturating_add(records.len() as u64);
        Ok::<_, Problem>(count <= most && bytes_with(records)? <= most_bytes)
    };
    let is_far_over = usage.records > far_over(most) || usage.bytes > far_over(most_bytes);
    let needs_room = |record: &&Record| is_far_over || removed_by(record).is_none();
    let mut adding: Vec<&Record> = incoming.iter().map(|one| &one.record).filter(needs_room).collect();
    if fits(&adding)? {
        return Ok(None);
    }
    let named = adding.iter().flat_map(|record| [Some(record.id), removed_by(record)]).flatten();
    let known = known(service, scope, &named.collect::<Vec<_>>())?;
    let mut removed = BTreeSet::new();
    adding.retain(|record| {
        let removes_one = removed_by(record).is_some_and(|target| known.contains(&target) && removed.insert(target));
        !known.contains(&record.id) && !removes_one
    });
    if adding.is_empty() || fits(&adding)? {
        return Ok(None);
    }
    let is_over_bytes = bytes_with(&adding)? > most_bytes;
    let problem = if is_over_bytes { over_bytes(most_bytes, usage.bytes) } else { over_quota(most, usage.records) };
    Ok(Some(Excess { problem, refused: adding.iter().map(|record| record.id).collect() }))
}

/// Returns a tenth more than a tenant may have.
fn far_over(most: u64) -> u64 {
    most.saturating_add(most / 10)
}

/// Returns those of these records that the log has and the caller sees.
fn known(service: &Service, scope: &Scope, ids: &[RecordId]) -> Result<BTreeSet<RecordId>, Problem> {
    let mut known = BTreeSet::new();
    for some in ids.chunks(MAX_READ) {
        let found = service.shelf.ports().log.records(scope, some).map_err(|error| service.failure(&error))?;
        known.extend(found.into_iter().map(|stored| stored.record.id));
    }
    Ok(known)
}

/// Returns the record that this one removes, if it removes one.
fn removed_by(record: &Record) -> Option<RecordId> {
    match record.body {
        Body::Removed { record, .. } => Some(record),
        _ => None,
    }
}

/// Checks that the tenant may have one more record with a text of this size.
pub(super) fn check_room(service: &Service, scope: &Scope, text_bytes: usize) -> Result<(), Problem> {
    check_project(service, scope)?;
    let usage = service.accounts.usage(&scope.tenant).map_err(|error| service.failure(&error))?;
    let most = usage.max_records.unwrap_or(service.options.max_tenant_records);
    let most_bytes = usage.max_bytes.unwrap_or(service.options.max_tenant_bytes);
    if usage.bytes.saturating_add(text_bytes as u64) >= most_bytes {
        return Err(over_bytes(most_bytes, usage.bytes));
    }
    if usage.records < most { Ok(()) } else { Err(over_quota(most, usage.records)) }
}

/// Checks that a project has records, or that the tenant may have one more project. Returns the head of the project.
fn check_project(service: &Service, scope: &Scope) -> Result<Position, Problem> {
    let (failed, most) = (|error: PortError| service.failure(&error), service.options.max_tenant_projects);
    let head = service.shelf.ports().log.head(scope).map_err(failed)?;
    if head > Position(0) || service.accounts.projects(&scope.tenant).map_err(failed)?.len() < most {
        return Ok(head);
    }
    let detail = format!("the tenant may have {most} projects, and has as many");
    Err(Problem::new(StatusCode::FORBIDDEN, "Quota exceeded", detail)
        .hint("nothing was stored; use a project that exists, or ask the operator for another tenant"))
}

fn over_bytes(most: u64, has: u64) -> Problem {
    let detail = format!("the tenant may have {}, and has {}", size(most), size(has));
    Problem::new(StatusCode::FORBIDDEN, "Quota exceeded", detail)
        .hint("nothing new was stored; the operator can raise it with `weir-server init --max-bytes`")
}

fn over_quota(most: u64, has: u64) -> Problem {
    let detail = format!("the tenant may have {most} records, and has {has}");
    Problem::new(StatusCode::FORBIDDEN, "Quota exceeded", detail)
        .hint("nothing new was stored; the operator can raise it with `weir-server init --max-records`")
}

/// Reads the records of an upload with their texts. One that cannot be read is refused, and the others are not. Each
/// record has a copy of its text, so the copies together may have no more bytes than a body.
fn read(
    records: Vec<Value>,
    texts: &BTreeMap<String, String>,
    max_bytes: usize,
) -> Result<(Vec<Incoming>, Vec<Refusal>), Problem> {
    let (mut incoming, mut refused, mut used) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut bytes = 0_usize;
    for value in records {
        let id = value.get("id").and_then(Value::as_str).map_or_else(|| "?".to_owned(), |id| one_line(id, 80));
        // The text of a refused record is used too.
        used.extend(value.pointer("/body/kept/text").and_then(Value::as_str).map(str::to_owned));
        match Record::from_value(value) {
            Ok(record) => {
                let text = record.body.kept().and_then(|kept| texts.get(&kept.text.to_string()));
                bytes = bytes.saturating_add(text.map_or(0, String::len));
                if bytes > max_bytes {
                    return Err(too_much_text(max_bytes));
                }
                let text = text.map(|text| text.clone().into_bytes());
                incoming.push(Incoming::new(record, text));
            }
            Err(error) => refused.push(Refusal { id, error }),
        }
    }
    match texts.keys().find(|key| !used.contains(*key)) {
        Some(key) => Err(invalid(format!("no record of the request has the text `{}`", one_line(key, 80)))),
        None => Ok((incoming, refused)),
    }
}

fn too_much_text(most: usize) -> Problem {
    let detail = format!("the texts of the records have more than {}, counted for each record", size(most as u64));
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "Body too large", detail).hint("send fewer records at once")
}

/// Returns the answer for records of which some were refused. The worst of their reasons decides its status.
fn refusal(service: &Service, refused: &[Refusal]) -> Problem {
    let has = |kind: ErrorKind| refused.iter().any(|refusal| refusal.error.kind == kind);
    let passing = refused.iter().find(|refusal| refusal.error.kind.may_pass());
    let named: Vec<Value> = refused.iter().take(MAX_NAMED).map(|refusal| describe(service, refusal)).collect();
    let detail = format!("{} of the records were refused; the others were taken", refused.len());
    let problem = if has(ErrorKind::Conflict) {
        let hint = "another machine has the identity of this one; this machine needs a new one, and sends its records \
                    again under it";
        Problem::new(StatusCode::CONFLICT, "Cloned host", detail).hint(hint)
    } else if has(ErrorKind::ForeignHost) {
        let hint = "the host was used by another user first; this machine needs a host of its own, and sends its \
                    records again under it: `weir sync` does so by itself";
        Problem::new(StatusCode::CONFLICT, "Host of another user", detail).hint(hint)
    } else if let Some(passing) = passing {
        service.failure(&passing.error)
    } else {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "Records refused", detail)
            .hint("`refused` says why, one by one; sending these again changes nothing")
    };
    problem.field("refused_count", refused.len() as u64).field("refused", named)
}

fn describe(service: &Service, refusal: &Refusal) -> Value {
    let (status, title) = super::problem::sort_of(refusal.error.kind);
    let reason = if status.is_server_error() {
        (service.options.report)(&refusal.error.to_string());
        title.to_owned()
    } else {
        complaint(&refusal.error)
    };
    json!({ "id": refusal.id, "status": status.as_u16(), "reason": reason })
}
