//! One failure as reported by Jest or Vitest: the message, what was expected and received, and the place.

use super::failed::Failure;
use crate::text::{clip, starts};

const MAX_LINES: usize = 12;
/// The maximum length of values that are put on the line of the message.
const MAX_INLINE_BYTES: usize = 200;

#[derive(Default)]
pub(super) struct JsBlock {
    /// The assertion, which says little: `expect(received).toBe(expected)`.
    matcher: String,
    message: String,
    /// Lines such as `Expected: 3`.
    values: Vec<String>,
    difference: Vec<String>,
    in_difference: bool,
    /// Lines after the message.
    rest: Vec<String>,
    /// The deepest place in the project, and the place in the test.
    place: String,
    first_foreign: String,
    test_place: String,
}

impl JsBlock {
    pub(super) fn line(&mut self, text: &str) {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        if let Some(place) = frame(trimmed) {
            self.in_difference = false;
            self.place(place);
            return;
        }
        if is_code(trimmed) {
            self.in_difference = false;
            return;
        }
        if is_difference(trimmed) {
            self.in_difference = true;
            return;
        }
        if self.in_difference {
            if trimmed.starts_with(['-', '+']) && self.difference.len() < MAX_LINES {
                self.difference.push(clip(&spaced(trimmed), 200));
            }
            return;
        }
        if is_value(trimmed) {
            if self.values.len() < MAX_LINES {
                self.values.push(clip(&spaced(trimmed), 300));
            }
        } else if self.matcher.is_empty() && self.message.is_empty() && trimmed.starts_with("expect(") {
            self.matcher = clip(trimmed, 300);
        } else if self.message.is_empty() {
            self.message = clip(trimmed, 400);
        } else if self.rest.len() < MAX_LINES {
            self.rest.push(clip(trimmed, 200));
        }
    }

    fn place(&mut self, place: &str) {
        if place.contains("node_modules/") || place.starts_with("node:") || place.contains("node_modules\\") {
            if self.first_foreign.is_empty() {
                self.first_foreign = clip(place, 250);
            }
            return;
        }
        if self.place.is_empty() {
            self.place = clip(place, 250);
        }
        if is_test(place) {
            self.test_place = clip(place, 250);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.matcher.is_empty() && self.message.is_empty() && self.values.is_empty() && self.place.is_empty()
    }

    pub(super) fn failure(self, line: u64, title: &str) -> Failure {
        let Self { matcher, message, mut values, mut difference, rest, place, first_foreign, test_place, .. } = self;
        let mut details = Vec::new();
        let mut said = message;
        // How values are compared is known from the test.
        for comment in [" // Object.is equality", " // deep equality"] {
            said.truncate(said.strip_suffix(comment).unwrap_or(&said).len());
        }
        // The message already has both values.
        if said.contains(" expected ") && said.contains(" to ") && said.len() < MAX_INLINE_BYTES && !said.contains('…')
        {
            values.clear();
            difference.clear();
        }
        if said.is_empty() {
            // The name of the method is in the matcher, between the first dot and the following bracket.
            let called = matcher.split_once(").").and_then(|(_, rest)| rest.split('(').next()).unwrap_or(&matcher);
            said = if values.is_empty() { called.to_owned() } else { String::new() };
        } else if !matcher.is_empty() {
            details.push(matcher);
        }
        let values = values.join(", ");
        if !values.is_empty() && said.len() + values.len() <= MAX_INLINE_BYTES {
            said = if said.is_empty() { values } else { format!("{said}: {values}") };
        } else if !values.is_empty() {
            details.push(values);
        }
        let short: usize = difference.iter().map(String::len).sum();
        if !difference.is_empty() && said.len() + short <= MAX_INLINE_BYTES {
            said = format!("{said}: {}", std::mem::take(&mut difference).join(" "));
        }
        details.extend(difference);
        details.extend(rest);
        let place = if place.is_empty() { first_foreign } else { place };
        details.extend((!test_place.is_empty() && test_place != place).then(|| format!("called at {test_place}")));
        let (case, test) = split(title);
        Failure { line, test, case, place, message: said, details }
    }
}

/// Splits a title into the groups of a test and its name: `hub west > ` and `reports its load`.
pub(super) fn split(title: &str) -> (String, String) {
    let at = [" > ", " › "].iter().filter_map(|sign| Some(title.rfind(sign)? + sign.len())).max().unwrap_or_default();
    let (case, test) = title.split_at(at);
    (case.to_owned(), test.to_owned())
}

fn is_test(path: &str) -> bool {
    path.contains(".test.") || path.contains(".spec.") || path.contains("__tests__")
}

/// Collapses runs of spaces, which separate signs and values.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Parses the place of `at move (test/cards.test.js:19:18)` or `❯ Module.pull src/sync.ts:3:11`.
fn frame(text: &str) -> Option<&str> {
    let place = if let Some(rest) = text.strip_prefix("at ") {
        match rest.rsplit_once('(') {
            Some((_, place)) => place.strip_suffix(')')?,
            None => rest.strip_prefix("async ").unwrap_or(rest),
        }
    } else {
        text.strip_prefix('❯')?.trim_start().rsplit(' ').next()?
    };
    let mut pieces = place.rsplitn(3, ':');
    let numbers = [pieces.next()?, pieces.next()?];
    let is = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (numbers.iter().all(is) && pieces.next().is_some_and(|path| !path.is_empty() && !path.contains(' ')))
        .then_some(place)
}

/// Recognises a line of source with its number, or the marker below it.
pub(super) fn is_code(text: &str) -> bool {
    let text = text.strip_prefix("> ").unwrap_or(text).trim_start();
    let after = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    after.trim_start().starts_with('|')
}

/// Recognises the headers of a difference: `- Expected  - 2`, `@@ -1,17 +1,17 @@`.
fn is_difference(text: &str) -> bool {
    starts(text, &["- Expected", "+ Received", "- Snapshot", "@@ "])
}

fn is_value(text: &str) -> bool {
    let starts = ["Expected", "Received", "Number of calls", "Number of returns", "Snapshot:", "Difference:"];
    starts.iter().any(|start| text.starts_with(start)) && text.split_once(": ").is_some_and(|(name, _)| name.len() < 40)
}
