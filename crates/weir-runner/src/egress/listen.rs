//! A listener with one thread per connection, all of which can be stopped.
//!
//! Invariant: every wait also waits for the server to stop. When [`Server`] has been dropped, its threads have ended.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// A running listener. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Server {
    /// The write end of a pipe whose read end is [`ShutdownSignal`]'s. Closing it wakes every wait.
    lifeline: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves each connection in its own thread, at most `most` at once. Further connections go to `busy`, which must
    /// not block.
    pub(crate) fn start(
        listener: OwnedFd,
        most: usize,
        serve: impl Fn(&TcpStream, &ShutdownSignal) + Send + Sync + 'static,
        busy: fn(TcpStream),
    ) -> io::Result<Self> {
        let (end, lifeline) = io::pipe()?;
        let listener = TcpListener::from(listener);
        // A connection that is closed before it is accepted must not block the others.
        listener.set_nonblocking(true)?;
        let stop = ShutdownSignal(Arc::new(end.into()));
        let serve = Arc::new(serve);
        let thread = thread::Builder::new().name("listener".to_owned()).spawn(move || {
            let active = Arc::new(AtomicUsize::new(0));
            let mut threads: Vec<JoinHandle<()>> = Vec::new();
            while stop.wait(&[(listener.as_fd(), PollFlags::IN)], None).is_ok() {
                let Ok((connection, _)) = listener.accept() else { continue };
                threads.retain(|thread| !thread.is_finished());
                if active.load(Ordering::Acquire) >= most {
                    busy(connection);
                    continue;
                }
                active.fetch_add(1, Ordering::AcqRel);
                let (serve, stop, slot) = (Arc::clone(&serve), stop.clone(), ConnectionSlot(Arc::clone(&active)));
                let spawned = thread::Builder::new().name("connection".to_owned()).spawn(move || {
                    serve(&connection, &stop);
                    // Before the connection is closed, so a client that sees it close finds a free slot.
                    drop(slot);
                });
                // If no thread can be started, the connection is closed, which the client notices.
                threads.extend(spawned.ok());
            }
            for thread in threads {
                // A thread that panicked has ended as well.
                let _ = thread.join();
            }
        })?;
        Ok(Self { lifeline: Some(lifeline.into()), thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A slot among the concurrent connections, released however the thread ends.
struct ConnectionSlot(Arc<AtomicUsize>);

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A signal that every wait polls, so all waits end with the server.
#[derive(Debug, Clone)]
pub(crate) struct ShutdownSignal(Arc<OwnedFd>);

impl ShutdownSignal {
    /// Waits until one of the descriptors is ready, and returns what each is ready for. Fails at the deadline or when
    /// the server stops.
    pub(crate) fn wait(
        &self,
        ready: &[(BorrowedFd<'_>, PollFlags)],
        until: Option<Instant>,
    ) -> io::Result<Vec<PollFlags>> {
        let mut fds: Vec<_> = ready.iter().map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        fds.push(PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN));
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            match poll(&mut fds, left.map(timespec).as_ref()) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if fds.pop().is_some_and(|end| !end.revents().is_empty()) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(fds.iter().map(PollFd::revents).collect())
    }

    pub(crate) fn wait_for(&self, fd: BorrowedFd<'_>, flags: PollFlags, until: Instant) -> io::Result<()> {
        self.wait(&[(fd, flags)], Some(until)).map(drop)
    }

    pub(crate) fn read(&self, mut from: &TcpStream, into: &mut [u8], until: Instant) -> io::Result<usize> {
        loop {
            self.wait_for(from.as_fd(), PollFlags::IN, until)?;
            match io::Read::read(&mut from, into) {
                Err(error) if is_passing(&error) => {}
                result => return result,
            }
        }
    }

    pub(crate) fn write_all(&self, mut to: &TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            match io::Write::write(&mut to, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if is_passing(&error) => self.wait_for(to.as_fd(), PollFlags::OUT, until)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Returns whether the same call may succeed later.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Converts a duration, rounded up: a wait that is slightly too short would be repeated over and over.
fn timespec(time: Duration) -> Timespec {
    let time = time + Duration::from_millis(1);
    Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: i64::from(time.subsec_nanos()) }
}
