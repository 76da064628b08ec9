//! What tests print besides their results. It is read as a log, and comes after everything that the runner prints.

use crate::kinds::Stretch;
use crate::kinds::fold::Fold;
use crate::{Line, Page, Weight};

/// With fewer lines than this, they are only samples.
const MIN_LINES: u64 = 30;

/// The lines that tests printed.
#[derive(Default)]
pub(super) struct Chatter(Option<Box<Fold>>);

impl Chatter {
    pub(super) fn line(&mut self, line: &Line<'_>) {
        self.0.get_or_insert_default().take(line);
    }

    /// Adds its parts to a page, after those of the runner.
    pub(super) fn put(self, page: &mut Page) {
        let Some(log) = self.0 else { return };
        let few = log.lines < MIN_LINES;
        let printed = log.page();
        if !few && !printed.what.is_empty() {
            page.what.push_str(&format!("; printed by tests: {}", printed.what));
        }
        for mut part in printed.parts {
            // When and in which order tests print is not informative.
            if ["time", "steps", "last lines"].contains(&part.name.as_str()) {
                continue;
            }
            part.weight = match part.weight {
                Weight::Failure | Weight::Fact if !few => Weight::Shape,
                _ => Weight::Sample,
            };
            part.name = format!("printed by tests, {}", part.name);
            page.push(part);
        }
    }
}
