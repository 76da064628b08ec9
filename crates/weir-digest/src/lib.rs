//! Makes a small and faithful digest of any large output, without a model.
//!
//! [`read`] detects what an output is and gathers its facts into a [`Page`]; [`Page::render`] puts as many of them as a
//! budget allows between marks that the output cannot predict. [`intent`] finds the sections that match a question, and
//! [`select`] the values at a path of JSON or in columns.
//!
//! A kind is one file in the folder of its subject in `kinds` and one line in `KINDS`. It only gathers facts; one place
//! decides what is shown, in which order, and how a cut is reported. The fold takes every line that no kind claims, so
//! a kind adds only what the fold cannot know: a summary, and what counts as a failure. `bench/recall` is the set of
//! real outputs that the kinds are tested and measured on.
//!
//! The crate neither stores an output nor decides when one is digested (`weir-hook`, `weir-run`).
//!
//! # Invariants
//!
//! - A digest is smaller than the output, or the output itself is shown.
//! - No text of the output is outside the marks, and no line of it can pass for one of our headings.
//! - Text shown as the output's is in its own words. A cut says how much it cut, or is marked with `…` where that
//!   cannot be counted; a part says how many facts there are. `tests/it/oracle.rs` checks line numbers, ranges and
//!   counts against the output.
//! - Memory does not grow with the output, and time grows at most linearly.
//! - The code uses no clock, no file and no random number: the same output gives the same digest.
//! - It runs in hooks: no regular expressions to compile, nothing to load (`.ci/run instructions` counts).
//!
//! # An output, step by step
//!
//! ```text
//! sample           the first 32 KB: is it of one kind throughout? (Detector::Whole)
//! route            otherwise each line goes to its kind (Detector::Lines), the rest to the fold
//! kinds            facts: parts of items, with their true totals and weight
//! render           as many facts as the budget allows, by weight, in the order of the output
//! ```

#[cfg(test)]
mod check;
#[cfg(test)]
mod cut_tests;
pub mod intent;
mod kinds;
mod lines;
pub mod names;
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

pub use kinds::unwrapped;
use kinds::{Detector, KINDS};
use sample::Sample;
use weir_core::terminal;

/// The largest output, in bytes, that is read whole to see whether it is short once progress bars are folded.
const MAX_WHOLE_BYTES: u64 = 1 << 20;
/// The budget in tokens of a small output, of one from 40 kB up, and the maximum for any output.
const MIN_BUDGET: u64 = 1_500;
const LARGE_BUDGET: u64 = 2_000;
const MAX_BUDGET: u64 = 2_600;
/// A token is rarely longer than this many bytes, so a longer text cannot fit.
const BYTES_PER_TOKEN: usize = 32;

/// What is known about an output besides its text.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// The command that printed it, as given. A hint that is never required.
    pub command: &'a str,
    /// Whether what is listed is what the next call acts on, so that every record is shown before anything is said
    /// about all of them.
    pub lists: bool,
}

/// Returns the budget in tokens for the digest of an output of this many bytes: about a quarter of an output of a few
/// thousand tokens, and about 1 % of one of a megabyte.
pub fn budget(bytes: u64) -> usize {
    (bytes / 20).clamp(MIN_BUDGET, LARGE_BUDGET).max((bytes / 400).min(MAX_BUDGET)) as usize
}

/// Returns the output as a terminal would show it, if it has at most this many tokens. Such an output needs no digest.
pub fn whole(source: &dyn Source, tokens: usize) -> io::Result<Option<String>> {
    if source.bytes() > MAX_WHOLE_BYTES {
        return Ok(None);
    }
    let mut raw = Vec::with_capacity(source.bytes() as usize);
    source.open()?.read_to_end(&mut raw)?;
    let shown = terminal::shown(&raw).trim_end_matches('\n').to_owned();
    let fits = shown.len() <= tokens * BYTES_PER_TOKEN && weir_tokens::fit(&shown, tokens) == shown.len();
    Ok((fits && !terminal::is_binary(&raw)).then_some(shown))
}

/// Detects what an output is, and gathers its facts.
pub fn read(source: &dyn Source, about: About<'_>) -> io::Result<Page> {
    let sample = Sample::of(source, about)?;
    match read_whole(source, &sample)? {
        Some((_, page)) => Ok(page),
        None => route::read(source, about),
    }
}

/// Finds the kind that claims the whole output, and returns its name and the facts it gathered.
fn read_whole(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<(&'static str, Page)>> {
    for kind in KINDS {
        if let Detector::Whole { is, read } = kind.detector
            && is(sample)
            && let Some(page) = read(source, sample)?
        {
            return Ok(Some((kind.name, Page { kinds: vec![kind.name], ..page })));
        }
    }
    Ok(None)
}
