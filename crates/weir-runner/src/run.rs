//! Starts a run, reads its output and makes sure that it ends.
//!
//! Invariant: when [`run`] returns, no process that the run started is alive; the helper may exit a moment later.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use weir_core::run::Stream;

use crate::control::send_spec;
use crate::helper::{HelperReaper, Ready};
use crate::sandbox::filter;
use crate::watch::Watch;
use crate::{Level, Outcome, Problem, Run, RunError};

/// A listener inside the sandbox.
pub type Listener = OwnedFd;

/// The standard input of a run.
pub type Input = OwnedFd;

/// Executes a run, waits for it to end, and passes its output to `sink` as it arrives.
///
/// The returned [`HelperReaper`] waits for the helper when it is dropped. By then no process of the run is alive, so
/// the caller need not wait for the kernel's cleanup before it continues.
pub fn run(
    mut run: Run<'_>,
    sink: &mut dyn FnMut(Stream, &[u8]) -> io::Result<()>,
) -> Result<(Outcome, HelperReaper), RunError> {
    if run.spec.level == Level::Seatbelt {
        let (step, why) = ("use Seatbelt".to_owned(), "only macOS has it".to_owned());
        return Err(RunError::Sandbox(Problem { step, why, refused: false }));
    }
    run.spec.check_overlay()?;
    let started = Instant::now();
    let Ready { helper, control, pipes, .. } = start(&mut run).map_err(RunError::Helper)?;
    let farewell = HelperReaper::new(helper);
    let run = &run;
    // Ignore the error: a helper that has already given up reports why, which is more useful than a closed socket.
    let spec = run.spec.encode(filter::bytes(run.spec.level, run.spec.network));
    let _ = send_spec(&control, &spec, run.input.map(AsFd::as_fd));
    let mut watch = Watch::new(control, pipes, started + run.timeout);
    let watched = watch.until_over(run, sink);
    // Closing the socket ends the run, however the watch ended.
    watch.close();
    watched?;
    if watch.is_all_over() {
        return Ok((watch.outcome(run.spec.level, started.elapsed())?, farewell));
    }
    drop(farewell);
    watch.drain(run.most_output, sink)?;
    Ok((watch.outcome(run.spec.level, started.elapsed())?, HelperReaper::done()))
}

fn start(run: &mut Run<'_>) -> io::Result<Ready> {
    let (isolation, streams) = (run.spec.isolation(), run.streams);
    match run.ready.take() {
        Some(ready) if ready.fits(isolation, streams) => Ok(ready),
        other => {
            other.into_iter().for_each(Ready::dismiss);
            Ready::start(&run.helper, isolation, streams)
        }
    }
}
