//! Starts a run, reads what it prints, and sees to its end.
//!
//! Invariant: when [`run`] returns, the helper is gone, and with it everything the run started.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use weir_core::run::Stream;

use crate::control::send_spec;
use crate::helper::{self, Ready};
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
pub fn run(mut run: Run<'_>, sink: &mut dyn FnMut(Stream, &[u8]) -> io::Result<()>) -> Result<Outcome, RunError> {
    let started = Instant::now();
    let Ready { mut helper, control, pipes, .. } = start(&mut run).map_err(RunError::Helper)?;
    let run = &run;
    // A helper that has given up already says why, which is of more use than that it no longer listens.
    let _ = send_spec(&control, &run.spec.encode(filter::bytes(run.spec.level, run.spec.network)));
    let mut watch = Watch::new(control, pipes, started + run.timeout);
    let watched = watch.until_over(run, sink);
    // Closing the socket is the end of the run, however the watch ended.
    watch.close();
    helper::end(&mut helper);
    watched?;
    watch.drain(run.most_output, sink)?;
    watch.outcome(run.spec.level, started.elapsed())
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
