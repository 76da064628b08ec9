//! Checks "one thing, one file, one line in one list": finds files that their list does not name.

use super::{Finding, Tree, rust_text};

/// A folder of Rust files, each of which must be named in one list.
struct List {
    /// What each file declares, for the text of the finding.
    thing: &'static str,
    folder: &'static str,
    /// The text that distinguishes a file with such a declaration from a helper next to it.
    mark: &'static str,
    /// The Rust file with the list, and the list's name. The list ends at the next `];`.
    file: &'static str,
    name: &'static str,
}

const LISTS: &[List] = &[
    List {
        thing: "operation",
        folder: "crates/weir-operations/src/",
        mark: "impl Declared for ",
        file: "crates/weir-operations/src/lib.rs",
        name: "OPERATIONS",
    },
    List {
        thing: "language",
        folder: "crates/weir-runner/src/runtimes/",
        mark: ": Language = Language {",
        file: "crates/weir-runner/src/runtimes.rs",
        name: "LANGUAGES",
    },
    List {
        thing: "kind of output",
        folder: "crates/weir-digest/src/kinds/",
        mark: "const KIND: Kind",
        file: "crates/weir-digest/src/kinds.rs",
        name: "KINDS",
    },
    List {
        thing: "client",
        folder: "crates/weir-clients/src/clients/",
        mark: ": Recipe = Recipe {",
        file: "crates/weir-clients/src/clients.rs",
        name: "RECIPES",
    },
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    LISTS.iter().flat_map(|list| unlisted(tree, list)).chain(unnamed_migrations(tree)).collect()
}

fn unlisted(tree: &Tree, list: &List) -> Vec<Finding> {
    let List { thing, folder, mark, file, name } = list;
    let in_folder: Vec<_> = tree.rust().filter(|(path, _)| path.starts_with(folder)).collect();
    let declaring: Vec<_> = in_folder.iter().filter(|(_, text)| text.contains(mark)).collect();
    if declaring.is_empty() && !in_folder.is_empty() {
        let wrong = format!("no file in {folder} says `{}`, so this check sees no {thing}", mark.trim());
        return vec![Finding::new(file, 1, wrong, "Give `LISTS` in xtask/src/tidy/lists.rs the new mark")];
    }
    let listed = tree.text(file).and_then(|text| list_named(text, name)).unwrap_or_default();
    let named = |path: &str| {
        let module = path.strip_prefix(folder).unwrap_or(path).trim_end_matches(".rs").replace('/', "::");
        words_of(&listed).any(|entry| entry == module || entry.starts_with(&format!("{module}::")))
    };
    declaring
        .into_iter()
        .filter(|(path, _)| !named(path))
        .map(|(path, _)| {
            let wrong = format!("`{name}` does not name this {thing}");
            Finding::new(path, 1, wrong, format!("Add its line to `{name}` in {file}"))
        })
        .collect()
}

/// Returns the text of a constant list, without comments.
fn list_named(text: &str, name: &str) -> Option<String> {
    let code = rust_text::without_comments(text);
    let (_, after) = code.split_once(&format!(" {name}:"))?;
    Some(after.split_once("];")?.0.to_owned())
}

/// Returns the paths in a piece of code, such as `search::Args`.
fn words_of(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
}

/// Finds migrations that no Rust file names, which would never run.
fn unnamed_migrations(tree: &Tree) -> Vec<Finding> {
    let migrations = tree.texts().filter(|(path, _)| path.ends_with(".sql") && path.contains("/migrations/"));
    migrations
        .filter_map(|(path, _)| {
            let file_name = path.rsplit('/').next()?;
            let source = path.split_inclusive("/src/").next()?;
            let named = tree.rust().any(|(rust, text)| rust.starts_with(source) && text.contains(file_name));
            let fix = "Add its line to the list of migrations, after the last one";
            (!named).then(|| Finding::new(path, 1, "no Rust file names this migration, so it never runs", fix))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(files: &[(&str, &str)]) -> Checked {
        Checked(findings(super::check, files))
    }

    const OPERATION: &str = "impl Declared for Args {}";

    #[test]
    fn an_operation_must_be_in_the_list_and_a_helper_need_not() {
        check(&[
            (
                "crates/weir-operations/src/lib.rs",
                "mod get;\nmod search;\npub const OPERATIONS: &[Operation] = &[\n  of::<get::Args>(), // search::Args\n];\n",
            ),
            ("crates/weir-operations/src/get.rs", OPERATION),
            ("crates/weir-operations/src/get_more.rs", "fn help() {}"),
            ("crates/weir-operations/src/search.rs", OPERATION),
        ])
        .shows(&expect![[r#"
            crates/weir-operations/src/search.rs:1: `OPERATIONS` does not name this operation. Add its line to `OPERATIONS` in crates/weir-operations/src/lib.rs.
        "#]]);
    }

    #[test]
    fn a_check_that_no_longer_sees_anything_says_so() {
        check(&[("crates/weir-operations/src/get.rs", "impl Operation for Args {}")]).shows(&expect![[r#"
            crates/weir-operations/src/lib.rs:1: no file in crates/weir-operations/src/ says `impl Declared for`, so this check sees no operation. Give `LISTS` in xtask/src/tidy/lists.rs the new mark.
        "#]]);
    }

    #[test]
    fn a_migration_must_be_named_in_its_crate() {
        check(&[
            ("crates/s/src/db.rs", "include_str!(\"migrations/0001.sql\")"),
            ("crates/s/src/migrations/0001.sql", ""),
            ("crates/s/src/migrations/0002.sql", ""),
            ("crates/t/src/lib.rs", "0002.sql"),
        ])
        .shows(&expect![[r#"
            crates/s/src/migrations/0002.sql:1: no Rust file names this migration, so it never runs. Add its line to the list of migrations, after the last one.
        "#]]);
    }
}
