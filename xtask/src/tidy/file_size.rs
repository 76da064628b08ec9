//! Checks the size of a file up to its tests: a long file should be split.

use super::{Finding, Tree};

const LIMIT: usize = 400;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|(path, _)| path.contains("/src/") && !is_tests(path))
        .filter_map(|(path, text)| {
            let size = text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count();
            let wrong = format!("{size} lines before its tests; the limit is {LIMIT}");
            (size > LIMIT)
                .then(|| Finding::new(path, LIMIT + 1, wrong, "Split it where its parts depend least on each other"))
        })
        .collect()
}

/// Returns whether the whole file is tests, which may be as long as they need to be.
pub(super) fn is_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.ends_with("_tests.rs") || path.contains("/tests/")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;
    use super::LIMIT;

    fn check(text: &str) -> Checked {
        Checked(findings(super::check, &[("crates/x/src/lib.rs", text)]))
    }

    #[test]
    fn tests_do_not_count() {
        check(&format!("{}#[cfg(test)]\n{}", "x\n".repeat(LIMIT), "x\n".repeat(LIMIT))).shows(&expect![""]);
    }

    #[test]
    fn a_file_of_tests_may_be_longer() {
        let text = "x\n".repeat(LIMIT + 1);
        expect![""].assert_eq(&findings(super::check, &[("crates/x/src/a/tests.rs", &text)]));
    }

    #[test]
    fn one_line_too_many_is_found() {
        check(&"x\n".repeat(LIMIT + 1)).shows(&expect![[r#"
            crates/x/src/lib.rs:401: 401 lines before its tests; the limit is 400. Split it where its parts depend least on each other.
        "#]]);
    }
}
