//! Reads chunks back from the texts they are spans of.
//!
//! Invariant: memory is bounded by one frame and one chunk, and reading the chunks of an entry in order cleans its text
//! once.

use weir_core::terminal::Cleaner;

use crate::blobs::{BlobReader, FRAME_BYTES};
use crate::error::Result;

/// How much of the stored text is cleaned at a time, in bytes. Most chunks are shorter.
const PIECE_BYTES: usize = 8 << 10;

/// Where a chunk is in its entry's text. The text is stored as it was written, and a chunk is cut from what a terminal
/// would show of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// The position in the stored text from which it is cleaned: the beginning of a line.
    pub(super) anchor: u64,
    /// How many bytes of the cleaned text to pass over.
    pub(super) skip: u64,
    /// The length of the chunk in the cleaned text.
    pub(super) bytes: u64,
}

/// The text of an entry, from which its chunks are read.
pub(super) struct Bodies {
    reader: BlobReader,
    /// The frame that was read last, with its number.
    frame: Option<(usize, Vec<u8>)>,
    window: Window,
}

/// The part of the cleaned text that was read last.
#[derive(Default)]
struct Window {
    anchor: u64,
    /// Number of bytes of the cleaned text that were passed over.
    passed: u64,
    /// The position in the stored text that was read up to.
    at: u64,
    text: Vec<u8>,
    /// `None` at the end of the text.
    cleaner: Option<Cleaner>,
}

impl Window {
    fn new(anchor: u64) -> Self {
        Self { anchor, at: anchor, cleaner: Some(Cleaner::new()), ..Self::default() }
    }

    /// Returns whether a span can be reached by reading on.
    fn is_before(&self, span: Span) -> bool {
        self.cleaner.is_some() && self.anchor == span.anchor && self.passed <= span.skip
    }

    /// Drops what comes before a position in the cleaned text.
    fn pass_to(&mut self, skip: u64) {
        let passed = self.text.len().min((skip - self.passed) as usize);
        self.text.drain(..passed);
        self.passed += passed as u64;
    }
}

impl Bodies {
    pub(super) fn new(reader: BlobReader) -> Self {
        Self { reader, frame: None, window: Window::default() }
    }

    pub(super) fn read(&mut self, span: Span) -> Result<String> {
        if !self.window.is_before(span) {
            self.window = Window::new(span.anchor);
        }
        self.window.pass_to(span.skip);
        while self.window.passed < span.skip || (self.window.text.len() as u64) < span.bytes {
            if !self.read_on()? {
                break;
            }
            self.window.pass_to(span.skip);
        }
        let length = self.window.text.len().min(span.bytes as usize);
        Ok(readable(&self.window.text[..length]))
    }

    /// Cleans the next piece of the stored text. Returns false at its end.
    fn read_on(&mut self) -> Result<bool> {
        let Some(mut cleaner) = self.window.cleaner.take() else { return Ok(false) };
        let at = self.window.at;
        if at >= self.reader.bytes() {
            cleaner.finish(&mut self.window.text);
            return Ok(true);
        }
        let number = if self.reader.frame_count() == 1 { 0 } else { (at / FRAME_BYTES as u64) as usize };
        let frame = match self.frame.take().filter(|(known, _)| *known == number) {
            Some((_, frame)) => frame,
            None => self.reader.frame(number)?,
        };
        let from = (at - number as u64 * FRAME_BYTES as u64) as usize;
        let piece = frame.get(from..(from + PIECE_BYTES).min(frame.len())).unwrap_or_default();
        let is_short = piece.is_empty();
        cleaner.push(piece, &mut self.window.text);
        self.window.at += piece.len() as u64;
        self.frame = Some((number, frame));
        if is_short {
            return Ok(false);
        }
        self.window.cleaner = Some(cleaner);
        Ok(true)
    }
}

/// Makes text valid and readable: without control characters that could move a cursor or be taken for our marks.
pub(super) fn readable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if !text.as_bytes().iter().any(|&byte| (byte < b' ' && byte != b'\n' && byte != b'\t') || byte >= 0x7f) {
        return text.into_owned();
    }
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_core::chunk::Form;

    use super::*;
    use crate::blobs::Blobs;
    use crate::error::StoreError;
    use crate::index::text;

    /// Text as programs print it: words, lines, colours, progress bars, and bytes that are not text.
    fn printed() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            6 => "[a-z]{1,12} ".prop_map(String::into_bytes),
            3 => Just(b"\n".to_vec()),
            1 => Just(b"\r".to_vec()),
            1 => Just(b"\x1b[31m".to_vec()),
            1 => Just(b"\x1b]0;a title".to_vec()),
            1 => Just(b"\x08".to_vec()),
            1 => Just(vec![0xff, 0xfe]),
            1 => Just("ümläut 検索 ".as_bytes().to_vec()),
            1 => Just(b"# a heading\n\n".to_vec()),
            1 => (1_usize..90_000).prop_map(|length| b"long ".repeat(length / 5)),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    fn chunks(text: &[u8], form: Form) -> Vec<(Span, String)> {
        let reader = BlobReader::of(text.to_vec());
        let mut chunks = Vec::new();
        for part in text::parts(&reader).unwrap() {
            let give = |chunk: text::Chunk<'_>| -> Result<(), StoreError> {
                chunks.push((chunk.span, readable(chunk.text)));
                Ok(())
            };
            part.each_chunk(form, give).unwrap();
        }
        chunks
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_chunk_is_read_back_as_it_was_cut(text in printed()) {
            for form in [Form::Markdown, Form::Plain] {
                let chunks = chunks(&text, form);
                let mut bodies = Bodies::new(BlobReader::of(text.clone()));
                // In order, as they are embedded, and each on its own, as hits are shown.
                for (span, body) in &chunks {
                    prop_assert_eq!(&bodies.read(*span).unwrap(), body);
                }
                for (span, body) in chunks.iter().rev() {
                    prop_assert_eq!(&bodies.read(*span).unwrap(), body);
                }
            }
        }
    }

    #[test]
    fn a_text_of_many_frames_is_read_back() {
        let text: Vec<u8> = (0..200_000).flat_map(|n| format!("line {n} of it\n").into_bytes()).collect();
        let folder = tempfile::tempdir().unwrap();
        let staged = Blobs::new(folder.path().to_owned()).stage(&text).unwrap();
        let mut bodies = Bodies::new(staged.reader().unwrap());
        for (span, body) in chunks(&text, Form::Plain).into_iter().step_by(97) {
            assert_eq!(bodies.read(span).unwrap(), body);
        }
    }
}
