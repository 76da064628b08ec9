//! The beginning of an output, from which its kind is seen.

use std::io::{self, Read};

use crate::{About, Lines, Source};

/// How much of an output is looked at.
const BYTES: usize = 32 << 10;

/// The first lines of an output, and what else is known of it.
pub(crate) struct Sample<'a> {
    /// What is known of it.
    pub about: About<'a>,
    /// The first bytes as they were printed.
    pub raw: Vec<u8>,
    /// Whether this is all.
    pub whole: bool,
    text: String,
}

impl<'a> Sample<'a> {
    /// Reads the beginning of an output.
    pub(crate) fn of(source: &dyn Source, about: About<'a>) -> io::Result<Self> {
        Self::of_size(source, about, BYTES)
    }

    /// Reads the first `bytes` of an output.
    pub(crate) fn of_size(source: &dyn Source, about: About<'a>, bytes: usize) -> io::Result<Self> {
        let mut raw = Vec::with_capacity(bytes.min(source.bytes() as usize));
        source.open()?.take(bytes as u64).read_to_end(&mut raw)?;
        let whole = raw.len() as u64 == source.bytes();
        let mut text = String::with_capacity(raw.len());
        let bytes = raw.as_slice();
        let mut lines = Lines::of(&bytes)?;
        while let Some(line) = lines.read()? {
            text.push_str(line.text);
            text.push('\n');
        }
        drop(lines);
        // The last line is probably cut.
        if !whole && let Some(end) = text.trim_end_matches('\n').rfind('\n') {
            text.truncate(end + 1);
        }
        Ok(Self { about, raw, whole, text })
    }

    /// Its lines, cleaned; not the last one, which is cut.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> + Clone {
        self.text.lines()
    }

    /// Its lines that are not blank.
    pub(crate) fn full_lines(&self) -> impl Iterator<Item = &str> + Clone {
        self.lines().filter(|line| !line.trim().is_empty())
    }

    /// Whether at least `percent` of the lines that are not blank are like this, and there are at least three.
    pub(crate) fn mostly(&self, percent: usize, is: impl Fn(&str) -> bool) -> bool {
        let (mut all, mut like) = (0, 0);
        for line in self.full_lines() {
            all += 1;
            like += usize::from(is(line));
        }
        all >= 3 && like * 100 >= all * percent
    }
}
