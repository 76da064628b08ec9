//! The result of a run, and which bytes of its output came from which stream.
//!
//! Invariant: [`Pieces`] stays small whatever the program prints: adjacent bytes of one stream are one piece, and after
//! [`MAX_PIECES`] no more pieces are recorded.

use std::ops::Range;

/// Maximum number of pieces that are recorded: two to three bytes each, and more than a person or a model ever looks
/// at.
pub const MAX_PIECES: usize = 100_000;

crate::written_enum! {
    /// How a run ended.
    pub enum Ended {
        /// The program exited, or was ended by a signal that Weir did not send.
        Exited = "exited",
        /// The run exceeded its time limit.
        Timeout = "timeout",
        /// The run was cancelled.
        Cancelled = "cancelled",
        /// The run printed more than allowed.
        Quota = "quota",
        /// The run used more memory than allowed.
        Memory = "memory",
        /// A path that was hidden from the run was uncovered from outside.
        Unmasked = "unmasked",
        /// The end of the run was not observed.
        Lost = "lost",
    }
}

crate::written_enum! {
    /// An output stream of a program.
    pub enum Stream {
        /// Standard output.
        Out = "stdout",
        /// Standard error.
        Err = "stderr",
    }
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFacts {
    /// The exit code, unless a signal ended the run.
    pub exit_code: Option<i32>,
    /// The signal that ended the run.
    pub signal: Option<i32>,
    /// The duration, in milliseconds.
    pub millis: u64,
    /// The sandbox of the run, as the runner describes it.
    pub sandbox: String,
    /// How the run ended.
    pub ended: Ended,
    /// Which bytes of the text came from which stream. The store fills this in if the text was written by stream.
    pub pieces: Pieces,
}

/// Which bytes of a text came from which stream, in the order of arrival. Empty if the streams were merged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pieces {
    /// Streams alternate, so the first one and the lengths are enough.
    first: Option<Stream>,
    lengths: Vec<u64>,
    incomplete: bool,
}

impl Pieces {
    /// Adds bytes that came from a stream.
    pub fn push(&mut self, stream: Stream, length: u64) {
        if length == 0 || self.incomplete {
            return;
        }
        let goes_on = self.last_stream() == Some(stream);
        if let Some(last) = self.lengths.last_mut().filter(|_| goes_on) {
            *last += length;
        } else if self.lengths.len() >= MAX_PIECES {
            self.incomplete = true;
        } else {
            self.first = self.first.or(Some(stream));
            self.lengths.push(length);
        }
    }

    /// Returns whether nothing is known because the streams were merged.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Returns whether every byte is accounted for. If not, there were too many pieces, and [`Self::bytes`] returns how
    /// many bytes are covered.
    pub fn is_complete(&self) -> bool {
        !self.incomplete
    }

    /// Returns the number of pieces.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Returns how many bytes are accounted for, from the beginning of the text.
    pub fn bytes(&self) -> u64 {
        self.lengths.iter().sum()
    }

    /// Returns every piece: its stream and its range in the text.
    pub fn iter(&self) -> impl Iterator<Item = (Stream, Range<u64>)> {
        let mut at = 0;
        self.lengths.iter().enumerate().filter_map(move |(number, length)| {
            let range = at..at + length;
            at = range.end;
            Some((self.stream_of(number)?, range))
        })
    }

    /// Returns the ranges of one stream in the text, in order.
    pub fn ranges(&self, stream: Stream) -> impl Iterator<Item = Range<u64>> {
        self.iter().filter(move |(of, _)| *of == stream).map(|(_, range)| range)
    }

    /// Encodes the pieces: a byte for the first stream and whether the pieces are complete, then the lengths as
    /// varints.
    pub fn encode(&self) -> Vec<u8> {
        let first = u8::from(self.first == Some(Stream::Err));
        let mut bytes = vec![first | u8::from(self.incomplete) << 1];
        for &length in &self.lengths {
            let mut rest = length;
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
        }
        bytes
    }

    /// Decodes the output of [`Self::encode`]. Returns `None` for anything else.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (&flags, mut rest) = bytes.split_first()?;
        let mut lengths = Vec::new();
        while !rest.is_empty() {
            let end = rest.iter().take(10).position(|byte| byte & 0x80 == 0)?;
            let (varint, after) = rest.split_at(end + 1);
            let mut length = 0_u64;
            for (n, byte) in varint.iter().enumerate() {
                length |= u64::from(byte & 0x7f).checked_shl(7 * n as u32).filter(|_| n < 9 || *byte < 2)?;
            }
            if length == 0 || lengths.len() >= MAX_PIECES {
                return None;
            }
            lengths.push(length);
            rest = after;
        }
        // No text is so long that the sum of its lengths overflows.
        lengths.iter().try_fold(0_u64, |sum, length| sum.checked_add(*length))?;
        let first = if flags & 1 == 0 { Stream::Out } else { Stream::Err };
        let known = flags < 4 && (flags & 1 == 0 || !lengths.is_empty());
        known.then(|| Self { first: (!lengths.is_empty()).then_some(first), lengths, incomplete: flags & 2 != 0 })
    }

    fn last_stream(&self) -> Option<Stream> {
        self.stream_of(self.lengths.len().checked_sub(1)?)
    }

    fn stream_of(&self, number: usize) -> Option<Stream> {
        match (self.first?, number % 2) {
            (Stream::Out, 0) | (Stream::Err, 1) => Some(Stream::Out),
            _ => Some(Stream::Err),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(list: &[(Stream, u64)]) -> Pieces {
        let mut pieces = Pieces::default();
        list.iter().for_each(|(stream, length)| pieces.push(*stream, *length));
        pieces
    }

    #[test]
    fn neighbours_of_one_stream_are_one_piece() {
        let pieces =
            pieces(&[(Stream::Err, 2), (Stream::Err, 3), (Stream::Out, 0), (Stream::Out, 1), (Stream::Err, 9)]);
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces.ranges(Stream::Err).collect::<Vec<_>>(), [0..5, 6..15]);
        assert_eq!(pieces.ranges(Stream::Out).collect::<Vec<_>>().as_slice(), std::slice::from_ref(&(5..6)));
        assert!(pieces.is_complete() && pieces.bytes() == 15);
    }

    #[test]
    fn too_many_pieces_are_said_to_be_incomplete() {
        let mut pieces = Pieces::default();
        for number in 0..MAX_PIECES as u64 + 9 {
            pieces.push(if number % 2 == 0 { Stream::Out } else { Stream::Err }, 1);
        }
        assert_eq!((pieces.len(), pieces.is_complete()), (MAX_PIECES, false));
        let bytes = pieces.encode();
        assert_eq!(bytes.len(), MAX_PIECES + 1);
        assert_eq!(Pieces::decode(&bytes), Some(pieces));
    }

    #[test]
    fn what_is_no_list_of_pieces_is_refused() {
        for bytes in [
            b"".as_slice(),
            b"\x04",
            b"\x01",
            b"\x00\x00",
            b"\x00\x80",
            b"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        ] {
            assert_eq!(Pieces::decode(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(list in prop::collection::vec((any::<bool>(), 0..1_u64 << 40), 0..50)) {
            let list: Vec<_> =
                list.into_iter().map(|(out, length)| (if out { Stream::Out } else { Stream::Err }, length)).collect();
            let pieces = pieces(&list);
            prop_assert_eq!(Pieces::decode(&pieces.encode()), Some(pieces.clone()));
            prop_assert_eq!(pieces.bytes(), list.iter().map(|(_, length)| length).sum::<u64>());
            for stream in Stream::ALL {
                let of_stream = |(s, length): &(Stream, u64)| if s == stream { *length } else { 0 };
                let ranges: u64 = pieces.ranges(*stream).map(|range| range.end - range.start).sum();
                prop_assert_eq!(ranges, list.iter().map(of_stream).sum::<u64>());
            }
        }

        #[test]
        fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Some(pieces) = Pieces::decode(&bytes) {
                prop_assert_eq!(pieces.iter().count(), pieces.len());
            }
        }
    }
}
