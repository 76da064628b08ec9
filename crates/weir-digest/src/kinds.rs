//! The kinds of output. Each kind is one file in the folder of its subject and one line in [`KINDS`].

use std::io;

use crate::sample::Sample;
use crate::{About, Line, Page, Source};

mod data;
mod diagnostics;
mod documents;
mod encoded;
mod fold;
mod git;
mod listings;
mod logs;
mod packages;
mod shared;
mod test_runs;
mod tool_output;
mod traces;

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
