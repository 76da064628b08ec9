//! Finds the end of a request's body, so nothing after it reaches the server as a second request.

use super::head::Length;

/// The rest of a body that is still to come.
#[derive(Debug)]
pub(super) struct Body(BodyState);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyState {
    /// This many bytes. `u64::MAX` means without end.
    Bytes(u64),
    /// In the line with the size of a chunk: the number so far, and how many digits it has.
    Size {
        size: u64,
        digits: u8,
        in_number: bool,
    },
    /// Before the line feed of that line.
    SizeEnd(u64),
    /// In a chunk, with this many bytes left.
    Chunk(u64),
    /// Before or in the line end after a chunk.
    ChunkEnd {
        in_it: bool,
    },
    /// In the lines after the last chunk, with how much of an empty line has been seen.
    Trailer(u8),
    Over,
}

/// The error for a body that does not match its encoding.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MalformedBody;

impl Body {
    pub(super) fn new(length: Length) -> Self {
        Self(match length {
            Length::Bytes(0) => BodyState::Over,
            Length::Bytes(bytes) => BodyState::Bytes(bytes),
            Length::Chunked => CHUNK_START,
        })
    }

    /// Returns a body that includes everything that follows.
    pub(super) fn endless() -> Self {
        Self(BodyState::Bytes(u64::MAX))
    }

    pub(super) fn is_endless(&self) -> bool {
        self.0 == BodyState::Bytes(u64::MAX)
    }

    pub(super) fn is_over(&self) -> bool {
        self.0 == BodyState::Over
    }

    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<usize, MalformedBody> {
        let mut at = 0;
        while at < bytes.len() && self.0 != BodyState::Over {
            let left = bytes.len() - at;
            (self.0, at) = match self.0 {
                BodyState::Bytes(u64::MAX) => (self.0, bytes.len()),
                BodyState::Bytes(size) => {
                    let (size, taken) = less(size, left);
                    (if size == 0 { BodyState::Over } else { BodyState::Bytes(size) }, at + taken)
                }
                BodyState::Chunk(size) => {
                    let (size, taken) = less(size, left);
                    (if size == 0 { BodyState::ChunkEnd { in_it: false } } else { BodyState::Chunk(size) }, at + taken)
                }
                state => (next_state(state, bytes[at])?, at + 1),
            };
        }
        Ok(at)
    }
}

const CHUNK_START: BodyState = BodyState::Size { size: 0, digits: 0, in_number: true };

fn less(size: u64, left: usize) -> (u64, usize) {
    let taken = usize::try_from(size).unwrap_or(usize::MAX).min(left);
    (size - taken as u64, taken)
}

/// Returns the state after one byte outside the chunks.
fn next_state(state: BodyState, byte: u8) -> Result<BodyState, MalformedBody> {
    match (state, byte) {
        (BodyState::Size { size, digits: 0..15, in_number: true }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
            let digit = u64::from(char::from(byte).to_digit(16).ok_or(MalformedBody)?);
            let BodyState::Size { digits, .. } = state else { return Err(MalformedBody) };
            Ok(BodyState::Size { size: size * 16 + digit, digits: digits + 1, in_number: true })
        }
        (BodyState::Size { digits: 0, .. }, _) => Err(MalformedBody),
        (BodyState::Size { size, .. }, b'\r') => Ok(BodyState::SizeEnd(size)),
        // An extension, up to the end of the line.
        (BodyState::Size { size, digits, in_number: true }, b';' | b' ' | b'\t') => {
            Ok(BodyState::Size { size, digits, in_number: false })
        }
        (BodyState::Size { size, digits, in_number: false }, 0x20..=0x7e | b'\t') => {
            Ok(BodyState::Size { size, digits, in_number: false })
        }
        (BodyState::SizeEnd(0), b'\n') => Ok(BodyState::Trailer(2)),
        (BodyState::SizeEnd(size), b'\n') => Ok(BodyState::Chunk(size)),
        (BodyState::ChunkEnd { in_it: false }, b'\r') => Ok(BodyState::ChunkEnd { in_it: true }),
        (BodyState::ChunkEnd { in_it: true }, b'\n') => Ok(CHUNK_START),
        (BodyState::Trailer(2), b'\r') => Ok(BodyState::Trailer(3)),
        (BodyState::Trailer(3), b'\n') => Ok(BodyState::Over),
        (BodyState::Trailer(3), _) => Err(MalformedBody),
        (BodyState::Trailer(1), b'\n') => Ok(BodyState::Trailer(2)),
        (BodyState::Trailer(1), _) | (BodyState::Trailer(_), b'\n') => Err(MalformedBody),
        (BodyState::Trailer(_), b'\r') => Ok(BodyState::Trailer(1)),
        (BodyState::Trailer(_), _) => Ok(BodyState::Trailer(0)),
        _ => Err(MalformedBody),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `taken` bytes belong to the body, passed at once and byte by byte.
    fn check(length: Length, bytes: &str, taken: Result<usize, MalformedBody>) {
        let mut whole = Body::new(length);
        let found = whole.take(bytes.as_bytes());
        assert_eq!(found, taken, "{bytes:?}");
        let mut slow = Body::new(length);
        let by_byte: Result<usize, MalformedBody> =
            bytes.bytes().try_fold(0, |sum, byte| Ok(sum + slow.take(&[byte])?));
        assert_eq!(by_byte, taken, "{bytes:?} byte by byte");
        if taken.is_ok() {
            assert_eq!(whole.is_over(), slow.is_over());
        }
    }

    #[test]
    fn a_length_ends_the_body() {
        check(Length::Bytes(3), "abcGET /", Ok(3));
        check(Length::Bytes(0), "GET /", Ok(0));
        check(Length::Bytes(9), "abc", Ok(3));
    }

    #[test]
    fn the_last_chunk_ends_the_body() {
        check(Length::Chunked, "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\nGET /", Ok(32));
        check(Length::Chunked, "0\r\nA: b\r\nC: d\r\n\r\nGET /", Ok(17));
        check(Length::Chunked, "5\r\nab", Ok(5));
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        for bytes in [
            "\r\n", "x\r\n", "3\nabc", "0\r\n\rX", "0\r\nA\nB\r\n\r\n", "fffffffffffffffff\r\n", "-1\r\n", " 3\r\n",
            "1\r\nabc",
        ] {
            check(Length::Chunked, bytes, Err(MalformedBody));
        }
    }
}
