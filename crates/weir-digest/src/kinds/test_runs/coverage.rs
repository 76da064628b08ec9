//! The coverage table that a test run may print: the totals, and the files with the lowest coverage.

use super::outcomes::TopN;
use crate::text::clip;
use crate::{Item, Page, Part, Weight};

#[derive(Default)]
pub(super) struct Coverage {
    totals: Vec<Item>,
    least: TopN,
    columns: bool,
}

impl Coverage {
    /// Takes a row of the table. Returns whether it is one.
    pub(super) fn row(&mut self, line: u64, text: &str) -> bool {
        self.columns |= text.contains('|');
        let cells = text.split(['|', ' ']).filter(|cell| !cell.is_empty());
        let row = text.trim();
        if row.starts_with("TOTAL ") || row.starts_with("All files") {
            if self.totals.len() < 4 {
                self.totals.push(Item::at(line, clip(row, 200)));
            }
            return true;
        }
        let percent = match text.contains('|') {
            // In the tables of Istanbul, the first column after the name has no percent sign.
            true => cells.clone().nth(1),
            false => cells.clone().find_map(|cell| cell.strip_suffix('%')),
        };
        let Some(percent) = percent.and_then(|percent| percent.parse::<f64>().ok()) else { return false };
        let missing = (10_000.0 - (percent * 100.0).clamp(0.0, 10_000.0)) as u64;
        if missing > 0 {
            self.least.add(missing, || cells.collect::<Vec<_>>().join(" "));
        }
        true
    }

    pub(super) fn put(self, page: &mut Page) {
        let name = if self.columns { "coverage of statements, branches, functions and lines" } else { "coverage" };
        page.push(Part::new(name, Weight::Fact, self.totals));
        page.push(self.least.whole_part("files not wholly covered, the least first", Weight::Shape));
    }
}
