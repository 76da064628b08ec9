//! Checks that every module begins by saying what it owns.

use super::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let silent = |(_, text): &(&str, &str)| !text.trim_start().starts_with("//!");
    tree.rust()
        .filter(silent)
        .map(|(path, _)| {
            let fix = "Open it with `//!` and what it owns, and its invariant where it has one";
            Finding::new(path, 1, "the module does not say what it is for", fix)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(text: &str) -> Checked {
        Checked(findings(super::check, &[("crates/x/src/lib.rs", text)]))
    }

    #[test]
    fn a_module_that_opens_with_its_purpose_is_fine() {
        check("//! Owns x.\n").shows(&expect![""]);
    }

    #[test]
    fn a_plain_comment_or_an_item_first_is_not() {
        check(
            "// Owns x.\nuse std::fs;\n",
        )
        .shows(&expect![[r#"
            crates/x/src/lib.rs:1: the module does not say what it is for. Open it with `//!` and what it owns, and its invariant where it has one.
        "#]]);
    }
}
