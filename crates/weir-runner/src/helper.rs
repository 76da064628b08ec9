//! Starts helpers, ahead of their runs where that saves waiting, and sees them off.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::spec::Ground;
use crate::{HELPER, Streams};

/// A larger pipe than usual, so that much output needs fewer turns.
const PIPE: usize = 256 << 10;
/// How many seconds a helper has to end by itself.
const GRACE_SECONDS: i64 = 2;

/// What a run prints comes out of these: standard output, or both streams, and standard error.
pub(crate) type Pipes = [Option<OwnedFd>; 2];

/// A helper that waits for its spec. It ends when this is dropped, since that closes its socket.
pub struct Ready {
    pub(crate) helper: Child,
    pub(crate) control: UnixStream,
    pub(crate) pipes: Pipes,
    ground: Ground,
    streams: Streams,
}

impl Ready {
    /// Starts a helper ahead of a run in a full sandbox, so that the run need not wait for it.
    pub fn new(helper: &Path) -> io::Result<Self> {
        Self::start(helper, Ground::Namespaces, Streams::Merged)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    pub(crate) fn start(helper: &Path, ground: Ground, streams: Streams) -> io::Result<Self> {
        let (control, theirs) = UnixStream::pair()?;
        let (output, output_end) = new_pipe()?;
        let (error, error_end) = match streams {
            Streams::Merged => (None, output_end.try_clone()?),
            Streams::Apart => new_pipe().map(|(error, end)| (Some(error), end))?,
        };
        let mut command = Command::new(helper);
        command.args([HELPER, ground.as_str()]).env_clear();
        // The command holds copies of the pipes' other ends and goes out of scope with them: otherwise the pipes would
        // never seem closed.
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(output_end).stderr(error_end);
        Ok(Self { helper: command.spawn()?, control, pipes: [Some(output), error], ground, streams })
    }

    /// Whether it stands on the right ground and is still there.
    pub(crate) fn fits(&self, ground: Ground, streams: Streams) -> bool {
        let pid = rustix::process::Pid::from_child(&self.helper);
        let alive = rustix::process::waitid(
            rustix::process::WaitId::Pid(pid),
            rustix::process::WaitIdOptions::EXITED
                | rustix::process::WaitIdOptions::NOHANG
                | rustix::process::WaitIdOptions::NOWAIT,
        );
        self.ground == ground && self.streams == streams && matches!(alive, Ok(None))
    }

    /// Sends it away unused.
    pub fn dismiss(self) {
        let Self { mut helper, control, .. } = self;
        drop(control);
        end(&mut helper);
    }
}

/// Waits for a helper when it is dropped.
#[derive(Debug)]
pub struct Farewell(Option<Child>);

impl Farewell {
    pub(crate) fn new(helper: Child) -> Self {
        Self(Some(helper))
    }

    /// There is nobody to wait for.
    pub(crate) fn said() -> Self {
        Self(None)
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(end);
    }
}

/// Waits for the helper, which ends when everything that the run started has. A helper that cannot is killed, and
/// the kernel then kills the rest.
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
    // Where the user has used up what pipes may take, the usual size does as well.
    let _ = rustix::pipe::fcntl_setpipe_size(&writer, PIPE);
    let flags = rustix::fs::fcntl_getfl(&reader)?;
    rustix::fs::fcntl_setfl(&reader, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok((reader, writer))
}

/// A process that looks after a run in the background. It ends the run when this is dropped, unless it was told to keep
/// it.
pub struct Supervisor {
    process: Child,
    _lifeline: ChildStdin,
}

impl Supervisor {
    /// Starts `program` with one argument, hands it the order on its standard input, and waits for the line that it
    /// answers. The input stays open: its closing is the end of a run that is not kept.
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

    /// Whether it has ended.
    pub fn is_over(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(Some(_)))
    }
}

/// Leaves the terminal's session, so that closing it does not end this process.
pub fn leave_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}
