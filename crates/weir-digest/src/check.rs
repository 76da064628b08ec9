//! Test helpers for kinds: compare the whole digest of an output with the expected text next to the test.

use expect_test::Expect;
use weir_core::Reference;

use crate::{About, Frame};

/// Compares the digest of an output with the expected text, and checks what holds for every digest.
pub(crate) fn check(raw: &str, budget: usize, expected: &Expect) {
    let text = digest(raw, budget);
    assert!(weir_tokens::count(&text) <= budget, "over its budget:\n{text}");
    assert_eq!(text, digest(raw, budget), "not the same twice");
    expected.assert_eq(&text);
}

/// Returns the digest of an output, as it would be shown.
pub(crate) fn digest(raw: &str, budget: usize) -> String {
    let bytes = raw.as_bytes();
    let page = crate::read(&bytes, About::default()).unwrap();
    let frame = Frame {
        head: "exit 0",
        remarks: &[],
        reference: Reference::from_bits(0),
        lines: raw.lines().count() as u64,
        bytes: raw.len() as u64,
        read_on: "more: ctx_get",
    };
    page.render(&frame, budget).to_string()
}
