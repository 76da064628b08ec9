//! Finds secrets that span lines: `<private>…</private>` and PEM private keys.

use std::ops::Range;

use super::class::{ALNUM, BASE64, BASE64_EQ, Class, UPPER_ALNUM, WORD};
use super::scan::{Literal, LiteralHit, Sign};
use super::window::Window;

/// Returns the spans between `<private>` and `</private>`, tags included.
///
/// Fails closed: a span without an end extends to the end of the text, and a nested opening tag needs its own end. If
/// the opening tag directly follows a word, it only counts if an end follows. Otherwise the `Local<Private>` of a C++
/// file would remove the rest of that file.
pub(super) fn private(text: &[u8], hits: &[LiteralHit], marks: &[Range<usize>]) -> Vec<Range<usize>> {
    let tags: Vec<Tag> = hits.iter().filter_map(|hit| tag_at(text, *hit)).collect();
    let last_close = tags.iter().rev().find(|tag| !tag.opens).map_or(0, |tag| tag.range.start);
    let mut spans = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for Tag { opens, range } in tags {
        let follows_mark = marks.binary_search_by_key(&range.start, |mark| mark.end).is_ok();
        let is_glued = follows_mark || (range.start > 0 && WORD.has(text[range.start - 1]));
        if opens && (depth > 0 || !is_glued || range.start < last_close) {
            if depth == 0 {
                start = range.start;
            }
            depth += 1;
        } else if !opens && depth > 0 {
            depth -= 1;
            if depth == 0 {
                spans.push(start..range.end);
            }
        }
    }
    if depth > 0 {
        spans.push(start..text.len());
    }
    spans
}

/// `<private>` or `</private>`.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) opens: bool,
    pub(super) range: Range<usize>,
}

/// Returns the tag at `hit`, if it is one.
pub(super) fn tag_at(text: &[u8], hit: LiteralHit) -> Option<Tag> {
    let opens = match hit.literal() {
        Literal::Sign(Sign::PrivateOpen) => true,
        Literal::Sign(Sign::PrivateClose) => false,
        _ => return None,
    };
    let blanks = text[hit.end()..].iter().take(16).take_while(|byte| byte.is_ascii_whitespace()).count();
    let end = hit.end() + blanks + 1;
    (text.get(end - 1) == Some(&b'>')).then_some(Tag { opens, range: hit.at..end })
}

/// Returns the inside of the PEM private key that begins at `at`, without the line ends next to its BEGIN and END.
///
/// Reads line by line, as long as the lines look like those of a key. So it also finds the end of a truncated key, and
/// code that merely mentions the BEGIN line loses nothing.
pub(super) fn pem(window: &Window, at: usize) -> Option<Range<usize>> {
    let mut at = next_line(window, label_end(window, at)?);
    let (mut first, mut end) = (None, None);
    loop {
        let line = line_at(window, at);
        match kind_of(window, &line) {
            PemLine::Blank => {}
            PemLine::Header => first = first.or(Some(line.start)),
            PemLine::Key => {
                first = first.or(Some(line.start));
                end = Some(line.end);
            }
            PemLine::Other => {
                if end.is_some() && is_last(window, &line) {
                    end = Some(line.end);
                }
                break;
            }
        }
        at = next_line(window, line.end);
        if at == line.end {
            break;
        }
    }
    Some(window.skip_blanks(first?)..end?)
}

/// Returns the end of `-----BEGIN … PRIVATE KEY-----`.
fn label_end(window: &Window, at: usize) -> Option<usize> {
    let label = at + "-----BEGIN".len();
    let end = window.run_while(label, 64, |byte| byte == b' ' || UPPER_ALNUM.has(byte));
    let text = window.slice(label..end);
    let is_private = text.ends_with(b"PRIVATE KEY") || text.ends_with(b"PRIVATE KEY BLOCK");
    (is_private && window.has(end, b"-----")).then_some(end + "-----".len())
}

/// How a line relates to the key it may belong to.
pub(super) enum KeyLine {
    /// The line belongs to the key, and what follows may too.
    Key { end: usize, next: usize },
    /// The line is blank or a header; what follows may belong to the key.
    Between { next: usize },
    /// The key ends before the line, or with it.
    End { end: Option<usize> },
}

/// Reads one more line of a key that is too long to be read as a whole. The rest of a line that belongs to the key
/// belongs to it too, whatever it looks like.
pub(super) fn next_key_line(window: &Window, at: usize, is_rest_of_line: bool) -> KeyLine {
    let line = line_at(window, at);
    let next = next_line(window, line.end);
    let kind = if is_rest_of_line { PemLine::Key } else { kind_of(window, &line) };
    match kind {
        PemLine::Key if next == line.end => KeyLine::End { end: Some(line.end) },
        PemLine::Key => KeyLine::Key { end: line.end, next },
        PemLine::Blank | PemLine::Header if next > line.end => KeyLine::Between { next },
        PemLine::Other if is_last(window, &line) => KeyLine::End { end: Some(line.end) },
        _ => KeyLine::End { end: None },
    }
}

/// Returns a line up to its end, which may be written as an escape, or up to the dashes of the next BEGIN or END.
fn line_at(window: &Window, at: usize) -> Range<usize> {
    let mut end = at;
    loop {
        end = window.run_while(end, usize::MAX, |byte| !matches!(byte, b'\n' | b'\r' | b'\\' | b'-'));
        if window.byte(end) != Some(b'-') || window.has(end, b"-----") {
            return at..end;
        }
        end += 1;
    }
}

/// Returns where the line after a line end begins, or `at` itself if there is no line end.
fn next_line(window: &Window, at: usize) -> usize {
    let is_line_end = |digits: usize| window.has_folded(digits, b"000a") || window.has_folded(digits, b"000d");
    let mut next = at;
    loop {
        let slashes = window.run_while(next, 7, |byte| byte == b'\\');
        next = match window.byte(slashes) {
            Some(b'\n' | b'\r') => slashes + 1,
            Some(b'n' | b'r') if slashes > next => slashes + 1,
            Some(b'u') if slashes > next && is_line_end(slashes + 1) => slashes + 5,
            _ => return next,
        };
    }
}

/// Returns whether a line that is too short to look like a key's is the last line of a key: END is on the next line, or
/// on this one after at least one group of base64.
fn is_last(window: &Window, line: &Range<usize>) -> bool {
    let next = next_line(window, line.end);
    if next > line.end {
        return window.has(line_at(window, next).end, b"-----END");
    }
    let text = window.slice(line.clone()).trim_ascii();
    text.len() >= 4 && BASE64_EQ.has_all(text) && window.has(line.end, b"-----END")
}

/// Returns the private part of a PuTTY key: the lines after `Private-Lines:`, whose last part is at `at`.
pub(super) fn putty(window: &Window, at: usize) -> Option<Range<usize>> {
    window.follows(at, b"private").then(|| lines_after(window, at, BASE64_EQ)).flatten()
}

/// Returns the lines that consist only of `class` after the line at `at`.
pub(super) fn lines_after(window: &Window, at: usize, class: Class) -> Option<Range<usize>> {
    const MAX_HEAD_BYTES: usize = 64;
    const MAX_LINE_BYTES: usize = 160;
    const MAX_LINES: usize = 1_000;
    const MIN_FIRST_LINE_BYTES: usize = 16;
    let head = window.run_while(at, MAX_HEAD_BYTES, |byte| byte != b'\n' && byte != b'\\');
    let mut next = next_line(window, head);
    let (mut first, mut end) = (None, None);
    for _ in 0..MAX_LINES {
        let start = window.skip_blanks(next);
        let line = start..window.run(start, class, MAX_LINE_BYTES);
        let follows = next_line(window, line.end);
        if line.is_empty()
            || (first.is_none() && line.len() < MIN_FIRST_LINE_BYTES)
            || follows == line.end && window.byte(line.end).is_some()
        {
            break;
        }
        first = first.or(Some(line.start));
        end = Some(line.end);
        if follows == line.end {
            break;
        }
        next = follows;
    }
    Some(first?..end?)
}

enum PemLine {
    Key,
    Header,
    Blank,
    Other,
}

/// Classifies a line. Line numbers, quotes and indentation may surround the key's characters, as long as these are the
/// larger part.
fn kind_of(window: &Window, line: &Range<usize>) -> PemLine {
    const MIN_RUN_BYTES: usize = 16;
    const HEADERS: &[&[u8]] = &[b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:", b"Charset:"];
    let text = window.slice(line.clone());
    let in_runs: usize =
        text.split(|&byte| !BASE64.has(byte)).map(<[u8]>::len).filter(|&length| length >= MIN_RUN_BYTES).sum();
    if in_runs * 2 >= text.len() && in_runs > 0 {
        return PemLine::Key;
    }
    if HEADERS.iter().any(|header| text.windows(header.len()).any(|part| part == *header)) {
        return PemLine::Header;
    }
    // Source code joins the lines of a key with `+` or `.`.
    if !ALNUM.has_any(text) { PemLine::Blank } else { PemLine::Other }
}
