//! Checks the dependencies between our crates against the drawing of the floors in `ARCHITECTURE.md`.
//!
//! Invariant: every crate is on one floor, and uses only crates of lower floors. Development dependencies may point
//! anywhere, since nothing ships with them.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Finding, Tree, markdown, numbered};

/// The page with the drawing, and its heading there.
pub(super) const ARCHITECTURE: &str = "ARCHITECTURE.md";
const HEADING: &str = "The floors";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let (manifests, mut findings) = manifests(tree);
    let page = tree.text(ARCHITECTURE).unwrap_or_default();
    let floors = floors(page);
    for (name, place) in &floors {
        if !manifests.contains_key(name) {
            let wrong = format!("`{name}` is drawn and does not exist");
            findings.push(Finding::new(ARCHITECTURE, place.line, wrong, "Remove it from the drawing"));
        }
    }
    for manifest in manifests.values() {
        match floors.get(&manifest.name) {
            Some(place) => findings.extend(not_down(manifest, place.floor, &floors)),
            None => {
                let wrong = format!("`{}` is on no floor of {ARCHITECTURE}", manifest.name);
                findings.push(Finding::new(manifest.path, 1, wrong, "Add it to the drawing, above all that it uses"));
            }
        }
    }
    findings
}

/// Where a crate is drawn.
struct Place {
    line: usize,
    floor: usize,
}

struct Manifest<'a> {
    path: &'a str,
    text: &'a str,
    name: String,
    /// The crates that it depends on when it ships.
    uses: Vec<String>,
}

/// Reads the drawing. Each line of it is a floor, the highest first: a name, two spaces, and crates with dots between.
fn floors(page: &str) -> BTreeMap<String, Place> {
    let section = markdown::section(page, HEADING);
    let drawing = section.iter().skip_while(|(_, line)| !line.starts_with("```")).skip(1);
    let lines = drawing.take_while(|(_, line)| !line.starts_with("```"));
    let crates = lines.enumerate().flat_map(|(floor, (line, text))| {
        let crates = text.split_once("  ").map_or("", |(_, crates)| crates);
        crates.split('·').map(move |name| (name.trim().to_owned(), Place { line: *line, floor }))
    });
    crates.filter(|(name, _)| !name.is_empty()).collect()
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

/// Finds dependencies that lead up or across.
fn not_down(manifest: &Manifest<'_>, floor: usize, floors: &BTreeMap<String, Place>) -> Vec<Finding> {
    let wrong = manifest.uses.iter().filter(|used| floors.get(*used).is_some_and(|place| place.floor <= floor));
    wrong
        .map(|used| {
            let line = numbered(manifest.text).find(|(_, line)| line.contains(used.as_str())).map_or(1, |(at, _)| at);
            let wrong = format!("`{}` must not depend on `{used}`, which is not on a lower floor", manifest.name);
            Finding::new(manifest.path, line, wrong, "Move what it needs down, or what uses it up")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    const DRAWING: &str =
        "## The floors\n\n```text\nprogram  weir\nstate    weir-store · weir-records\nground   weir-core\n```\n";

    /// Checks the dependencies of a store, between a program and a core.
    fn check(store: &str) -> Checked {
        let store = format!("[package]\nname = \"weir-store\"\n{store}");
        Checked(findings(
            super::check,
            &[
                ("ARCHITECTURE.md", DRAWING),
                (
                    "crates/weir/Cargo.toml",
                    "[package]\nname = \"weir\"\n[dependencies]\nweir-store = {}\nweir-core = {}\n",
                ),
                ("crates/weir-store/Cargo.toml", &store),
                ("crates/weir-records/Cargo.toml", "[package]\nname = \"weir-records\"\n"),
                ("crates/weir-core/Cargo.toml", "[package]\nname = \"weir-core\"\n"),
            ],
        ))
    }

    #[test]
    fn downwards_is_fine_and_so_are_the_crates_of_others() {
        check("[dependencies]\nweir-core.workspace = true\nserde = \"1\"\n").shows(&expect![""]);
    }

    #[test]
    fn upwards_is_found_under_another_name_and_for_one_target_only() {
        check(
            "[dependencies]\nweir-core = {}\n[target.'cfg(unix)'.dependencies]\np = { package = \"weir\", path = \"\" }\n",
        )
        .shows(&expect![[r#"
            crates/weir-store/Cargo.toml:2: `weir-store` must not depend on `weir`, which is not on a lower floor. Move what it needs down, or what uses it up.
        "#]]);
    }

    #[test]
    fn across_is_found() {
        check("[dependencies]\nweir-records = {}\n").shows(&expect![[r#"
            crates/weir-store/Cargo.toml:4: `weir-store` must not depend on `weir-records`, which is not on a lower floor. Move what it needs down, or what uses it up.
        "#]]);
    }

    #[test]
    fn a_crate_without_a_floor_and_one_that_is_only_drawn_are_found() {
        let page = DRAWING.replace("weir-records", "weir-memory");
        let found = findings(
            super::check,
            &[
                ("ARCHITECTURE.md", &page),
                ("crates/weir/Cargo.toml", "[package]\nname = \"weir\"\n"),
                ("crates/weir-store/Cargo.toml", "[package]\nname = \"weir-store\"\n"),
                ("crates/weir-records/Cargo.toml", "[package]\nname = \"weir-records\"\n"),
                ("crates/weir-core/Cargo.toml", "[package]\nname = \"weir-core\"\n"),
            ],
        );
        expect![[r#"
            ARCHITECTURE.md:5: `weir-memory` is drawn and does not exist. Remove it from the drawing.
            crates/weir-records/Cargo.toml:1: `weir-records` is on no floor of ARCHITECTURE.md. Add it to the drawing, above all that it uses.
        "#]]
        .assert_eq(&found);
    }

    #[test]
    fn tests_may_use_anything() {
        check("[dependencies]\nweir-core = {}\n[dev-dependencies]\nweir.workspace = true\n").shows(&expect![""]);
    }
}
