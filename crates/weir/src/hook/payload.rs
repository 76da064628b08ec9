//! Reads the payload that a client sends. Invariant: memory is bounded for any input; a long text goes to an unnamed
//! file, and none of it is lost.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use serde_json::Value;

/// A text of more bytes than this is written to a file.
const MAX_INLINE_BYTES: usize = 1 << 20;
/// The maximum size of everything else together, in bytes.
const MAX_PAYLOAD_BYTES: usize = 16 << 20;
/// How many bytes of a long text are kept for when only its beginning matters.
const HEAD_BYTES: usize = 4 << 10;
/// Encloses the number that represents a long text in the payload. Unescaped JSON cannot contain this character.
const MARK: char = '\u{1}';

/// The payload of a hook.
pub(crate) struct Payload {
    /// The complete payload, with marks in place of long texts.
    pub value: Value,
    long: Vec<LongText>,
}

/// A long text.
struct LongText {
    file: File,
    bytes: u64,
    head: String,
}

impl Payload {
    /// Reads a payload to its end. Files for long texts are created in `folder`.
    pub(crate) fn read(input: &mut dyn Read, folder: &Path) -> io::Result<Self> {
        let mut scan = Scan { folder, kept: Vec::new(), long: Vec::new(), string: None };
        let mut buffer = vec![0; 64 << 10];
        loop {
            match input.read(&mut buffer)? {
                0 => break,
                read => scan.take(&buffer[..read])?,
            }
        }
        let value =
            serde_json::from_slice(&scan.kept).map_err(|error| io::Error::other(format!("invalid JSON: {error}")))?;
        Ok(Self { value, long: scan.long })
    }

    /// Passes on a text of the payload piece by piece, with its long texts expanded.
    pub(crate) fn write(&self, text: &str, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        for piece in self.pieces(text) {
            match piece {
                Ok(plain) => to(plain.as_bytes())?,
                Err(long) => {
                    let mut file = &long.file;
                    file.rewind()?;
                    copy(&mut file, to)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the length of a text of the payload, in bytes.
    pub(crate) fn bytes(&self, text: &str) -> u64 {
        self.pieces(text).map(|piece| piece.map_or_else(|long| long.bytes, |plain| plain.len() as u64)).sum()
    }

    /// Whether a text of the payload is too long to be in memory.
    pub(crate) fn is_long(&self, text: &str) -> bool {
        self.pieces(text).any(|piece| piece.is_err())
    }

    /// Returns a text of the payload with its long texts cut to their beginnings.
    pub(crate) fn brief(&self, text: &str) -> String {
        let brief = |long: &LongText| format!("{}… ({} more bytes)", long.head, long.bytes - long.head.len() as u64);
        self.pieces(text).map(|piece| piece.map_or_else(brief, str::to_owned)).collect()
    }

    /// Returns about `most` bytes from the beginning of a text of the payload.
    pub(crate) fn beginning(&self, text: &str, most: usize) -> String {
        let mut found = Vec::new();
        // An error only ends the copying early.
        let _ = self.write(text, &mut |bytes| {
            found.extend_from_slice(&bytes[..bytes.len().min(most - found.len())]);
            if found.len() < most { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
        });
        String::from_utf8_lossy(&found).into_owned()
    }

    fn pieces<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Result<&'t str, &'t LongText>> {
        text.split(MARK).enumerate().map(|(position, piece)| {
            let long = (position % 2 == 1).then(|| piece.parse::<usize>().ok()).flatten();
            long.and_then(|number| self.long.get(number)).map_or(Ok(piece), Err)
        })
    }
}

/// Copies everything.
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
    long: Vec<LongText>,
    string: Option<InString>,
}

/// The state inside a string.
struct InString {
    /// Where the string begins in the bytes kept.
    begin: usize,
    /// Whether the next character is escaped.
    escaped: bool,
    /// The file for the string, once it is long.
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
            let mut file = Unescape::new(nameless_file(self.folder)?);
            file.take(&self.kept[string.begin..])?;
            self.kept.truncate(string.begin);
            string.file = Some(file);
        }
        let Some(end) = end else {
            self.string = Some(string);
            return Ok(&[]);
        };
        if let Some(file) = string.file {
            // The mark, as JSON escapes it.
            self.keep(format!("\\u0001{}\\u0001", self.long.len()).as_bytes())?;
            self.long.push(file.finish()?);
        }
        self.keep(b"\"")?;
        Ok(&bytes[end + 1..])
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
    file: io::BufWriter<File>,
    bytes: u64,
    head: Vec<u8>,
    /// An incomplete escape sequence.
    open: Vec<u8>,
    /// The first half of a surrogate pair.
    high: Option<u16>,
}

impl Unescape {
    fn new(file: File) -> Self {
        let file = io::BufWriter::with_capacity(64 << 10, file);
        Self { file, bytes: 0, head: Vec::new(), open: Vec::new(), high: None }
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
        let room = HEAD_BYTES.saturating_sub(self.head.len()).min(text.len());
        self.head.extend_from_slice(&text[..room]);
        self.bytes += text.len() as u64;
        self.file.write_all(text)
    }

    fn finish(mut self) -> io::Result<LongText> {
        self.half_is_lost()?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let whole = match std::str::from_utf8(&self.head) {
            Ok(head) => head,
            Err(error) => std::str::from_utf8(&self.head[..error.valid_up_to()]).unwrap_or_default(),
        };
        Ok(LongText { file, bytes: self.bytes, head: whole.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(json: &[u8]) -> io::Result<Payload> {
        let folder = tempfile::tempdir().unwrap();
        Payload::read(&mut &*json, folder.path())
    }

    fn whole(payload: &Payload, text: &str) -> Vec<u8> {
        let mut all = Vec::new();
        payload
            .write(text, &mut |bytes| {
                all.extend_from_slice(bytes);
                Ok(())
            })
            .unwrap();
        all
    }

    #[test]
    fn a_short_payload_is_just_json() {
        let payload = read(br#" {"a": "x\"\\", "b": [1, "\u0001"]} "#).unwrap();
        assert_eq!(payload.value, json!({"a": "x\"\\", "b": [1, "\u{1}"]}));
        assert_eq!(whole(&payload, "\u{1}0\u{1}"), b"0", "a mark that nobody made stands for itself");
    }

    #[test]
    fn a_long_text_is_whole_and_costs_no_memory() {
        let text = "a\\b\"c\n\té€𝄞\u{1}".repeat(200_000);
        let json = serde_json::to_vec(&json!({ "out": text, "more": "x" })).unwrap();
        let payload = read(&json).unwrap();
        let mark = payload.value["out"].as_str().unwrap();
        assert!(mark.len() < 9 && payload.is_long(mark) && payload.value["more"] == "x");
        assert_eq!(payload.bytes(mark), text.len() as u64);
        assert_eq!(whole(&payload, mark), text.as_bytes());
        assert!(payload.brief(mark).ends_with(" more bytes)"));
        assert_eq!(whole(&payload, &format!("<{mark}>")).len(), text.len() + 2);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for bad in [b"".as_slice(), b"{", b"\"abc", b"[1,]", &[b'['; 5000], b"\xff"] {
            assert!(read(bad).is_err());
        }
        let many = format!("[{}]", "\"aaaaaaaaaaaaaaaaaaaa\",".repeat(1_000_000));
        assert!(read(many.as_bytes()).is_err());
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
            prop_assert_eq!(whole(&payload, payload.value.as_str().unwrap()), long.into_bytes());
        }
    }
}
