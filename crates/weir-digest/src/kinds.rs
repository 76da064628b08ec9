//! The kinds of output. Each kind is one file in the folder of its subject, named twice here: as a module of
//! its subject, and in [`KINDS`].

use std::io;

use crate::sample::Sample;
use crate::{About, Line, Page, Source};

mod fold;
mod tool_output;

/// Records and values: JSON, separated values, tables.
mod data {
    pub(super) mod cells;
    mod column;
    mod converted;
    pub(super) mod csv;
    pub(super) mod envelope;
    pub(super) mod json;
    mod json_graph;
    mod json_piece;
    mod json_reader;
    mod json_rows;
    mod layout;
    pub(super) mod ndjson;
    pub(super) mod records;
    mod row;
    mod rows;
    mod rows_page;
    mod rows_words;
    mod sheet;
    pub(super) mod table;
    mod value;
    pub(super) mod yaml;
}

/// Compilers, linters and type checkers.
mod diagnostics {
    mod block;
    mod build_steps;
    pub(super) mod diagnostic;
    pub(super) mod eslint;
    pub(super) mod gcc;
    pub(super) mod mypy;
    pub(super) mod ruff;
    pub(super) mod rustc;
    mod shown;
    pub(super) mod tsc;
}

/// Text written by people, and pages: prose, Markdown, HTML, source code.
mod documents {
    pub(super) mod accessibility;
    mod grid;
    pub(super) mod html;
    pub(super) mod markdown;
    mod outline;
    mod passages;
    pub(super) mod prose;
    pub(super) mod source;
}

/// Output that is not meant for reading: bytes, encodings, minified code.
mod encoded {
    pub(super) mod binary;
    mod bytes;
    mod magic;
    mod minified;
    pub(super) mod opaque;
}

/// What git prints.
mod git {
    pub(super) mod blame;
    mod commits;
    pub(super) mod diff;
    pub(super) mod log;
    pub(super) mod oneline;
    mod patch;
    mod stat;
    pub(super) mod status;
}

/// Lists of files, and lines found in them.
mod listings {
    pub(super) mod find;
    mod folders;
    pub(super) mod grep;
    mod listing;
    pub(super) mod ls;
    pub(super) mod tree;
}

/// Logs of web servers.
mod logs {
    pub(super) mod access_log;
}

/// Installers and builders of packages.
mod packages {
    pub(super) mod apt;
    pub(super) mod cargo_build;
    pub(super) mod npm;
    mod npm_tree;
}

/// Helpers that kinds of several subjects use.
mod shared {
    pub(super) mod bounded_items;
    pub(super) mod counts;
    pub(super) mod dates;
    pub(super) mod definition;
    pub(crate) mod stamp;
}

/// Test runs: what failed and why, what was skipped, what took long.
mod test_runs {
    mod cargo_counts;
    pub(super) mod cargo_test;
    mod chatter;
    mod coverage;
    mod failed;
    mod go_output;
    pub(super) mod go_test;
    pub(super) mod go_test_json;
    pub(super) mod jest;
    mod js_block;
    mod js_report;
    pub(super) mod junit;
    pub(super) mod nextest;
    mod outcomes;
    mod panicked;
    pub(super) mod pytest;
    mod pytest_block;
    mod pytest_lines;
    mod run;
    #[cfg(test)]
    mod tests;
    pub(super) mod vitest;
    mod xml;
}

/// Crashes of programs: stack traces and thread dumps.
mod traces {
    pub(super) mod go;
    pub(super) mod java;
    mod java_threads;
    pub(super) mod node;
    pub(super) mod python;
    pub(super) mod rust;
    mod trace;
}

pub use data::envelope::unwrapped;
pub(crate) use shared::stamp;

pub(crate) struct Kind {
    pub name: &'static str,
    /// How it is detected and read.
    pub detector: Detector,
    /// Whether nobody reads such an output line by line, so that a digest says more than a beginning.
    pub is_data: bool,
}

type Is = fn(&Sample<'_>) -> bool;
type Read = fn(&dyn Source, &Sample<'_>) -> io::Result<Option<Page>>;

impl Kind {
    /// Returns a kind of output that is of this kind throughout.
    pub(crate) const fn whole(name: &'static str, is: Is, read: Read) -> Self {
        Self { name, detector: Detector::Whole { is, read }, is_data: false }
    }

    /// Returns a kind of data, which is of this kind throughout.
    pub(crate) const fn data(name: &'static str, is: Is, read: Read) -> Self {
        Self { is_data: true, ..Self::whole(name, is, read) }
    }

    /// Returns a kind of lines that a stretch of type `T` takes.
    pub(crate) const fn lines<T: Stretch + Default + 'static>(
        name: &'static str,
        opens: fn(&str, About<'_>) -> bool,
    ) -> Self {
        Self { name, detector: Detector::Lines { opens, begin: || Box::new(T::default()) }, is_data: false }
    }
}

impl Page {
    /// Returns whether all of the output is data, which nobody reads line by line.
    pub fn is_data(&self) -> bool {
        let is_data = |name: &&str| KINDS.iter().any(|kind| kind.name == *name && kind.is_data);
        !self.kinds.is_empty() && self.kinds.iter().all(is_data)
    }
}

pub(crate) enum Detector {
    /// An output that is of this kind from beginning to end, as its beginning shows. `read` may still find that it is
    /// not, and return `None`.
    Whole { is: Is, read: Read },
    /// Lines that may be mixed with others. `opens` returns whether a stretch begins with this line.
    Lines { opens: fn(&str, About<'_>) -> bool, begin: fn() -> Box<dyn Stretch> },
}

/// Lines of one kind. If such lines occur again later in the output, the same stretch takes them.
pub(crate) trait Stretch {
    /// Receives the few unclaimed lines before the one that opens this stretch, and returns how many of the last of
    /// them belong to it: an error message often precedes its trace.
    fn leads(&mut self, _before: &[Line<'_>]) -> usize {
        0
    }
    /// Takes a line if it belongs here. A line that does not belong goes to the kind that it opens, or to the fold.
    fn take(&mut self, line: &Line<'_>) -> bool;
    /// Returns the facts, after the last line.
    fn page(self: Box<Self>) -> Page;
}

/// Every kind, the more specific before the more general. The first kind that claims an output or a line gets it;
/// unclaimed lines are folded.
pub(crate) const KINDS: &[Kind] = &[
    encoded::binary::KIND,
    test_runs::junit::KIND,
    test_runs::go_test_json::KIND,
    documents::html::KIND,
    data::json::KIND,
    data::ndjson::KIND,
    data::records::KIND,
    data::yaml::KIND,
    documents::accessibility::KIND,
    git::blame::KIND,
    git::oneline::KIND,
    git::status::SHORT,
    logs::access_log::KIND,
    listings::ls::KIND,
    listings::tree::KIND,
    tool_output::KIND,
    listings::grep::KIND,
    encoded::opaque::KIND,
    data::csv::KIND,
    data::table::KIND,
    listings::find::KIND,
    documents::markdown::KIND,
    documents::source::KIND,
    documents::prose::KIND,
    test_runs::nextest::KIND,
    test_runs::cargo_test::KIND,
    test_runs::pytest::KIND,
    test_runs::jest::KIND,
    test_runs::vitest::KIND,
    test_runs::go_test::KIND,
    diagnostics::rustc::KIND,
    diagnostics::tsc::KIND,
    diagnostics::eslint::KIND,
    diagnostics::gcc::KIND,
    diagnostics::ruff::KIND,
    diagnostics::mypy::KIND,
    git::log::KIND,
    git::diff::KIND,
    git::status::KIND,
    packages::cargo_build::KIND,
    packages::npm::KIND,
    packages::apt::KIND,
    traces::python::KIND,
    traces::java::KIND,
    traces::node::KIND,
    traces::rust::KIND,
    traces::go::KIND,
    fold::KIND,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own_and_the_fold_is_the_last() {
        let mut names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.last(), Some(&"lines"));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
