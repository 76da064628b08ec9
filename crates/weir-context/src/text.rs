//! Reads a stored text for the digests: from its beginning, frame by frame, or only both ends of a very long one.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::{self, BufRead, Read};
use std::ops::Range;

use weir_core::terminal;
use weir_digest::{Jump, Source};
use weir_host::error::CommandError;
use weir_store::{BlobReader, StoreError};

/// How many frames of one MiB are read at each end of a text that has more than twice as many. Reading a whole gibibyte
/// would take too long.
const FRAMES_PER_END: usize = 4;
const FRAME_BYTES: u64 = 1 << 20;

/// A stored text that is to be digested.
pub struct StoredTextSource<'a> {
    text: &'a BlobReader,
    /// The frames left out in the middle. Reading continues after the first line end behind them.
    left_out: Option<OmittedFrames>,
    /// The cached frame of a text with only one frame, since a digest reads its text several times.
    only: OnceCell<Vec<u8>>,
}

struct OmittedFrames {
    frames: Range<usize>,
    jump: Jump,
}

impl<'a> StoredTextSource<'a> {
    /// Returns a reader that skips the middle of a very long text.
    pub fn new(text: &'a BlobReader) -> Result<Self, CommandError> {
        let frames = FRAMES_PER_END..text.frame_count().saturating_sub(FRAMES_PER_END);
        if frames.is_empty() {
            return Ok(Self::whole(text));
        }
        let before = cut_after_line(&text.frame(frames.start - 1)?).len();
        let after = skip_line(&text.frame(frames.end)?);
        let next = frames.end as u64 * FRAME_BYTES + after as u64;
        let at = (frames.start as u64 - 1) * FRAME_BYTES + before as u64;
        let jump = Jump { at, line: text.line_ends_before(next)? + 1 };
        Ok(Self { left_out: Some(OmittedFrames { frames, jump }), ..Self::whole(text) })
    }

    /// Returns a reader of the complete text, however long it is.
    pub fn whole(text: &'a BlobReader) -> Self {
        Self { text, left_out: None, only: OnceCell::new() }
    }

    pub fn lines(&self) -> Result<u64, CommandError> {
        match self.has_one_frame() {
            // The last line may lack its end.
            true => Ok(self.frame(0)?.split_inclusive(|&byte| byte == b'\n').count() as u64),
            false => Ok(self.text.line_count()?),
        }
    }

    /// Returns a remark about the parts that were not read.
    pub fn remark(&self) -> Option<String> {
        self.left_out.as_ref().map(|_| format!("facts and counts cover only the first and last {FRAMES_PER_END} MiB"))
    }

    fn has_one_frame(&self) -> bool {
        self.text.frame_count() == 1 && self.text.bytes() <= FRAME_BYTES
    }

    fn frame(&self, number: usize) -> Result<Cow<'_, [u8]>, StoreError> {
        if !self.has_one_frame() {
            return self.text.frame(number).map(Cow::Owned);
        }
        if let Some(frame) = self.only.get() {
            return Ok(Cow::Borrowed(frame));
        }
        let frame = self.text.frame(number)?;
        Ok(Cow::Borrowed(self.only.get_or_init(|| frame)))
    }
}

/// Converts a failure to read a stored text.
pub fn unreadable(error: io::Error) -> CommandError {
    CommandError::broken(&format!("cannot read the stored text: {error}"))
}

/// The beginning and the end of a text that is not in the store.
pub struct ExcerptedEnds {
    /// The text to show, with a line between the two ends that says how much is left out.
    pub text: String,
    pub whole: bool,
}

/// Cuts a text to a number of tokens: returns all of it if it fits, otherwise its beginning and its end.
pub fn ends(text: &BlobReader, tokens: usize) -> Result<ExcerptedEnds, CommandError> {
    // An upper estimate: a token has at least one byte, and a few on average.
    const BYTES_PER_TOKEN: u64 = 6;
    let (bytes, room) = (text.bytes(), tokens as u64 * BYTES_PER_TOKEN);
    let read =
        |range| -> Result<String, CommandError> { Ok(String::from_utf8_lossy(&text.range(range)?).into_owned()) };
    let shown = |text: &str| terminal::shown(text.as_bytes()).into_owned();
    if bytes <= room {
        let all = shown(&read(0..bytes)?);
        if weir_tokens::count(&all) <= tokens {
            return Ok(ExcerptedEnds { text: all, whole: true });
        }
    }
    let head = read(0..bytes.min(room / 2))?;
    let head = &head[..weir_tokens::fit(&head, tokens / 2)];
    let tail = read(bytes.saturating_sub(room / 2).max(head.len() as u64)..bytes)?;
    let mut tail = tail.as_str();
    while weir_tokens::count(tail) > tokens / 2 {
        tail = &tail[tail.ceil_char_boundary(tail.len() / 8 + 1)..];
    }
    let (head, tail) = (head.trim_end(), tail.trim_start());
    // Replacement characters have other lengths than the bytes they replace, so the number of bytes left out is
    // unknown.
    let line = match head.contains('\u{fffd}') || tail.contains('\u{fffd}') {
        true => "… middle left out …".to_owned(),
        false => format!("… {} bytes left out …", bytes - (head.len() + tail.len()) as u64),
    };
    Ok(ExcerptedEnds { text: format!("{}\n{line}\n{}", shown(head), shown(tail)), whole: false })
}

fn cut_after_line(frame: &[u8]) -> &[u8] {
    frame.iter().rposition(|&byte| byte == b'\n').map_or(frame, |end| &frame[..=end])
}

/// Returns how many bytes of a frame belong to a line that began before it.
fn skip_line(frame: &[u8]) -> usize {
    frame.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

impl Source for StoredTextSource<'_> {
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(Frames { stored: self, next: 0, frame: Cow::Borrowed(&[]), read: 0 }))
    }

    fn bytes(&self) -> u64 {
        self.text.bytes()
    }

    fn jump(&self) -> Option<Jump> {
        self.left_out.as_ref().map(|left_out| left_out.jump)
    }
}

struct Frames<'a> {
    stored: &'a StoredTextSource<'a>,
    next: usize,
    frame: Cow<'a, [u8]>,
    read: usize,
}

impl Frames<'_> {
    fn advance(&mut self) -> io::Result<()> {
        // The old frame is dropped before the new one is read, so that at most one is in memory.
        self.frame = Cow::Borrowed(&[]);
        self.frame = self.stored.frame(self.next).map_err(io::Error::other)?;
        self.read = 0;
        self.next += 1;
        if let Some(OmittedFrames { frames, .. }) = &self.stored.left_out {
            if self.next == frames.start {
                let length = cut_after_line(&self.frame).len();
                self.frame.to_mut().truncate(length);
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
        let source = StoredTextSource::new(&text).unwrap();
        for _ in 0..2 {
            let mut read = String::new();
            source.open().unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, "one\ntwo\n");
        }
        assert!(source.jump().is_none() && source.remark().is_none());
    }

    #[test]
    fn a_text_of_one_frame_is_inflated_once() {
        let text = BlobReader::of("a line\n".repeat(14_000).into_bytes());
        let source = StoredTextSource::new(&text).unwrap();
        assert_eq!(source.lines().unwrap(), 14_000);
        let counted = source.only.get().map(Vec::as_ptr);
        // Both are open at the same time, so two copies would have two addresses.
        let (mut first, mut second) = (source.open().unwrap(), source.open().unwrap());
        assert_eq!(Some(first.fill_buf().unwrap().as_ptr()), counted);
        assert_eq!(Some(second.fill_buf().unwrap().as_ptr()), counted);
    }

    #[test]
    fn a_longer_text_is_not_held() {
        let text = BlobReader::of(vec![b'\n'; FRAME_BYTES as usize + 1]);
        let source = StoredTextSource::new(&text).unwrap();
        assert_eq!(source.lines().unwrap(), FRAME_BYTES + 1);
        assert_eq!(io::copy(&mut source.open().unwrap(), &mut io::sink()).unwrap(), FRAME_BYTES + 1);
        assert!(source.only.get().is_none());
    }
}
