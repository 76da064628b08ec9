//! Tests of the parser.

use super::*;

fn check(text: &str, expected: usize) {
    assert_eq!(parse(text), expected);
}

#[test]
fn an_empty_text_has_no_words() {
    check("", 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_threads_agree() {
    check("a b", 2);
}
