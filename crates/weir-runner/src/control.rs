//! The control socket between the caller of a run and its helper.
//!
//! It carries the spec to the helper and messages back. Closing it ends the run, and the kernel closes it however its
//! owner dies.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use crate::codec::{Reader, Writer};

const MAX_MESSAGE_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(crate) enum Message {
    /// The sandbox could not be built: the step, the reason, and whether it was refused for safety.
    Failed {
        step: String,
        why: String,
        refused: bool,
    },
    /// Carries the listeners inside the sandbox, to be served from outside.
    Listeners,
    RunEnd(RunEnd),
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunEnd {
    /// The exit code, unless a signal ended the run.
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Whether the run exceeded its memory limit.
    pub(crate) memory: bool,
    /// Whether a masked path was uncovered from outside.
    pub(crate) unmasked: bool,
    pub(crate) step: u64,
    /// How many processes were still running.
    pub(crate) left: u64,
    /// Processor time of all its processes, in microseconds.
    pub(crate) cpu_micros: u64,
}

pub(crate) fn send_spec(mut socket: &UnixStream, spec: &[u8], input: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let length = (spec.len() as u64).to_le_bytes();
    if let Some(input) = input {
        let sent = send_with(socket, &length, &[input])?;
        socket.write_all(&length[sent..])?;
        return socket.write_all(spec);
    }
    if spec.len() < 4096 {
        return socket.write_all(&[&length, spec].concat());
    }
    socket.write_all(&length)?;
    socket.write_all(spec)
}

pub(crate) fn receive_spec(mut socket: &UnixStream) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut length = [0; 8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut receive = || recvmsg(socket, &mut [IoSliceMut::new(&mut length)], &mut ancillary, RecvFlags::CMSG_CLOEXEC);
    let received = rustix::io::retry_on_intr(&mut receive)?.bytes;
    let input = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    socket.read_exact(&mut length[received..])?;
    let mut spec = vec![0; u64::from_le_bytes(length) as usize];
    socket.read_exact(&mut spec)?;
    Ok((spec, input))
}

/// Sends bytes together with descriptors. Returns how many bytes were sent.
fn send_with(socket: &UnixStream, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    Ok(sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)?)
}

/// Sends a message, together with `descriptors`.
pub(crate) fn send(socket: &UnixStream, message: &Message, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut out = Writer::default();
    match message {
        Message::Failed { step, why, refused } => {
            out.number(0);
            out.bytes(step.as_bytes());
            out.bytes(why.as_bytes());
            out.number(u64::from(*refused));
        }
        Message::Listeners => out.number(1),
        Message::RunEnd(end) => {
            out.number(2);
            out.number(end.code.map_or(0, |code| 1 << 32 | u64::from(code as u32)));
            out.number(end.signal.map_or(0, |signal| 1 << 32 | u64::from(signal as u32)));
            let (memory, unmasked) = (u64::from(end.memory), u64::from(end.unmasked));
            [memory, unmasked, end.step, end.left, end.cpu_micros].into_iter().for_each(|n| out.number(n));
        }
    }
    let length = (out.0.len() as u64).to_le_bytes();
    let frame = [&length, out.0.as_slice()].concat();
    let sent = send_with(socket, &frame, descriptors)?;
    (&*socket).write_all(&frame[sent..])
}

/// The receiving end of the socket, which assembles messages from the bytes as they arrive.
pub(crate) struct Inbox {
    socket: UnixStream,
    bytes: Vec<u8>,
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl Inbox {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self { socket, bytes: Vec::new(), descriptors: Vec::new() }
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Reads the available bytes. Returns false at the end of the stream.
    pub(crate) fn take_in(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 1024];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let received = match recvmsg(&self.socket, &mut [IoSliceMut::new(&mut buffer)], &mut ancillary, flags) {
            Ok(received) => received.bytes,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(true),
            Err(rustix::io::Errno::CONNRESET) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        self.bytes.extend_from_slice(&buffer[..received]);
        Ok(received > 0)
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Message>> {
        let Some((length, rest)) = self.bytes.split_first_chunk::<8>() else { return Ok(None) };
        let length = u64::from_le_bytes(*length) as usize;
        if length > MAX_MESSAGE_BYTES {
            return Err(io::Error::other("the helper sent too much data"));
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let message = decode(&mut Reader(frame))?;
        self.bytes.drain(..8 + length);
        Ok(Some(message))
    }
}

fn decode(from: &mut Reader<'_>) -> io::Result<Message> {
    let number = |flagged: u64| (flagged >> 32 == 1).then_some(flagged as u32 as i32);
    Ok(match from.number()? {
        0 => Message::Failed { step: from.text()?, why: from.text()?, refused: from.number()? == 1 },
        1 => Message::Listeners,
        _ => Message::RunEnd(RunEnd {
            code: number(from.number()?),
            signal: number(from.number()?),
            memory: from.number()? == 1,
            unmasked: from.number()? == 1,
            step: from.number()?,
            left: from.number()?,
            cpu_micros: from.number()?,
        }),
    })
}
