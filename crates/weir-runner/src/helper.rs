//! Starts helpers, ahead of their runs if that saves time, and waits for them to exit.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::sandbox::Isolation;
use crate::{HELPER, Streams};

/// Pipe size in bytes. It is larger than the default, so large outputs need fewer reads.
const PIPE_BYTES: usize = 256 << 10;
/// Number of seconds that a helper has to exit by itself.
const GRACE_SECONDS: i64 = 2;

/// The pipes with a run's output: standard output or both streams merged, then standard error.
pub(crate) type Pipes = [Option<OwnedFd>; 2];

/// A helper that waits for its spec. Dropping it closes the socket, which ends the helper.
pub struct Ready {
    pub(crate) helper: Child,
    pub(crate) control: UnixStream,
    pub(crate) pipes: Pipes,
    isolation: Isolation,
    streams: Streams,
}

impl Ready {
    /// Starts a helper ahead of a run in a full sandbox, so the run does not have to wait for it.
    pub fn new(helper: &Path) -> io::Result<Self> {
        Self::start(helper, Isolation::Namespaces, Streams::Merged)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    pub(crate) fn start(helper: &Path, isolation: Isolation, streams: Streams) -> io::Result<Self> {
        let (control, theirs) = UnixStream::pair()?;
        let (output, output_end) = new_pipe()?;
        let (error, error_end) = match streams {
            Streams::Merged => (None, output_end.try_clone()?),
            Streams::Apart => new_pipe().map(|(error, end)| (Some(error), end))?,
        };
        let mut command = Command::new(helper);
        command.args([HELPER, isolation.as_str()]).env_clear();
        // The command holds copies of the pipes' write ends. It must go out of scope here, or the pipes would never
        // report end of file.
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(output_end).stderr(error_end);
        Ok(Self { helper: command.spawn()?, control, pipes: [Some(output), error], isolation, streams })
    }

    /// Returns whether the helper has the given isolation and streams and is still alive.
    pub(crate) fn fits(&self, isolation: Isolation, streams: Streams) -> bool {
        let pid = rustix::process::Pid::from_child(&self.helper);
        let alive = rustix::process::waitid(
            rustix::process::WaitId::Pid(pid),
            rustix::process::WaitIdOptions::EXITED
                | rustix::process::WaitIdOptions::NOHANG
                | rustix::process::WaitIdOptions::NOWAIT,
        );
        self.isolation == isolation && self.streams == streams && matches!(alive, Ok(None))
    }

    /// Ends a helper that was not used.
    pub fn dismiss(self) {
        let Self { mut helper, control, .. } = self;
        drop(control);
        end(&mut helper);
    }
}

/// Waits for a helper to exit when dropped.
#[derive(Debug)]
pub struct HelperReaper(Option<Child>);

impl HelperReaper {
    pub(crate) fn new(helper: Child) -> Self {
        Self(Some(helper))
    }

    /// Returns a value that waits for nothing.
    pub(crate) fn done() -> Self {
        Self(None)
    }
}

impl Drop for HelperReaper {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(end);
    }
}

/// Waits for the helper, which exits when every process of the run has. A helper that does not exit in time is killed,
/// and the kernel then kills the rest.
fn end(helper: &mut Child) {
    let pid = rustix::process::Pid::from_child(helper);
    if let Ok(handle) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        let timeout = Timespec { tv_sec: GRACE_SECONDS, tv_nsec: 0 };
        let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&timeout));
    }
    let _ = helper.kill();
    let _ = helper.wait();
}

fn new_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // If the user's pipe quota is used up, the default size is good enough.
    let _ = rustix::pipe::fcntl_setpipe_size(&writer, PIPE_BYTES);
    let flags = rustix::fs::fcntl_getfl(&reader)?;
    rustix::fs::fcntl_setfl(&reader, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok((reader, writer))
}

/// A process that watches a background run. Dropping this ends the run, unless the process was told to keep it.
pub struct Supervisor {
    process: Child,
    _lifeline: ChildStdin,
}

impl Supervisor {
    /// Starts `program` with one argument, writes the order to its standard input, and waits for a one-line answer. The
    /// input stays open: closing it ends a run that is not kept.
    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    pub fn start(program: &Path, argument: &str, order: &[u8]) -> io::Result<(Self, String)> {
        let mut command = Command::new(program);
        command.arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let (Some(mut lifeline), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("a pipe is missing"));
        };
        lifeline.write_all(order)?;
        let mut answer = String::new();
        BufReader::new(output).read_line(&mut answer)?;
        Ok((Self { process, _lifeline: lifeline }, answer))
    }

    pub fn is_over(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(Some(_)))
    }
}

/// Leaves the terminal's session, so closing the terminal does not end this process.
pub fn leave_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}
