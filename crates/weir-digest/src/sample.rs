//! The beginning of an output, by which its kind is detected.

use std::io::{self, Read};

use crate::{About, Lines, Source};

/// The number of bytes examined.
const MAX_BYTES: usize = 32 << 10;

/// The first lines of an output, and what else is known about it.
pub(crate) struct Sample<'a> {
    /// What is known about the output.
    pub about: About<'a>,
    /// The first bytes as they were printed.
    pub raw: Vec<u8>,
    /// Whether this is the whole output.
    pub whole: bool,
    text: String,
}

impl<'a> Sample<'a> {
    /// Reads the beginning of an output.
    pub(crate) fn of(source: &dyn Source, about: About<'a>) -> io::Result<Self> {
        Self::of_size(source, about, MAX_BYTES)
    }

    /// Reads the first `bytes` of an output.
    pub(crate) fn of_size(source: &dyn Source, about: About<'a>, bytes: usize) -> io::Result<Self> {
        let mut raw = Vec::with_capacity(bytes.min(source.bytes() as usize));
        source.open()?.take(bytes as u64).read_to_end(&mut raw)?;
        let whole = raw.len() as u64 == source.bytes();
        let mut text = String::with_capacity(raw.len());
        let bytes = raw.as_slice();
        Lines::each(&bytes, |line| {
            text.push_str(line.text);
            text.push('\n');
        })?;
        // The last line is probably cut.
        if !whole && let Some(end) = text.trim_end_matches('\n').rfind('\n') {
            text.truncate(end + 1);
        }
        Ok(Self { about, raw, whole, text })
    }

    /// Returns its lines, cleaned, without the last one, which is cut.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> + Clone {
        self.text.lines()
    }

    /// Returns its lines that are not blank.
    pub(crate) fn full_lines(&self) -> impl Iterator<Item = &str> + Clone {
        self.lines().filter(|line| !line.trim().is_empty())
    }

    /// Returns whether there are at least three lines that are not blank, and `is` holds for at least `percent` of
    /// them.
    pub(crate) fn mostly(&self, percent: usize, is: impl Fn(&str) -> bool) -> bool {
        let (mut all, mut like) = (0, 0);
        for line in self.full_lines() {
            all += 1;
            like += usize::from(is(line));
        }
        all >= 3 && like * 100 >= all * percent
    }
}
