//! Starts a run, reads what it prints, and sees to its end.
//!
//! Invariant: when [`run`] returns, nothing that the run started is alive; the helper may be a moment behind.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use weir_core::run::Stream;

use crate::control::send_spec;
use crate::helper::{Farewell, Ready};
use crate::sandbox::filter;
use crate::watch::Watch;
use crate::{Outcome, RunError, Spec, Stopper, Streams};

/// A run to be made.
pub struct Run<'a> {
    /// What to start and what it may do.
    pub spec: &'a Spec,
    /// The program that is its own helper when started with [`crate::HELPER`]: usually `/proc/self/exe`.
    pub helper: PathBuf,
    /// When it is ended at the latest.
    pub timeout: Duration,
    /// How much it may print.
    pub most_output: u64,
    /// How output is taken.
    pub streams: Streams,
    /// Pulled by whoever wants it to end.
    pub stopper: &'a Stopper,
    /// A helper that was started ahead, if there is one.
    pub ready: Option<Ready>,
    /// Called with the listeners inside the sandbox, where it has some. What it returns is dropped after the run.
    pub serve: Option<Listeners<'a>>,
}

/// Serves the listeners that were made inside the sandbox: the proxy's, then the broker's.
pub type Listeners<'a> = &'a dyn Fn(Vec<OwnedFd>) -> Box<dyn std::any::Any>;

/// Makes a run and waits for its end. What it prints goes to `sink` as it comes.
///
/// What comes back beside the outcome waits for the helper when it is dropped. By then nothing of the run is alive, and
/// there is no need to wait for the kernel to tidy up before going on.
pub fn run(
    mut run: Run<'_>,
    sink: &mut dyn FnMut(Stream, &[u8]) -> io::Result<()>,
) -> Result<(Outcome, Farewell), RunError> {
    let started = Instant::now();
    let Ready { helper, control, pipes, .. } = start(&mut run).map_err(RunError::Helper)?;
    let farewell = Farewell::new(helper);
    let run = &run;
    // A helper that has given up already says why, which is of more use than that it no longer listens.
    let _ = send_spec(&control, &run.spec.encode(filter::bytes(run.spec.level, run.spec.network)));
    let mut watch = Watch::new(control, pipes, started + run.timeout);
    let watched = watch.until_over(run, sink);
    // Closing the socket is the end of the run, however the watch ended.
    watch.close();
    watched?;
    if watch.is_all_over() {
        return Ok((watch.outcome(run.spec.level, started.elapsed())?, farewell));
    }
    drop(farewell);
    watch.drain(run.most_output, sink)?;
    Ok((watch.outcome(run.spec.level, started.elapsed())?, Farewell::said()))
}

fn start(run: &mut Run<'_>) -> io::Result<Ready> {
    let (ground, streams) = (run.spec.ground(), run.streams);
    match run.ready.take() {
        Some(ready) if ready.fits(ground, streams) => Ok(ready),
        other => {
            other.into_iter().for_each(Ready::dismiss);
            Ready::start(&run.helper, ground, streams)
        }
    }
}
