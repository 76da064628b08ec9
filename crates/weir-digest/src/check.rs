//! Test helpers for kinds: compare the digest of an output with the expected text next to the test.

use expect_test::Expect;
use weir_core::Reference;

use crate::{About, Digest, Frame};

/// A digest to be compared.
pub(crate) struct Checked(String);

/// Digests an output, and checks what holds for every digest.
pub(crate) fn check(raw: &str, budget: usize) -> Checked {
    let (what, digest) = render(raw, budget);
    let text = digest.to_string();
    assert!(weir_tokens::count(&text) <= budget, "over its budget:\n{text}");
    assert_eq!(digest, render(raw, budget).1, "not the same twice");
    assert!(digest.head.starts_with(&format!("exit 0; {what}; ")), "{text}");
    assert_eq!(digest.foot, "more: ctx_get", "{text}");
    let facts =
        digest.body.strip_prefix("<<<0000000000\n").and_then(|body| body.strip_suffix("0000000000>>>")).unwrap();
    Checked(format!("{what}\n{facts}").trim_end_matches('\n').to_owned())
}

impl Checked {
    /// Compares what the output is called and the facts between the marks with the expected text.
    pub(crate) fn shows(self, expected: &Expect) {
        expected.assert_eq(&self.0);
    }
}

pub(crate) fn digest(raw: &str, budget: usize) -> String {
    render(raw, budget).1.to_string()
}

fn render(raw: &str, budget: usize) -> (String, Digest) {
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
    let digest = page.render(&frame, budget);
    (page.what, digest)
}
