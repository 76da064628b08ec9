//! Checks that the tables of crates and folders in the documents list exactly those that exist.

use std::collections::BTreeSet;

use super::floors::ARCHITECTURE;
use super::{Finding, Tree, markdown};

const CRATES: &str = "The crates";
const CONTRIBUTING: &str = "CONTRIBUTING.md";
const FOLDERS: &str = "Where things are";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.texts().filter_map(|(path, _)| path.strip_suffix("/Cargo.toml")?.strip_prefix("crates/"));
    let crates: BTreeSet<&str> = manifests.filter(|name| !name.contains('/')).collect();
    let mut findings = compare(tree, ARCHITECTURE, CRATES, &crates, |_| false);
    let folders: BTreeSet<&str> = tree.texts().filter_map(|(path, _)| Some(path.split_once('/')?.0)).collect();
    let (hidden, shown): (BTreeSet<&str>, BTreeSet<&str>) = folders.iter().partition(|name| name.starts_with('.'));
    findings.extend(compare(tree, CONTRIBUTING, FOLDERS, &shown, |name| hidden.contains(name)));
    findings
}

/// Compares the first column of a table with what exists. `optional` says what else may be in it.
fn compare(
    tree: &Tree,
    page: &str,
    heading: &str,
    existing: &BTreeSet<&str>,
    optional: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let Some(text) = tree.text(page) else { return Vec::new() };
    let rows = markdown::rows(&markdown::section(text, heading));
    let Some(title) = rows.first() else {
        let wrong = format!("no table below `{heading}`, so this check sees nothing");
        return vec![Finding::new(
            page,
            1,
            wrong,
            "Bring it back, or tell xtask/src/tidy/crate_tables.rs where it went",
        )];
    };
    let listed: Vec<(usize, String)> = rows[1..]
        .iter()
        .flat_map(|row| markdown::spans_in(row.cell(0)).into_iter().map(|name| (row.line, name)))
        .collect();
    let gone = listed.iter().filter(|(_, name)| !existing.contains(name.as_str()) && !optional(name));
    let gone = gone.map(|(line, name)| {
        Finding::new(page, *line, format!("`{name}` is in the table and does not exist"), "Remove its row")
    });
    let missing = existing.iter().filter(|name| !listed.iter().any(|(_, row)| row == *name));
    let missing = missing.map(|name| {
        let wrong = format!("the table below `{heading}` does not list `{name}`");
        Finding::new(page, title.line, wrong, "Add its row")
    });
    gone.chain(missing).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(architecture: &str, contributing: &str) -> Checked {
        Checked(findings(
            super::check,
            &[
                ("ARCHITECTURE.md", architecture),
                ("CONTRIBUTING.md", contributing),
                (".ci/run", ""),
                ("bench/Cargo.toml", ""),
                ("crates/weir/Cargo.toml", ""),
                ("crates/weir-core/Cargo.toml", ""),
            ],
        ))
    }

    #[test]
    fn complete_tables_are_fine() {
        check(
            "## The crates\n| crate |\n| --- |\n| `weir` |\n| `weir-core` |\n",
            "## Where things are\n| folder |\n| `crates` |\n| `bench` |\n| `.ci` |\n",
        )
        .shows(&expect![""]);
    }

    #[test]
    fn rows_too_many_and_too_few_are_found() {
        check(
            "## The crates\n| crate |\n| --- |\n| `weir` |\n| `weir-team` |\n",
            "## Where things are\n| folder |\n| `crates` |\n| `.github` |\n",
        )
        .shows(&expect![[r#"
            ARCHITECTURE.md:5: `weir-team` is in the table and does not exist. Remove its row.
            ARCHITECTURE.md:2: the table below `The crates` does not list `weir-core`. Add its row.
            CONTRIBUTING.md:4: `.github` is in the table and does not exist. Remove its row.
            CONTRIBUTING.md:2: the table below `Where things are` does not list `bench`. Add its row.
        "#]]);
    }

    #[test]
    fn a_table_that_is_not_found_is_reported() {
        check("## Crates\n", "## Where things are\n| folder |\n| `crates`, `bench` |\n").shows(&expect![[r#"
            ARCHITECTURE.md:1: no table below `The crates`, so this check sees nothing. Bring it back, or tell xtask/src/tidy/crate_tables.rs where it went.
        "#]]);
    }
}
