//! Checks the dependencies between our crates against the table in `ARCHITECTURE.md`: `weir` and the storage of its
//! server, then the crates around one heavy thing each, then those that use none of ours.
//!
//! Invariant: no sideways edges. Development dependencies may point anywhere, since nothing ships with them.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Finding, Tree, markdown, numbered};

/// The page with the table, and its heading there.
pub(super) const ARCHITECTURE: &str = "ARCHITECTURE.md";
pub(super) const HEADING: &str = "The crates";

/// The program and the storage of its server, which may use crates that use others.
const TOPS: &[&str] = &["weir", "weir-server"];

/// What the table says instead of naming every crate.
const ALL: &str = "all of the others";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let (manifests, mut findings) = manifests(tree);
    let stated = stated(tree, &manifests);
    for manifest in manifests.values() {
        findings.extend(undeclared(manifest, &stated));
        findings.extend(sideways(manifest, &manifests));
    }
    findings.extend(stated.iter().flat_map(|(name, row)| unused(name, row, &manifests)));
    findings
}

/// What a manifest of ours says.
struct Manifest<'a> {
    path: &'a str,
    text: &'a str,
    name: String,
    /// Our crates that it depends on when it ships.
    uses: Vec<String>,
}

impl Manifest<'_> {
    fn finding(&self, used: &str, wrong: String, fix: &str) -> Finding {
        let line = numbered(self.text).find(|(_, line)| line.contains(used)).map_or(1, |(number, _)| number);
        Finding::new(self.path, line, wrong, fix)
    }
}

/// What the table says of a crate.
struct Stated {
    line: usize,
    uses: Vec<String>,
}

/// Reads the manifests of our crates, by name, and reports those that cannot be read.
fn manifests(tree: &Tree) -> (BTreeMap<String, Manifest<'_>>, Vec<Finding>) {
    let mut manifests = BTreeMap::new();
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.starts_with("crates/") && path.ends_with("/Cargo.toml")) {
        match text.parse::<Table>() {
            Err(error) => findings.push(Finding::new(path, 1, format!("not TOML: {error}"), "Fix the manifest")),
            Ok(manifest) => {
                let name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
                let Some(name) = name.map(str::to_owned) else {
                    findings.push(Finding::new(path, 1, "a crate without a name", "Give it `package.name`"));
                    continue;
                };
                let uses = used_crates(&manifest);
                manifests.insert(name.clone(), Manifest { path, text, name, uses });
            }
        }
    }
    let names: Vec<String> = manifests.keys().cloned().collect();
    for manifest in manifests.values_mut() {
        manifest.uses.retain(|used| names.contains(used));
    }
    (manifests, findings)
}

/// Returns the crates that a manifest depends on when it ships: normal and build dependencies, for every target.
fn used_crates(manifest: &Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table));
    std::iter::once(manifest)
        .chain(tables)
        .flat_map(|table| ["dependencies", "build-dependencies"].map(|key| table.get(key)))
        .filter_map(|dependencies| dependencies?.as_table())
        .flatten()
        .map(|(key, value)| value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned())
        .collect()
}

/// Returns the rows of the table in `ARCHITECTURE.md`. Its first column names a crate, its last the crates it uses.
fn stated(tree: &Tree, manifests: &BTreeMap<String, Manifest<'_>>) -> BTreeMap<String, Stated> {
    let page = tree.text(ARCHITECTURE).unwrap_or_default();
    let rows = markdown::rows(&markdown::section(page, HEADING));
    rows.iter()
        .filter_map(|row| {
            let name = markdown::spans_in(row.cell(0)).into_iter().next()?;
            let cell = row.cells.last()?;
            let uses = if *cell == ALL {
                manifests.keys().filter(|other| **other != name).cloned().collect()
            } else {
                markdown::spans_in(cell)
            };
            Some((name, Stated { line: row.line, uses }))
        })
        .collect()
}

/// Finds dependencies that the table does not have.
fn undeclared(manifest: &Manifest<'_>, stated: &BTreeMap<String, Stated>) -> Vec<Finding> {
    // A crate without a row is a finding of `crate_tables`.
    let Some(row) = stated.get(&manifest.name) else { return Vec::new() };
    let wrong = manifest.uses.iter().filter(|used| !row.uses.contains(used));
    wrong
        .map(|used| {
            let wrong = format!("`{}` depends on `{used}`, which {ARCHITECTURE} does not say", manifest.name);
            manifest.finding(
                used,
                wrong,
                "Move what it needs down to `weir-core` or up to `weir`, or add it to the table",
            )
        })
        .collect()
}

/// Finds dependencies on a crate that itself uses one of ours.
fn sideways(manifest: &Manifest<'_>, manifests: &BTreeMap<String, Manifest<'_>>) -> Vec<Finding> {
    let uses_others = |used: &str| manifests.get(used).is_some_and(|used| !used.uses.is_empty());
    let wrong = manifest.uses.iter().filter(|used| !TOPS.contains(&manifest.name.as_str()) && uses_others(used));
    wrong
        .map(|used| {
            let wrong = format!("`{}` must not depend on `{used}`, which uses other crates of ours", manifest.name);
            manifest.finding(used, wrong, "Move what it needs down to `weir-core`, or up to `weir`")
        })
        .collect()
}

/// Finds dependencies in the table that the manifest does not have.
fn unused(name: &str, row: &Stated, manifests: &BTreeMap<String, Manifest<'_>>) -> Vec<Finding> {
    let Some(manifest) = manifests.get(name) else { return Vec::new() };
    let wrong = row.uses.iter().filter(|used| !manifest.uses.contains(used));
    wrong
        .map(|used| {
            let wrong = format!("`{name}` does not depend on `{used}`");
            Finding::new(ARCHITECTURE, row.line, wrong, "Remove it from the table")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::findings;

    const TABLE: &str = "## The crates\n\n| crate | contents | uses |\n| --- | --- | --- |\n| `weir` | all | all of the others |\n\
        | `weir-store` | log | `weir-core` |\n| `weir-core` | domain | – |\n";

    /// Checks the dependencies of a store, next to a program and a core.
    fn check(store: &str, expected: Expect) {
        let store = format!("[package]\nname = \"weir-store\"\n{store}");
        let program = "[package]\nname = \"weir\"\n[dependencies]\nweir-store = {}\nweir-core = {}\n";
        expected.assert_eq(&findings(
            super::check,
            &[
                ("ARCHITECTURE.md", TABLE),
                ("crates/weir/Cargo.toml", program),
                ("crates/weir-store/Cargo.toml", &store),
                ("crates/weir-core/Cargo.toml", "[package]\nname = \"weir-core\"\n"),
            ],
        ));
    }

    #[test]
    fn downwards_is_fine_and_so_are_the_crates_of_others() {
        check("[dependencies]\nweir-core.workspace = true\nserde = \"1\"\n", expect![""]);
    }

    #[test]
    fn upwards_is_found_under_another_name_and_for_one_target_only() {
        check(
            "[dependencies]\nweir-core = {}\n[target.'cfg(unix)'.dependencies]\np = { package = \"weir\", path = \"\" }\n",
            expect![[r#"
                crates/weir-store/Cargo.toml:2: `weir-store` depends on `weir`, which ARCHITECTURE.md does not say. Move what it needs down to `weir-core` or up to `weir`, or add it to the table.
                crates/weir-store/Cargo.toml:2: `weir-store` must not depend on `weir`, which uses other crates of ours. Move what it needs down to `weir-core`, or up to `weir`.
            "#]],
        );
    }

    #[test]
    fn an_edge_that_only_the_table_has_is_found() {
        check(
            "",
            expect![[r#"
                ARCHITECTURE.md:6: `weir-store` does not depend on `weir-core`. Remove it from the table.
            "#]],
        );
    }

    #[test]
    fn sideways_is_found_even_if_the_table_has_it() {
        let page = "## The crates\n\n| crate | uses |\n| `a` | `b` |\n| `b` | `c` |\n| `c` | – |\n";
        let manifest = |name: &str, used: &str| format!("[package]\nname = \"{name}\"\n[dependencies]\n{used}\n");
        let found = findings(
            super::check,
            &[
                ("ARCHITECTURE.md", page),
                ("crates/a/Cargo.toml", &manifest("a", "b = {}")),
                ("crates/b/Cargo.toml", &manifest("b", "c = {}")),
                ("crates/c/Cargo.toml", &manifest("c", "")),
            ],
        );
        expect![[r#"
            crates/a/Cargo.toml:4: `a` must not depend on `b`, which uses other crates of ours. Move what it needs down to `weir-core`, or up to `weir`.
        "#]]
        .assert_eq(&found);
    }

    #[test]
    fn tests_may_use_anything() {
        check("[dependencies]\nweir-core = {}\n[dev-dependencies]\nweir.workspace = true\n", expect![""]);
    }
}
