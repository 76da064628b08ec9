//! The broker: runs a program with the user's credentials on behalf of a run that must not have them.
//!
//! Inside the sandbox, a stand-in with the program's name calls the broker over loopback ([`call`]). The broker
//! compares the command word by word with the one that the policy granted for this run, checks it against the list of
//! commands that are never brokered ([`check`]), and lets its caller run the real program outside.
//!
//! Invariants:
//! - Only the granted words run.
//! - No program that [`check`] refuses runs, granted or not.
//! - Nothing runs after [`Broker`] is dropped.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
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
use crate::egress::listen::{Server, ShutdownSignal};
use frame::{Answer, MAX_REQUEST_BYTES};

const MAX_CALLS: usize = 8;
/// Time limit for receiving a request, and for a client to accept an answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);

/// A secret that identifies the processes of one run.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// Generates a token from the system's random number generator.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        let mut filled = 0;
        while let left @ [_, ..] = &mut bytes[filled..] {
            filled += rustix::rand::getrandom(left, rustix::rand::GetRandomFlags::empty())?;
        }
        Ok(Self(bytes))
    }

    pub fn to_text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Compares `text` with the token in constant time.
    fn is(&self, text: &[u8]) -> bool {
        let own = self.to_text();
        let differing = own.bytes().zip(text).fold(0, |differing, (a, b)| std::hint::black_box(differing | (a ^ b)));
        own.len() == text.len() && differing == 0
    }
}

impl fmt::Debug for Token {
    /// Omits the token, which must not end up in a log.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token")
    }
}

/// What the broker may do for one run.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The token that every call must present.
    pub token: Token,
    /// The one granted command: the program's name without a path, and its arguments.
    pub argv: Vec<OsString>,
    /// How often the command may run.
    pub uses: u32,
    /// How many words may follow the granted ones. With none, the command is granted word for word. With some, no
    /// program is run: its caller answers.
    pub more: usize,
}

/// An accepted call, to be run by the broker's caller.
#[derive(Debug)]
pub struct Call<'a> {
    /// The program's name and its arguments.
    pub argv: &'a [OsString],
    /// Signalled when the broker is dropped; the program must then be ended too.
    pub stopper: &'a Stopper,
}

/// Receives the program's output. An error means that the reader is gone and the program should be ended.
pub type Sink<'a> = dyn FnMut(Stream, &[u8]) -> io::Result<()> + 'a;

/// Starts the broker. `listener` is a listening TCP socket, usually in another network namespace. `run` runs a program
/// outside the sandbox and returns its exit code.
pub fn serve(
    listener: OwnedFd,
    grant: Grant,
    run: impl Fn(&Call<'_>, &mut Sink<'_>) -> io::Result<i32> + Send + Sync + 'static,
) -> io::Result<Broker> {
    let stopper = Stopper::new()?;
    let state = BrokerState { used: AtomicU32::new(0), grant, stopper: stopper.clone() };
    let handle = move |client: &TcpStream, stop: &ShutdownSignal| state.serve(client, stop, &run);
    // A call beyond the maximum is closed, which the client notices.
    let server = Server::start(listener, MAX_CALLS, handle, drop)?;
    Ok(Broker { stopper, _server: server })
}

/// A running broker. Dropping it stops it and the programs it runs.
#[derive(Debug)]
pub struct Broker {
    stopper: Stopper,
    _server: Server,
}

impl Drop for Broker {
    fn drop(&mut self) {
        // Do this before the server is dropped, since its threads wait for the programs they run.
        self.stopper.stop();
    }
}

/// State shared by the threads of a broker.
struct BrokerState {
    grant: Grant,
    used: AtomicU32,
    stopper: Stopper,
}

impl BrokerState {
    fn serve(
        &self,
        client: &TcpStream,
        stop: &ShutdownSignal,
        run: &impl Fn(&Call<'_>, &mut Sink<'_>) -> io::Result<i32>,
    ) {
        let send = |answer: &Answer<'_>| stop.write_all(client, &answer.encode(), Instant::now() + CLIENT_TIMEOUT);
        if client.set_nonblocking(true).is_err() {
            return;
        }
        // A malformed request gets no answer.
        let Ok((token, argv)) = request(client, stop) else { return };
        let answer = self.admit(&token, &argv).map_err(|refusal| refusal.why).and_then(|()| {
            let mut sink = |stream: Stream, bytes: &[u8]| send(&Answer::Output(stream, bytes));
            run(&Call { argv: &argv, stopper: &self.stopper }, &mut sink)
                .map_err(|error| format!("cannot run it: {error}"))
        });
        // Ignore the error: the client may be gone.
        let _ = match &answer {
            Ok(code) => send(&Answer::Exit(*code)),
            Err(why) => send(&Answer::Refused(why)),
        };
    }

    /// Checks whether this call may run.
    fn admit(&self, token: &[u8], argv: &[OsString]) -> Result<(), Refusal> {
        let refused = |why: &str| Err(Refusal { why: why.to_owned() });
        if !self.grant.token.is(token) {
            return refused("the token does not belong to this run");
        }
        let [program, arguments @ ..] = argv else { return refused("no program given") };
        let Some(program) = program.to_str() else { return refused("the program's name is not valid text") };
        if self.grant.more == 0 {
            check(program, arguments)?;
        }
        let more = argv.len().checked_sub(self.grant.argv.len()).filter(|_| argv.starts_with(&self.grant.argv));
        if more.is_none_or(|more| more > self.grant.more) {
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

fn request(client: &TcpStream, stop: &ShutdownSignal) -> io::Result<(Vec<u8>, Vec<OsString>)> {
    let until = Instant::now() + CLIENT_TIMEOUT;
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
    if size > MAX_REQUEST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    frame::decode_request(&read(size)?)
}
