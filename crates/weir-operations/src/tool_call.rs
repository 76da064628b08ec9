//! What all faces with tools share: which tools there are, what is said about them, and how a call is made with
//! arguments as a model or a program writes them.
//!
//! Invariant: every call is answered. An operation that panics has failed, and no client waits for it in vain.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use rmcp::model::{JsonObject, MetaObject, Tool};
use serde_json::Value;
use weir_context::Context;
use weir_core::SessionKey;
use weir_hook::faults;
use weir_hook::metering;
use weir_host::answer::{Answer, PrintedOutput, one_line};
use weir_host::config::ListedTools;
use weir_host::error::CommandError;
use weir_host::switch::{Off, Switch};
use weir_store::Reading;

use crate::coerce::{coerce, may_narrow};
use crate::{Arguments, Effect, Listing, OPERATIONS, Operation};

/// Tells Claude Code to include a tool in every request. A tool that must be looked up first is not used to follow a
/// reference.
const ALWAYS_LOADED: &str = "anthropic/alwaysLoad";

/// Returns the operations that a client is told of.
pub fn listed(chosen: &ListedTools) -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().filter(|operation| match chosen {
        ListedTools::Core => operation.listing == Listing::Core,
        ListedTools::All => operation.listing != Listing::Unlisted,
        ListedTools::Named(names) => names.iter().any(|name| name == operation.tool),
    })
}

/// Finds a tool by its name, whether it is listed or not.
pub fn find(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.tool == name)
}

pub fn no_such_tool(name: &str) -> String {
    let names = listed(&ListedTools::All).map(|operation| operation.tool).collect::<Vec<_>>().join(", ");
    format!("no tool `{}`; available: {names}", one_line(name, 60))
}

pub fn tool(operation: &Operation) -> Tool {
    let tool = weir_tools::described(operation.tool, operation.effect, (operation.schema)());
    match operation.follows_references {
        true => tool.with_meta(MetaObject(JsonObject::from_iter([(ALWAYS_LOADED.to_owned(), true.into())]))),
        false => tool,
    }
}

/// Returns why Weir is off for a call: for its client, in its project or everywhere.
pub fn off(context: &Context) -> Option<Off> {
    let switch = Switch::read(context.paths());
    let client = context.session().key.as_ref().map_or("", |session| &session.client);
    switch.off_here(client, context.project(), &context.env().folder)
}

/// Calls an operation. Sloppy arguments are interpreted as they were meant; an error about arguments says which there
/// are.
pub async fn call(operation: &Operation, context: Context, arguments: JsonObject) -> Result<Answer, CommandError> {
    let called = caught(call_as_meant(operation, context, arguments)).await;
    let broken =
        |panic: String| CommandError::broken(&format!("{} panicked: {}", operation.tool, one_line(&panic, 200)));
    called.unwrap_or_else(|panic| Err(broken(panic)))
}

async fn call_as_meant(operation: &Operation, context: Context, arguments: JsonObject) -> Result<Answer, CommandError> {
    let (_, schema) = (operation.schema)();
    let (arguments, unknown) = coerce(operation.tool, arguments, &schema);
    // Ignoring an argument that was meant as a filter would answer more than was asked.
    let refused = unknown.iter().filter(|name| operation.effect == Effect::Reads && may_narrow(name));
    let refused: Vec<String> = refused.map(|name| format!("`{}`", one_line(name, 60))).collect();
    if !refused.is_empty() {
        let error = CommandError::usage(format!("{} has no argument {}", operation.tool, refused.join(", ")));
        return Err(explain(error, operation, &schema));
    }
    let running = operation.start(context, Arguments::Json(Value::Object(arguments)));
    let mut answer = running.map_err(|error| explain(error, operation, &schema))?.await?;
    if !unknown.is_empty() {
        answer.text.push_str(&format!("\nignored unknown arguments: {}", unknown.join(", ")));
    }
    Ok(answer)
}

/// Waits for some work. If it panics, returns the message of the panic as the error.
async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    // What the work has changed is in the stores, which a panic cannot leave half written.
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.map_err(|panic| faults::panic_message(&*panic).to_owned())
}

/// Returns the reading of an answer with these texts, for the meter.
pub fn reading<'a>(
    operation: &Operation,
    session: Option<&SessionKey>,
    printed: &[PrintedOutput],
    texts: impl Iterator<Item = &'a str>,
) -> Reading {
    let shown = texts.map(weir_tokens::count).sum::<usize>() as u64;
    metering::answered(operation.tool, session.map_or("", |session| session.client.as_str()), printed, shown)
}

/// Adds to an error about invalid arguments which arguments are valid.
fn explain(error: CommandError, operation: &Operation, schema: &JsonObject) -> CommandError {
    let names = |word: &str| match schema.get(word) {
        Some(Value::Object(properties)) => properties.keys().cloned().collect::<Vec<_>>().join(", "),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    };
    let required = match names("required") {
        none if none.is_empty() => String::new(),
        required => format!("; required: {required}"),
    };
    error.hint(format!("{} takes {}{required}", operation.tool, names("properties")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_has_an_end() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let later = |number: Option<u8>| async move {
            tokio::task::yield_now().await;
            number.expect("a number")
        };
        assert_eq!(runtime.block_on(caught(later(Some(7)))), Ok(7));
        assert_eq!(runtime.block_on(caught(later(None))), Err("a number".to_owned()));
    }
}
