//! Shows the output of a run on the terminal while it arrives. Invariant: of control sequences, only colours, tabs and
//! the ends of lines pass, since a terminal would obey the others. Other characters that nobody sees are named.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex};

use weir_context::LiveOutput;
use weir_core::unseen::{is_obeyed, push_name};
use weir_host::mutex::lock;

/// The longest colour sequence that passes, in bytes.
const MAX_SEQUENCE_BYTES: usize = 40;

/// Returns a place that shows output while it arrives, if standard output is a terminal.
pub(crate) fn output() -> Option<LiveOutput> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let colours = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    let filter = Mutex::new(Filter { colours, pending: Vec::new() });
    Some(Arc::new(move |bytes: &[u8]| {
        let mut filter = lock(&filter);
        let text = if bytes.is_empty() { filter.rest() } else { filter.pass(bytes) };
        drop(filter);
        // If the terminal is gone, the run goes on and its output is stored.
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    }))
}

/// What a terminal may be shown of a stream of bytes.
struct Filter {
    colours: bool,
    /// The bytes of a character or a sequence that is not complete yet.
    pending: Vec<u8>,
}

impl Filter {
    /// Returns what can be shown now.
    fn pass(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.len() - incomplete(&self.pending);
        let left = self.pending.split_off(whole);
        let ready = std::mem::replace(&mut self.pending, left);
        self.shown(&String::from_utf8_lossy(&ready))
    }

    /// Returns what was not complete when the output ended.
    fn rest(&mut self) -> String {
        let rest = std::mem::take(&mut self.pending);
        self.shown(&String::from_utf8_lossy(&rest))
    }

    fn shown(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let length = match colour(rest) {
                Some(sequence) => {
                    shown.push_str(if self.colours && is_steady(sequence) { sequence } else { "" });
                    sequence.len()
                }
                None => {
                    match is_obeyed(next) && !matches!(next, '\n' | '\t' | '\r') {
                        true => push_name(&mut shown, next),
                        false => shown.push(next),
                    }
                    next.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        shown
    }
}

fn colour(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !(c.is_ascii_digit() || matches!(c, ';' | ':')))?;
    let length = "\u{1b}[".len() + end + 1;
    (parameters[end..].starts_with('m') && length <= MAX_SEQUENCE_BYTES).then(|| &text[..length])
}

/// Whether a colour sequence neither lets text blink nor hides it.
fn is_steady(sequence: &str) -> bool {
    let mut parameters = sequence.trim_start_matches("\u{1b}[").trim_end_matches('m').split(';');
    while let Some(parameter) = parameters.next() {
        // Leading zeros and what follows a colon do not change what a parameter means.
        match parameter.split(':').next().unwrap_or_default().trim_start_matches('0') {
            "5" | "6" | "8" => return false,
            // The numbers that follow are of a colour.
            "38" | "48" | "58" if !parameter.contains(':') => {
                let skipped = if parameters.next() == Some("5") { 1 } else { 3 };
                parameters.by_ref().take(skipped).for_each(drop);
            }
            _ => {}
        }
    }
    true
}

/// Returns how many bytes at the end may belong to a character or a colour sequence that continues.
fn incomplete(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(MAX_SEQUENCE_BYTES)..];
    if let Some(start) = tail.iter().rposition(|&byte| byte == 0x1b) {
        let open = |(at, byte): (usize, &u8)| match at {
            0 => *byte == b'[',
            _ => byte.is_ascii_digit() || matches!(byte, b';' | b':'),
        };
        if tail[start + 1..].iter().enumerate().all(open) {
            return tail.len() - start;
        }
    }
    match std::str::from_utf8(tail) {
        Err(error) if error.error_len().is_none() => tail.len() - error.valid_up_to(),
        _ => cut_character(tail),
    }
}

/// Returns the length of a character that has begun at the end of bytes that may begin within one.
fn cut_character(tail: &[u8]) -> usize {
    let last = &tail[tail.len().saturating_sub(3)..];
    let Some(start) = last.iter().rposition(|&byte| byte >= 0xc0) else { return 0 };
    match std::str::from_utf8(&last[start..]) {
        Err(error) if error.error_len().is_none() => last.len() - start,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(colours: bool, bytes: &[u8], expected: &str) {
        for size in 1..=bytes.len() {
            let mut filter = Filter { colours, pending: Vec::new() };
            let mut shown: String = bytes.chunks(size).map(|piece| filter.pass(piece)).collect();
            shown.push_str(&filter.rest());
            assert_eq!(shown, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn colours_and_characters_pass_however_they_are_cut() {
        let text = "one\u{1b}[1;31mröt\u{1b}[0m 日本\r\n\tend";
        check(true, text.as_bytes(), text);
        check(false, text.as_bytes(), "oneröt 日本\r\n\tend");
    }

    #[test]
    fn a_sequence_that_a_terminal_would_obey_does_not_pass() {
        check(true, b"a\x1b[2Jb\x1b]0;title\x07c", "a<U+001B>[2Jb<U+001B>]0;title<U+0007>c");
        check(true, b"end\x1b[3", "end<U+001B>[3");
        check(true, "gnp.\u{202e}exe ⚠️".as_bytes(), "gnp.<U+202E>exe ⚠️");
    }

    #[test]
    fn text_neither_blinks_nor_hides() {
        check(true, b"a\x1b[5mb\x1b[1;08mc\x1b[6md\x1b[0;5:1me", "abcde");
        let colours = "\u{1b}[38;5;5ma\u{1b}[48;2;5;6;8mb\u{1b}[38:5:8mc\u{1b}[1;38;5;6;4md\u{1b}[m";
        check(true, colours.as_bytes(), colours);
        check(true, b"\x1b[38;5;1;5mx", "x");
    }
}
