//! Checks that each dependency has its reason on the line above it, so that a reader can judge whether it still holds.

use super::{Finding, Tree, numbered};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let path = "Cargo.toml";
    tree.text(path).map(|text| check_manifest(path, text)).unwrap_or_default()
}

fn check_manifest(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inside = false;
    let mut above = "";
    for (number, line) in numbered(text) {
        if line.starts_with('[') {
            inside = line.trim() == "[workspace.dependencies]";
        } else if inside && is_dependency(line) && !above.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or(line);
            findings.push(Finding::new(
                path,
                number,
                format!("`{name}` has no reason"),
                "Say on the line above why it is here",
            ));
        }
        above = line;
    }
    findings
}

/// Returns whether a line adds a third-party crate; our own crates need no reason.
fn is_dependency(line: &str) -> bool {
    line.starts_with(|c: char| c.is_alphanumeric()) && line.contains('=') && !line.contains("path = ")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(manifest: &str) -> Checked {
        Checked(findings(super::check, &[("Cargo.toml", manifest)]))
    }

    #[test]
    fn a_reason_is_asked_for_each_crate_of_others() {
        check(
            "[workspace.dependencies]\n# Ours.\na = { path = \"a\" }\nb = { path = \"b\" }\n# Why c.\nc = \"1\"\nd = \"1\"\n",
        )
        .shows(&expect![[r#"
            Cargo.toml:7: `d` has no reason. Say on the line above why it is here.
        "#]]);
    }

    #[test]
    fn other_tables_are_left_alone() {
        check("[workspace.package]\nversion = \"1\"\n").shows(&expect![""]);
    }
}
