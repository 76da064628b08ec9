//! The tools of a team: what a model calls over MCP, and a program at `POST /v1/tools/NAME`.
//!
//! Invariants: what a note says is data of its author, so it is shown within marks that were drawn for the answer and
//! that its author cannot know; an argument that is not known is refused; a tool never acts on a machine.

mod look_back;
mod newest;
mod shown;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use weir_core::wording::counted;
use weir_http::problem::Problem;
use weir_records::{PortError, TokenScope};

use self::newest::{context, history, reflect};
use self::shown::{draw, named, shown, shown_all};
use super::Service;
use super::answers::complaint;
use super::callers::Caller;
use super::entries::{self, Place, Search};
use super::notes::{self, NewNote};
use super::problem::invalid;

/// How many queries one search may have.
const MAX_QUERIES: usize = 5;
/// How many entries one call may forget.
const MAX_FORGOTTEN: usize = 20;

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
            optional("supersedes", "array", "Record ids or references of notes that this one replaces"),
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
        description: "Show how far the log of a project and its index are.",
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

fn search(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let SearchArguments { project, queries, kind, source, limit } = read(arguments)?;
    if !(1..=MAX_QUERIES).contains(&queries.len()) {
        return Err(invalid(format!("`queries` must have 1 to {MAX_QUERIES} queries")));
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
    let word = |field: &str| data[field].as_str().unwrap_or_default();
    let mut text = format!("kept as [ctx:{}] {}\n", word("reference"), word("id"));
    if let Some(fork) = data["fork"].as_array().filter(|fork| !fork.is_empty()) {
        let others = named(fork);
        text.push_str(&format!("others have current notes on this topic too: {others}\n"));
        text.push_str("name their ids in `supersedes` to replace them\n");
    }
    Ok(ToolAnswer { text, data })
}

fn forget(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let ForgetArguments { project, refs } = read(arguments)?;
    if !(1..=MAX_FORGOTTEN).contains(&refs.len()) {
        return Err(invalid(format!("`refs` must have 1 to {MAX_FORGOTTEN} references")));
    }
    let mut forgotten = Vec::new();
    for name in refs {
        let place = Place { project: project.clone() };
        match notes::forget(service, caller, &name, place) {
            Ok(proof) => forgotten.push(proof),
            Err(problem) => return Err(problem.field("forgotten_before", forgotten)),
        }
    }
    Ok(ToolAnswer { text: proof_of(&forgotten), data: json!({ "forgotten": forgotten }) })
}

/// Says what was forgotten, and what was found of it afterwards.
fn proof_of(forgotten: &[Value]) -> String {
    let entries = counted(forgotten.len(), "entry", "entries");
    let left = |port: &str| -> u64 { forgotten.iter().filter_map(|proof| proof["left"][port].as_u64()).sum() };
    match (left("log"), left("index"), left("texts")) {
        (0, 0, 0) => format!(
            "forgot {entries}; nothing is left in the log, the index and the texts of this server; backups and the \
             files of a database may keep copies until they are replaced\n"
        ),
        (log, index, texts) => format!(
            "forgot {entries}, but not completely: {log} left in the log, {index} in the index and {texts} in the \
             texts; tell the operator of the server\n"
        ),
    }
}

fn stats(service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
    let Place { project } = read(arguments)?;
    let scope = caller.scope(project)?;
    let failed = |error: PortError| service.failure(&error);
    let ports = service.shelf.ports();
    // The position is read first, since the log only grows.
    let indexed = ports.index.position(&scope).map_err(failed)?.0;
    let head = ports.log.head(&scope).map_err(failed)?.0;
    let behind = head.saturating_sub(indexed);
    let text = format!(
        "the newest record has position {head}, which counts erased records and private ones of others too; the index \
         is {behind} behind\n"
    );
    Ok(ToolAnswer { text, data: json!({ "head": head, "behind": behind }) })
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    serde_json::from_value(arguments).map_err(|error| {
        invalid(format!("cannot use the arguments: {}", complaint(&error))).hint("docs/team.md lists them")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_forgotten_entry_is_said() {
        let proof = |log: u64, texts: u64| json!({ "left": { "log": log, "index": 0, "texts": texts } });
        let gone = proof_of(&[proof(0, 0)]);
        assert!(gone.starts_with("forgot 1 entry; nothing is left in the log"), "{gone}");
        let left = proof_of(&[proof(0, 0), proof(1, 1), proof(0, 1)]);
        assert!(left.starts_with("forgot 3 entries, but not completely: 1 left in the log, 0 in the index and 2 in"));
    }
}
