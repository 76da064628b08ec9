//! The result of a run, and the errors that prevent one.

use std::time::Duration;

use weir_core::run::Ended;

use crate::Level;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub ended: Ended,
    /// The exit code, unless a signal ended the run.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub level: Level,
    /// The wall-clock duration.
    pub took: Duration,
    /// The processor time of all its processes.
    pub cpu: Duration,
    /// The step the run ended in, counted from 0.
    pub step: usize,
    /// How many of its processes were still running and were ended with it.
    pub left: u64,
}

/// The step of a [`Problem`] with the overlay of a run.
pub(crate) const OVERLAY_STEP: &str = "mount an overlay over the project";

/// Why the helper could not build the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What the helper was doing.
    pub step: String,
    pub why: String,
    /// Whether the problem is with the files of this run rather than with the system. The caller must not fall back to
    /// a weaker sandbox level then, since a run could cause such a problem on purpose.
    pub refused: bool,
}

impl Problem {
    /// Returns whether a run without an overlay would not have the problem.
    pub fn is_about_overlay(&self) -> bool {
        self.step == OVERLAY_STEP
    }
}

/// Why a run could not be executed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The helper could not be started, or its messages could not be read.
    #[error("cannot start the sandbox helper: {0}")]
    Helper(#[source] std::io::Error),
    /// The sandbox could not be built.
    #[error("cannot {}: {}", .0.step, .0.why)]
    Sandbox(Problem),
    /// The sink did not accept the output.
    #[error("cannot keep the output: {0}")]
    Sink(#[source] std::io::Error),
}

/// Why a confined process did not answer a request.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The process exited, or its answer was malformed.
    #[error("the confined process crashed")]
    Crashed,
    /// The process took too long and was ended.
    #[error("the confined process took too long")]
    TooSlow,
}
