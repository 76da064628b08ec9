//! Checks the direction of dependencies: `weir`, then the crates around one heavy thing each, then `weir-core`.
//!
//! Invariant: no sideways edges. Development dependencies may point anywhere, since nothing ships with them.

use toml::{Table, Value};

use super::{Finding, Tree, numbered};

/// The crates of ours that each of our crates may depend on. A new crate gets a row here, and its reason in
/// `ARCHITECTURE.md`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("weir-core", &[]),
    ("weir-tokens", &[]),
    ("weir-ledger", &[]),
    ("weir-embed", &[]),
    ("weir-fetch", &["weir-core", "weir-embed"]),
    ("weir-digest", &["weir-core", "weir-tokens"]),
    ("weir-outline", &["weir-tokens"]),
    ("weir-policy", &["weir-core"]),
    ("weir-runner", &["weir-core"]),
    ("weir-store", &["weir-core", "weir-embed", "weir-ledger"]),
    ("weir-records", &["weir-core", "weir-ledger"]),
    ("weir-clients", &["weir-core"]),
    (
        "weir",
        &[
            "weir-core",
            "weir-tokens",
            "weir-digest",
            "weir-embed",
            "weir-fetch",
            "weir-outline",
            "weir-policy",
            "weir-runner",
            "weir-store",
            "weir-clients",
        ],
    ),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let manifest = |(path, _): &(&str, &str)| path.starts_with("crates/") && path.ends_with("/Cargo.toml");
    tree.texts().filter(manifest).flat_map(|(path, text)| check_manifest(path, text)).collect()
}

fn check_manifest(path: &str, text: &str) -> Vec<Finding> {
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => {
            return vec![Finding::new(path, 1, format!("not TOML: {error}"), "Fix the manifest")];
        }
    };
    let name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
    let Some(name) = name else {
        return vec![Finding::new(path, 1, "a crate without a name", "Give it `package.name`")];
    };
    let Some((_, may_use)) = MAY_USE.iter().find(|(row, _)| *row == name) else {
        let fix = "Add its row to `MAY_USE` in xtask/src/tidy/directions.rs and its reason to ARCHITECTURE.md";
        return vec![Finding::new(path, 1, format!("`{name}` has no place among the crates"), fix)];
    };
    let ours = |used: &String| MAY_USE.iter().any(|(row, _)| row == used);
    let used = used_crates(&manifest).into_iter().filter(ours);
    let wrong = used.filter(|used| !may_use.contains(&used.as_str()));
    wrong
        .map(|used| {
            let fix = "Move what it needs down to `weir-core`, or up to `weir`";
            Finding::new(path, line_of(text, &used), format!("`{name}` must not depend on `{used}`"), fix)
        })
        .collect()
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

fn line_of(text: &str, used: &str) -> usize {
    numbered(text).find(|(_, line)| line.contains(used)).map_or(1, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::findings;

    fn check(manifest: &str, expected: Expect) {
        expected.assert_eq(&findings(super::check, &[("crates/x/Cargo.toml", manifest)]));
    }

    #[test]
    fn downwards_is_fine_and_so_are_the_crates_of_others() {
        check(
            "[package]\nname = \"weir-store\"\n[dependencies]\nweir-core.workspace = true\nserde = \"1\"\n",
            expect![""],
        );
    }

    #[test]
    fn sideways_is_not() {
        check(
            "[package]\nname = \"weir-store\"\n[dependencies]\nweir-tokens.workspace = true\n",
            expect![[r#"
                crates/x/Cargo.toml:4: `weir-store` must not depend on `weir-tokens`. Move what it needs down to `weir-core`, or up to `weir`.
            "#]],
        );
    }

    #[test]
    fn upwards_is_found_under_another_name_and_for_one_target_only() {
        check(
            "[package]\nname = \"weir-core\"\n[target.'cfg(unix)'.dependencies]\ns = { package = \"weir-store\", path = \"\" }\n",
            expect![[r#"
                crates/x/Cargo.toml:4: `weir-core` must not depend on `weir-store`. Move what it needs down to `weir-core`, or up to `weir`.
            "#]],
        );
    }

    #[test]
    fn tests_may_use_anything() {
        check("[package]\nname = \"weir-core\"\n[dev-dependencies]\nweir-store.workspace = true\n", expect![""]);
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        check(
            "[package]\nname = \"weir-extra\"\n",
            expect![[r#"
                crates/x/Cargo.toml:1: `weir-extra` has no place among the crates. Add its row to `MAY_USE` in xtask/src/tidy/directions.rs and its reason to ARCHITECTURE.md.
            "#]],
        );
    }
}
