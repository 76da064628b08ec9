//! A process of this program that handles hostile bytes, where the system has no filter for system calls.
//!
//! Invariants: [`Confined::ask`] returns within its `patience`, whatever the process does; a crash of the process is
//! contained, and nothing else is.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::Lost;

const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// A separate process that answers requests. Dropping this ends the process.
pub struct Confined {
    process: Child,
    /// Requests go to a thread, since writing to a process that does not read would block.
    requests: SyncSender<Vec<u8>>,
    answers: Receiver<io::Result<Vec<u8>>>,
}

/// How a process is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// A filter allows it to use its memory and its socket, and nothing else: on Linux.
    Filtered,
    /// It is a process of its own, without a filter.
    Limited,
}

impl Confined {
    /// Starts `program` with one argument, which must lead it to [`serve`].
    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    pub fn start(program: &Path, argument: &str) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let (Some(mut input), Some(mut output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("a pipe is missing"));
        };
        let (requests, asked) = sync_channel::<Vec<u8>>(1);
        let (answered, answers) = sync_channel(1);
        std::thread::Builder::new().spawn(move || {
            for request in asked {
                let answer = exchange(&mut input, &mut output, &request);
                let failed = answer.is_err();
                if answered.send(answer).is_err() || failed {
                    return;
                }
            }
        })?;
        Ok(Self { process, requests, answers })
    }

    /// Sends a request and waits for the answer. Discard the process after an error.
    pub fn ask(&mut self, request: &[u8], patience: Duration) -> Result<Vec<u8>, Lost> {
        self.requests.send(request.to_vec()).map_err(|_| Lost::Crashed)?;
        match self.answers.recv_timeout(patience) {
            Ok(answer) => answer.map_err(|_| Lost::Crashed),
            Err(RecvTimeoutError::Timeout) => Err(Lost::TooSlow),
            Err(RecvTimeoutError::Disconnected) => Err(Lost::Crashed),
        }
    }

    /// Says which restrictions apply to the process.
    pub fn fences(&mut self, _: Duration) -> Result<Fences, Lost> {
        Ok(Fences::Limited)
    }

    /// Returns whether the process should be replaced: it has no limit of processor time here.
    pub fn is_worn(&self) -> bool {
        false
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn exchange(input: &mut ChildStdin, output: &mut impl Read, request: &[u8]) -> io::Result<Vec<u8>> {
    write_message(input, request)?;
    read_message(output)
}

/// Answers requests from standard input on standard output until the input is closed.
pub fn serve(answer: impl Fn(&[u8]) -> Vec<u8>) -> ExitCode {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    loop {
        let Ok(request) = read_message(&mut input) else { return ExitCode::SUCCESS };
        if write_message(&mut output, &answer(&request)).is_err() {
            return ExitCode::FAILURE;
        }
    }
}

fn write_message(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).ok().filter(|_| message.len() <= MAX_MESSAGE_BYTES);
    let length = length.ok_or(io::ErrorKind::InvalidInput)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(message)?;
    to.flush()
}

fn read_message(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut header = [0; 4];
    from.read_exact(&mut header)?;
    let length = u32::from_le_bytes(header) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length];
    from.read_exact(&mut message)?;
    Ok(message)
}
