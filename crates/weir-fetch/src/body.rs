//! Reads and decompresses the body of a response.
//!
//! Invariants: neither the bytes received nor the decompressed bytes exceed their limit; a truncated body has a note.

use std::cell::Cell;
use std::io::{ErrorKind, Read};
use std::rc::Rc;

use crate::Limits;

#[derive(Debug, Default)]
pub(crate) struct BodyContent {
    pub bytes: Vec<u8>,
    /// The number of bytes received over the network.
    pub received: u64,
    /// What was cut, and why.
    pub notes: Vec<String>,
}

/// Why a body could not be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    Network(ureq::Error),
    Encoding(String),
}

pub(crate) fn read(stream: impl Read + 'static, encoding: &str, limits: &Limits) -> Result<BodyContent, ReadError> {
    let state = Rc::new(StreamState::default());
    let counted = CountingReader { stream, state: Rc::clone(&state), most: limits.received };
    let mut inflated: Box<dyn Read> = match encoding.to_ascii_lowercase().as_str() {
        "" | "identity" => Box::new(counted),
        "gzip" | "x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(counted)),
        "deflate" => Box::new(flate2::read::ZlibDecoder::new(counted)),
        "br" => Box::new(brotli_decompressor::Decompressor::new(counted, 16 << 10)),
        other => return Err(ReadError::Encoding(format!("it is encoded as `{}`", crate::text::one_line(other, 60)))),
    };
    let (bytes, end) = take(&mut inflated, limits.bytes);
    let received = state.received.get();
    let mut content = BodyContent { bytes, received, notes: Vec::new() };
    let cut = |at: u64| format!("cut after {at} bytes: the page is longer than the limit");
    match end {
        StreamEnd::Whole if state.is_cut.get() => content.notes.push(cut(limits.received)),
        StreamEnd::Whole => {}
        StreamEnd::Limit => content.notes.push(cut(limits.bytes)),
        StreamEnd::Failed(error) => {
            if let Some(failure) = state.failure.take() {
                let lost = matches!(&failure, ureq::Error::Io(error) if is_lost(error.kind()));
                if !lost || content.bytes.is_empty() {
                    return Err(ReadError::Network(failure));
                }
                content.notes.push("incomplete: the connection ended before the page did".to_owned());
            } else if state.is_cut.get() {
                content.notes.push(cut(limits.received));
            } else {
                return Err(ReadError::Encoding(format!("its {encoding} data is damaged: {error}")));
            }
        }
    }
    Ok(content)
}

fn is_lost(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe
    )
}

enum StreamEnd {
    Whole,
    Limit,
    Failed(std::io::Error),
}

fn take(stream: &mut dyn Read, most: u64) -> (Vec<u8>, StreamEnd) {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return (bytes, StreamEnd::Whole),
            Ok(read) => {
                let room = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(bytes.len());
                let new = buffer.get(..read).unwrap_or_default();
                bytes.extend_from_slice(new.get(..room).unwrap_or(new));
                if read > room {
                    return (bytes, StreamEnd::Limit);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (bytes, StreamEnd::Failed(error)),
        }
    }
}

/// The state of the network stream below a decoder, which reports errors in its own terms.
#[derive(Default)]
struct StreamState {
    received: Cell<u64>,
    is_cut: Cell<bool>,
    failure: Cell<Option<ureq::Error>>,
}

struct CountingReader<R> {
    stream: R,
    state: Rc<StreamState>,
    most: u64,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let left = self.most.saturating_sub(self.state.received.get());
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        if room == 0 && !buffer.is_empty() {
            // Reading one more byte distinguishes a page that just fits from one that is cut.
            let more = self.stream.read(&mut [0]).unwrap_or_default();
            self.state.is_cut.set(more > 0);
            return Ok(0);
        }
        match self.stream.read(buffer.get_mut(..room).unwrap_or_default()) {
            Ok(read) => {
                self.state.received.set(self.state.received.get() + read as u64);
                Ok(read)
            }
            Err(error) => {
                let kind = error.kind();
                self.state.failure.set(Some(ureq::Error::from(error)));
                Err(kind.into())
            }
        }
    }
}
