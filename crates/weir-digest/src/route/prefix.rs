//! The prefix that a runner or a supervisor puts before every line: a time, or the name of a service.
//!
//! It is stripped for the kinds that recognise their lines by how they begin. The fold gets the lines unchanged.

use std::io;

use crate::kinds::stamp;
use crate::text::number;
use crate::{Lines, Source, trouble};

const MAX_LINES: usize = 200;

/// The prefix of the lines of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    /// Nothing.
    None,
    /// A time: `2026-11-15T09:58:35.1234567Z `.
    Time,
    /// The names of a job and a step, then a time, between tabs.
    NamedTime,
    /// The name of a service: `web_1  | `.
    Service,
    /// A layer and the seconds since it began: `#12 3.456 `.
    Layer,
}

impl Prefix {
    /// Detects the prefix of most lines.
    pub(super) fn of(source: &dyn Source) -> io::Result<Self> {
        let mut lines = Lines::of(source)?;
        let (mut all, mut levels) = (0, 0);
        let forms = [Self::Time, Self::NamedTime, Self::Service, Self::Layer];
        let mut counts = [0; 4];
        while all < MAX_LINES
            && let Some(line) = lines.read()?
        {
            if line.text.trim().is_empty() {
                continue;
            }
            all += 1;
            levels += usize::from(trouble::level(line.text).is_some());
            for (form, count) in forms.iter().zip(&mut counts) {
                *count += usize::from(form.end(line.text).is_some());
            }
        }
        let found = forms.into_iter().zip(counts).find(|(form, count)| {
            let least = if *form == Self::Layer { 50 } else { 90 };
            all >= 5 && count * 100 >= all * least
        });
        Ok(match found {
            // Where lines state levels, the time is part of a log.
            Some((Self::Time, _)) if levels * 3 > all => Self::None,
            Some((form, _)) => form,
            None => Self::None,
        })
    }

    /// Returns the line without the prefix.
    pub(super) fn strip<'a>(&self, text: &'a str) -> &'a str {
        self.end(text).and_then(|end| text.get(end..)).unwrap_or(text)
    }

    /// Returns who printed a line: the service or the layer that its prefix names. Lines of several are interleaved.
    pub(super) fn speaker<'a>(&self, text: &'a str) -> &'a str {
        let named = matches!(self, Self::Service | Self::Layer) && self.end(text).is_some();
        text.split(' ').next().filter(|_| named).unwrap_or_default()
    }

    fn end(self, text: &str) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Time => time(text, 0),
            Self::NamedTime => {
                let first = text.find('\t')?;
                let second = first + 1 + text.get(first + 1..)?.find('\t')?;
                time(text, second + 1)
            }
            Self::Service => service(text),
            Self::Layer => layer(text),
        }
    }
}

fn time(text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let rest = rest.strip_prefix('\u{feff}').unwrap_or(rest);
    if !rest.starts_with(|c: char| c.is_ascii_digit() || c == '[') {
        return None;
    }
    let stamp = stamp::at_start(rest)?;
    let end = text.len() - rest.len() + stamp.end;
    // An empty line has nothing after its time.
    match text.as_bytes().get(end) {
        Some(b' ') => Some(end + 1),
        None => Some(end),
        _ => None,
    }
}

fn service(text: &str) -> Option<usize> {
    let head = text.get(..text.floor_char_boundary(60))?;
    let bar = head.find('|')?;
    let name = head.get(..bar)?.trim_end_matches(' ');
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(word);
    if !named || name.len() == bar {
        return None;
    }
    match text.as_bytes().get(bar + 1) {
        Some(b' ') => Some(bar + 2),
        None => Some(bar + 1),
        _ => None,
    }
}

fn layer(text: &str) -> Option<usize> {
    let (_, rest) = number(text.strip_prefix('#')?)?;
    let (_, rest) = number(rest.strip_prefix(' ')?)?;
    let (_, rest) = number(rest.strip_prefix('.')?)?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_taken_off() {
        for (prefix, line, rest) in [
            (Prefix::Time, "2026-11-15T09:58:35.1234567Z ok", "ok"),
            (Prefix::Time, "[2026-11-15T09:58:35.123Z] ok", "ok"),
            (Prefix::Time, "no time", "no time"),
            (Prefix::NamedTime, "build\tRun tests\t2026-11-15T09:58:35.1Z ok", "ok"),
            (Prefix::Service, "web-1  |   indented", "  indented"),
            (Prefix::Service, "a sentence | with a bar", "a sentence | with a bar"),
            (Prefix::Layer, "#12 3.456 ok", "ok"),
            (Prefix::Layer, "#12 DONE 3.4s", "#12 DONE 3.4s"),
            (Prefix::None, "#12 3.456 ok", "#12 3.456 ok"),
        ] {
            assert_eq!(prefix.strip(line), rest);
        }
    }

    #[test]
    fn a_log_keeps_its_times() {
        let log = "2026-11-15T09:58:35Z INFO a\n".repeat(10);
        assert_eq!(Prefix::of(&log.as_bytes()).unwrap(), Prefix::None);
        let script = "2026-11-15T09:58:35Z a\n".repeat(10);
        assert_eq!(Prefix::of(&script.as_bytes()).unwrap(), Prefix::Time);
    }
}
