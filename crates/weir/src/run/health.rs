//! Whether runs can be made here, and in what: for `weir doctor`.

use std::time::Duration;

use weir_runner::runtimes::LANGUAGES;
use weir_runner::{Level, Run, RunError, Spec, Stopper, Streams};

use super::{background, runtime, unusable};
use crate::config::Sandbox;
use crate::context::Context;
use crate::error::CommandError;

/// Longer than this nothing takes that does nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The sandbox that a run gets here, in words.
pub(crate) fn sandbox(context: &Context) -> Result<String, CommandError> {
    let problem = match try_out(Level::Full) {
        _ if context.config().sandbox == Sandbox::Off => return Ok("off, as configured".to_owned()),
        Ok(()) => return Ok("full".to_owned()),
        Err(problem) => problem,
    };
    match (context.config().sandbox, &problem) {
        (Sandbox::BestEffort, RunError::Sandbox(why)) => {
            try_out(Level::Landlock).map_err(|error| unusable(context, error))?;
            Ok(format!("landlock, since this system cannot {}: {}", why.step, why.why))
        }
        _ => Err(unusable(context, problem)),
    }
}

/// The languages whose runtimes are here, and those whose are not.
pub(crate) fn languages(context: &Context) -> String {
    let (mut here, mut missing) = (Vec::new(), Vec::new());
    for language in LANGUAGES {
        match runtime::locate(context, language) {
            Ok(found) => here.push(format!("{} ({})", language.name, found.runtime.program)),
            Err(_) => missing.push(language.name),
        }
    }
    match missing.is_empty() {
        true => here.join(", "),
        false => format!("{}; not installed: {}", here.join(", "), missing.join(", ")),
    }
}

/// How many runs are under way in the background.
pub(crate) fn in_background(context: &Context) -> usize {
    let runs = background::list(context).into_iter();
    runs.filter(|reference| background::find(context, *reference).is_ok_and(|found| found.is_some())).count()
}

fn try_out(level: Level) -> Result<(), RunError> {
    let spec = Spec::new(level, vec!["/bin/sh".into(), "-c".into(), ":".into()], "/");
    let stopper = Stopper::new().map_err(RunError::Helper)?;
    let run = Run {
        spec: &spec,
        helper: super::HELPER.into(),
        timeout: PATIENCE,
        most_output: 4096,
        streams: Streams::Merged,
        stopper: &stopper,
        ready: None,
        serve: None,
    };
    weir_runner::run(run, &mut |_, _| Ok(())).map(drop)
}
