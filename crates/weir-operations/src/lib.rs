//! The operations, each declared once and listed in [`OPERATIONS`].
//!
//! An operation is one file: an argument struct that serde, schemars and clap all read, its doc comment, the types of
//! its context and of its answer, and one async function ([`Declared`]). The MCP tool, the command, the HTTP route and
//! the function schemas are projections of it. [`tool_call`] makes a call for every face with tools, and [`functions`]
//! prints the tools for the APIs of providers.
//!
//! The crate parses arguments, asks the subjects below, and renders answers. The work itself is theirs: runs are in
//! `weir-run`, files in `weir-files`, indexing in `weir-knowledge`, sessions in `weir-session`. A face does not know
//! operations by name.
//!
//! # Invariants
//!
//! - Models are sloppy with arguments, so [`coerce`] first interprets them as intended, guided by the schema; then
//!   serde parses strictly. An operation that reads refuses an unknown argument, because ignoring a filter would widen
//!   the answer; the others say that they ignored it.
//! - Every call is answered. An operation that panics has failed, and no client waits for it in vain.
//! - An answer is a text within its budget, counted in tokens, and the same content as [`Declared::Data`], which
//!   `--json` prints and the OpenAPI document describes. What it leaves out has a reference.
//! - Foreign text is fenced by its own reference or by a random mark, which it cannot know; Weir's own words are
//!   outside. Only a person at a terminal does not see the marks.
//! - An operation that needs only what is known declares a [`KnowledgeContext`], and reaches the machine only through
//!   the methods in [`needs`]. Each has an answer for where there is no machine, so a server could run these
//!   operations, and no others.
//! - A search works without a model and without vectors, and says so when it did. No lock is held while a model works.
//!   The user's store does not keep a project's from being searched.
//! - Nothing that matches is hidden, up to `limit`. Outputs that share a passage are one hit that names the others;
//!   other repeated texts and superseded notes rank lower, and are marked.
//! - Nothing is forgotten that a dry run has not shown. A check of `doctor` changes nothing.
//!
//! # A search, step by step
//!
//! ```text
//! search           arguments → Query; topics of notes, which the index does not have
//! semantic         the vector of the query; the best chunks that have none get one, and the search is repeated
//! weir-store       Store::search: words, meaning, one score
//! search/render    fences, headings, doubts about notes (weir-knowledge), what to try next
//! ```

mod annotate;
mod batch;
pub mod coerce;
pub mod context;
mod context_edit;
mod context_forget;
mod context_peek;
mod context_read;
mod context_status;
mod context_write;
mod doctor;
mod execute;
mod execute_file;
mod fetch;
pub mod forget;
pub mod functions;
mod get;
mod history;
mod import;
mod index;
mod map;
pub mod needs;
pub mod references;
mod reflect;
pub mod search;
pub mod semantic;
pub mod stats;
pub mod tool_call;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use clap::ArgMatches;
pub use doctor::counted_parts;
use serde_json::{Map, Value};
use weir_context::Context;
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::os;
pub use weir_tools::{Effect, schema};

use crate::needs::{KnowledgeContext, Needs};

/// All operations, in the order of help and tool lists.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<execute::Execute>(),
    Operation::of::<execute_file::ExecuteFile>(),
    Operation::of::<batch::Batch>(),
    Operation::of::<annotate::Annotate>(),
    Operation::of::<index::Index>(),
    Operation::of::<fetch::Fetch>(),
    Operation::of::<search::Search>(),
    Operation::of::<get::Get>(),
    Operation::of::<history::History>(),
    Operation::of::<reflect::Reflect>(),
    Operation::of::<context::RecentContext>(),
    Operation::of::<import::Import>(),
    Operation::of::<forget::Forget>(),
    Operation::of::<map::Map>(),
    Operation::of::<context_read::ContextRead>(),
    Operation::of::<context_peek::ContextPeek>(),
    Operation::of::<context_edit::ContextEdit>(),
    Operation::of::<context_write::ContextWrite>(),
    Operation::of::<context_status::ContextStatus>(),
    Operation::of::<context_forget::ContextForget>(),
    Operation::of::<stats::Stats>(),
    Operation::of::<doctor::Doctor>(),
];

/// What the file of an operation provides.
pub trait Declared: clap::Args + serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static {
    /// What the operation needs: a [`KnowledgeContext`], or a [`Context`] if it acts on a machine.
    type Context: Send + Sync;
    /// What the operation answers, for programs.
    type Data: serde::Serialize + schemars::JsonSchema + Send;

    const TOOL: &'static str;
    /// The name of the command, or `None` if another command covers it.
    const COMMAND: Option<&'static str>;
    /// What the operation does to the store and to the project.
    const EFFECT: Effect;
    /// What the command's help begins with, if the description of the tool is not meant for people.
    const ABOUT: Option<&'static str> = None;
    /// Examples for the command's help.
    const EXAMPLES: &'static str;
    /// Which clients are shown the tool.
    const LISTING: Listing = Listing::Extra;

    /// Whether this is the operation that turns a reference into its text.
    const FOLLOWS_REFERENCES: bool = false;

    /// Whether the operation writes for a moment and does nothing else, so that opening stores would take longer.
    const IS_BRIEF_WRITE: bool = false;

    /// Converts arguments from the shell, where they differ from JSON, into the operation's own form.
    fn adapt_from_shell(self) -> Result<Self, CommandError> {
        Ok(self)
    }

    fn run(self, context: &Self::Context) -> impl Future<Output = Result<Answer<Self::Data>, CommandError>> + Send;
}

/// Which clients are shown a tool. Every listed tool costs tokens in every conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// All clients.
    Core,
    /// Clients whose user configured more than the core tools.
    Extra,
    /// No client, because another tool covers it. It can still be called.
    Unlisted,
}

type AnswerFuture = Pin<Box<dyn Future<Output = Result<Answer, CommandError>> + Send>>;

/// Arguments as a face gets them.
pub enum Arguments<'a> {
    /// From a program or a model.
    Json(Value),
    /// From the command line.
    Shell(&'a ArgMatches),
}

/// Starts an operation, by what it needs. A server has no machine, so it can start only those that need none.
#[derive(Clone, Copy)]
enum Start {
    Knowledge(fn(KnowledgeContext, Arguments<'_>) -> Result<AnswerFuture, CommandError>),
    Machine(fn(Context, Arguments<'_>) -> Result<AnswerFuture, CommandError>),
}

/// A context that an operation can be started with.
trait Starts<T> {
    const START: Start;
}

impl<T: Declared<Context = Self>> Starts<T> for KnowledgeContext {
    const START: Start = Start::Knowledge(start::<T>);
}

impl<T: Declared<Context = Self>> Starts<T> for Context {
    const START: Start = Start::Machine(start::<T>);
}

/// An operation with its types erased, for the faces.
pub struct Operation {
    pub tool: &'static str,
    /// The name of the command, or `None` if another command covers it.
    pub command: Option<&'static str>,
    /// What the operation does to the store and to the project.
    pub effect: Effect,
    /// Which clients are shown the tool.
    pub listing: Listing,
    /// Whether this is the operation that turns a reference into its text.
    pub follows_references: bool,
    /// Whether the operation writes for a moment and does nothing else.
    pub is_brief_write: bool,
    /// Builds the command from the argument struct.
    pub command_line: fn(&'static str) -> clap::Command,
    /// Returns the description and the schema of the arguments.
    pub schema: fn() -> (String, Map<String, Value>),
    /// Returns the schema of the answer, as JSON Schema 2020-12.
    pub answer_schema: fn() -> Value,
    start: Start,
}

impl Operation {
    const fn of<T: Declared>() -> Self
    where
        T::Context: Starts<T>,
    {
        Self {
            tool: T::TOOL,
            command: T::COMMAND,
            effect: T::EFFECT,
            listing: T::LISTING,
            follows_references: T::FOLLOWS_REFERENCES,
            is_brief_write: T::IS_BRIEF_WRITE,
            command_line: |name| {
                let command = T::augment_args(clap::Command::new(name)).after_long_help(T::EXAMPLES);
                match T::ABOUT {
                    Some(about) => command.about(about).long_about(None),
                    None => command,
                }
            },
            schema: schema::of::<T>,
            answer_schema: schema::of_answer::<T::Data>,
            start: T::Context::START,
        }
    }

    pub fn needs(&self) -> Needs {
        match self.start {
            Start::Knowledge(_) => Needs::Knowledge,
            Start::Machine(_) => Needs::Machine,
        }
    }

    /// Parses the arguments and starts the operation on this machine.
    pub fn start(&self, context: Context, arguments: Arguments<'_>) -> Result<AnswerFuture, CommandError> {
        // A text that is read after its store was left is the project's, unless the operation says otherwise.
        let folder = context.project_folder();
        let started = match self.start {
            Start::Knowledge(start) => start(KnowledgeContext::of(&context), arguments)?,
            Start::Machine(start) => start(context, arguments)?,
        };
        Ok(Box::pin(async move { started.await.map_err(|error| error.in_store(&folder)) }))
    }
}

fn start<T: Declared>(context: T::Context, arguments: Arguments<'_>) -> Result<AnswerFuture, CommandError> {
    let arguments = match arguments {
        Arguments::Json(arguments) => {
            serde_json::from_value::<T>(arguments).map_err(|error| CommandError::usage(error.to_string()))?
        }
        Arguments::Shell(matches) => {
            let arguments = T::from_arg_matches(matches).map_err(|error| CommandError::usage(error.to_string()))?;
            arguments.adapt_from_shell()?
        }
    };
    Ok(Box::pin(async move { arguments.run(&context).await?.erased() }))
}

/// Returns a number that is the default of an argument, for serde. The command line has the same constant.
fn fixed<const NUMBER: u32>() -> u32 {
    NUMBER
}

/// Returns the folder that a run starts in: the folder of the call, or one relative to it.
fn folder(context: &Context, named: Option<&str>) -> Result<PathBuf, CommandError> {
    let here = &context.env().folder;
    let folder = named.map_or_else(|| here.clone(), |named| here.join(named));
    os::real_path(&folder).ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
        CommandError::usage(format!("no such folder: {}", folder.display()))
            .hint(format!("paths are relative to {}", here.display()))
    })
}

fn file(context: &Context, named: &str) -> Result<PathBuf, CommandError> {
    let path = context.env().folder.join(named);
    os::real_path(&path).ok().filter(|path| path.is_file()).ok_or_else(|| {
        CommandError::new(ErrorKind::NotFound, format!("no such file: {}", path.display()))
            .hint(format!("paths are relative to {}", context.env().folder.display()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use weir_host::face::Face;

    use super::*;

    fn tools(needs: Needs) -> Vec<&'static str> {
        OPERATIONS.iter().filter(|operation| operation.needs() == needs).map(|operation| operation.tool).collect()
    }

    #[test]
    fn what_acts_on_a_machine_cannot_be_started_without_one() {
        let knowledge = [
            "ctx_annotate", "ctx_search", "ctx_get", "ctx_history", "ctx_reflect", "ctx_context", "ctx_forget",
            "ctx_stats",
        ];
        assert_eq!(tools(Needs::Knowledge), knowledge);
        let runs = OPERATIONS.iter().filter(|operation| matches!(operation.effect, Effect::Runs | Effect::Changes));
        assert!(runs.clone().count() >= 5 && runs.clone().all(|operation| operation.needs() == Needs::Machine));
    }

    #[test]
    fn what_needs_only_knowledge_answers_without_a_machine() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let context = KnowledgeContext::without_machine(folder.path(), Face::Http);
        let call = |tool: &str, arguments: Value| -> Answer {
            let operation = OPERATIONS.iter().find(|operation| operation.tool == tool).unwrap();
            let Start::Knowledge(start) = operation.start else { panic!("{tool} needs a machine") };
            let running = start(context.clone(), Arguments::Json(arguments));
            runtime.block_on(async { running?.await }).unwrap_or_else(|error| panic!("{tool}: {error}"))
        };
        let nothing = call("ctx_search", json!({ "queries": ["zebra"] }));
        assert!(!nothing.found && nothing.text.contains("add content with `weir index`"), "{}", nothing.text);
        let kept = call("ctx_annotate", json!({ "text": "zebras sleep standing", "files": ["src/zebra.rs"] }));
        assert_eq!(kept.data["not_bound"], json!(["src/zebra.rs: the project's files are not here"]));
        let reference = kept.data["reference"].as_str().unwrap();
        let found = call("ctx_search", json!({ "queries": ["zebra"] }));
        assert_eq!(found.data["queries"][0]["hits"][0]["reference"], reference);
        assert_eq!(found.data["queries"][0]["hits"][0]["doubts"], json!([]));
        let got = call("ctx_get", json!({ "ref": reference }));
        assert_eq!(got.data["text"], "zebras sleep standing");
        let history = call("ctx_history", json!({}));
        assert_eq!(history.data["moments"][0]["reference"], reference);
        let overview = call("ctx_context", json!({ "compact": "yes", "project": "elsewhere" }));
        let expected = format!("## Recent notes\n- [finding] **zebras sleep standing** {reference}");
        assert!(overview.text.ends_with(&expected), "{}", overview.text);
        assert!(!call("ctx_stats", json!({})).found);
        assert!(call("ctx_reflect", json!({ "work": "stripes" })).text.contains("no events there"));
        let plan = call("ctx_forget", json!({ "refs": [reference] }));
        let removed = call("ctx_forget", json!({ "refs": [reference], "confirm": plan.data["confirm"] }));
        assert_eq!(removed.data["removed"][0]["entries"], 1, "{}", removed.text);
    }

    #[test]
    fn every_face_names_operations_that_it_lists() {
        let words = [Face::get, Face::search, Face::execute_file];
        for word in words {
            let tool = word(Face::Mcp);
            let is_listed = OPERATIONS.iter().any(|it| it.tool == tool && it.listing == Listing::Core);
            assert!(is_listed, "{tool}");
            assert_eq!(word(Face::Http), tool);
            let command = word(Face::Terminal);
            let name = command.trim_matches('`').split(' ').nth(1);
            assert!(OPERATIONS.iter().any(|operation| operation.command == name), "{command}");
        }
    }

    fn check_schema(value: &Value, path: &str) {
        let Some(object) = value.as_object() else { return };
        assert!(object.get("type").is_some_and(Value::is_string), "{path}: {value}");
        for (word, value) in object {
            assert!(schema::KEPT_KEYWORDS.contains(&word.as_str()), "{path}: {word}");
            match word.as_str() {
                "properties" => value
                    .as_object()
                    .unwrap()
                    .iter()
                    .for_each(|(name, schema)| check_schema(schema, &format!("{path}.{name}"))),
                "items" => check_schema(value, &format!("{path}[]")),
                "enum" => assert!(value.as_array().unwrap().iter().all(Value::is_string), "{path}"),
                _ => {}
            }
        }
    }

    #[test]
    fn schemas_hold_nothing_that_a_client_rejects() {
        for operation in OPERATIONS {
            let (description, schema) = (operation.schema)();
            assert!(!description.is_empty(), "{}", operation.tool);
            check_schema(&Value::Object(schema), operation.tool);
        }
    }

    #[test]
    fn every_answer_is_declared_and_complete_in_itself() {
        for operation in OPERATIONS {
            let schema = (operation.answer_schema)();
            assert!(schema["type"] == "object" || schema["anyOf"].is_array(), "{}: {schema}", operation.tool);
            assert!(!schema.to_string().contains("$ref"), "{}: {schema}", operation.tool);
        }
    }
}
