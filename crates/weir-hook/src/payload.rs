//! Reads the payload that a client sends. Invariant: memory is bounded for any input; a long text goes to an unnamed
//! file, and none of it is lost.

mod tree;

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::Value;
use weir_clients::{LongString, LongText, Piece, Text, json};

use tree::PlacedText;

/// A text of more bytes than this, as JSON escapes it, is written to a file.
const MAX_INLINE_BYTES: usize = 1 << 20;
/// The maximum size of everything else together, in bytes.
const MAX_PAYLOAD_BYTES: usize = 16 << 20;
/// The maximum number of long texts, whose beginnings and ends are in memory.
const MAX_LONG_TEXTS: usize = 128;
/// How many bytes of the beginning of a long text are kept in memory, and how many of its end. JSON escapes a byte with
/// at most six, so the two do not overlap.
const EXCERPT_BYTES: usize = 64 << 10;

pub(crate) struct Payload {
    /// The complete payload, except that long texts are cut to their beginnings and ends.
    pub value: Value,
    long: Vec<PlacedText>,
    /// The file that contains them, one after the other.
    file: Option<File>,
}

impl Payload {
    /// Reads a payload to its end. A file for long texts is created in `folder`.
    pub(crate) fn read(input: &mut dyn Read, folder: &Path) -> io::Result<Self> {
        let mut scan = Scan { folder, kept: Vec::new(), strings: 0, string: None, long: Vec::new(), file: None };
        let mut buffer = vec![0; 64 << 10];
        loop {
            match input.read(&mut buffer)? {
                0 => break,
                read => scan.take(&buffer[..read])?,
            }
        }
        let Scan { kept, long, file, .. } = scan;
        let parsed = match long.is_empty() {
            true => json::parse(&kept).map(|value| (value, Vec::new())),
            false => tree::parse(json::repaired(&kept).as_bytes(), long),
        };
        let (value, long) = parsed.map_err(|error| io::Error::other(format!("invalid JSON: {error}")))?;
        let file = file.map(BufWriter::into_inner).transpose().map_err(io::IntoInnerError::into_error)?;
        Ok(Self { value, long, file })
    }

    /// Returns a payload without content, for a text that did not come in one.
    pub(crate) fn empty() -> Self {
        Self { value: Value::Null, long: Vec::new(), file: None }
    }

    pub(crate) fn long_strings(&self) -> Vec<LongString<'_>> {
        self.long.iter().filter_map(|placed| placed.find(&self.value)).collect()
    }

    /// Passes on a text of the payload piece by piece.
    pub(crate) fn write(&self, text: &Text, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let pieces = match text {
            Text::Here(text) => return to(text.as_bytes()),
            Text::Long(pieces) => pieces,
        };
        for piece in pieces {
            match piece {
                Piece::Here(text) => to(text.as_bytes())?,
                Piece::Long(long) => {
                    let mut file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
                    file.seek(SeekFrom::Start(long.range.start))?;
                    copy(&mut file.take(long.bytes()), to)?;
                }
            }
        }
        Ok(())
    }

    /// Returns about `most` bytes from the beginning of a text of the payload.
    pub(crate) fn beginning(&self, text: &Text, most: usize) -> String {
        if let Some(text) = text.here() {
            return text[..text.floor_char_boundary(most)].to_owned();
        }
        let mut found = Vec::new();
        // An error only ends the copying early.
        let _ = self.write(text, &mut |bytes| {
            found.extend_from_slice(&bytes[..bytes.len().min(most - found.len())]);
            if found.len() < most { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
        });
        String::from_utf8_lossy(&found).into_owned()
    }
}

pub(crate) fn copy(from: &mut dyn Read, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => to(&buffer[..read])?,
        }
    }
}

/// A scanner of incoming JSON that only tracks where strings begin and end.
struct Scan<'a> {
    folder: &'a Path,
    kept: Vec<u8>,
    /// The number of strings so far, names of fields included.
    strings: usize,
    string: Option<InString>,
    /// The long texts, each with its number among the strings.
    long: Vec<(usize, LongText)>,
    /// The file for long texts, except while a string is written to it.
    file: Option<BufWriter<File>>,
}

struct InString {
    /// Where the string begins in the bytes kept.
    begin: usize,
    /// Whether the next character is escaped.
    escaped: bool,
    /// The writer to the file, once the string is long.
    file: Option<Unescape>,
}

impl Scan<'_> {
    fn take(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            bytes = match self.string.take() {
                None => self.outside(bytes)?,
                Some(string) => self.inside(string, bytes)?,
            };
        }
        Ok(())
    }

    fn outside<'b>(&mut self, bytes: &'b [u8]) -> io::Result<&'b [u8]> {
        let end = bytes.iter().position(|&byte| byte == b'"').map_or(bytes.len(), |at| at + 1);
        self.keep(&bytes[..end])?;
        if bytes[end - 1] == b'"' {
            self.string = Some(InString { begin: self.kept.len(), escaped: false, file: None });
        }
        Ok(&bytes[end..])
    }

    fn inside<'b>(&mut self, mut string: InString, bytes: &'b [u8]) -> io::Result<&'b [u8]> {
        let mut end = None;
        for (at, &byte) in bytes.iter().enumerate() {
            match (string.escaped, byte) {
                (true, _) => string.escaped = false,
                (false, b'\\') => string.escaped = true,
                (false, b'"') => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let text = &bytes[..end.unwrap_or(bytes.len())];
        match &mut string.file {
            Some(file) => file.take(text)?,
            None => self.keep(text)?,
        }
        if string.file.is_none() && self.kept.len() - string.begin > MAX_INLINE_BYTES {
            let mut file = Unescape::new(self.long_file()?)?;
            file.take(&self.kept[string.begin..])?;
            self.kept.truncate(string.begin);
            string.file = Some(file);
        }
        let Some(end) = end else {
            self.string = Some(string);
            return Ok(&[]);
        };
        if let Some(file) = string.file {
            let (text, file) = file.finish()?;
            self.long.push((self.strings, text));
            self.file = Some(file);
        }
        self.strings += 1;
        self.keep(b"\"")?;
        Ok(&bytes[end + 1..])
    }

    fn long_file(&mut self) -> io::Result<BufWriter<File>> {
        if self.long.len() == MAX_LONG_TEXTS {
            return Err(io::Error::other(format!("more than {MAX_LONG_TEXTS} long texts")));
        }
        match self.file.take() {
            Some(file) => Ok(file),
            None => Ok(BufWriter::with_capacity(64 << 10, nameless_file(self.folder)?)),
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.kept.len() + bytes.len() > MAX_PAYLOAD_BYTES {
            return Err(io::Error::other(format!(
                "more than {} MiB of JSON besides long texts",
                MAX_PAYLOAD_BYTES >> 20
            )));
        }
        self.kept.extend_from_slice(bytes);
        Ok(())
    }
}

/// Creates a file that no other process can find and that disappears with this process. Its name is random until it is
/// unlinked, since containers that share a home folder may have processes with the same ID.
fn nameless_file(folder: &Path) -> io::Result<File> {
    let path = folder.join(format!(".long-{:016x}", getrandom::u64().map_err(io::Error::other)?));
    let file = weir_store::private::options().read(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Writes the text of a JSON string to a file, unescaped.
struct Unescape {
    file: BufWriter<File>,
    begin: u64,
    bytes: u64,
    /// An incomplete escape sequence.
    open: Vec<u8>,
    /// The first half of a surrogate pair.
    high: Option<u16>,
}

impl Unescape {
    /// Begins at the end of the file, which is where it stands.
    fn new(mut file: BufWriter<File>) -> io::Result<Self> {
        let begin = file.stream_position()?;
        Ok(Self { file, begin, bytes: 0, open: Vec::new(), high: None })
    }

    fn take(&mut self, mut raw: &[u8]) -> io::Result<()> {
        while let Some(&byte) = raw.first() {
            if self.open.is_empty() && byte != b'\\' {
                let end = raw.iter().position(|&byte| byte == b'\\').unwrap_or(raw.len());
                self.half_is_lost()?;
                self.put(&raw[..end])?;
                raw = &raw[end..];
                continue;
            }
            self.open.push(byte);
            raw = &raw[1..];
            self.close_escape()?;
        }
        Ok(())
    }

    fn close_escape(&mut self) -> io::Result<()> {
        let plain = match self.open.as_slice() {
            [b'\\'] => return Ok(()),
            [b'\\', b'u', digits @ ..] if digits.len() < 4 => return Ok(()),
            [b'\\', b'u', digits @ ..] => {
                let code = std::str::from_utf8(digits).ok().and_then(|digits| u16::from_str_radix(digits, 16).ok());
                self.open.clear();
                return self.unit(code.unwrap_or(0xFFFD));
            }
            [b'\\', b'n'] => b"\n",
            [b'\\', b't'] => b"\t",
            [b'\\', b'r'] => b"\r",
            [b'\\', b'b'] => b"\x08",
            [b'\\', b'f'] => b"\x0c",
            [.., b'"'] => b"\"",
            [.., b'/'] => b"/",
            _ => b"\\",
        };
        self.open.clear();
        self.half_is_lost()?;
        self.put(plain)
    }

    /// Writes one UTF-16 code unit.
    fn unit(&mut self, code: u16) -> io::Result<()> {
        match (self.high.take(), code) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let point = 0x10000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(code) - 0xDC00);
                self.put_char(char::from_u32(point))
            }
            (high, 0xD800..=0xDBFF) => {
                self.high = high;
                self.half_is_lost()?;
                self.high = Some(code);
                Ok(())
            }
            (high, code) => {
                self.high = high;
                self.half_is_lost()?;
                self.put_char(char::from_u32(code.into()))
            }
        }
    }

    fn half_is_lost(&mut self) -> io::Result<()> {
        match self.high.take() {
            Some(_) => self.put_char(None),
            None => Ok(()),
        }
    }

    fn put_char(&mut self, char: Option<char>) -> io::Result<()> {
        self.put(char.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn put(&mut self, text: &[u8]) -> io::Result<()> {
        self.bytes += text.len() as u64;
        self.file.write_all(text)
    }

    /// Returns the text and the file, which stands at its end again.
    fn finish(mut self) -> io::Result<(LongText, BufWriter<File>)> {
        self.half_is_lost()?;
        let range = self.begin..self.begin + self.bytes;
        let mut excerpt = vec![0; usize::try_from(self.bytes).unwrap_or(usize::MAX).min(EXCERPT_BYTES)];
        self.file.seek(SeekFrom::Start(range.start))?;
        self.file.get_mut().read_exact(&mut excerpt)?;
        let head = text_at_start(&excerpt).to_owned();
        self.file.seek(SeekFrom::Start(range.end - excerpt.len() as u64))?;
        self.file.get_mut().read_exact(&mut excerpt)?;
        let tail = text_at_end(&excerpt).to_owned();
        Ok((LongText { range, head, tail }, self.file))
    }
}

fn text_at_start(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

fn text_at_end(mut bytes: &[u8]) -> &str {
    loop {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => return text,
            Err(error) => error,
        };
        let rest = &bytes[error.valid_up_to()..];
        bytes = &rest[error.error_len().unwrap_or(rest.len())..];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(json: &[u8]) -> io::Result<Payload> {
        let folder = tempfile::tempdir().unwrap();
        Payload::read(&mut &*json, folder.path())
    }

    fn whole(payload: &Payload, text: &Text) -> Vec<u8> {
        let mut all = Vec::new();
        payload
            .write(text, &mut |bytes| {
                all.extend_from_slice(bytes);
                Ok(())
            })
            .unwrap();
        all
    }

    fn long(payload: &Payload) -> Vec<(String, Vec<u8>)> {
        fn place(value: &Value, at: &Value) -> Option<String> {
            if std::ptr::eq(value, at) {
                return Some(String::new());
            }
            let name = |(name, value): (&String, &Value)| Some(format!("/{name}{}", place(value, at)?));
            let number = |(number, value): (usize, &Value)| Some(format!("/{number}{}", place(value, at)?));
            match value {
                Value::Object(fields) => fields.iter().find_map(name),
                Value::Array(items) => items.iter().enumerate().find_map(number),
                _ => None,
            }
        }
        let placed = payload.long_strings();
        placed.iter().map(|long| (place(&payload.value, long.at).unwrap(), whole(payload, long.text))).collect()
    }

    #[test]
    fn a_short_payload_is_just_json() {
        let payload = read(br#" {"a": "x\"\\", "b": [1, "\u0001"]} "#).unwrap();
        assert_eq!(payload.value, json!({"a": "x\"\\", "b": [1, "\u{1}"]}));
        assert!(payload.long_strings().is_empty() && payload.file.is_none());
    }

    #[test]
    fn half_a_character_is_replaced() {
        assert_eq!(read(br#"{"a": "x\ud83d"}"#).unwrap().value, json!({ "a": "x\u{fffd}" }));
        let text = "x".repeat(2 << 20);
        let payload = read(format!(r#"{{"a": "\udc00", "b": "{text}\ud83d"}}"#).as_bytes()).unwrap();
        assert_eq!(payload.value["a"], "\u{fffd}");
        assert_eq!(long(&payload), [("/b".to_owned(), format!("{text}\u{fffd}").into_bytes())]);
    }

    #[test]
    fn a_long_text_is_whole_and_costs_little_memory() {
        let text = "a\\b\"c\n\té€𝄞\u{1}".repeat(200_000);
        let json = serde_json::to_vec(&json!({ "out": text, "more": [1, -2, 0.5, null, true, "x"] })).unwrap();
        let payload = read(&json).unwrap();
        assert_eq!(payload.value["more"], json!([1, -2, 0.5, null, true, "x"]));
        let [LongString { at, text: found }] = payload.long_strings()[..] else { panic!() };
        assert!(std::ptr::eq(at, &payload.value["out"]) && found.here().is_none());
        assert_eq!(found.bytes(), text.len() as u64);
        assert_eq!(whole(&payload, found), text.as_bytes());
        let brief = at.as_str().unwrap();
        let (head, tail) = brief.split_once("\n… ").unwrap();
        let tail = tail.split_once(" bytes left out …\n").unwrap().1;
        assert!(text.starts_with(head) && text.ends_with(tail));
        assert!([head, tail].iter().all(|part| (EXCERPT_BYTES - 3..=EXCERPT_BYTES).contains(&part.len())));
        assert_eq!(payload.beginning(found, 9), "a\\b\"c\n\té");
    }

    #[test]
    fn every_long_text_is_found_in_its_own_place() {
        let text = |of: char| String::from(of).repeat(2 << 20);
        let json = json!({
            "a": { text('k'): 1, "b/c~": [0, text('x'), [text('y')]] }, "": text('z'), "0": ["", "s"],
        });
        let payload = read(&serde_json::to_vec(&json).unwrap()).unwrap();
        let expected = [("/a/b/c~/1", text('x')), ("/a/b/c~/2/0", text('y')), ("/", text('z'))];
        assert_eq!(long(&payload), expected.map(|(place, text)| (place.to_owned(), text.into_bytes())));
        assert_eq!(payload.value["0"], json!(["", "s"]));
    }

    #[test]
    fn no_string_of_the_client_passes_for_a_long_text() {
        let text = "x".repeat(2 << 20);
        let brief = LongText {
            range: 0..text.len() as u64,
            head: text[..EXCERPT_BYTES].to_owned(),
            tail: text[..EXCERPT_BYTES].to_owned(),
        }
        .brief();
        let payload = read(&serde_json::to_vec(&json!(["\u{1}0\u{1}", "", "0", text, brief])).unwrap()).unwrap();
        assert_eq!(payload.value, json!(["\u{1}0\u{1}", "", "0", brief, brief]));
        assert_eq!(long(&payload), [("/3".to_owned(), text.clone().into_bytes())]);

        // Of fields with the same name, the last one counts.
        let twice = format!(r#"{{"a": {{"b": "{text}"}}, "c": "{text}", "a": {{"b": ""}}, "c": "{text}y"}}"#);
        let payload = read(twice.as_bytes()).unwrap();
        assert_eq!(payload.value["a"]["b"], "");
        assert_eq!(long(&payload), [("/c".to_owned(), format!("{text}y").into_bytes())]);
    }

    #[test]
    fn the_ends_of_a_long_text_are_text_even_if_the_rest_is_not() {
        assert_eq!((text_at_start(b"ab\xe2\x82"), text_at_start(b"\xff"), text_at_start(b"")), ("ab", "", ""));
        assert_eq!((text_at_end(b"\x82\xacab"), text_at_end(b"a\xffb\xfe"), text_at_end(b"a\xe2\x82")), ("ab", "", ""));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for bad in [b"".as_slice(), b"{", b"\"abc", b"[1,]", &[b'['; 5000], b"\xff"] {
            assert!(read(bad).is_err());
        }
        let many = format!("[{}]", "\"aaaaaaaaaaaaaaaaaaaa\",".repeat(1_000_000));
        assert!(read(many.as_bytes()).is_err());
        let long = "x".repeat(2 << 20);
        for bad in [format!("[\"{long}\""), format!("\"{long}"), format!("\"{long}\" 1")] {
            assert!(read(bad.as_bytes()).is_err());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn escapes_are_read_as_serde_json_reads_them(text in any::<String>(), ascii in any::<bool>()) {
            let long = text.clone() + &"€".repeat(400_000) + &text;
            let mut json = serde_json::to_string(&long).unwrap();
            if ascii {
                let escaped = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04x}")).collect();
                json = json.chars().map(|c| if c.is_ascii() { c.to_string() } else { escaped(c) }).collect();
            }
            let payload = read(json.as_bytes()).unwrap();
            prop_assert_eq!(whole(&payload, payload.long_strings()[0].text), long.into_bytes());
        }
    }
}
