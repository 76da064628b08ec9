//! What a test found, compared with what it expects: `check(input).shows(&expect!["output"])`.
//!
//! A test module has a function `check` that knows how, and returns a [`Checked`]. The tests of several crates use it;
//! nothing ships with it.

use expect_test::Expect;

#[must_use]
pub struct Checked(pub String);

impl Checked {
    /// Compares the text with the expected one, which stands next to the test.
    pub fn shows(self, expected: &Expect) {
        expected.assert_eq(&self.0);
    }
}
