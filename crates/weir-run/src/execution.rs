//! Executes a run in the best sandbox that is available, on a layer if it is to have one, and looks at what it left.

use std::path::PathBuf;

use weir_context::Context;
use weir_core::run::Ended;
use weir_host::config::Sandbox;
use weir_host::error::CommandError;
use weir_host::os;
use weir_runner::{HelperReaper, Outcome, Problem, Run, RunError, Spec, Streams};
use weir_store::TextWriter;

use super::layered::{LayerEnd, RunLayer};
use super::{RunOptions, RunRequest, environment, planted, unusable};

/// A run that has ended, with what it left.
pub(super) struct Executed {
    pub(super) outcome: Outcome,
    pub(super) farewell: HelperReaper,
    pub(super) remarks: Vec<String>,
    /// What a dry run would have changed.
    pub(super) diff: Option<String>,
}

/// Executes a run, on a layer if it is to have one, and looks at what it left.
pub(super) fn execute(
    context: &Context,
    order: &RunRequest,
    how: &RunOptions<'_>,
    writable: &[PathBuf],
    (place, writer): (&mut environment::RunEnvironment, &mut TextWriter),
) -> Result<Executed, CommandError> {
    let mut layer = RunLayer::begin(context, order, how, place)?;
    loop {
        // What a run writes to a layer is judged before it is live, and need not be watched.
        let is_live = |folder: &&PathBuf| layer.is_none() || **folder != context.project().root;
        let live: Vec<PathBuf> = writable.iter().filter(is_live).cloned().collect();
        let mut watch = (!live.is_empty()).then(|| planted::Watch::begin(context, &live)).transpose()?;
        let planted_again = watch.as_mut().map(|watch| watch.start_watching(how.stopper));
        let attempted = attempt(context, order, how, place, writer);
        let planted = watch.map(|watch| watch.end(&place.spec)).unwrap_or_default();
        let (mut outcome, farewell) = match (attempted, layer.take()) {
            (Err(AttemptError::Overlay(problem)), Some(layer)) => {
                layer.give_up(&problem, place)?;
                continue;
            }
            (Err(error), layer) => {
                layer.into_iter().for_each(RunLayer::discard);
                return Err(error.into_command_error(context));
            }
            (Ok(done), kept) => {
                layer = kept;
                done
            }
        };
        if planted_again.is_some_and(|again| again.get().is_some()) {
            outcome.ended = Ended::Planted;
        }
        let LayerEnd { remarks, diff } = layer.map(|layer| layer.end(context, &outcome)).unwrap_or_default();
        let remarks = std::mem::take(&mut place.remarks).into_iter().chain(planted).chain(remarks).collect();
        return Ok(Executed { outcome, farewell, remarks, diff });
    }
}

/// Runs code in the best sandbox that is available and that the user accepts.
fn attempt(
    context: &Context,
    order: &RunRequest,
    how: &RunOptions<'_>,
    place: &mut environment::RunEnvironment,
    writer: &mut TextWriter,
) -> Result<(Outcome, HelperReaper), AttemptError> {
    let outside = place.outside.clone();
    let serve = |listeners| outside.serve(listeners);
    let mut make = |spec: &Spec| {
        let run = Run {
            spec,
            helper: os::helper(),
            timeout: order.timeout,
            most_output: context.config().run.output_bytes,
            streams: Streams::Merged,
            input: how.input,
            stopper: how.stopper,
            ready: context.running().take_ready(),
            serve: Some(&serve),
        };
        weir_runner::run(run, &mut |_, bytes| {
            if let Some(tee) = how.tee {
                // The receiver only displays the output, so failing to reach it must not stop the run.
                let _ = tee.send(bytes.to_vec());
            }
            if let Some(show) = how.live {
                show(bytes);
            }
            // If the store fails, the run continues, and its output is shown.
            let _ = writer.write(bytes);
            Ok(())
        })
    };
    let other = |error| match error {
        RunError::Sandbox(problem) if problem.is_about_overlay() => AttemptError::Overlay(problem),
        error => AttemptError::Other(unusable(context, error)),
    };
    match make(&place.spec) {
        Err(RunError::Sandbox(problem))
            if !problem.refused && !problem.is_about_overlay() && context.config().sandbox == Sandbox::BestEffort =>
        {
            place.fall_back_to_landlock(context, &problem).map_err(AttemptError::Other)?;
            make(&place.spec).map_err(other)
        }
        done => done.map_err(other),
    }
}

/// Why an attempt to run code failed.
enum AttemptError {
    /// The layer cannot be mounted.
    Overlay(Problem),
    Other(CommandError),
}

impl AttemptError {
    fn into_command_error(self, context: &Context) -> CommandError {
        match self {
            Self::Overlay(problem) => unusable(context, RunError::Sandbox(problem)),
            Self::Other(error) => error,
        }
    }
}
