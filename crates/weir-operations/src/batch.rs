//! `ctx_batch_execute`: runs several commands and answers questions about their output, in one call.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use weir_context::Context;
use weir_core::Query;
use weir_host::answer::{Answer, Budget, counted, fit_items, one_line};
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_host::random;
use weir_run::{DisplayOptions, FinishedRun, LayerWish, RunData, RunRequest};

use super::search::{self, QueryData};
use super::{Declared, Effect, execute};
use crate::needs::KnowledgeContext;
use crate::schema::silent;

/// The default budget of an answer, in tokens.
const DEFAULT_BUDGET: u32 = 3_000;
/// How many commands run concurrently: by default, and at most.
const DEFAULT_CONCURRENCY: u32 = 4;
const MAX_CONCURRENCY: u32 = 16;
/// The maximum number of commands. More belong in a script.
const MAX_COMMANDS: usize = 50;
/// With fewer tokens than this, a command's output is left out and only its end is reported.
const MIN_SHARE_TOKENS: usize = 60;
const HITS_PER_QUESTION: usize = 3;

/// Run several shell commands in parallel and search their output.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Batch {
    /// Shell commands, each run in its own shell
    #[schemars(transform = silent)]
    #[arg(value_name = "COMMAND", required = true)]
    commands: Vec<String>,
    /// Search the output for this; can be repeated
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long = "query", short, value_name = "QUERY")]
    queries: Vec<String>,
    /// Number of commands to run at once
    #[schemars(transform = silent)]
    #[serde(default = "super::fixed::<DEFAULT_CONCURRENCY>")]
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_CONCURRENCY)]
    parallel: u32,
    /// Timeout for each command, in seconds
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u32>,
    /// Maximum tokens in the answer
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    #[serde(default = "super::fixed::<DEFAULT_BUDGET>")]
    budget: u32,
}

impl Declared for Batch {
    type Context = Context;
    type Data = BatchData;

    const TOOL: &'static str = "ctx_batch_execute";
    const COMMAND: Option<&'static str> = Some("batch");
    const EFFECT: Effect = Effect::Runs;
    const EXAMPLES: &'static str = "\
Examples:
  weir batch 'git status --short' 'cargo test' 'cargo clippy'
  weir batch 'cargo test' --query 'which test failed' --query warning

Exits with 1 if a command fails.";

    async fn run(self, context: &Context) -> Result<Answer<BatchData>, CommandError> {
        if self.commands.is_empty() || self.commands.len() > MAX_COMMANDS {
            return Err(CommandError::usage(format!("cannot run {} commands in one batch", self.commands.len()))
                .hint(format!("pass 1 to {MAX_COMMANDS}{}", context.face().word("", " in `commands`"))));
        }
        let budget = Budget::new(self.budget);
        // A separate source allows searching only the output of these commands.
        let source = format!("batch {}", random::name()?);
        let results = run_all(context, &self, &source).await?;
        let queries: Vec<Query> = self
            .queries
            .iter()
            .map(|text| Query { source: Some(source.clone()), ..Query::new(text.clone(), HITS_PER_QUESTION) })
            .collect();
        let mut answer = describe(&self.commands, &results, context.face(), budget, queries.is_empty())?;
        if !queries.is_empty() {
            let left = budget.tokens().saturating_sub(weir_tokens::count(&answer.text) + 2);
            let found =
                search::find_and_show(&KnowledgeContext::of(context), queries, Budget::new(left as u32)).await?;
            answer.text = format!("{}\n\n{}", answer.text, found.text);
            answer.data.queries = Some(found.data.queries);
        }
        Ok(answer)
    }
}

/// The results of a batch.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BatchData {
    /// The commands, in the order they were given.
    commands: Vec<CommandData>,
    /// What the queries found in the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    queries: Option<Vec<QueryData>>,
}

/// The result of one command.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum CommandData {
    /// The command was run.
    Ran(Box<RunData>),
    /// The command was not run.
    NotRun { error: String, hints: Vec<String> },
}

struct CommandView {
    text: String,
    data: CommandData,
    /// Whether part of its output is left out.
    is_cut: bool,
}

type Results = Vec<Result<FinishedRun, CommandError>>;

/// Runs all commands, several of them concurrently. The results are in the order of the commands.
async fn run_all(context: &Context, batch: &Batch, source: &str) -> Result<Results, CommandError> {
    let slots = Arc::new(Semaphore::new(batch.parallel.clamp(1, MAX_CONCURRENCY) as usize));
    let folder = super::folder(context, None)?;
    let mut tasks = JoinSet::new();
    for (number, command) in batch.commands.iter().enumerate() {
        let order = RunRequest {
            language: execute::language(None)?,
            code: command.clone(),
            file: None,
            folder: folder.clone(),
            timeout: execute::timeout(context, batch.timeout, weir_run::MAX_TIMEOUT)?,
            source: Some(source.to_owned()),
            layer: LayerWish::Configured,
        };
        let (context, slots) = (context.clone(), Arc::clone(&slots));
        tasks.spawn(async move {
            let _slot = slots.acquire_owned().await;
            (number, weir_run::run(&context, order).await)
        });
    }
    let mut results: Vec<(usize, Result<FinishedRun, CommandError>)> = Vec::new();
    while let Some(result) = tasks.join_next().await {
        results.push(result.map_err(|error| CommandError::broken(&error.to_string()))?);
    }
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Returns every command with its result, as much of each as the budget allows.
fn describe(
    commands: &[String],
    results: &Results,
    face: Face,
    budget: Budget,
    alone: bool,
) -> Result<Answer<BatchData>, CommandError> {
    let numbers = (1..).zip(results).filter(|(_, result)| !succeeded(result)).map(|(number, _)| format!("[{number}]"));
    let failed: Vec<String> = numbers.collect();
    let mut head = counted(commands.len(), "command", "commands");
    if !failed.is_empty() {
        head.push_str(&format!(", {} failed: {}", failed.len(), failed.join(" ")));
    }
    // If there are questions, half of the budget is for them, but naming every command takes precedence.
    let least = budget.tokens() * 4 / 5;
    let mut budget = if alone { budget } else { Budget::new(budget.tokens() as u32 / 2) };
    let mut share = budget.tokens() / results.len().max(1);
    loop {
        let shown = show_all(commands, results, share)?;
        let cut = shown.iter().any(|view| view.is_cut);
        let wholes: Vec<bool> = shown.iter().map(|view| !view.is_cut).collect();
        let (items, commands): (Vec<String>, Vec<_>) = shown.into_iter().map(|view| (view.text, view.data)).unzip();
        let (text, fitting) = fit_items(&head, &items, budget, |fitting| match items.len() - fitting {
            0 if cut => face.read_on().to_owned(),
            0 => String::new(),
            left => {
                let budget = face.option("budget");
                format!("{left} more did not fit: raise {budget}, or find them with `weir history`")
            }
        });
        if share == 0 && fitting < items.len() && budget.tokens() < least {
            budget = Budget::new(least as u32);
            continue;
        }
        if fitting == items.len() || share == 0 {
            let exit_code = Some(u8::from(!failed.is_empty()));
            let shown = results.iter().zip(wholes).enumerate();
            let printed = shown.filter_map(|(at, (result, is_whole))| {
                result.as_ref().ok().map(|done| weir_run::printed(done, is_whole && at < fitting))
            });
            let printed = printed.collect::<Result<_, _>>()?;
            return Ok(Answer { exit_code, printed, ..Answer::new(text, BatchData { commands, queries: None }) });
        }
        // The text around an output costs tokens too, and how many is known only after rendering.
        share = if share > MIN_SHARE_TOKENS { share * 2 / 3 } else { 0 };
    }
}

fn succeeded(result: &Result<FinishedRun, CommandError>) -> bool {
    result.as_ref().is_ok_and(|done| done.outcome.exit_code == Some(0))
}

/// Returns every command with up to `share` tokens of its output.
fn show_all(commands: &[String], results: &Results, share: usize) -> Result<Vec<CommandView>, CommandError> {
    let mut all = Vec::new();
    for (number, (command, result)) in commands.iter().zip(results).enumerate() {
        let label = format!("[{}] {}", number + 1, one_line(command.trim(), 80));
        all.push(match result {
            Ok(done) => {
                let shown =
                    weir_run::show(done, &DisplayOptions { whole: share, digest: share, intent: None, read_on: "" })?;
                let text = match (share, shown.body.as_str()) {
                    (0, _) => format!("[{}] {}: {}", number + 1, one_line(command.trim(), 30), weir_run::brief(done)),
                    (_, "") => format!("{label}: {}", shown.head),
                    (_, body) => format!("{label}: {}\n{body}", shown.head),
                };
                let data = CommandData::Ran(Box::new(RunData::of(done, &shown)));
                CommandView { text, data, is_cut: !shown.whole }
            }
            Err(error) => {
                let data = CommandData::NotRun { error: error.message.clone(), hints: error.hints.clone() };
                CommandView { text: format!("{label}: {}", error.message), data, is_cut: false }
            }
        });
    }
    Ok(all)
}
