//! Checks the list of what is missing: each row names the file or folder that would bring it, and that must not exist.

use super::{Finding, Tree, markdown};

const PAGE: &str = "ARCHITECTURE.md";

/// The heading above the list. Other pages link to it.
pub(super) const HEADING: &str = "What is missing";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(PAGE) else { return Vec::new() };
    let rows = markdown::rows(&markdown::section(text, HEADING));
    rows.iter().skip(1).flat_map(|row| check_row(tree, row)).collect()
}

fn check_row(tree: &Tree, row: &markdown::Row<'_>) -> Vec<Finding> {
    let paths = markdown::spans_in(row.cell(1));
    if paths.is_empty() {
        let wrong = "a row that names no path, so nothing tells when it is out of date";
        return vec![Finding::new(PAGE, row.line, wrong, "Name the file or folder that would bring it")];
    }
    let arrived = paths.iter().filter(|path| tree.has(path.trim_end_matches('/')));
    arrived
        .map(|path| {
            let wrong = format!("`{path}` exists, so `{}` may no longer be missing", row.cell(0));
            Finding::new(PAGE, row.line, wrong, "Remove the row, or name what is still missing")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::findings;

    #[test]
    fn what_has_arrived_is_found() {
        let page = "## What is missing\n\n| what | would be |\n| --- | --- |\n| a server | `crates/server` |\n\
            | HTTP | `crates/weir/src/http.rs` |\n| more | – |\n";
        let found = findings(super::check, &[("ARCHITECTURE.md", page), ("crates/server/Cargo.toml", "")]);
        expect![[r#"
            ARCHITECTURE.md:5: `crates/server` exists, so `a server` may no longer be missing. Remove the row, or name what is still missing.
            ARCHITECTURE.md:7: a row that names no path, so nothing tells when it is out of date. Name the file or folder that would bring it.
        "#]]
        .assert_eq(&found);
    }
}
