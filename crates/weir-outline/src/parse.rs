//! Parsing with an end: whatever a file holds, it takes a bounded time.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Range, Tree};

/// How long the parses of one file may take together. A megabyte takes a tenth of it; what takes longer was made to.
const PATIENCE: Duration = Duration::from_secs(4);

/// A parser that gives up.
pub(crate) struct Parsing {
    parser: Parser,
    until: Instant,
}

impl Parsing {
    /// A parser of a grammar; none when the grammar is of another time than the parser.
    pub(crate) fn new(grammar: &tree_sitter::Language) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(grammar).ok()?;
        Some(Self { parser, until: Instant::now() + PATIENCE })
    }

    /// Parses a text; none when it takes too long.
    pub(crate) fn whole(&mut self, text: &str) -> Option<Tree> {
        let until = self.until;
        let mut go_on = |_: &tree_sitter::ParseState| {
            if Instant::now() < until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut go_on);
        let tree =
            self.parser.parse_with_options(&mut |at, _| &text.as_bytes()[at.min(text.len())..], None, Some(options));
        // What was begun is not gone on with.
        self.parser.reset();
        tree
    }

    /// Parses ranges of a text as if they were one; none when they are not in order, or it takes too long.
    pub(crate) fn parts(&mut self, text: &str, ranges: &[Range]) -> Option<Tree> {
        self.parser.set_included_ranges(ranges).ok()?;
        let tree = self.whole(text);
        // The whole text is what is parsed next.
        self.parser.set_included_ranges(&[]).ok()?;
        tree
    }
}

/// Indented in more steps than this, a text is not given to a parser: the scanners of some grammars keep their steps in
/// a place of fixed size, and those of Python and YAML write behind it.
const MOST_STEPS: usize = 150;

/// Whether a text is indented in more steps than a grammar's scanner can keep.
pub(crate) fn is_too_deep(text: &str) -> bool {
    let mut steps: Vec<usize> = Vec::new();
    let mut step_to = |column: usize| {
        while steps.last().is_some_and(|last| *last > column) {
            steps.pop();
        }
        if steps.last() != Some(&column) {
            steps.push(column);
        }
        steps.len() > MOST_STEPS
    };
    text.lines().any(|line| {
        let mut rest = line.trim_start();
        // Of `- - a`, each dash is a step.
        while let Some(after) = rest.strip_prefix(['-', '?']).filter(|after| after.starts_with([' ', '\t'])) {
            if step_to(line.len() - rest.len()) {
                return true;
            }
            rest = after.trim_start();
        }
        !rest.is_empty() && step_to(line.len() - rest.len())
    })
}
