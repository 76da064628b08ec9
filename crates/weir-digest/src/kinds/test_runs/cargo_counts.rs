//! The counts of a result of `cargo test`.

use std::fmt;

use super::outcomes::micros;
use crate::text::{counted, number};

#[derive(Default, Clone, Copy)]
pub(super) struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub ignored: u64,
    pub measured: u64,
    pub filtered: u64,
    pub micros: u64,
}

impl Counts {
    /// Parses `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
    pub(super) fn parse(text: &str) -> Self {
        let mut counts = Self::default();
        for piece in text.split(['.', ';']).map(str::trim) {
            let Some((count, word)) = number(piece) else { continue };
            match word.trim() {
                "passed" => counts.passed = count,
                "failed" => counts.failed = count,
                "ignored" => counts.ignored = count,
                "measured" => counts.measured = count,
                "filtered out" => counts.filtered = count,
                _ => {}
            }
        }
        counts.micros = text.split_once("finished in ").and_then(|(_, taken)| micros(taken)).unwrap_or_default();
        counts
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.ignored = self.ignored.saturating_add(other.ignored);
        self.measured = self.measured.saturating_add(other.measured);
        self.filtered = self.filtered.saturating_add(other.filtered);
        self.micros = self.micros.saturating_add(other.micros);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, ignored, measured, filtered, micros } = self;
        write!(f, "{failed} failed, {passed} passed")?;
        for count in counted([(*ignored, "ignored"), (*measured, "measured"), (*filtered, "filtered out")]) {
            write!(f, ", {count}")?;
        }
        write!(f, " in {}.{:02} s", micros / 1_000_000, micros / 10_000 % 100)
    }
}
