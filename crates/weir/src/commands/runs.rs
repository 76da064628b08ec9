//! `weir runs`: lists the runs in the background, and ends them.

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};
use weir_context::Context;
use weir_core::wording::one_line;
use weir_host::answer::{Answer, counted};
use weir_host::error::CommandError;
use weir_host::when;
use weir_operations::needs::KnowledgeContext;
use weir_operations::references;
use weir_run::background::{self, RunningCommand};

pub(crate) const RUNS: &str = "runs";
/// What ends every run, in place of a reference.
const ALL: &str = "all";

pub(crate) fn command() -> Command {
    Command::new(RUNS)
        .about("List the runs in the background of this project, and end them")
        .after_long_help(
            "Examples:\n  weir run --background 'npm run dev'\n  weir runs\n  weir runs --end k7f2\n  weir runs --end all\n\n\
             `weir get REF` shows the output of a run, while it runs and afterwards.",
        )
        .arg(
            Arg::new("end")
                .long("end")
                .value_name("REF")
                .num_args(1..)
                .help("End these runs and keep their output; `all` ends every one"),
        )
}

pub(crate) async fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let running = background::running(context);
    let Some(named) = arguments.get_many::<String>("end") else { return Ok(list(&running)) };
    let mut wanted = Vec::new();
    for name in named {
        match name.as_str() {
            ALL => wanted.extend(running.iter().map(|run| run.reference)),
            name => wanted.push(references::resolve(&KnowledgeContext::of(context), name).await?),
        }
    }
    let mut ended = Vec::new();
    for reference in wanted {
        background::end(context, reference)?;
        ended.push(reference.to_string());
    }
    let text = match ended.is_empty() {
        true => "no runs in the background".to_owned(),
        false => {
            format!(
                "ended {}: {}; `weir get REF` shows the output",
                counted(ended.len(), "run", "runs"),
                ended.join(" ")
            )
        }
    };
    Ok(Answer::new(text, json!({ "ended": ended })))
}

fn list(running: &[RunningCommand]) -> Answer {
    let data: Vec<Value> = running.iter().map(describe).collect();
    let data = json!({ "runs": data });
    if running.is_empty() {
        return Answer::new("no runs in the background; `weir run --background` starts one".to_owned(), data);
    }
    let line = |run: &RunningCommand| {
        format!("{} since {}: {}", run.reference, when::show(run.started), one_line(&run.title, 100))
    };
    let mut lines: Vec<String> = running.iter().map(line).collect();
    lines.push("`weir get REF` shows the output so far; `weir runs --end REF` ends one".to_owned());
    Answer::new(lines.join("\n"), data)
}

fn describe(run: &RunningCommand) -> Value {
    json!({ "reference": run.reference.to_string(), "since": when::for_data(run.started), "title": run.title })
}
