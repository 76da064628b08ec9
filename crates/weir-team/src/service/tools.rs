//! The tools of a team: what a model calls over MCP, and a program at `POST /v1/tools/NAME`.
//!
//! Invariants: what a note says is data of its author, so it is shown within marks that were drawn for the answer and
//! that its author cannot know; an argument that is not known is refused; a tool never acts on a machine.

mod look_back;
mod newest;
mod shown;

use axum::http::StatusCode;
use rmcp::model::Tool;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use weir_core::wording::{counted, one_line};
use weir_http::problem::Problem;
use weir_records::{PortError, TokenScope};
use weir_tools::{Effect, SharedTool, schema};

use self::shown::{draw, named, shown};
use super::Service;
use super::answers::{complaint, value_of};
use super::callers::Caller;
use super::entries::{self, Place};
use super::notes::{self, Forgotten, Left, NewNote, Removal};
use super::problem::invalid;

/// How many queries one search may have.
const MAX_QUERIES: usize = 5;
/// How many entries one call may forget.
const MAX_FORGOTTEN: usize = 20;

/// What a tool answers: a text for a model, and the same as data.
#[derive(Serialize, JsonSchema)]
pub(super) struct ToolAnswer {
    pub(super) text: String,
    pub(super) data: Value,
}

/// The arguments of a tool. Their doc comments are what a model is told.
trait Declared: DeserializeOwned + JsonSchema {
    /// Its name and its effect.
    const TOOL: SharedTool;

    /// Runs the tool.
    fn run(self, service: &Service, caller: &Caller) -> Result<ToolAnswer, Problem>;
}

/// A tool of a team, with its type erased.
pub(super) struct TeamTool {
    tool: SharedTool,
    schema: fn() -> (String, Map<String, Value>),
    run: fn(&Service, &Caller, Value) -> Result<ToolAnswer, Problem>,
}

/// Every tool of a team.
pub(super) static TEAM_TOOLS: [TeamTool; 8] = [
    TeamTool::of::<Search>(),
    TeamTool::of::<Get>(),
    TeamTool::of::<Annotate>(),
    TeamTool::of::<Forget>(),
    TeamTool::of::<newest::History>(),
    TeamTool::of::<newest::Reflect>(),
    TeamTool::of::<newest::Context>(),
    TeamTool::of::<Stats>(),
];

impl TeamTool {
    const fn of<T: Declared>() -> Self {
        let run = |service: &Service, caller: &Caller, arguments: Value| read::<T>(arguments)?.run(service, caller);
        Self { tool: T::TOOL, schema: schema::of::<T>, run }
    }

    /// Finds a tool by its name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        TEAM_TOOLS.iter().find(|team| team.tool.name == name)
    }

    /// Returns what a token must be good for.
    pub(super) fn scope(&self) -> TokenScope {
        if self.tool.effect == Effect::Reads { TokenScope::Read } else { TokenScope::Write }
    }

    /// Returns the tool as MCP describes it.
    pub(super) fn described(&self) -> Tool {
        weir_tools::described(self.tool.name, self.tool.effect, (self.schema)())
    }

    /// Calls the tool, if the token is good for it.
    pub(super) fn call(&self, service: &Service, caller: &Caller, arguments: Value) -> Result<ToolAnswer, Problem> {
        caller.check(self.scope())?;
        (self.run)(service, caller, arguments)
    }
}

/// Key of the project, such as github.com/acme/api
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Project(String);

/// Search the team's notes by words.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    project: Project,
    queries: Vec<String>,
    /// Only entries of this kind
    kind: Option<String>,
    source: Option<String>,
    limit: Option<usize>,
}

/// Get the text behind a reference.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Get {
    project: Project,
    /// Reference or record id
    reference: String,
}

/// Keep a note for the team.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Annotate {
    project: Project,
    text: String,
    /// decision, finding, convention, todo or warning
    kind: Option<String>,
    topic: Option<String>,
    /// Record ids or references of notes that this one replaces
    #[serde(default)]
    supersedes: Vec<String>,
}

/// Remove entries of your own permanently.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forget {
    project: Project,
    /// References or record ids
    refs: Vec<String>,
}

/// Show how far the log of a project and its index are.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stats {
    project: Project,
}

impl Declared for Search {
    const TOOL: SharedTool = weir_tools::SEARCH;

    fn run(self, service: &Service, caller: &Caller) -> Result<ToolAnswer, Problem> {
        let Self { project: Project(project), queries, kind, source, limit } = self;
        if !(1..=MAX_QUERIES).contains(&queries.len()) {
            return Err(invalid(format!("`queries` must have 1 to {MAX_QUERIES} queries")));
        }
        let mark = draw(service)?;
        let (mut text, mut results) = (String::new(), Vec::new());
        for query in queries {
            let wanted = entries::Search::of_tool(project.clone(), query, limit, kind.clone(), source.clone());
            let found = entries::search(service, caller, wanted)?;
            if found.hits.is_empty() {
                text.push_str("nothing found\n");
            }
            found.hits.iter().for_each(|hit| text.push_str(&shown(hit, mark)));
            if found.behind > 0 {
                let behind = found.behind;
                text.push_str(&format!("{behind} newer records are not indexed yet; search again for them\n"));
            }
            results.push(found);
        }
        Ok(ToolAnswer { text, data: json!({ "results": value_of(&results)? }) })
    }
}

impl Declared for Get {
    const TOOL: SharedTool = weir_tools::GET;

    fn run(self, service: &Service, caller: &Caller) -> Result<ToolAnswer, Problem> {
        let Self { project: Project(project), reference } = self;
        let found = entries::get(service, caller, &reference, Place { project })?;
        let mark = draw(service)?;
        let hint = found.hint.iter().map(|hint| format!("{hint}\n"));
        let text = found.entries.iter().map(|entry| shown(entry, mark)).chain(hint).collect();
        Ok(ToolAnswer { text, data: value_of(&found)? })
    }
}

impl Declared for Annotate {
    const TOOL: SharedTool = weir_tools::ANNOTATE;

    fn run(self, service: &Service, caller: &Caller) -> Result<ToolAnswer, Problem> {
        let Self { project: Project(project), text, kind, topic, supersedes } = self;
        let note = NewNote::of_tool(project, text, kind, topic);
        let kept = notes::keep_replacing(service, caller, note, &supersedes)?;
        let mut text = format!("kept as [ctx:{}] {}\n", kept.reference.as_deref().unwrap_or_default(), kept.id);
        if !kept.fork.is_empty() {
            let others = named(&kept.fork);
            text.push_str(&format!("others have current notes on this topic too: {others}\n"));
            text.push_str("name their ids in `supersedes` to replace them\n");
        }
        Ok(ToolAnswer { text, data: value_of(&kept)? })
    }
}

impl Declared for Forget {
    const TOOL: SharedTool = weir_tools::FORGET;

    fn run(self, service: &Service, caller: &Caller) -> Result<ToolAnswer, Problem> {
        let Self { project: Project(project), refs } = self;
        if !(1..=MAX_FORGOTTEN).contains(&refs.len()) {
            return Err(invalid(format!("`refs` must have 1 to {MAX_FORGOTTEN} references")));
        }
        let mut forgotten = Vec::new();
        for name in refs {
            let removal = Removal { project: project.clone(), as_admin: false };
            match notes::forget(service, caller, &name, removal) {
                Ok(proof) => forgotten.push(proof),
                Err(problem) => return Err(problem.field("forgotten_before", value_of(&forgotten)?)),
            }
        }
        Ok(ToolAnswer { text: proof_of(&forgotten), data: json!({ "forgotten": value_of(&forgotten)? }) })
    }
}

/// Says what was forgotten, and what was found of it afterwards.
fn proof_of(forgotten: &[Forgotten]) -> String {
    let entries = counted(forgotten.len(), "entry", "entries");
    let left = |port: fn(&Left) -> u64| -> u64 { forgotten.iter().map(|proof| port(&proof.left)).sum() };
    match (left(|left| left.log), left(|left| left.index), left(|left| left.texts)) {
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

impl Declared for Stats {
    const TOOL: SharedTool = weir_tools::STATS;

    fn run(self, service: &Service, caller: &Caller) -> Result<ToolAnswer, Problem> {
        let scope = caller.scope(self.project.0)?;
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
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    serde_json::from_value(arguments).map_err(|error| {
        invalid(format!("cannot use the arguments: {}", complaint(&error))).hint("docs/team.md lists them")
    })
}

/// Says that this server does not have a tool, and where it may be.
pub(super) fn not_here(name: &str) -> Problem {
    let shown = one_line(name, 80);
    if !name.starts_with("ctx_") && !name.starts_with("context_") {
        return Problem::new(StatusCode::NOT_FOUND, "Unknown tool", format!("there is no tool `{shown}`"));
    }
    Problem::new(StatusCode::NOT_IMPLEMENTED, "Local tool", format!("a team server does not offer `{shown}`"))
        .hint("tools that run code or touch files are those of `weir mcp` on your machine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_described_by_its_arguments() {
        let tool = serde_json::to_value(TeamTool::find("ctx_annotate").unwrap().described()).unwrap();
        let text = |description: &str| json!({ "type": "string", "description": description });
        let expected = json!({
            "name": "ctx_annotate",
            "description": "Keep a note for the team.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "project": text("Key of the project, such as github.com/acme/api"),
                    "text": { "type": "string" },
                    "kind": text("decision, finding, convention, todo or warning"),
                    "topic": { "type": "string" },
                    "supersedes": {
                        "type": "array", "items": { "type": "string" },
                        "description": "Record ids or references of notes that this one replaces",
                    },
                },
                "required": ["project", "text"],
            },
            "annotations": { "destructiveHint": false },
        });
        assert_eq!(tool, expected);
    }

    #[test]
    fn what_is_left_of_a_forgotten_entry_is_said() {
        let proof = |log: u64, texts: u64| Forgotten {
            forgotten: "1".into(),
            id: "2".into(),
            left: Left { log, index: 0, texts },
        };
        let gone = proof_of(&[proof(0, 0)]);
        assert!(gone.starts_with("forgot 1 entry; nothing is left in the log"), "{gone}");
        let left = proof_of(&[proof(0, 0), proof(1, 1), proof(0, 1)]);
        assert!(left.starts_with("forgot 3 entries, but not completely: 1 left in the log, 0 in the index and 2 in"));
    }
}
