//! Lines that state totals: `# pass 163`, `2 failing`, `ERROR SUMMARY: 8 errors`.

use crate::kinds::shared::bounded_items::BoundedItems;
use crate::text::number;
use crate::{Line, Part, Weight};

/// Lines that state totals, and the sums of their counts for test runners that have no kind: a run in several packages
/// states several.
#[derive(Default)]
pub(super) struct Totals {
    lines: BoundedItems,
    passed: Option<u64>,
    failed: u64,
    /// Whether some of the lines are failures that a test runner has numbered.
    has_numbered: bool,
    /// The indentation of a line that announces totals below it, and the number of the next of them.
    open: Option<(usize, u64)>,
}

/// The length of the shortest line of totals, such as `  1) `, in bytes.
const MIN_BYTES: usize = 5;

/// How lines of totals begin.
#[rustfmt::skip]
const BEGINNINGS: [&str; 8] = [
    "SUMMARY: ", "ERROR SUMMARY: ", "HEAP SUMMARY", "LEAK SUMMARY", "Execution Time: ", "Total ", "PLAY RECAP",
    "definitely lost: ",
];

impl Totals {
    /// Takes a line that states a total. Returns whether it does.
    pub(super) fn take(&mut self, line: &Line<'_>, text: &str) -> bool {
        if line.text.len() < MIN_BYTES && self.open.is_none() {
            return false;
        }
        let text = text.trim_start_matches(['=', ' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'].as_slice());
        let counted = self.count(line.text);
        let is_named = counted || BEGINNINGS.iter().any(|start| text.starts_with(start));
        let is_numbered = !is_named && is_numbered(line.text);
        self.has_numbered |= is_numbered;
        let is_total = is_named || is_numbered;
        let indent = || line.text.len() - line.text.trim_start().len();
        if is_total {
            self.lines.line(line);
            let is_heading = is_named && text.trim_end().ends_with(':') && self.lines.has_all();
            self.open = is_heading.then(|| (indent(), line.number + 1));
        } else if let Some((above, _)) = self.open.filter(|open| open.1 == line.number && indent() > open.0) {
            self.lines.go_on(&format!("  {}", line.text.trim()));
            self.open = Some((above, line.number + 1));
            return true;
        }
        is_total
    }

    /// Recognises `# pass 163` of TAP, `ℹ fail 5` of node, `58 passing (42ms)` of mocha.
    fn count(&mut self, line: &str) -> bool {
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("# ").or_else(|| text.strip_prefix("ℹ ")) {
            let Some((name, count)) = rest.split_once(' ') else { return false };
            let known = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms"];
            let Some((count, _)) = number(count).filter(|_| known.contains(&name)) else { return false };
            match name {
                // The outer run counts the tests of a nested one too.
                _ if line.starts_with(' ') => {}
                "pass" => self.pass(count),
                "fail" => self.failed = self.failed.saturating_add(count),
                _ => {}
            }
            return true;
        }
        let Some((count, rest)) = number(text) else { return false };
        match rest.trim_start().split([' ', '(']).next() {
            Some("passing") => self.pass(count),
            Some("failing") => self.failed = self.failed.saturating_add(count),
            Some("pending") => {}
            _ => return false,
        }
        rest.starts_with(' ')
    }

    fn pass(&mut self, count: u64) {
        self.passed = Some(self.passed.unwrap_or(0).saturating_add(count));
    }

    /// Returns `tests: 163 passed, 5 failed`.
    pub(super) fn what(&self) -> Option<String> {
        let passed = self.passed?;
        Some(format!("tests: {passed} passed, {} failed", self.failed))
    }

    pub(super) fn part(self) -> Part {
        self.lines.part(if self.has_numbered { "totals and numbered failures" } else { "totals" }, Weight::Fact)
    }
}

/// Recognises `  1) basket adds an item:`, as mocha numbers failures.
fn is_numbered(text: &str) -> bool {
    let rest = text.trim_start();
    text.len() >= rest.len() + 2 && number(rest).is_some_and(|(_, rest)| rest.starts_with(") "))
}
