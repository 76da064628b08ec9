//! Watches a run: reads its output and the helper's messages until it is over or has to be ended.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use weir_core::run::{Ended, Stream};

use crate::control::{Inbox, Message, RunEnd};
use crate::helper::Pipes;
use crate::{Level, Outcome, Problem, Run, RunError, Stopper};

/// How long a run's pipes may stay open after its end. By then they are closed, unless there was no sandbox and a
/// process escaped.
const OPEN_PIPE_GRACE: Duration = Duration::from_secs(2);

pub(crate) struct Watch {
    inbox: Inbox,
    pipes: Pipes,
    end: Option<RunEnd>,
    problem: Option<Problem>,
    cause: Option<Ended>,
    /// The number of bytes printed so far.
    printed: u64,
    deadline: Instant,
    served: Option<Box<dyn std::any::Any>>,
}

impl Watch {
    pub(crate) fn new(control: UnixStream, pipes: Pipes, deadline: Instant) -> Self {
        Self {
            inbox: Inbox::new(control),
            pipes,
            end: None,
            problem: None,
            cause: None,
            printed: 0,
            deadline,
            served: None,
        }
    }

    pub(crate) fn until_over(
        &mut self,
        run: &Run<'_>,
        sink: &mut dyn FnMut(Stream, &[u8]) -> io::Result<()>,
    ) -> Result<(), RunError> {
        let mut buffer = vec![0; 64 << 10];
        let mut listening = true;
        while listening || self.pipes.iter().any(Option::is_some) {
            let ready = self.wait(run.stopper, listening).map_err(RunError::Helper)?;
            if ready.control && !self.hear(run).map_err(RunError::Helper)? {
                listening = false;
                self.deadline = self.deadline.min(Instant::now() + OPEN_PIPE_GRACE);
            }
            for (number, stream) in [Stream::Out, Stream::Err].into_iter().enumerate() {
                if ready.pipes[number] {
                    self.read(number, &mut buffer, run.most_output, &mut |bytes| sink(stream, bytes))?;
                }
            }
            let cause = match ready {
                ReadySet { stopped: true, .. } => Some(Ended::Cancelled),
                _ if Instant::now() >= self.deadline => Some(Ended::Timeout),
                _ => None,
            };
            self.cause = self.cause.or(cause);
            if self.cause.is_some() || self.problem.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn wait(&self, stopper: &Stopper, listening: bool) -> io::Result<ReadySet> {
        let mut descriptors = vec![PollFd::new(stopper, PollFlags::IN)];
        let control = self.inbox.descriptor();
        if listening {
            descriptors.push(PollFd::from_borrowed_fd(control, PollFlags::IN));
        }
        let open: Vec<usize> = (0..2).filter(|&number| self.pipes[number].is_some()).collect();
        let pipes = self.pipes.iter().flatten();
        descriptors.extend(pipes.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        let left = self.deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |at: usize| !descriptors[at].revents().is_empty();
        let first_pipe = 1 + usize::from(listening);
        let mut ready = ReadySet { stopped: is_ready(0), control: listening && is_ready(1), pipes: [false; 2] };
        for (at, number) in open.into_iter().enumerate() {
            ready.pipes[number] = is_ready(first_pipe + at);
        }
        Ok(ready)
    }

    /// Handles the helper's messages. Returns false after the last one.
    fn hear(&mut self, run: &Run<'_>) -> io::Result<bool> {
        let more = self.inbox.take_in()?;
        while let Some(message) = self.inbox.next()? {
            match message {
                Message::Failed { step, why, refused } => self.problem = Some(Problem { step, why, refused }),
                Message::Listeners => {
                    let listeners = std::mem::take(&mut self.inbox.descriptors);
                    self.served = run.serve.map(|serve| serve(listeners));
                }
                Message::RunEnd(end) => self.end = Some(end),
            }
        }
        Ok(more)
    }

    fn read(
        &mut self,
        number: usize,
        buffer: &mut [u8],
        most: u64,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), RunError> {
        let Some(pipe) = &self.pipes[number] else { return Ok(()) };
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(0) => self.pipes[number] = None,
            Ok(length) => {
                let room = most - self.printed;
                let taken = length.min(usize::try_from(room).unwrap_or(usize::MAX));
                sink(&buffer[..taken]).map_err(RunError::Sink)?;
                self.printed += taken as u64;
                if taken < length {
                    self.cause = Some(Ended::Quota);
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(RunError::Helper(error.into())),
        }
        Ok(())
    }

    /// Returns whether the run ended by itself, left no processes behind, and all its output was read.
    pub(crate) fn is_all_over(&self) -> bool {
        let ended = self.end.is_some_and(|end| end.left == 0 && (end.code.is_some() || end.signal.is_some()));
        ended && self.cause.is_none() && self.pipes.iter().all(Option::is_none)
    }

    /// Reads what was left in the pipes when the run was ended.
    pub(crate) fn drain(
        &mut self,
        most: u64,
        sink: &mut dyn FnMut(Stream, &[u8]) -> io::Result<()>,
    ) -> Result<(), RunError> {
        let mut buffer = vec![0; 64 << 10];
        for (number, stream) in [Stream::Out, Stream::Err].into_iter().enumerate() {
            let mut before = None;
            while self.pipes[number].is_some() && before != Some(self.printed) {
                before = Some(self.printed);
                self.read(number, &mut buffer, most, &mut |bytes| sink(stream, bytes))?;
            }
        }
        Ok(())
    }

    pub(crate) fn close(&mut self) {
        let _ = rustix::net::shutdown(self.inbox.descriptor(), rustix::net::Shutdown::Both);
        self.served = None;
    }

    pub(crate) fn outcome(self, level: Level, took: Duration) -> Result<Outcome, RunError> {
        if let Some(problem) = self.problem {
            return Err(RunError::Sandbox(problem));
        }
        let end = self.end.unwrap_or_default();
        let ended = match (self.end, self.cause) {
            (_, Some(Ended::Quota)) => Ended::Quota,
            (Some(RunEnd { memory: true, .. }), _) => Ended::Memory,
            (Some(RunEnd { unmasked: true, .. }), _) => Ended::Unmasked,
            (Some(_), _) => Ended::Exited,
            (None, Some(cause)) => cause,
            (None, None) => Ended::Lost,
        };
        Ok(Outcome {
            ended,
            exit_code: end.code,
            signal: end.signal,
            level,
            took,
            cpu: Duration::from_micros(end.cpu_micros),
            step: end.step as usize,
            left: end.left,
        })
    }
}

/// The descriptors that are ready.
struct ReadySet {
    stopped: bool,
    control: bool,
    pipes: [bool; 2],
}
