//! A process of this program that works on hostile bytes, such as a source file for a parser in C.
//!
//! It is started with no environment, gives up files, network and new processes before it reads the first request
//! ([`inside`]), and answers one request after the other over its standard input, a socket. Invariants: whatever it
//! does, [`Confined::ask`] returns within its patience; a process that failed once is not asked again.

mod inside;

use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub use inside::{Fences, serve};

/// A longer request or answer is refused.
const LONGEST: usize = 16 << 20;
/// After this long in use a process is replaced: the kernel ends it at [`inside::CPU_SECONDS`].
const WORN: Duration = Duration::from_secs(inside::CPU_SECONDS / 2);

/// A process that answers requests in confinement. It ends when this is dropped.
pub struct Confined {
    process: Child,
    socket: UnixStream,
    used: Duration,
}

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The process ended, or its answer made no sense.
    #[error("the confined process crashed")]
    Crashed,
    /// The process took too long, and was ended.
    #[error("the confined process took too long")]
    TooSlow,
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

    /// Sends a request and waits for its answer. After an error this process is of no more use.
    pub fn ask(&mut self, request: &[u8], patience: Duration) -> Result<Vec<u8>, Lost> {
        let begun = Instant::now();
        let answer = self.exchange(request, begun + patience);
        self.used += begun.elapsed();
        answer.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Lost::TooSlow,
            _ => Lost::Crashed,
        })
    }

    /// How the process is confined.
    pub fn fences(&mut self, patience: Duration) -> Result<Fences, Lost> {
        let said = self.ask(&[], patience)?;
        Fences::from_bytes(&said).ok_or(Lost::Crashed)
    }

    /// Whether it has been used for so long that the next request may meet its limit of processor time.
    pub fn is_worn(&self) -> bool {
        self.used > WORN
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

    /// Reads as [`io::Read::read_exact`] does, within the time that is left as a whole.
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

/// The time until then; an error when there is none.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

#[cfg(test)]
mod tests;
