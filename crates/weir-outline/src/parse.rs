//! Parsing in bounded time, whatever a file contains.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Range, Tree};

/// Maximum time for all parses of one file. A megabyte takes a tenth of it; only hostile files take longer.
const PARSE_TIMEOUT: Duration = Duration::from_secs(4);

/// A parser with a deadline.
pub(crate) struct Parsing {
    parser: Parser,
    until: Instant,
}

impl Parsing {
    /// Creates a parser for a grammar. Returns `None` if their versions are incompatible.
    pub(crate) fn new(grammar: &tree_sitter::Language) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(grammar).ok()?;
        Some(Self { parser, until: Instant::now() + PARSE_TIMEOUT })
    }

    /// Parses a text. Returns `None` if it takes too long.
    pub(crate) fn whole(&mut self, text: &str) -> Option<Tree> {
        let until = self.until;
        let mut go_on = |_: &tree_sitter::ParseState| {
            if Instant::now() < until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut go_on);
        let tree =
            self.parser.parse_with_options(&mut |at, _| &text.as_bytes()[at.min(text.len())..], None, Some(options));
        // Do not resume an aborted parse.
        self.parser.reset();
        tree
    }

    /// Parses ranges of a text as one. Returns `None` if they are not in order or it takes too long.
    pub(crate) fn parts(&mut self, text: &str, ranges: &[Range]) -> Option<Tree> {
        self.parser.set_included_ranges(ranges).ok()?;
        let tree = self.whole(text);
        // Parse the whole text next time.
        self.parser.set_included_ranges(&[]).ok()?;
        tree
    }
}

/// Maximum number of indentation levels. A deeper text is not parsed: some scanners store the levels in a buffer of
/// fixed size, and those of Python and YAML write past its end.
const MAX_STEPS: usize = 150;

/// Returns whether a text has more indentation levels than a grammar's scanner can store.
pub(crate) fn is_too_deep(text: &str) -> bool {
    let mut steps: Vec<usize> = Vec::new();
    let mut step_to = |column: usize| {
        while steps.last().is_some_and(|last| *last > column) {
            steps.pop();
        }
        if steps.last() != Some(&column) {
            steps.push(column);
        }
        steps.len() > MAX_STEPS
    };
    text.lines().any(|line| {
        let mut rest = line.trim_start();
        // In `- - a`, each dash is a level.
        while let Some(after) = rest.strip_prefix(['-', '?']).filter(|after| after.starts_with([' ', '\t'])) {
            if step_to(line.len() - rest.len()) {
                return true;
            }
            rest = after.trim_start();
        }
        !rest.is_empty() && step_to(line.len() - rest.len())
    })
}
