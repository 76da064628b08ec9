//! What systems other than Linux have of this crate. The names are those of Linux, so that callers need not know.
//!
//! Invariants: a run is refused unless the sandbox of the system makes it ([`crate::sandbox`]); there are no helpers,
//! no background runs and no network for a run.

mod confined;
mod stop;

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use weir_core::run::Stream;

use crate::{Outcome, Problem, Run, RunError};

pub use confined::{Confined, Fences, serve};
#[cfg(target_os = "macos")]
pub(crate) use stop::Event;
pub use stop::Stopper;

/// A listener inside a sandbox: there is none.
pub enum Listener {}

/// The standard input of a run: it is always empty.
pub enum Input {}

/// Executes a run if this system has a sandbox for it.
pub fn run(
    run: Run<'_>,
    sink: &mut dyn FnMut(Stream, &[u8]) -> io::Result<()>,
) -> Result<(Outcome, HelperReaper), RunError> {
    run.spec.check_overlay()?;
    crate::sandbox::run(&run, sink).map(|outcome| (outcome, HelperReaper))
}

pub(crate) fn refusal(why: impl Into<String>) -> RunError {
    RunError::Sandbox(Problem { step: "run code on this system".to_owned(), why: why.into(), refused: false })
}

/// A helper that waits for its spec: there is none.
pub enum Ready {}

impl Ready {
    /// Fails: only Linux has helpers.
    pub fn new(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Ends a helper that was not used.
    pub fn dismiss(self) {
        match self {}
    }
}

/// Waits for a helper to exit when dropped: there is none.
#[derive(Debug)]
pub struct HelperReaper;

/// A process that watches a background run: there is none.
pub enum Supervisor {}

impl Supervisor {
    /// Fails: only Linux has background runs.
    pub fn start(_: &Path, _: &str, _: &[u8]) -> io::Result<(Self, String)> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "background runs are not supported on this system"))
    }

    pub fn is_over(&mut self) -> bool {
        match *self {}
    }
}

/// Fails: only Linux has helpers.
pub fn helper_main(_: Option<&OsStr>) -> ExitCode {
    ExitCode::FAILURE
}

/// Fails: only Linux has Landlock.
pub fn landlock_version() -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails: only Linux has background runs.
pub fn leave_session() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
