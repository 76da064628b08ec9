//! What a proxy has done since it was started. Invariant: each result of a tool counts once, however often clients
//! repeat it.

use std::sync::Mutex;

use serde::Serialize;
use weir_host::answer::{Answer, counted, size};
use weir_host::error::CommandError;
use weir_host::mutex::lock;

use super::MAX_BODY_BYTES;

/// What was done, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Tally {
    pub(super) requests: usize,
    /// The results of tools that the model had not answered when they arrived.
    pub(super) results: usize,
    /// The texts among them that were held back.
    pub(super) held: usize,
    /// The tokens of those texts.
    pub(super) tokens_before: usize,
    /// The tokens that replaced them.
    pub(super) tokens_after: usize,
    /// The results that were cleared after a pause, their tokens, and those of what replaced them.
    pub(super) cleared: usize,
    pub(super) cleared_before: usize,
    pub(super) cleared_after: usize,
    /// The requests to a model that were not looked into: compressed, too large, or not of their format.
    pub(super) unread: usize,
    /// The requests whose results were left alone because no tool could read the rest.
    pub(super) without_reader: usize,
}

impl Tally {
    /// Returns the sum for a person, and the same as data.
    pub(super) fn answer(self) -> Result<Answer, CommandError> {
        Answer::new(self.text(), self).erased()
    }

    fn text(self) -> String {
        let requests = counted(self.requests, "request", "requests");
        let results = counted(self.results, "tool result", "tool results");
        let (held, before, after) = (self.held, self.tokens_before, self.tokens_after);
        let mut lines = vec![match held {
            0 => format!("{requests}, {results}, none held back"),
            _ => format!("{requests}, {results}, {held} held back: {before} tokens became {after}"),
        }];
        if self.cleared > 0 {
            let (cleared, before, after) = (self.cleared, self.cleared_before, self.cleared_after);
            let results = counted(cleared, "old result", "old results");
            lines.push(format!("{results} cleared after a pause: {before} tokens became {after}"));
        }
        if self.unread > 0 {
            let unread = counted(self.unread, "request was", "requests were");
            let most = size(MAX_BODY_BYTES as u64);
            lines.push(format!("{unread} passed on unread: compressed, larger than {most}, or in an unknown format"));
        }
        if self.without_reader > 0 {
            let requests = counted(self.without_reader, "request", "requests");
            lines.push(format!("{requests} offered no tool to read the rest with (ctx_get or a shell): nothing held"));
        }
        lines.join("\n")
    }
}

/// A tally that several threads add to.
#[derive(Default)]
pub(super) struct Counter(Mutex<Tally>);

impl Counter {
    pub(super) fn count(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut lock(&self.0));
    }

    pub(super) fn now(&self) -> Tally {
        *lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(tally: Tally, expected: Expect) {
        expected.assert_eq(&tally.text());
    }

    #[test]
    fn a_person_reads_what_was_done() {
        check(Tally::default(), expect!["0 requests, 0 tool results, none held back"]);
        let held = Tally { requests: 12, results: 34, held: 5, tokens_before: 61_204, ..Tally::default() };
        check(
            Tally { tokens_after: 4_310, ..held },
            expect!["12 requests, 34 tool results, 5 held back: 61204 tokens became 4310"],
        );
        check(
            Tally { requests: 2, unread: 1, without_reader: 1, ..Tally::default() },
            expect![[r#"
                2 requests, 0 tool results, none held back
                1 request was passed on unread: compressed, larger than 32.0 MiB, or in an unknown format
                1 request offered no tool to read the rest with (ctx_get or a shell): nothing held"#]],
        );
    }
}
