//! Copies bytes between two connections, in both directions at once, until both have ended.
//!
//! Invariant: at most one buffer per direction is held in memory.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::body::Body;
use super::listen::{ShutdownSignal, is_passing};

const BUFFER_BYTES: usize = 128 << 10;

/// Copies data between both sides. `body` tells how much of the client's data belongs to the request. The end of one
/// direction is forwarded, and the other direction continues.
pub(super) fn relay(
    client: &TcpStream,
    server: &TcpStream,
    body: Body,
    idle: Duration,
    stop: &ShutdownSignal,
) -> io::Result<()> {
    client.set_nonblocking(true)?;
    server.set_nonblocking(true)?;
    let mut up = Direction::new(client, server, body);
    let mut down = Direction::new(server, client, Body::endless());
    while !(up.is_done() && down.is_done()) {
        // After the complete response, the rest of a request's body is useless.
        if down.is_done() && !up.body_is_endless {
            return Ok(());
        }
        let client_ready = up.wants_input() | down.wants_output();
        let server_ready = down.wants_input() | up.wants_output();
        let until = Instant::now() + idle;
        // Leave out a side with nothing to wait for: it would report its end over and over.
        let sides = [(client, client_ready), (server, server_ready)];
        let waiting: Vec<_> = sides.iter().filter(|(_, flags)| !flags.is_empty()).collect();
        let fds: Vec<_> = waiting.iter().map(|(side, flags)| (side.as_fd(), *flags)).collect();
        stop.wait(&fds, Some(until))?;
        up.advance()?;
        down.advance()?;
    }
    Ok(())
}

struct Direction<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    buffer: Vec<u8>,
    /// The part of the buffer that is still to be written.
    held: std::ops::Range<usize>,
    body: Body,
    body_is_endless: bool,
    /// Whether there is nothing more to read.
    ended: bool,
    /// Whether the end has been forwarded.
    closed: bool,
}

impl<'a> Direction<'a> {
    fn new(from: &'a TcpStream, to: &'a TcpStream, body: Body) -> Self {
        let body_is_endless = body.is_endless();
        let ended = body.is_over();
        // The head of a request already tells where its body ends; a server may take a half-closed connection for a
        // client that has gone.
        Self { from, to, buffer: vec![0; BUFFER_BYTES], held: 0..0, body, body_is_endless, ended, closed: ended }
    }

    fn is_done(&self) -> bool {
        self.closed
    }

    fn wants_input(&self) -> PollFlags {
        if !self.ended && self.held.is_empty() { PollFlags::IN } else { PollFlags::empty() }
    }

    fn wants_output(&self) -> PollFlags {
        if self.held.is_empty() { PollFlags::empty() } else { PollFlags::OUT }
    }

    /// Reads and writes as much as possible without waiting.
    fn advance(&mut self) -> io::Result<()> {
        // Bounded, so one direction does not starve the other.
        for _ in 0..16 {
            if self.held.is_empty() && !self.fill()? {
                break;
            }
            if !self.held.is_empty() && !self.flush()? {
                break;
            }
        }
        if self.ended && self.held.is_empty() && !self.closed {
            self.closed = true;
            if self.body_is_endless {
                // The other side may already be gone.
                let _ = self.to.shutdown(Shutdown::Write);
            }
        }
        Ok(())
    }

    /// Reads into the buffer. Returns whether there is something to write.
    fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        match self.from.read(&mut self.buffer) {
            // An incomplete body is useless, and the server need not wait for the rest.
            Ok(0) if !self.body_is_endless => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(0) => {
                self.ended = true;
                Ok(false)
            }
            Ok(read) => {
                let taken = self.body.take(&self.buffer[..read]).map_err(|_| io::ErrorKind::InvalidData)?;
                self.held = 0..taken;
                self.ended = self.body.is_over();
                Ok(taken > 0)
            }
            Err(error) if is_passing(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes from the buffer. Returns whether everything was written.
    fn flush(&mut self) -> io::Result<bool> {
        match self.to.write(&self.buffer[self.held.clone()]) {
            Ok(written) => {
                self.held.start += written;
                Ok(self.held.is_empty())
            }
            Err(error) if is_passing(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
