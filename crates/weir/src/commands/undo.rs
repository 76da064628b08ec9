//! `weir undo`: takes back what the last run on a layer changed.

use clap::{ArgMatches, Command};
use weir_context::Context;
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_run::layered;

pub(crate) const UNDO: &str = "undo";

pub(crate) fn command() -> Command {
    Command::new(UNDO).about("Take back what the last run on a layer changed in this project").after_long_help(
        "Examples:\n  weir run --layer on -- npm install left-pad\n  weir undo\n\n\
         Files that have changed since the run are left as they are and named. A run has a layer with `weir run --layer on`, \
         or by the setting `layer` under [run]; docs/sandbox.md explains layers.",
    )
}

pub(crate) fn run(context: &Context, _: &ArgMatches) -> Result<Answer, CommandError> {
    layered::undo(context)
}
