//! What the test runners of JavaScript report besides failures.

use super::coverage::Coverage;
use super::outcomes::{Outcomes, Skips, TopN};
use crate::kinds::shared::bounded_items::KeptItems;
use crate::text::clip;
use crate::{Item, Page, Weight};

const MAX_LINES: usize = 60;
const SLOWEST: &str = "slowest tests";

/// What is reported about a run.
#[derive(Default)]
pub(super) struct JsReport {
    pub outcomes: Outcomes,
    pub slow: TopN,
    pub slow_files: TopN,
    pub skips: Skips,
    pub coverage: Coverage,
    notes: KeptItems<MAX_LINES>,
    counts: Vec<String>,
}

impl JsReport {
    /// Takes a remark of the runner about the run as a whole.
    pub(super) fn note(&mut self, line: u64, text: &str) {
        self.notes.add(|| Item::at(line, clip(text, 300)));
    }

    /// Takes counts of the runner, in our words.
    pub(super) fn count(&mut self, counts: String) {
        if self.counts.len() < MAX_LINES {
            self.counts.push(counts);
        }
    }

    /// Returns the counts of the runner, or else our own.
    pub(super) fn counted(&self) -> String {
        if self.counts.is_empty() { self.outcomes.counted() } else { self.counts.join("; ") }
    }

    pub(super) fn put(self, page: &mut Page) {
        page.push(self.notes.part("notes", Weight::Fact));
        page.push(self.slow.part(SLOWEST, Weight::Fact));
        if page.parts.iter().all(|part| part.name != SLOWEST) {
            page.push(self.slow_files.part("slowest files", Weight::Shape));
        }
        self.coverage.put(page);
        page.push(self.skips.part("skipped and to do", Weight::Shape));
        page.push(self.outcomes.part("files"));
    }
}
