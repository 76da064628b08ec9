//! The sandbox on Linux, built from the inside by the helper.
//!
//! The order matters, and is this: namespaces ([`namespaces`]); a view of the files that is read-only, with the
//! writable folders put back and the hidden paths masked ([`view`]); the first process of the run's own process
//! namespace ([`init`]), whose death is the death of everything in it; and for each step a child ([`child`]) that gives
//! up its powers, fences itself in with Landlock ([`fence`]) and the filter of system calls ([`filter`]), and becomes
//! the program.
//!
//! Invariant: the helper has one thread, so that it may fork and unshare.

mod child;
mod fence;
pub(crate) mod filter;
mod init;
mod namespaces;
mod view;

pub use fence::landlock_version;

use std::ffi::OsStr;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::process::{WaitOptions, waitpid};

pub(crate) use child::drop_capabilities;

use crate::control::{self, Message};
use crate::spec::Ground;

/// Why the sandbox could not be built.
pub(crate) struct Failure {
    step: String,
    why: String,
    refused: bool,
}

impl Failure {
    /// Something about the files of this run that cannot be held.
    fn refused(step: impl Into<String>, why: impl Into<String>) -> Self {
        Self { step: step.into(), why: why.into(), refused: true }
    }
}

/// Says that it is about the files of this run.
trait AboutFiles<T> {
    fn about_files(self) -> Result<T, Failure>;
}

impl<T> AboutFiles<T> for Result<T, Failure> {
    fn about_files(self) -> Result<T, Failure> {
        self.map_err(|failure| Failure { refused: true, ..failure })
    }
}

/// Says what was being done when it failed.
trait Doing<T> {
    fn doing(self, step: impl Into<String>) -> Result<T, Failure>;
}

impl<T, E: std::fmt::Display> Doing<T> for Result<T, E> {
    fn doing(self, step: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|error| Failure { step: step.into(), why: error.to_string(), refused: false })
    }
}

/// What the program does when it was started as the helper: makes namespaces if it is told to, then reads the spec from
/// its standard input, which is the control socket, and makes the run. Its exit code says nothing; the socket does.
///
/// Namespaces do not depend on the spec. So a helper can be started ahead of its run and wait with them ready.
pub fn helper_main(ground: Option<&OsStr>) -> ExitCode {
    let Ok(socket) = take_socket() else { return ExitCode::FAILURE };
    let ground = Ground::ALL.iter().find(|known| Some(OsStr::new(known.as_str())) == ground);
    let Some(&ground) = ground else { return ExitCode::FAILURE };
    if let Err(failure) = help(&socket, ground) {
        let Failure { step, why, refused } = failure;
        // Nobody is left to be told if this fails.
        let _ = control::send(&socket, &Message::Failed { step, why, refused }, &[]);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn help(socket: &UnixStream, ground: Ground) -> Result<(), Failure> {
    // Without a controlling terminal, nothing can be typed into it.
    rustix::process::setsid().doing("leave the terminal's session")?;
    if ground != Ground::Bare {
        namespaces::enter(ground).doing("make namespaces (unshare)")?;
    }
    // The first process of the new process namespace, or where there is none, a process that outlives the others.
    match namespaces::fork().doing("fork")? {
        None => init::run(socket, ground),
        Some(pid) => {
            // It exits last of all: the kernel lets it only when everything in its namespace is gone.
            while waitpid(Some(pid), WaitOptions::empty()).is_err_and(|error| error == rustix::io::Errno::INTR) {}
            Ok(())
        }
    }
}

/// Moves the control socket away from standard input, where the program would inherit it.
#[expect(unsafe_code, reason = "the descriptor is ours by agreement with whoever started the helper")]
fn take_socket() -> std::io::Result<UnixStream> {
    // SAFETY: descriptor 0 is the control socket and nobody else in this new process knows of it.
    let stdin = unsafe { OwnedFd::from_raw_fd(0) };
    Ok(UnixStream::from(rustix::io::fcntl_dupfd_cloexec(&stdin, 100)?))
}

/// Gives this process an empty standard input: a device of the view that it sees now. Descriptor 0 is free by then.
fn empty_stdin() -> std::io::Result<()> {
    let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty())?;
    if std::os::fd::AsRawFd::as_raw_fd(&null) == 0 {
        // It is where it belongs, and stays there.
        std::mem::forget(null);
        return Ok(());
    }
    Ok(rustix::stdio::dup2_stdin(&null)?)
}
