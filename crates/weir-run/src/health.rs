//! Checks for `weir doctor` whether runs work here, and in which sandbox.

use weir_context::Context;
use weir_host::config::Sandbox;
use weir_host::error::CommandError;
use weir_host::os;
use weir_runner::runtimes::{LANGUAGES, Language};
use weir_runner::{RunError, Spec};

use super::{LayerWish, PROBE_TIMEOUT, RunRequest, background, cause, environment, output_of, runtime, unusable};

/// The output of the shell in the test run.
const SAID: &str = "weir";

/// Describes the sandbox that a run gets here, by testing it with the settings of a run in this project.
pub fn sandbox(context: &Context) -> Result<String, CommandError> {
    if context.config().sandbox == Sandbox::Off {
        return Ok("off by configuration".to_owned());
    }
    let language = Language::find("shell").ok_or_else(|| CommandError::broken("no shell found"))?;
    let order = RunRequest {
        language,
        code: format!("echo {SAID}"),
        file: None,
        folder: context.project().root.clone(),
        timeout: PROBE_TIMEOUT,
        source: None,
        layer: LayerWish::Configured,
    };
    let found = runtime::locate(context, language)?;
    let mut place = environment::prepare(context, &order, &found, &environment::writable(context))?;
    match (context.config().sandbox, try_out(&place.spec)) {
        (_, Ok(())) => Ok(place.spec.level.as_str().to_owned()),
        (Sandbox::BestEffort, Err(RunError::Sandbox(why))) if !why.refused => {
            place.fall_back_to_landlock(context, &why)?;
            try_out(&place.spec).map_err(|error| unusable(context, error))?;
            let ways = cause::ways_out(&why);
            let way = ways.first().map(|way| format!("; for a full sandbox: {way}")).unwrap_or_default();
            Ok(format!("landlock, because this system cannot {}: {}{way}", why.step, why.why))
        }
        (_, Err(error)) => Err(unusable(context, error)),
    }
}

/// Lists the languages whose runtimes are installed, and those whose runtimes are missing.
pub fn languages(context: &Context) -> String {
    let (mut here, mut missing) = (Vec::new(), Vec::new());
    for language in LANGUAGES {
        match runtime::locate(context, language) {
            Ok(found) => here.push(format!("{} ({})", language.name, found.runtime.program)),
            Err(_) => missing.push(language.name),
        }
    }
    match (here.is_empty(), missing.is_empty()) {
        _ if !os::CAN_RUN => "not needed, because runs are not supported on this system".to_owned(),
        (true, _) => "none is installed".to_owned(),
        (false, true) => here.join(", "),
        (false, false) => format!("{}; not installed: {}", here.join(", "), missing.join(", ")),
    }
}

pub fn in_background(context: &Context) -> usize {
    let runs = background::list(context).into_iter();
    runs.filter(|reference| background::find(context, *reference).is_ok_and(|found| found.is_some())).count()
}

fn try_out(spec: &Spec) -> Result<(), RunError> {
    let said = output_of(spec, PROBE_TIMEOUT)?;
    match String::from_utf8_lossy(&said).trim() {
        SAID => Ok(()),
        other => Err(RunError::Helper(std::io::Error::other(format!("the shell in the sandbox printed {other:?}")))),
    }
}
