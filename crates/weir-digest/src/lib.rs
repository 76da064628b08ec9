//! Makes a small and faithful digest of any big output, without a model.
//!
//! [`read`] finds out what an output is and gathers its facts into a [`Page`]; [`Page::render`] puts as many of them as
//! a budget allows between marks that the output could not know. One file per kind of output is in `kinds`.
//!
//! Invariants: the same output gives the same digest; memory does not grow with the output; time is linear in it; no
//! text of the output is changed where it is shown, and whatever is left out is said in numbers.

#[cfg(test)]
mod check;
#[cfg(test)]
mod cut_tests;
pub mod intent;
mod kinds;
mod lines;
mod page;
mod render;
mod route;
mod sample;
mod sections;
pub mod select;
mod template;
mod text;
mod trouble;

use std::io::{self, Read};

pub use lines::{Jump, Line, Lines, Source};
pub use page::{Item, Page, Part, Weight};
pub use render::{Digest, Frame};

use kinds::{How, KINDS};
use sample::Sample;
use weir_core::terminal;

/// Up to this size, an output is read whole to see whether it is short once progress bars are folded.
const CLEANED: u64 = 1 << 20;
/// The budget of a small output, of one that a digest makes ten times smaller, and of any.
const SMALLEST: u64 = 1_500;
const LARGE: u64 = 2_000;
const LARGEST: u64 = 2_600;
/// A token is rarely longer than this many bytes, so more cannot fit.
const BYTES_PER_TOKEN: usize = 32;

/// What is known of an output beside its text.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// The command that printed it, as it was given. A hint, and never needed.
    pub command: &'a str,
}

/// How many tokens the digest of an output of this many bytes may have: about a quarter of an output of a few thousand
/// tokens, and about 1 % of one of a megabyte.
pub fn budget(bytes: u64) -> usize {
    (bytes / 20).clamp(SMALLEST, LARGE).max((bytes / 400).min(LARGEST)) as usize
}

/// An output that has at most so many tokens, as a terminal would show it. Such an output needs no digest.
pub fn whole(source: &dyn Source, tokens: usize) -> io::Result<Option<String>> {
    if source.bytes() > CLEANED {
        return Ok(None);
    }
    let mut raw = Vec::with_capacity(source.bytes() as usize);
    source.open()?.read_to_end(&mut raw)?;
    let shown = String::from_utf8_lossy(&terminal::clean(&raw)).trim_end_matches('\n').to_owned();
    let fits = shown.len() <= tokens * BYTES_PER_TOKEN && weir_tokens::fit(&shown, tokens) == shown.len();
    Ok((fits && !terminal::is_binary(&raw)).then_some(shown))
}

/// Finds out what an output is, and gathers its facts.
pub fn read(source: &dyn Source, about: About<'_>) -> io::Result<Page> {
    let sample = Sample::of(source, about)?;
    match read_whole(source, &sample)? {
        Some((_, page)) => Ok(page),
        None => route::read(source, about),
    }
}

/// The kind that an output is of from beginning to end, with its facts.
fn read_whole(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<(&'static str, Page)>> {
    for kind in KINDS {
        if let How::Whole { is, read } = kind.how
            && is(sample)
            && let Some(page) = read(source, sample)?
        {
            return Ok(Some((kind.name, Page { kinds: vec![kind.name], ..page })));
        }
    }
    Ok(None)
}
