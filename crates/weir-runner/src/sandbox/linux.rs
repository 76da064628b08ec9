//! The sandbox on Linux, which the helper builds from the inside.
//!
//! The order matters: first the namespaces ([`namespaces`]); then a read-only view of the files, with the writable
//! folders restored and the hidden paths masked ([`view`]); then the first process of the run's own process namespace
//! ([`init`]), whose death ends every process in it; and for each step a child ([`child`]) that drops its capabilities,
//! restricts itself with Landlock ([`fence`]) and the system call filter ([`filter`]), and executes the program.
//!
//! Invariant: the helper has one thread, so it may fork and unshare.

mod child;
mod fence;
pub(crate) mod filter;
mod init;
mod memory;
mod mounts;
mod namespaces;
mod overlay;
mod view;
mod wire;

pub use fence::landlock_version;

use std::ffi::OsStr;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::process::{WaitOptions, waitpid};

pub(crate) use child::drop_capabilities;
pub(crate) use wire::Isolation;

use crate::control::{self, Message};

/// Why the sandbox could not be built.
pub(crate) struct Failure {
    step: String,
    why: String,
    refused: bool,
}

impl Failure {
    /// Reports a problem with the files of this run that the sandbox cannot handle safely.
    fn refused(step: impl Into<String>, why: impl Into<String>) -> Self {
        Self { step: step.into(), why: why.into(), refused: true }
    }
}

/// Marks a failure as caused by the files of this run.
trait FileFailure<T> {
    fn about_files(self) -> Result<T, Failure>;
}

impl<T> FileFailure<T> for Result<T, Failure> {
    fn about_files(self) -> Result<T, Failure> {
        self.map_err(|failure| Failure { refused: true, ..failure })
    }
}

/// Adds the step that failed to an error.
trait FailureContext<T> {
    fn doing(self, step: impl Into<String>) -> Result<T, Failure>;
}

impl<T, E: std::fmt::Display> FailureContext<T> for Result<T, E> {
    fn doing(self, step: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|error| Failure { step: step.into(), why: error.to_string(), refused: false })
    }
}

/// The entry point of the helper: enters namespaces if `isolation` says so, reads the spec from its standard input,
/// which is the control socket, and executes the run. Results go over the socket; the exit code carries no information.
///
/// Namespaces do not depend on the spec, so a helper can be started ahead of its run and wait with its namespaces
/// ready.
pub fn helper_main(isolation: Option<&OsStr>) -> ExitCode {
    let Ok(socket) = take_socket() else { return ExitCode::FAILURE };
    let isolation = Isolation::ALL.iter().find(|known| Some(OsStr::new(known.as_str())) == isolation);
    let Some(&isolation) = isolation else { return ExitCode::FAILURE };
    if let Err(failure) = help(&socket, isolation) {
        let Failure { step, why, refused } = failure;
        // If this fails, there is no other way to report the failure.
        let _ = control::send(&socket, &Message::Failed { step, why, refused }, &[]);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn help(socket: &UnixStream, isolation: Isolation) -> Result<(), Failure> {
    // A process without a controlling terminal cannot inject input into one.
    rustix::process::setsid().doing("leave the terminal's session")?;
    if isolation != Isolation::Bare {
        namespaces::enter(isolation).doing("make namespaces (unshare)")?;
    }
    // The child is the first process of the new process namespace or, without one, the process that outlives the
    // others.
    match namespaces::fork().doing("fork")? {
        None => init::run(socket, isolation),
        Some(pid) => {
            // This child exits last: the kernel lets it exit only when every other process in its namespace is gone.
            while waitpid(Some(pid), WaitOptions::empty()).is_err_and(|error| error == rustix::io::Errno::INTR) {}
            Ok(())
        }
    }
}

/// Moves the control socket away from standard input, where the program would inherit it.
#[expect(unsafe_code, reason = "the descriptor is ours by agreement with the process that started the helper")]
fn take_socket() -> std::io::Result<UnixStream> {
    // SAFETY: descriptor 0 is the control socket, and nothing else in this new process owns it.
    let stdin = unsafe { OwnedFd::from_raw_fd(0) };
    Ok(UnixStream::from(rustix::io::fcntl_dupfd_cloexec(&stdin, 100)?))
}

/// Makes a descriptor standard input or, without one, `/dev/null` of the current view.
fn connect_stdin(input: Option<OwnedFd>) -> std::io::Result<()> {
    let null = || rustix::fs::open("/dev/null", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty());
    let input = input.map_or_else(null, Ok)?;
    if std::os::fd::AsRawFd::as_raw_fd(&input) == 0 {
        // It already has descriptor 0, and must stay open in the program.
        rustix::io::fcntl_setfd(&input, rustix::io::FdFlags::empty())?;
        std::mem::forget(input);
        return Ok(());
    }
    Ok(rustix::stdio::dup2_stdin(&input)?)
}
