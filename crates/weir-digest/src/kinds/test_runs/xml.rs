//! Reads XML piece by piece, in bounded memory, and never fails: malformed input is read as well as possible.

use std::borrow::Cow;
use std::io::{self, BufRead};

/// The maximum number of bytes kept of a tag, and of a text. The rest is skipped.
const MAX_TAG_BYTES: usize = 64 << 10;
const MAX_TEXT_BYTES: usize = 64 << 10;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// The start of an element: its name, and its attributes verbatim. `closed` if it is empty.
    Start {
        name: &'a str,
        attributes: &'a str,
        closed: bool,
    },
    End(&'a str),
    Text(Cow<'a, str>),
}

/// A document that is read from its beginning.
pub(super) struct Xml<'a> {
    input: Box<dyn BufRead + 'a>,
    kept: Vec<u8>,
    text: String,
    pub line: u64,
    /// Whether the next byte is the first after `<`.
    in_tag: bool,
    /// Whether the input ended inside a tag, a comment or a section. An incomplete tag is not returned.
    pub cut: bool,
}

impl<'a> Xml<'a> {
    pub(super) fn of(input: Box<dyn BufRead + 'a>) -> Self {
        Self { input, kept: Vec::new(), text: String::new(), line: 1, in_tag: false, cut: false }
    }

    /// Returns the next piece, or `None` after the last.
    pub(super) fn read(&mut self) -> io::Result<Option<Piece<'_>>> {
        loop {
            if !self.in_tag {
                let found = self.until(b"<", MAX_TEXT_BYTES)?;
                if !found && self.kept.is_empty() {
                    return Ok(None);
                }
                self.in_tag = found;
                if self.kept.iter().any(|byte| !byte.is_ascii_whitespace()) {
                    return Ok(Some(Piece::Text(self.unescaped())));
                }
                continue;
            }
            self.in_tag = false;
            if self.tag()? {
                break;
            }
            if !self.kept.is_empty() {
                // A CDATA section, which has no escapes.
                self.text = String::from_utf8_lossy(&self.kept).into_owned();
                return Ok(Some(Piece::Text(Cow::Borrowed(&self.text))));
            }
        }
        self.text = String::from_utf8_lossy(&self.kept).into_owned();
        Ok(Some(piece(&self.text)))
    }

    /// Reads a tag. Returns whether it belongs to an element; if not, what is kept is text.
    fn tag(&mut self) -> io::Result<bool> {
        self.kept.clear();
        let mut quote = None;
        loop {
            let Some(byte) = self.next()? else {
                self.cut = true;
                self.kept.clear();
                return Ok(false);
            };
            match (quote, byte) {
                (Some(open), byte) if open == byte => quote = None,
                (None, b'"' | b'\'') if !self.kept.starts_with(b"!") => quote = Some(byte),
                (None, b'>') => break,
                _ => {}
            }
            if self.kept.len() < MAX_TAG_BYTES {
                self.kept.push(byte);
            }
            match self.kept.as_slice() {
                b"!--" => {
                    self.cut = !self.until(b"-->", 0)?;
                    self.kept.clear();
                    return Ok(false);
                }
                b"![CDATA[" => {
                    self.cut = !self.until(b"]]>", MAX_TEXT_BYTES)?;
                    return Ok(false);
                }
                b"?" => {
                    self.cut = !self.until(b"?>", 0)?;
                    self.kept.clear();
                    return Ok(false);
                }
                _ => {}
            }
        }
        if self.kept.starts_with(b"!") {
            self.kept.clear();
            return Ok(false);
        }
        Ok(true)
    }

    fn next(&mut self) -> io::Result<Option<u8>> {
        let Some(&byte) = self.input.fill_buf()?.first() else { return Ok(None) };
        self.input.consume(1);
        self.line += u64::from(byte == b'\n');
        Ok(Some(byte))
    }

    /// Reads past these bytes, and keeps what precedes them. Returns whether they were found.
    fn until(&mut self, end: &[u8], most: usize) -> io::Result<bool> {
        self.kept.clear();
        let Some((&last, before)) = end.split_last() else { return Ok(true) };
        // The bytes before the last of the terminator, whether or not they are kept.
        let mut seen: Vec<u8> = Vec::new();
        loop {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                return Ok(false);
            }
            let found = memchr::memchr(last, piece);
            let text = &piece[..found.unwrap_or(piece.len())];
            self.line += memchr::memchr_iter(b'\n', text).count() as u64;
            let room = most.saturating_sub(self.kept.len()).min(text.len());
            self.kept.extend_from_slice(&text[..room]);
            seen.extend_from_slice(&text[text.len().saturating_sub(before.len())..]);
            let excess = seen.len().saturating_sub(before.len());
            seen.drain(..excess);
            let used = text.len() + usize::from(found.is_some());
            self.input.consume(used);
            if found.is_none() {
                continue;
            }
            if seen == before {
                let length = self.kept.len();
                if self.kept.ends_with(before) {
                    self.kept.truncate(length - before.len());
                }
                return Ok(true);
            }
            if self.kept.len() < most {
                self.kept.push(last);
            }
            seen.push(last);
        }
    }

    fn unescaped(&mut self) -> Cow<'_, str> {
        self.text = String::from_utf8_lossy(&self.kept).into_owned();
        unescape(&self.text)
    }
}

/// Unescapes a text. A malformed one is returned unchanged.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    quick_xml::escape::unescape(text).unwrap_or(Cow::Borrowed(text))
}

pub(super) fn attribute<'a>(attributes: &'a str, wanted: &str) -> Option<Cow<'a, str>> {
    let mut rest = attributes;
    loop {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
        let (value, next) = after.get(1..)?.split_once(quote)?;
        if name.trim() == wanted {
            return Some(unescape(value));
        }
        rest = next;
    }
}

fn piece(tag: &str) -> Piece<'_> {
    if let Some(name) = tag.strip_prefix('/') {
        return Piece::End(local(name.trim()));
    }
    let (tag, closed) = match tag.strip_suffix('/') {
        Some(tag) => (tag, true),
        None => (tag, false),
    };
    let (name, attributes) = tag.split_once(|letter: char| letter.is_ascii_whitespace()).unwrap_or((tag, ""));
    Piece::Start { name: local(name), attributes, closed }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        let mut xml = Xml::of(Box::new(text.as_bytes()));
        let mut found = Vec::new();
        while let Some(piece) = xml.read().unwrap() {
            found.push(match piece {
                Piece::Start { name, attributes, closed } => {
                    format!("<{name} {attributes}{}", if closed { "/" } else { "" })
                }
                Piece::End(name) => format!("</{name}"),
                Piece::Text(text) => text.into_owned(),
            });
        }
        found
    }

    #[test]
    fn all_sorts_of_pieces_are_read() {
        let text =
            "<?xml version=\"1.0\"?><!DOCTYPE x><!-- a > b --><a b=\"1 > 0\">x &lt; y<c/><![CDATA[ ]] <d> ]]></a>";
        assert_eq!(pieces(text), ["<a b=\"1 > 0\"", "x < y", "<c /", " ]] <d> ", "</a"]);
        assert_eq!(pieces("no tags"), ["no tags"]);
        assert_eq!(pieces("<![CDATA["), Vec::<String>::new());
    }

    #[test]
    fn a_document_that_ends_anywhere_gives_no_piece_that_the_whole_one_does_not_have() {
        let text = "<?xml version=\"1.0\"?><!DOCTYPE x><!-- a > b --><a b=\"1 > 0\">x y<c/><![CDATA[ ]] <d> ]]></a>";
        let whole = pieces(text);
        for length in 0..text.len() {
            let mut found = pieces(text.get(..length).unwrap());
            // The beginning of a text may be there.
            if let Some(last) = found.pop() {
                let same = whole.get(found.len()).unwrap();
                // So may the beginning of its terminator.
                let begins = !same.starts_with('<') && same.starts_with(last.trim_end_matches(']'));
                assert!(*same == last || begins, "{length}: {last}");
            }
            assert_eq!(found, whole.get(..found.len()).unwrap(), "{length}");
        }
    }

    #[test]
    fn attributes_are_found() {
        let all = "name='it&apos;s' time=\"0.1\" file = \"a=b\"";
        assert_eq!(attribute(all, "name").as_deref(), Some("it's"));
        assert_eq!(attribute(all, "file").as_deref(), Some("a=b"));
        assert_eq!(attribute(all, "time").as_deref(), Some("0.1"));
        assert_eq!(attribute(all, "tim"), None);
    }

    #[test]
    fn memory_is_bounded() {
        let text = format!("<a>{}</a>", "x".repeat(MAX_TEXT_BYTES + 7));
        assert_eq!(pieces(&text)[1].len(), MAX_TEXT_BYTES);
        let text = format!("<a><![CDATA[{}]]></a>", "x".repeat(MAX_TEXT_BYTES + 7));
        let found = pieces(&text);
        assert_eq!((found.len(), found[1].len()), (3, MAX_TEXT_BYTES));
    }
}
