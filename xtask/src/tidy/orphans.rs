//! Finds Rust files that no module declares. rustc silently ignores them, so they rot.

use std::collections::BTreeSet;

use super::{Finding, Tree, numbered, rust_text};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut waiting: Vec<String> = tree.rust().map(|(path, _)| path.to_owned()).filter(|path| is_root(path)).collect();
    while let Some(path) = waiting.pop() {
        let Some(text) = tree.text(&path) else {
            continue;
        };
        waiting.extend(declared_files(&path, text).into_iter().filter(|file| !reached.contains(file)));
        reached.insert(path);
    }
    tree.rust()
        .filter(|(path, _)| !reached.contains(*path))
        .map(|(path, _)| {
            let fix = format!("Declare it with `mod {};` in its parent, or delete it", module_name(path));
            Finding::new(path, 1, "no module declares this file, so it is never compiled", fix)
        })
        .collect()
}

/// Returns whether cargo compiles the file as a root: a library, a program, a test, a benchmark, an example, a build
/// script.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        [.., "src", "lib.rs" | "main.rs"] => true,
        [.., "src", "bin", _] | [.., "src", "bin", _, "main.rs"] => true,
        [.., "tests" | "benches" | "examples", _] => !path.contains("/src/"),
        [.., "tests" | "benches" | "examples", _, "main.rs"] => !path.contains("/src/"),
        [.., "build.rs"] | [.., "build", "main.rs"] => !path.contains("/src/"),
        _ => false,
    }
}

/// Returns the possible files of the declared modules, whether they exist or not.
fn declared_files(path: &str, text: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let below =
        if is_root(path) || name == "mod.rs" { folder.to_owned() } else { format!("{folder}/{}", module_name(path)) };
    let code = rust_text::without_comments(text);
    let mut explicit = None;
    // The folder of the inline module that the line is in, if it is in one.
    let mut inside = String::new();
    let mut files = Vec::new();
    for (_, line) in numbered(&code) {
        if let Some(module) = line.strip_suffix(" {").and_then(module_of) {
            inside = format!("{module}/");
        } else if line == "}" {
            inside.clear();
        }
        // Under a condition, the file of the other systems is declared too.
        if let Some(path) = between(line, "#[cfg_attr(", "]").and_then(|rest| between(rest, "path = \"", "\"")) {
            files.push(format!("{folder}/{path}"));
        } else if let Some(path) = between(line, "#[path = \"", "\"]") {
            explicit = Some(format!("{folder}/{path}"));
        } else if let Some(module) = line.trim().strip_suffix(';').and_then(module_of) {
            match explicit.take() {
                Some(file) => files.push(file),
                None => files.extend(["", "/mod"].map(|end| format!("{below}/{inside}{module}{end}.rs"))),
            }
        }
    }
    files
}

/// Returns the module that words such as `pub(crate) mod name` declare.
fn module_of(declaration: &str) -> Option<&str> {
    let (before, module) = declaration.rsplit_once("mod ")?;
    let visibility = before.trim();
    (visibility.is_empty() || visibility.starts_with("pub") || visibility.ends_with(']')).then(|| module.trim())
}

fn between<'a>(line: &'a str, open: &str, close: &str) -> Option<&'a str> {
    Some(line.split_once(open)?.1.split_once(close)?.0)
}

/// Returns the name of a file's module: its own, or its folder's for a `mod.rs`.
fn module_name(path: &str) -> &str {
    let path = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")).unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(files: &[(&str, &str)]) -> Checked {
        Checked(findings(super::check, files))
    }

    #[test]
    fn modules_are_followed_in_both_layouts_and_through_paths() {
        check(&[
            ("crates/x/src/subjects.rs", "mod data {\n    mod csv;\n}\nmod other;\n"),
            ("crates/x/src/subjects/other.rs", ""),
            ("crates/x/src/lib.rs", "mod a;\nmod subjects;\npub(crate) mod b;\n#[path = \"odd/c2.rs\"]\nmod c;\n"),
            ("crates/x/src/d.rs", ""),
            ("crates/x/src/d_elsewhere.rs", ""),
            ("crates/x/src/a.rs", "#[cfg(unix)] mod inner;"),
            ("crates/x/src/main.rs", "#[cfg_attr(windows, path = \"d_elsewhere.rs\")]\nmod d;\n"),
            ("crates/x/src/a/inner.rs", ""),
            ("crates/x/src/b/mod.rs", "mod inner;"),
            ("crates/x/src/b/inner.rs", ""),
            ("crates/x/src/odd/c2.rs", ""),
            ("crates/x/src/subjects/data/csv.rs", ""),
            ("crates/x/build.rs", ""),
            ("crates/y/build/main.rs", "mod tables;"),
            ("crates/y/build/tables.rs", ""),
            ("crates/x/tests/it/main.rs", "mod helpers;"),
            ("crates/x/tests/it/helpers.rs", ""),
        ])
        .shows(&expect![""]);
    }

    #[test]
    fn a_file_that_nobody_declares_is_found() {
        check(&[
            ("crates/x/src/lib.rs", "// mod lost;\n"),
            ("crates/x/src/lost.rs", "mod too;"),
            ("crates/x/src/lost/too.rs", ""),
        ])
        .shows(&expect![[r#"
            crates/x/src/lost.rs:1: no module declares this file, so it is never compiled. Declare it with `mod lost;` in its parent, or delete it.
            crates/x/src/lost/too.rs:1: no module declares this file, so it is never compiled. Declare it with `mod too;` in its parent, or delete it.
        "#]]);
    }
}
