//! A test run among the lines of an output: its share of the output, and the room for its failures.

use super::failed::make_room;
use crate::kinds::Stretch;
use crate::{Line, Page};

/// A reader of the lines of a test runner.
pub(super) trait Runner {
    fn line(&mut self, line: &Line<'_>) -> bool;
    /// Returns the facts, after the last line. `bytes` is the size of all lines.
    fn page(self, bytes: u64) -> Page;
}

#[derive(Default)]
pub(super) struct Runs<T> {
    pub runner: T,
    bytes: u64,
}

impl<T> Runs<T> {
    pub(super) fn read(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64 + 1);
    }
}

impl<T: Runner> Stretch for Runs<T> {
    fn take(&mut self, line: &Line<'_>) -> bool {
        let taken = self.runner.line(line);
        if taken {
            self.read(line.text.len());
        }
        taken
    }

    fn page(self: Box<Self>) -> Page {
        let mut page = self.runner.page(self.bytes);
        make_room(&mut page, self.bytes);
        page
    }
}
