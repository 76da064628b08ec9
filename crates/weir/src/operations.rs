//! The operations, each declared once in a file of its own and named once in [`OPERATIONS`].
//!
//! An operation is an argument struct with its doc comment, and one async function. The MCP tool, the command and
//! the schemas are projections of it.

mod annotate;
mod batch;
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
mod forget;
mod get;
mod history;
mod import;
mod index;
mod map;
mod reflect;
mod search;
mod stats;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use clap::ArgMatches;
use serde_json::{Map, Value};
use weir_core::Reference;

use crate::answer::Answer;
use crate::context::Context;
use crate::error::{CommandError, ErrorKind};
use crate::faces::schema;

/// Every operation, in the order help and tool lists show them.
pub(crate) const OPERATIONS: &[Operation] = &[
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

/// What an operation's file provides.
pub(crate) trait Declared:
    clap::Args + serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static
{
    /// Its name as a tool.
    const TOOL: &'static str;
    /// Its name as a command, unless another command does it too.
    const COMMAND: Option<&'static str>;
    /// What a client may expect of it.
    const EFFECT: Effect;
    /// Examples for the command's help.
    const EXAMPLES: &'static str;
    /// Which clients are told of it.
    const LISTING: Listing = Listing::Extra;

    /// Whether it is what leads from a reference to the text.
    const FOLLOWS_REFERENCES: bool = false;

    /// Settles what a shell gave into what the operation means, where shells and JSON differ.
    fn settle(self) -> Result<Self, CommandError> {
        Ok(self)
    }

    /// Does it.
    fn run(self, context: &Context) -> impl Future<Output = Result<Answer, CommandError>> + Send;
}

/// Which clients are told of an operation. Every tool is paid for in every conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    /// All.
    Core,
    /// Those whose user asks for more than the core.
    Extra,
    /// None: another tool does it too. It can be called all the same.
    Unlisted,
}

/// What an operation does to the store and to the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// It adds.
    Adds,
    /// It removes.
    Removes,
    /// It changes files of the project.
    Changes,
    /// It runs what it is given, within the sandbox.
    Runs,
}

type Running = Pin<Box<dyn Future<Output = Result<Answer, CommandError>> + Send>>;

/// An operation without its types, for the faces.
pub(crate) struct Operation {
    /// Its name as a tool.
    pub tool: &'static str,
    /// Its name as a command, unless another command does it too.
    pub command: Option<&'static str>,
    /// What a client may expect of it.
    pub effect: Effect,
    /// Which clients are told of it.
    pub listing: Listing,
    /// Whether it is what leads from a reference to the text.
    pub follows_references: bool,
    /// The command, made of the argument struct.
    pub command_line: fn(&'static str) -> clap::Command,
    /// What it does, and the schema of its arguments.
    pub schema: fn() -> (String, Map<String, Value>),
    /// Runs it with arguments from JSON.
    pub call: fn(Context, Value) -> Result<Running, CommandError>,
    /// Runs it with arguments from the command line.
    pub call_command: fn(Context, &ArgMatches) -> Result<Running, CommandError>,
}

impl Operation {
    const fn of<T: Declared>() -> Self {
        Self {
            tool: T::TOOL,
            command: T::COMMAND,
            effect: T::EFFECT,
            listing: T::LISTING,
            follows_references: T::FOLLOWS_REFERENCES,
            command_line: |name| T::augment_args(clap::Command::new(name)).after_help(T::EXAMPLES),
            schema: schema::of::<T>,
            call: |context, arguments| {
                let arguments: T =
                    serde_json::from_value(arguments).map_err(|error| CommandError::usage(error.to_string()))?;
                Ok(start(arguments, context))
            },
            call_command: |context, matches| {
                let arguments = T::from_arg_matches(matches).map_err(|error| CommandError::usage(error.to_string()))?;
                Ok(start(arguments.settle()?, context))
            },
        }
    }
}

/// The folder a run starts in: the one the call is made in, or one named from there.
fn folder(context: &Context, named: Option<&str>) -> Result<PathBuf, CommandError> {
    let here = &context.env().folder;
    let folder = named.map_or_else(|| here.clone(), |named| here.join(named));
    folder.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
        CommandError::usage(format!("no such folder: {}", folder.display()))
            .hint(format!("paths are relative to {}", here.display()))
    })
}

/// A file that a run is about.
fn file(context: &Context, named: &str) -> Result<PathBuf, CommandError> {
    let path = context.env().folder.join(named);
    path.canonicalize().ok().filter(|path| path.is_file()).ok_or_else(|| {
        CommandError::new(ErrorKind::NotFound, format!("no such file: {}", path.display()))
            .hint(format!("paths are relative to {}", context.env().folder.display()))
    })
}

/// What the text of an answer stands between that has no reference of its own.
pub(crate) fn random_mark() -> Result<Reference, CommandError> {
    let bits = getrandom::u64().map_err(|error| CommandError::broken(&format!("cannot get random bytes: {error}")))?;
    Ok(Reference::from_bits(bits))
}

/// A name that nobody else has.
pub(crate) fn random_name() -> Result<String, CommandError> {
    Ok(random_mark()?.as_str().to_owned())
}

fn start<T: Declared>(arguments: T, context: Context) -> Running {
    Box::pin(async move { arguments.run(&context).await })
}
