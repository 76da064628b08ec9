//! A stored text as the digests read it: from its beginning, frame by frame; of a very long one, both ends.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use weir_digest::{Jump, Source};
use weir_store::BlobReader;

use crate::error::CommandError;

/// Of a text of more than twice as many frames of a mebibyte, so many at each end are read: to read a gibibyte takes
/// longer than anybody waits.
const FRAMES: usize = 4;
const FRAME: u64 = 1 << 20;

/// A text in the store, to be digested.
pub(crate) struct Stored<'a> {
    text: &'a BlobReader,
    /// The frames that are left out in the middle; the text goes on after the first line end behind them.
    left_out: Option<LeftOut>,
}

struct LeftOut {
    frames: Range<usize>,
    jump: Jump,
}

impl<'a> Stored<'a> {
    /// The text, without its middle if it is very long.
    pub(crate) fn new(text: &'a BlobReader) -> Result<Self, CommandError> {
        let frames = FRAMES..text.frame_count().saturating_sub(FRAMES);
        if frames.is_empty() {
            return Ok(Self { text, left_out: None });
        }
        let before = cut_after_line(&text.frame(frames.start - 1)?).len();
        let after = skip_line(&text.frame(frames.end)?);
        let next = frames.end as u64 * FRAME + after as u64;
        let at = (frames.start as u64 - 1) * FRAME + before as u64;
        let jump = Jump { at, line: text.line_ends_before(next)? + 1 };
        Ok(Self { text, left_out: Some(LeftOut { frames, jump }) })
    }

    /// The text, however long it is.
    pub(crate) fn whole(text: &'a BlobReader) -> Self {
        Self { text, left_out: None }
    }

    /// What is to be said of what was read.
    pub(crate) fn remark(&self) -> Option<String> {
        self.left_out.as_ref().map(|_| format!("facts and counts are of the first and the last {FRAMES} MiB"))
    }
}

/// A frame up to its last line end, if it has one.
fn cut_after_line(frame: &[u8]) -> &[u8] {
    frame.iter().rposition(|&byte| byte == b'\n').map_or(frame, |end| &frame[..=end])
}

/// How much of a frame belongs to a line that began before it.
fn skip_line(frame: &[u8]) -> usize {
    frame.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

impl Source for Stored<'_> {
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(Frames { stored: self, next: 0, frame: Vec::new(), read: 0 }))
    }

    fn bytes(&self) -> u64 {
        self.text.bytes()
    }

    fn jump(&self) -> Option<Jump> {
        self.left_out.as_ref().map(|left_out| left_out.jump)
    }
}

struct Frames<'a> {
    stored: &'a Stored<'a>,
    next: usize,
    frame: Vec<u8>,
    read: usize,
}

impl Frames<'_> {
    fn advance(&mut self) -> io::Result<()> {
        let text = self.stored.text;
        // The old one goes before the new one comes, so that there is never more than one.
        self.frame = Vec::new();
        self.frame = text.frame(self.next).map_err(io::Error::other)?;
        self.read = 0;
        self.next += 1;
        if let Some(LeftOut { frames, .. }) = &self.stored.left_out {
            if self.next == frames.start {
                let length = cut_after_line(&self.frame).len();
                self.frame.truncate(length);
                self.next = frames.end;
            } else if self.next == frames.end + 1 {
                self.read = skip_line(&self.frame);
            }
        }
        Ok(())
    }
}

impl BufRead for Frames<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.read == self.frame.len() && self.next < self.stored.text.frame_count() {
            self.advance()?;
        }
        Ok(&self.frame[self.read..])
    }

    fn consume(&mut self, amount: usize) {
        self.read = (self.read + amount).min(self.frame.len());
    }
}

impl Read for Frames<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut piece = self.fill_buf()?;
        let read = piece.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_often_as_one_likes() {
        let text = BlobReader::of(b"one\ntwo\n".to_vec());
        let source = Stored::new(&text).unwrap();
        for _ in 0..2 {
            let mut read = String::new();
            source.open().unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, "one\ntwo\n");
        }
        assert!(source.jump().is_none() && source.remark().is_none());
    }
}
