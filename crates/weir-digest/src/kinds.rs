//! The kinds of output. A kind is one file in this folder and one line in [`KINDS`].

use std::io;

use crate::sample::Sample;
use crate::{About, Line, Page, Source};

mod access_log;
mod accessibility;
mod apt;
mod binary;
mod build_steps;
mod bytes;
mod cargo_build;
mod cargo_test;
mod cells;
mod chatter;
mod column;
mod counts;
mod coverage;
mod cross;
mod csv;
mod dates;
mod definition;
mod diagnostics;
mod diagnostics_shown;
mod eslint;
mod failed;
mod find;
mod folders;
mod gcc;
mod git_blame;
mod git_commits;
mod git_diff;
mod git_log;
mod git_oneline;
mod git_status;
mod go_output;
mod go_test;
mod go_test_json;
mod go_trace;
mod grep;
mod grid;
mod html;
mod java_threads;
mod java_trace;
mod jest;
mod js_block;
mod json;
mod json_graph;
mod json_reader;
mod json_rows;
mod junit;
mod kept;
mod layout;
mod listing;
mod log;
mod ls;
mod magic;
mod markdown;
mod minified;
mod mypy;
mod ndjson;
mod nextest;
mod node_trace;
mod npm;
mod npm_tree;
mod opaque;
mod outcomes;
mod outline;
mod panicked;
mod passages;
mod patch;
mod pip;
mod prose;
mod pytest;
mod pytest_block;
mod pytest_lines;
mod python_trace;
mod row;
mod rows;
mod rows_page;
mod rows_words;
mod ruff;
mod rust_trace;
mod rustc;
mod source;
pub(crate) mod stamp;
mod stat;
mod table;
mod tally;
mod tool_output;
mod traces;
mod tree;
mod tsc;
mod value;
mod vitest;
mod xml;

/// A kind of output.
pub(crate) struct Kind {
    /// Its name.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name the kind that they are about"))]
    pub name: &'static str,
    /// How it is seen and read.
    pub how: How,
}

/// How a kind is seen and read.
pub(crate) enum How {
    /// An output that is of this kind from beginning to end, which its beginning shows. `read` may still find that it
    /// is not, and answer nothing.
    Whole { is: fn(&Sample<'_>) -> bool, read: fn(&dyn Source, &Sample<'_>) -> io::Result<Option<Page>> },
    /// Lines that may stand among others. `opens` says whether such a stretch begins with this line.
    Lines { opens: fn(&str, About<'_>) -> bool, begin: fn() -> Box<dyn Stretch> },
}

/// Lines of one kind. When such lines come again later in the output, the same stretch takes them.
pub(crate) trait Stretch {
    /// Is shown the few lines before the one that opens this stretch, which nobody has claimed, and answers how many of
    /// them, from the last on, belong to it: an error often says what it is before its trace begins.
    fn leads(&mut self, _before: &[Line<'_>]) -> usize {
        0
    }
    /// Takes a line if it belongs here. A line that does not goes to the kind that it opens, or to the log.
    fn take(&mut self, line: &Line<'_>) -> bool;
    /// The facts, after the last line.
    fn page(self: Box<Self>) -> Page;
}

/// Every kind, the more particular before the more general. The first that claims an output or a line has it; what
/// nobody claims is a log.
pub(crate) const KINDS: &[Kind] = &[
    binary::KIND,
    junit::KIND,
    go_test_json::KIND,
    html::KIND,
    json::KIND,
    ndjson::KIND,
    accessibility::KIND,
    git_blame::KIND,
    git_oneline::KIND,
    git_status::SHORT,
    access_log::KIND,
    ls::KIND,
    tree::KIND,
    tool_output::KIND,
    grep::KIND,
    opaque::KIND,
    csv::KIND,
    table::KIND,
    find::KIND,
    markdown::KIND,
    source::KIND,
    prose::KIND,
    nextest::KIND,
    cargo_test::KIND,
    pytest::KIND,
    jest::KIND,
    vitest::KIND,
    go_test::KIND,
    rustc::KIND,
    tsc::KIND,
    eslint::KIND,
    gcc::KIND,
    ruff::KIND,
    mypy::KIND,
    git_log::KIND,
    git_diff::KIND,
    git_status::KIND,
    cargo_build::KIND,
    npm::KIND,
    pip::KIND,
    apt::KIND,
    python_trace::KIND,
    java_trace::KIND,
    node_trace::KIND,
    rust_trace::KIND,
    go_trace::KIND,
    log::KIND,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own_and_the_log_is_the_last() {
        let mut names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.last(), Some(&"log"));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
