//! The operations, each declared once in a file of its own and named once in [`OPERATIONS`].
//!
//! An operation is an argument struct with its doc comment, and one async function. The MCP tool, the command and
//! the schemas are projections of it.

mod annotate;
mod doctor;
mod forget;
mod get;
mod history;
mod search;

use std::future::Future;
use std::pin::Pin;

use clap::ArgMatches;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::context::Context;
use crate::error::CommandError;
use crate::faces::schema;

/// Every operation, in the order help and tool lists show them.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation::of::<annotate::Annotate>(),
    Operation::of::<search::Search>(),
    Operation::of::<get::Get>(),
    Operation::of::<history::History>(),
    Operation::of::<forget::Forget>(),
    Operation::of::<doctor::Doctor>(),
];

/// What an operation's file provides.
pub(crate) trait Declared:
    clap::Args + serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static
{
    /// Its name as a tool.
    const TOOL: &'static str;
    /// Its name as a command.
    const COMMAND: &'static str;
    /// What a client may expect of it.
    const EFFECT: Effect;
    /// Examples for the command's help.
    const EXAMPLES: &'static str;

    /// Settles what a shell gave into what the operation means, where shells and JSON differ.
    fn settle(self) -> Result<Self, CommandError> {
        Ok(self)
    }

    /// Does it.
    fn run(self, context: &Context) -> impl Future<Output = Result<Answer, CommandError>> + Send;
}

/// What an operation does to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// It adds.
    Adds,
    /// It removes.
    Removes,
}

type Running = Pin<Box<dyn Future<Output = Result<Answer, CommandError>> + Send>>;

/// An operation without its types, for the faces.
pub(crate) struct Operation {
    /// Its name as a tool.
    pub tool: &'static str,
    /// Its name as a command.
    pub command: &'static str,
    /// What a client may expect of it.
    pub effect: Effect,
    /// The command, made of the argument struct.
    pub command_line: fn() -> clap::Command,
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
            command_line: || T::augment_args(clap::Command::new(T::COMMAND)).after_help(T::EXAMPLES),
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

fn start<T: Declared>(arguments: T, context: Context) -> Running {
    Box::pin(async move { arguments.run(&context).await })
}
