//! What came of a run.

use std::time::Duration;

use weir_core::run::Ended;

use crate::Level;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it came to its end.
    pub ended: Ended,
    /// What it returned, unless a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The sandbox it had.
    pub level: Level,
    /// How long it took.
    pub took: Duration,
    /// The processor time of all its processes.
    pub cpu: Duration,
    /// The step it ended in, counted from 0.
    pub step: usize,
    /// How many of its processes were still running and were ended with it.
    pub left: u64,
    /// How many bytes it printed on standard output, or in all where the streams are merged.
    pub output_bytes: u64,
    /// How many bytes it printed on standard error, where the streams are apart.
    pub error_bytes: u64,
}

/// Why the helper could not build the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What it was doing.
    pub step: String,
    /// What went wrong.
    pub why: String,
    /// Whether it is about the files of this run, and not about what the system gives: a lower level of the sandbox is
    /// then no way out, since a run could bring that about.
    pub refused: bool,
}

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The helper could not be started or heard.
    #[error("cannot start the sandbox helper: {0}")]
    Helper(#[source] std::io::Error),
    /// The sandbox could not be built.
    #[error("cannot {}: {}", .0.step, .0.why)]
    Sandbox(Problem),
    /// What was printed could not be handed on.
    #[error("cannot keep the output: {0}")]
    Sink(#[source] std::io::Error),
}
