//! Reads JSON piece by piece, with numbers as written and with line numbers.
//!
//! `serde_json` does not suffice, because a digest shows numbers as they were written, reports the line on which a
//! record begins, and uses documents that are truncated or followed by other text. Invariants: memory does not depend
//! on the input, and every call advances.

mod call;

use std::io::{self, BufRead};

pub(super) use super::json_piece::Piece;
use super::json_piece::{WORDS, hashed};
use super::value::is_number;
use crate::Jump;

/// The maximum number of bytes kept of a string or a number by default.
pub(super) const MAX_TEXT_BYTES: usize = 4 << 10;
/// The maximum number of open objects and arrays. Deeper nesting counts as broken.
const MAX_DEPTH: usize = 256;

/// A consumer of the pieces of documents.
pub(super) trait PieceConsumer {
    /// Begins a document on this line, whether or not the last one was complete.
    fn begin(&mut self, line: u64);
    /// Receives the document verbatim, if it is one line of the output.
    fn raw(&mut self, _line: &str) {}
    fn piece(&mut self, piece: Piece, reader: &Reader<'_>);
    /// Receives the beginning of a string in which the input ends.
    fn cut(&mut self, _text: &str) {}
    /// Ends the document, which may be truncated.
    fn end(&mut self) {}
}

/// Reads the pieces of documents.
#[derive(Default)]
pub(super) struct Reader<'a> {
    input: Option<Box<dyn BufRead + 'a>>,
    /// Where the input leaves lines out.
    pub jump: Option<Jump>,
    /// How many bytes of the input were taken.
    read: u64,
    buffer: Vec<u8>,
    place: usize,
    /// The current line, from 1.
    pub line: u64,
    /// The text of the last piece, up to the limit.
    pub text: String,
    /// The maximum number of bytes kept of a string or a number; 4 KiB by default.
    pub limit: usize,
    /// The full length of the text, and the hash of what is not kept of it.
    pub length: usize,
    pub rest: u64,
    raw: Vec<u8>,
    /// For each open object or array, whether it is an object.
    open: Vec<bool>,
    state: ReaderState,
    /// Whether a byte was requested after the end of the input.
    at_end: bool,
    /// Whether the last piece is broken only because the input ends here: with more input, it might be valid.
    pub cut: bool,
    /// Whether lists and dictionaries as Python prints them are accepted. The first key decides.
    pub lenient: bool,
    pub python: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum ReaderState {
    /// Before a document.
    #[default]
    Begin,
    Value,
    /// The first value of an array follows, or its end.
    First,
    /// A key follows, or the end of the object.
    Name,
    After,
    /// After the document.
    Done,
}

impl<'a> Reader<'a> {
    pub(super) fn of(input: Box<dyn BufRead + 'a>) -> Self {
        Self { input: Some(input), ..Self::on(b"") }
    }

    pub(super) fn on(bytes: &[u8]) -> Self {
        Self { buffer: bytes.to_vec(), line: 1, limit: MAX_TEXT_BYTES, ..Self::default() }
    }

    /// Starts again with these bytes, which are from this line.
    pub(super) fn restart(&mut self, bytes: &[u8], line: u64) {
        self.buffer.clear();
        self.buffer.extend_from_slice(bytes);
        self.place = 0;
        self.line = line;
        self.cut = false;
        self.begin();
    }

    pub(super) fn begin(&mut self) {
        self.open.clear();
        self.state = ReaderState::Begin;
    }

    /// Returns the first byte that is not blank, without taking it.
    pub(super) fn ahead(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.step(),
                Some(0x1b) => self.terminal_code()?,
                // The byte order mark that some programs write before a document.
                Some(0xef) if self.line == 1 => self.step(),
                Some(0xbb | 0xbf) if self.line == 1 => self.step(),
                other => return Ok(other),
            }
        }
    }

    /// Skips the rest of this line, and returns its beginning.
    pub(super) fn rest_of_line(&mut self) -> io::Result<String> {
        self.raw.clear();
        while let Some(byte) = self.peek()? {
            self.step();
            if byte == b'\n' {
                break;
            }
            if self.raw.len() < MAX_TEXT_BYTES {
                self.raw.push(byte);
            }
        }
        Ok(String::from_utf8_lossy(&weir_core::terminal::clean(&self.raw)).trim_end_matches(['\r', '\n']).to_owned())
    }

    pub(super) fn next(&mut self) -> io::Result<Piece> {
        self.at_end = false;
        let piece = self.piece()?;
        self.cut = piece == Piece::Broken && self.at_end;
        Ok(piece)
    }

    fn piece(&mut self) -> io::Result<Piece> {
        if self.state == ReaderState::Done {
            return Ok(Piece::End);
        }
        let Some(byte) = self.ahead()? else { return Ok(Piece::Broken) };
        match (self.state, byte) {
            (ReaderState::First, b']') | (ReaderState::Name, b'}') => self.close(),
            (ReaderState::Name, b'"' | b'\'') if byte == b'"' || self.lenient => self.key(byte),
            (ReaderState::After, _) => self.after(byte),
            (ReaderState::Begin | ReaderState::Value | ReaderState::First, _) => self.value(byte),
            _ => Ok(Piece::Broken),
        }
    }

    pub(super) fn taken(&self) -> usize {
        self.place
    }

    fn key(&mut self, quote: u8) -> io::Result<Piece> {
        self.python |= quote == b'\'';
        if !self.string(quote)? || self.ahead()? != Some(b':') {
            return Ok(Piece::Broken);
        }
        self.step();
        self.state = ReaderState::Value;
        Ok(Piece::Key)
    }

    fn after(&mut self, byte: u8) -> io::Result<Piece> {
        match (byte, self.open.last()) {
            (b',', Some(true)) => self.state = ReaderState::Name,
            // A trailing comma is accepted.
            (b',', Some(false)) => self.state = ReaderState::First,
            (b'}', Some(true)) | (b']', Some(false)) => return self.close(),
            _ => return Ok(Piece::Broken),
        }
        self.step();
        self.piece()
    }

    fn close(&mut self) -> io::Result<Piece> {
        self.step();
        self.open.pop();
        self.ended();
        Ok(Piece::Close)
    }

    fn ended(&mut self) {
        self.state = if self.open.is_empty() { ReaderState::Done } else { ReaderState::After };
    }

    fn value(&mut self, byte: u8) -> io::Result<Piece> {
        match byte {
            b'{' | b'[' => {
                if self.open.len() >= MAX_DEPTH {
                    return Ok(Piece::Broken);
                }
                self.step();
                self.open.push(byte == b'{');
                self.state = if byte == b'{' { ReaderState::Name } else { ReaderState::First };
                Ok(if byte == b'{' { Piece::Object } else { Piece::Array })
            }
            b'"' | b'\'' if byte == b'"' || self.python => {
                let whole = self.string(byte)?;
                self.ended();
                Ok(if whole { Piece::Text } else { Piece::Broken })
            }
            _ => self.word(),
        }
    }

    fn word(&mut self) -> io::Result<Piece> {
        self.text.clear();
        (self.length, self.rest) = (0, 0);
        while let Some(byte) = self.peek()? {
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.') || (byte == b'_' && self.python)) {
                break;
            }
            self.step();
            self.length += 1;
            if self.text.len() < self.limit {
                self.text.push(char::from(byte));
            }
        }
        if self.python && self.peek()? == Some(b'(') {
            return self.call();
        }
        self.ended();
        let text = self.text.as_str();
        if WORDS.contains(&text) {
            return Ok(Piece::Word);
        }
        if is_number(text) {
            return Ok(Piece::Number);
        }
        // A text that no word begins with is broken, whatever follows.
        self.at_end &= WORDS.iter().any(|word| word.starts_with(text));
        Ok(Piece::Broken)
    }

    /// Reads a string into the text. Returns whether it is terminated.
    fn string(&mut self, quote: u8) -> io::Result<bool> {
        self.step();
        self.raw.clear();
        (self.length, self.rest) = (0, 0);
        loop {
            if !self.refill()? {
                self.take_text();
                return Ok(false);
            }
            let rest = self.buffer.get(self.place..).unwrap_or_default();
            let end = memchr::memchr2(quote, b'\\', rest);
            let plain = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let used = plain.len();
            let lines = memchr::memchr_iter(b'\n', plain).count() as u64;
            let room = self.limit.saturating_sub(self.raw.len()).min(used);
            let (plain, beyond) = plain.split_at(room);
            self.raw.extend_from_slice(plain);
            self.rest = hashed(self.rest, beyond);
            self.length += used;
            self.line += lines;
            self.place += used;
            match end.and_then(|_| self.buffer.get(self.place).copied()) {
                Some(byte) if byte == quote => {
                    self.place += 1;
                    break;
                }
                Some(_) => {
                    self.place += 1;
                    self.escape()?;
                }
                None => {}
            }
        }
        self.take_text();
        Ok(true)
    }

    /// Makes what was read of a string the text.
    fn take_text(&mut self) {
        self.text.clear();
        match std::str::from_utf8(&self.raw) {
            Ok(text) => self.text.push_str(text),
            Err(_) => self.text.push_str(&String::from_utf8_lossy(&self.raw)),
        }
    }

    fn escape(&mut self) -> io::Result<()> {
        let Some(byte) = self.peek()? else { return Ok(()) };
        self.step();
        let plain = match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => return self.code(),
            other => char::from(other),
        };
        self.push(plain);
        Ok(())
    }

    /// Reads `\u0041`, or a surrogate pair.
    fn code(&mut self) -> io::Result<()> {
        let first = self.hex()?;
        let mut code = first;
        if (0xd800..0xdc00).contains(&first) && self.peek()? == Some(b'\\') {
            self.step();
            if self.peek()? != Some(b'u') {
                return self.escape();
            }
            self.step();
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            }
        }
        self.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn hex(&mut self) -> io::Result<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek()?.and_then(|byte| char::from(byte).to_digit(16)) else { break };
            self.step();
            code = code * 16 + digit;
        }
        Ok(code)
    }

    fn push(&mut self, c: char) {
        self.length += c.len_utf8();
        let mut bytes = [0; 4];
        let bytes = c.encode_utf8(&mut bytes).as_bytes();
        if self.raw.len() < self.limit {
            self.raw.extend_from_slice(bytes);
        } else {
            self.rest = hashed(self.rest, bytes);
        }
    }

    /// Skips `ESC [ 3 1 m`: some programs colour what they print.
    fn terminal_code(&mut self) -> io::Result<()> {
        self.step();
        if self.peek()? != Some(b'[') {
            return Ok(());
        }
        self.step();
        while let Some(byte) = self.peek()? {
            self.step();
            if byte.is_ascii_alphabetic() || byte == b'\n' {
                break;
            }
        }
        Ok(())
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        if let Some(&byte) = self.buffer.get(self.place) {
            return Ok(Some(byte));
        }
        self.refill()?;
        Ok(self.buffer.get(self.place).copied())
    }

    fn step(&mut self) {
        if self.buffer.get(self.place) == Some(&b'\n') {
            self.line += 1;
        }
        self.place += 1;
    }

    /// Refills the buffer if all of it was read. Returns whether there are bytes to read.
    fn refill(&mut self) -> io::Result<bool> {
        if self.place >= self.buffer.len() {
            let Some(input) = &mut self.input else {
                self.at_end = true;
                return Ok(false);
            };
            if let Some(jump) = self.jump.take_if(|jump| jump.at == self.read) {
                self.line = jump.line;
            }
            let piece = input.fill_buf()?;
            // A source may return everything at once. Taking it in pieces, each on one side of a jump, keeps the buffer
            // small.
            let most = self.jump.map_or(u64::MAX, |jump| jump.at.saturating_sub(self.read)).min(64 << 10);
            let used = piece.len().min(most as usize);
            self.read += used as u64;
            self.buffer.clear();
            self.buffer.extend_from_slice(piece.get(..used).unwrap_or_default());
            input.consume(used);
            self.place = 0;
        }
        self.at_end |= self.place >= self.buffer.len();
        Ok(self.place < self.buffer.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> String {
        let mut reader = Reader::on(text.as_bytes());
        let mut found = String::new();
        for _ in 0..100 {
            let piece = reader.next().unwrap();
            match piece {
                Piece::Object => found.push('{'),
                Piece::Array => found.push('['),
                Piece::Close => found.push(')'),
                Piece::Key => found.push_str(&format!("{}:", reader.text)),
                Piece::Text => found.push_str(&format!("'{}' ", reader.text)),
                Piece::Number | Piece::Word => found.push_str(&format!("{} ", reader.text)),
                Piece::End => return found + ".",
                Piece::Broken => return format!("{found}! cut {}", reader.cut),
            }
        }
        found
    }

    #[test]
    fn documents_are_read() {
        for (text, expected) in [
            (r#"{"a": [1, -2.50, {"b": null}], "c\n": "\u00e4\ud83d\ude00"}"#, "{a:[1 -2.50 {b:null ))c\n:'ä😀' )."),
            ("[1, 2,]", "[1 2 )."),
            ("\x1b[1m[\x1b[0m true\x1b[31m]", "[true )."),
            ("7 8", "7 ."),
            (r#"{"a": [1, "two"#, "{a:[1 ! cut true"),
            (r#"{"a" 1}"#, "{! cut false"),
            ("[1}", "[1 ! cut false"),
            ("[x]", "[! cut false"),
            ("[x", "[! cut false"),
            ("[nul", "[! cut true"),
            ("[true!", "[true ! cut false"),
            (r#"{"a"  "#, "{! cut true"),
        ] {
            assert_eq!(pieces(text), expected, "{text}");
        }
    }

    #[test]
    fn a_document_that_ends_anywhere_is_cut_and_never_wrong() {
        let documents = [
            r#"{"a": [1, -2.50e+3, {"b": null}], "c\n": "\u00e4\ud83d\ude00ä😀", "t": true, "f": false}"#,
            "[\n  {\n    \"id\": 17,\n    \"name\": \"x \\\" y\"\n  },\n  [],\n  {},\n  -Infinity, NaN\n]\n",
            "\u{feff}\x1b[1m[\x1b[0m true\x1b[31m, null ]",
        ];
        for document in documents {
            assert!(pieces(document).ends_with('.'), "{document}");
            let end = document.trim_end().len();
            for length in 0..end {
                let prefix = document.as_bytes().get(..length).unwrap();
                // The same bytes at once, and one at a time.
                let small = io::BufReader::with_capacity(1, prefix);
                for mut reader in [Reader::on(prefix), Reader::of(Box::new(small))] {
                    let last = loop {
                        if let piece @ (Piece::End | Piece::Broken) = reader.next().unwrap() {
                            break piece;
                        }
                    };
                    assert!(last == Piece::Broken && reader.cut, "{length} bytes of {document}");
                }
            }
        }
    }
}
