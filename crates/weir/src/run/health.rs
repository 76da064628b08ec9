//! Whether runs can be made here, and in what: for `weir doctor`.

use weir_runner::runtimes::LANGUAGES;
use weir_runner::{Level, RunError, Spec};

use super::{A_MOMENT, ask, background, runtime, unusable};
use crate::config::Sandbox;
use crate::context::Context;
use crate::error::CommandError;

/// The sandbox that a run gets here, in words.
pub(crate) fn sandbox(context: &Context) -> Result<String, CommandError> {
    if context.config().sandbox == Sandbox::Off {
        return Ok("off, as configured".to_owned());
    }
    let problem = match try_out(Level::Full) {
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
    ask(&Spec::new(level, vec!["/bin/sh".into(), "-c".into(), ":".into()], "/"), A_MOMENT).map(drop)
}
