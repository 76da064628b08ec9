//! The broker: runs a program that has the user's credentials for a run that must not have them.
//!
//! Inside the sandbox, a stand-in of the program's name calls the broker over loopback ([`call`]). The broker compares
//! what it is asked to run with the one command that the policy granted for this run, word by word, looks into the list
//! of what is never brokered ([`check`]), and has the caller run the real program outside.
//!
//! Invariants: nothing runs but the granted words; nothing runs that [`check`] refuses, granted or not; nothing runs
//! after [`Broker`] is dropped.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

mod client;
mod deny;
mod frame;
pub(crate) mod fuzzing;
#[cfg(test)]
mod tests;

pub use client::call;
pub use deny::{Refusal, check, may_have, programs};

use weir_core::run::Stream;

use crate::Stopper;
use crate::egress::listen::{Server, Stop};
use frame::{Answer, MOST_REQUEST};

/// How many calls may run at once.
const CALLS: usize = 8;
/// How many calls are recorded.
const RECORDED: usize = 100;
/// How long a call may take to say what it wants, and a client to take what it is sent.
const PATIENCE: Duration = Duration::from_secs(30);

/// What tells the processes of one run from everybody else.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// A new one, from the system's randomness.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        let mut filled = 0;
        while let left @ [_, ..] = &mut bytes[filled..] {
            filled += rustix::rand::getrandom(left, rustix::rand::GetRandomFlags::empty())?;
        }
        Ok(Self(bytes))
    }

    /// As text, for the environment of the run.
    pub fn to_text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether this is its text. It takes as long for a wrong one as for the right one.
    fn is(&self, text: &[u8]) -> bool {
        let own = self.to_text();
        let differing = own.bytes().zip(text).fold(0, |differing, (a, b)| std::hint::black_box(differing | (a ^ b)));
        own.len() == text.len() && differing == 0
    }
}

impl fmt::Debug for Token {
    /// Without the token, which must not end up in a log.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token")
    }
}

/// What one run may have the broker do.
#[derive(Debug, Clone)]
pub struct Grant {
    /// What every call must show.
    pub token: Token,
    /// The one command: the program's name, without a path, and its arguments.
    pub argv: Vec<OsString>,
    /// How often it may be run.
    pub uses: u32,
}

/// A call that was let through, to be run by the caller.
#[derive(Debug)]
pub struct Call<'a> {
    /// The program's name and its arguments.
    pub argv: &'a [OsString],
    /// Pulled when the broker ends; the program must then be ended too.
    pub stopper: &'a Stopper,
}

/// Takes what the program prints. When it fails, nobody is there to read, and the program should be ended.
pub type Sink<'a> = dyn FnMut(Stream, &[u8]) -> io::Result<()> + 'a;

/// Starts the broker. `listener` is a listening TCP socket, usually of another network namespace. `run` runs a program
/// outside the sandbox and returns its exit code.
pub fn serve(
    listener: OwnedFd,
    grant: Grant,
    run: impl Fn(&Call<'_>, &mut Sink<'_>) -> io::Result<i32> + Send + Sync + 'static,
) -> io::Result<Broker> {
    let record = Record::default();
    let stopper = Stopper::new()?;
    let desk = Desk { used: AtomicU32::new(0), grant, record: record.clone(), stopper: stopper.clone() };
    let handle = move |client: &TcpStream, stop: &Stop| desk.serve(client, stop, &run);
    // One call too many is closed, which its other end sees.
    let server = Server::start(listener, CALLS, handle, drop)?;
    Ok(Broker { record, stopper, _server: server })
}

/// The broker at work. Dropping it ends it, and what it runs.
#[derive(Debug)]
pub struct Broker {
    record: Record,
    stopper: Stopper,
    _server: Server,
}

impl Broker {
    /// What it was asked for. It can be kept after the end.
    pub fn record(&self) -> Record {
        self.record.clone()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // Before the server, whose threads wait for what they run.
        self.stopper.stop();
    }
}

/// What the broker was asked for. Cloning it gives another view of the same record.
#[derive(Debug, Clone, Default)]
pub struct Record(Arc<Mutex<(Vec<Asked>, u64)>>);

/// A command that the broker was asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The program's name and its arguments. Empty where the token was wrong.
    pub argv: Vec<OsString>,
    /// Why it was refused; nothing when it was run.
    pub refused: Option<String>,
}

impl Record {
    /// What was asked for so far, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// How many calls are not in [`Self::asked`], because there were too many.
    pub fn left_out(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    fn add(&self, argv: Vec<OsString>, refused: Option<String>) {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recorded.0.len() < RECORDED {
            recorded.0.push(Asked { argv, refused });
        } else {
            recorded.1 += 1;
        }
    }
}

/// What the threads of a broker share.
struct Desk {
    grant: Grant,
    used: AtomicU32,
    record: Record,
    stopper: Stopper,
}

impl Desk {
    fn serve(&self, client: &TcpStream, stop: &Stop, run: &impl Fn(&Call<'_>, &mut Sink<'_>) -> io::Result<i32>) {
        let send = |answer: &Answer<'_>| stop.write_all(client, &answer.encode(), Instant::now() + PATIENCE);
        if client.set_nonblocking(true).is_err() {
            return;
        }
        // What is not a request gets no answer.
        let Ok((token, argv)) = request(client, stop) else { return };
        let checked = self.admit(&token, &argv);
        // The words of someone without the token are nobody's business.
        let shown = if self.grant.token.is(&token) { argv.clone() } else { Vec::new() };
        self.record.add(shown, checked.as_ref().err().map(|refusal| refusal.why.clone()));
        let answer = checked.map_err(|refusal| refusal.why).and_then(|()| {
            let mut sink = |stream: Stream, bytes: &[u8]| send(&Answer::Output(stream, bytes));
            run(&Call { argv: &argv, stopper: &self.stopper }, &mut sink)
                .map_err(|error| format!("cannot run it: {error}"))
        });
        // A client that has gone is not told.
        let _ = match &answer {
            Ok(code) => send(&Answer::Exit(*code)),
            Err(why) => send(&Answer::Refused(why)),
        };
    }

    /// Whether this call is to be run.
    fn admit(&self, token: &[u8], argv: &[OsString]) -> Result<(), Refusal> {
        let refused = |why: &str| Err(Refusal { why: why.to_owned() });
        if !self.grant.token.is(token) {
            return refused("the token does not belong to this run");
        }
        let [program, arguments @ ..] = argv else { return refused("no program given") };
        let Some(program) = program.to_str() else { return refused("the program's name is not valid text") };
        check(program, arguments)?;
        if argv != self.grant.argv {
            return refused("it is not word for word the command that was allowed for this run");
        }
        let counted = self
            .used
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| (used < self.grant.uses).then_some(used + 1));
        if counted.is_err() {
            return refused("it has been run as often as allowed for this run");
        }
        Ok(())
    }
}

/// Reads a request, within its time as a whole.
fn request(client: &TcpStream, stop: &Stop) -> io::Result<(Vec<u8>, Vec<OsString>)> {
    let until = Instant::now() + PATIENCE;
    let read = |size: usize| -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; size];
        let mut filled = 0;
        while filled < size {
            match stop.read(client, &mut bytes[filled..], until)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => filled += read,
            }
        }
        Ok(bytes)
    };
    let size = frame::number(&read(4)?)?;
    if size > MOST_REQUEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    frame::decode_request(&read(size)?)
}
