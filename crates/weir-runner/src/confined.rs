//! A process of this program that handles hostile bytes, such as a source file for a parser written in C.
//!
//! The process starts with an empty environment, gives up access to files, the network and new processes before it
//! reads the first request ([`inside`]), and answers requests one at a time over its standard input, which is a socket.
//!
//! Invariants:
//! - [`Confined::ask`] returns within its `patience`, whatever the process does.
//! - A process that has failed once is not asked again.

mod inside;

use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Lost;

pub use inside::{Fences, serve};

const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// Time in use after which a process is replaced, before the kernel ends it at [`inside::MAX_CPU_SECONDS`].
const MAX_USE: Duration = Duration::from_secs(inside::MAX_CPU_SECONDS / 2);

/// A confined process that answers requests. Dropping this ends the process.
pub struct Confined {
    process: Child,
    socket: UnixStream,
    used: Duration,
}

impl Confined {
    /// Starts `program` with one argument, which must lead it to [`serve`].
    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    pub fn start(program: &Path, argument: &str) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command.arg(argument).env_clear().current_dir("/");
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { process: command.spawn()?, socket, used: Duration::ZERO })
    }

    /// Sends a request and waits for the answer. Discard the process after an error.
    pub fn ask(&mut self, request: &[u8], patience: Duration) -> Result<Vec<u8>, Lost> {
        let begun = Instant::now();
        let answer = self.exchange(request, begun + patience);
        self.used += begun.elapsed();
        answer.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Lost::TooSlow,
            _ => Lost::Crashed,
        })
    }

    /// Asks the process which restrictions apply to it.
    pub fn fences(&mut self, patience: Duration) -> Result<Fences, Lost> {
        let said = self.ask(&[], patience)?;
        Fences::from_bytes(&said).ok_or(Lost::Crashed)
    }

    /// Returns whether the process has run for so long that the next request may exceed its processor time limit.
    pub fn is_worn(&self) -> bool {
        self.used > MAX_USE
    }

    fn exchange(&mut self, request: &[u8], until: Instant) -> io::Result<Vec<u8>> {
        let length = inside::header(request.len())?;
        self.socket.set_write_timeout(Some(left(until)?))?;
        self.socket.write_all(&length)?;
        self.socket.write_all(request)?;
        let mut header = [0; 4];
        self.fill(&mut header, until)?;
        let mut answer = vec![0; inside::length(header)?];
        self.fill(&mut answer, until)?;
        Ok(answer)
    }

    /// Like [`io::Read::read_exact`], with one deadline for the whole buffer.
    fn fill(&mut self, mut buffer: &mut [u8], until: Instant) -> io::Result<()> {
        while !buffer.is_empty() {
            self.socket.set_read_timeout(Some(left(until)?))?;
            match self.socket.read(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => buffer = &mut buffer[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the time left until `until`, or an error if there is none.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

#[cfg(test)]
mod tests;
