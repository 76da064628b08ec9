//! The tools of a team: what a model calls over MCP, and a program at `POST /v1/tools/NAME`.
//!
//! Invariants: what a note says is data of its author, so it is shown within marks that were drawn for the answer and
//! that its author cannot know; an argument that is not known is refused; a tool never acts on a machine.

mod shown;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use weir_core::wording::{fence, flat};
use weir_core::{NoteKind, Scope};
use weir_records::{PortError, Position, StoredRecord, TokenScope};

use self::shown::{MAX_TEXT_BYTES, draw, happened, name_of, shown, shown_all};
use super::Service;
use super::answers::complaint;
use super::callers::Caller;
use super::entries::{self, Place, Search};
use super::notes::{self, NewNote};
use super::problem::Problem;

/// How many queries one search may have.
const MAX_QUERIES: usize = 5;
/// How many entries one call may forget.
const MAX_FORGOTTEN: usize = 20;
/// How many records a list has without a limit of the caller, and at most.
const DEFAULT_LISTED: usize = 20;
const MAX_LISTED: usize = 100;
/// How many positions of the log one call looks back.
const MAX_LOOKED_BACK: u64 = 1_000;

/// A tool of a team.
pub(super) struct TeamTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// What a token must be good for.
    pub(super) scope: TokenScope,
    arguments: &'static [Argument],
    run: fn(&Service, &Caller, Value) -> Result<ToolAnswer, Problem>,
}

/// An argument of a tool.
struct Argument {
    name: &'static str,
    kind: &'static str,
    description: &'static str,
    is_required: bool,
}

/// What a tool answers: a text for a model, and the same as data.
pub(super) struct ToolAnswer {
    pub(super) text: String,
    pub(super) data: Value,
}

const fn needed(name: &'static str, kind: &'static str, description: &'static str) -> Argument {
    Argument { name, kind, description, is_required: true }
}

const fn optional(name: &'static str, kind: &'static str, description: &'static str) -> Argument {
    Argument { name, kind, description, is_required: false }
}

const PROJECT: Argument = needed("project", "string", "Key of the project, such as github.com/acme/api");
const LIMIT: Argument = optional("limit", "integer", "");

/// Every tool of a team.
pub(super) static TEAM_TOOLS: [TeamTool; 8] = [
    TeamTool {
        name: "ctx_search",
        description: "Search the team's notes by words.",
        scope: TokenScope::Read,
        arguments: &[
            PROJECT,
            needed("queries", "array", ""),
            optional("kind", "string", "Only entries of this kind"),
            optional("source", "string", ""),
            LIMIT,
        ],
        run: search,
    },
    TeamTool {
        name: "ctx_get",
        description: "Get the text behind a reference.",
        scope: TokenScope::Read,
        arguments: &[PROJECT, needed("reference", "string", "Reference or record id")],
        run: get,
    },
    TeamTool {
        name: "ctx_annotate",
        description: "Keep a note for the team.",
        scope: TokenScope::Write,
        arguments: &[
            PROJECT,
            needed("text", "string", ""),
            optional("kind", "string", "decision, finding, convention, todo or warning"),
            optional("topic", "string", ""),
            optional("supersedes", "array", "Record ids of notes that this one replaces"),
        ],
        run: annotate,
    },
    TeamTool {
        name: "ctx_forget",
        description: "Remove entries of your own permanently.",
        scope: TokenScope::Write,
        arguments: &[PROJECT, needed("refs", "array", "References or record ids")],
        run: forget,
    },
    TeamTool {
        name: "ctx_history",
        description: "List what was noted, superseded, confirmed and removed, newest first.",
        scope: TokenScope::Read,
        arguments: &[PROJECT, optional("before", "integer", "Number, for the next page"), LIMIT],
        run: history,
    },
    TeamTool {
        name: "ctx_reflect",
        description: "Sum up the newest records: by whom, decided, forked.",
        scope: TokenScope::Read,
        arguments: &[PROJECT],
        run: reflect,
    },
    TeamTool {
        name: "ctx_context",
        description: "Show the team's newest notes that are current.",
        scope: TokenScope::Read,
        arguments: &[PROJECT, LIMIT],
        run: context,
    },
    TeamTool {
        name: "ctx_stats",
        description: "Count the records of a project.",
        scope: TokenScope::Read,
        arguments: &[PROJECT],
        run: stats,
    },
];

impl TeamTool {
    /// Finds a tool by its name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        TEAM_TOOLS.iter().find(|tool| tool.name == name)
    }

    /// Returns the schema of its arguments, in the plain subset that every client accepts.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let property = |argument: &Argument| {
            let mut schema = json!({ "type": argument.kind });
            if argument.kind == "array" {
                schema["items"] = json!({ "type": "string" });
            }
            if !argument.description.is_empty() {
                schema["description"] = argument.description.into();
            }
            (argument.name.to_owned(), schema)
        };
        let properties: Map<String, Value> = self.arguments.iter().map(property).collect();
        let required = self.arguments.iter().filter(|argument| argument.is_required).map(|argument| argument.name);
        let required: Vec<&str> = required.collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        schema.insert("required".to_owned(), required.into());
        schema
    }

    /// Calls the tool, if the token is good for it.
    pub(super) fn call(&self, service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
        caller.check(self.scope)?;
        (self.run)(service, caller, arguments)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    project: String,
    queries: Vec<String>,
    kind: Option<String>,
    source: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GetArguments {
    project: String,
    reference: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnnotateArguments {
    project: String,
    text: String,
    kind: Option<String>,
    topic: Option<String>,
    #[serde(default)]
    supersedes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForgetArguments {
    project: String,
    refs: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    project: String,
    before: Option<u64>,
    limit: Option<usize>,
}

fn search(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let SearchArguments { project, queries, kind, source, limit } = read(arguments)?;
    if !(1..=MAX_QUERIES).contains(&queries.len()) {
        return Err(Problem::invalid(format!("`queries` must have 1 to {MAX_QUERIES} queries")));
    }
    let mark = draw(service)?;
    let (mut text, mut results) = (String::new(), Vec::new());
    for query in queries {
        let wanted = Search::of_tool(project.clone(), query, limit, kind.clone(), source.clone());
        let found = entries::search(service, caller, wanted)?;
        let hits = found["hits"].as_array().cloned().unwrap_or_default();
        if hits.is_empty() {
            text.push_str("nothing found\n");
        }
        hits.iter().for_each(|hit| text.push_str(&shown(hit, "excerpt", mark)));
        if let Some(behind @ 1..) = found["behind"].as_u64() {
            text.push_str(&format!("{behind} newer records are not indexed yet; search again for them\n"));
        }
        results.push(found);
    }
    Ok(ToolAnswer { text, data: json!({ "results": results }) })
}

fn get(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let GetArguments { project, reference } = read(arguments)?;
    let data = entries::get(service, caller, &reference, Place { project })?;
    Ok(ToolAnswer { text: shown_all(&data, draw(service)?), data })
}

fn annotate(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let AnnotateArguments { project, text, kind, topic, supersedes } = read(arguments)?;
    let note = NewNote::of_tool(project, text, kind, topic);
    let data = notes::keep_replacing(service, caller, note, &supersedes)?;
    let mut text = format!("kept as {}\n", data["reference"].as_str().unwrap_or_default());
    if data["fork"].as_array().is_some_and(|fork| !fork.is_empty()) {
        text.push_str("others have current notes on this topic too; name them in `supersedes` to replace them\n");
    }
    Ok(ToolAnswer { text, data })
}

fn forget(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let ForgetArguments { project, refs } = read(arguments)?;
    if !(1..=MAX_FORGOTTEN).contains(&refs.len()) {
        return Err(Problem::invalid(format!("`refs` must have 1 to {MAX_FORGOTTEN} references")));
    }
    let mut forgotten = Vec::new();
    for name in refs {
        let place = Place { project: project.clone() };
        match notes::forget(service, caller, &name, place) {
            Ok(proof) => forgotten.push(proof),
            Err(problem) => return Err(problem.field("forgotten_before", forgotten)),
        }
    }
    let text = format!("forgot {} entries; nothing is left of them on this server\n", forgotten.len());
    Ok(ToolAnswer { text, data: json!({ "forgotten": forgotten }) })
}

fn history(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let ListArguments { project, before, limit } = read(arguments)?;
    let (scope, mark) = (caller.scope(project)?, draw(service)?);
    let limit = listed(limit)?;
    let (mut records, from) = newest(service, &scope, before)?;
    let cut = records.len().saturating_sub(limit);
    let mut listed = records.split_off(cut);
    listed.reverse();
    let next = listed.last().filter(|_| cut > 0).map_or(from.0.saturating_add(1), |last| last.position.0);
    let (mut text, mut data) = (String::new(), Vec::new());
    for StoredRecord { position, record } in &listed {
        let (what, about) = happened(record);
        let user = name_of(&record.author.user.0);
        text.push_str(&format!("{} {user} {what} {about}\n", position.0));
        if let Some(kept) = record.body.kept() {
            text.push_str(&format!("{}\n", fence(mark, &flat(&kept.title, MAX_TEXT_BYTES))));
        }
        data.push(json!({
            "seq": position.0, "id": record.id.to_string(), "what": what, "about": about,
            "author": { "user": record.author.user.0.as_str(), "client": record.author.client.as_str() },
            "at": record.time.millis,
        }));
    }
    let more = next > 1;
    if more {
        text.push_str(&format!("older records: before {next}\n"));
    }
    Ok(ToolAnswer { text, data: json!({ "records": data, "before": more.then_some(next) }) })
}

fn reflect(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let Place { project } = read(arguments)?;
    let (scope, mark) = (caller.clear_scope(service, project)?, draw(service)?);
    let (records, from) = newest(service, &scope, Option::default())?;
    let mut by_user: Map<String, Value> = Map::new();
    for stored in &records {
        let count = by_user.entry(stored.record.author.user.0.clone()).or_insert_with(|| 0.into());
        *count = (count.as_u64().unwrap_or_default() + 1).into();
    }
    let mut text = format!("{} records after position {}\n", records.len(), from.0);
    by_user.iter().for_each(|(user, count)| text.push_str(&format!("{}: {count}\n", name_of(user))));
    let is_decision = |stored: &&StoredRecord| {
        let note = stored.record.body.kept().and_then(|kept| kept.note.as_ref());
        note.is_some_and(|note| note.kind == NoteKind::Decision)
    };
    let mut decided = Vec::new();
    for stored in records.iter().rev().filter(is_decision).take(DEFAULT_LISTED) {
        if let Some(entry) = entries::described(service, &scope, stored.record.id)? {
            text.push_str(&shown(&entry, "excerpt", mark));
            decided.push(entry);
        }
    }
    Ok(ToolAnswer { text, data: json!({ "records": records.len(), "by_user": by_user, "decided": decided }) })
}

fn context(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let ListArguments { project, before, limit } = read(arguments)?;
    if before.is_some() {
        return Err(Problem::invalid("ctx_context has no argument `before`"));
    }
    let (scope, mark) = (caller.clear_scope(service, project)?, draw(service)?);
    let limit = listed(limit)?;
    let (records, from) = newest(service, &scope, before)?;
    let (mut text, mut notes) = (String::new(), Vec::new());
    for stored in records.iter().rev().filter(|stored| stored.record.body.kept().is_some()) {
        if notes.len() == limit {
            break;
        }
        let entry = entries::described(service, &scope, stored.record.id)?;
        if let Some(entry) = entry.filter(|entry| entry["superseded_by"].is_null()) {
            text.push_str(&shown(&entry, "excerpt", mark));
            notes.push(entry);
        }
    }
    if from.0 > 0 {
        text.push_str(&format!("notes up to position {} are not shown; ctx_search finds them\n", from.0));
    }
    Ok(ToolAnswer { text, data: json!({ "notes": notes, "after": from.0 }) })
}

fn stats(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let Place { project } = read(arguments)?;
    let scope = caller.scope(project)?;
    let failed = |error: PortError| Problem::of(service, &error);
    let ports = service.shelf.ports();
    // The position is read first, since the log only grows.
    let indexed = ports.index.position(&scope).map_err(failed)?.0;
    let records = ports.log.head(&scope).map_err(failed)?.0;
    let behind = records.saturating_sub(indexed);
    let text = format!("{records} records; the index is {behind} behind\n");
    Ok(ToolAnswer { text, data: json!({ "records": records, "behind": behind }) })
}

/// Returns the records before a position, or the newest, as far as one call looks back, and the position before them.
fn newest(service: &Service, scope: &Scope, before: Option<u64>) -> Result<(Vec<StoredRecord>, Position), Problem> {
    let failed = |error: PortError| Problem::of(service, &error);
    let head = service.shelf.ports().log.head(scope).map_err(failed)?.0;
    let end = before.map_or(head, |before| before.saturating_sub(1).min(head));
    let from = Position(end.saturating_sub(MAX_LOOKED_BACK));
    let limit = usize::try_from(end - from.0).unwrap_or(usize::MAX);
    let mut records = service.shelf.read_since(scope, from, limit).map_err(failed)?.records;
    records.retain(|stored| stored.position.0 <= end);
    Ok((records, from))
}

fn listed(limit: Option<usize>) -> Result<usize, Problem> {
    let limit = limit.unwrap_or(DEFAULT_LISTED);
    if (1..=MAX_LISTED).contains(&limit) {
        return Ok(limit);
    }
    Err(Problem::invalid(format!("`limit` must be between 1 and {MAX_LISTED}")))
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    serde_json::from_value(arguments).map_err(|error| {
        Problem::invalid(format!("cannot use the arguments: {}", complaint(&error))).hint("docs/team.md lists them")
    })
}
