//! Checks that the names of code in the glossary and in `ARCHITECTURE.md` exist in the code.
//!
//! `Entry::pinned` exists if a file that defines `Entry`, or implements something for it, has the word `pinned`;
//! `weir_core::guide::names` if the parts are found in each other in the same way, as crates and modules.

use std::collections::BTreeSet;

use super::{Finding, Tree, markdown, rust_text};

const GLOSSARY: &str = "docs/glossary.md";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// The title of the column with names of code in the tables of the glossary.
const COLUMN: &str = "in code";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let code = Code::of(tree);
    let glossary = tree.text(GLOSSARY).map(names_of_glossary).unwrap_or_default();
    let in_glossary = glossary.iter().map(|(line, name)| (GLOSSARY, *line, name));
    let architecture = tree.text(ARCHITECTURE).map(names_of_page).unwrap_or_default();
    let in_architecture = architecture.iter().map(|(line, name)| (ARCHITECTURE, *line, name));
    in_glossary
        .chain(in_architecture)
        .filter(|(_, _, name)| !code.has(name))
        .map(|(page, line, name)| {
            Finding::new(page, line, format!("`{name}` is not in the code"), "Write the name that the code has now")
        })
        .collect()
}

/// Returns the names in the glossary's column. Commands and paths have checks of their own.
fn names_of_glossary(text: &str) -> Vec<(usize, String)> {
    let mut column = None;
    let mut names = Vec::new();
    let lines: Vec<(usize, &str)> = super::numbered(text).collect();
    for row in markdown::rows(&lines) {
        if row.cell(0) == "word" {
            column = row.cells.iter().position(|cell| *cell == COLUMN);
        } else if let Some(column) = column {
            let spans = markdown::spans_in(row.cell(column)).into_iter();
            names.extend(spans.filter(|span| !span.contains([' ', '/'])).map(|name| (row.line, name)));
        }
    }
    names
}

/// Returns what must be a name of code in a page: types, lists in capitals, and paths of modules.
fn names_of_page(text: &str) -> Vec<(usize, String)> {
    let spans = markdown::code_spans(text).into_iter();
    let names = spans.map(|(line, span)| (line, span.split([' ', '(', '<']).next().unwrap_or_default().to_owned()));
    let names = names.filter(|(_, name)| is_name(name));
    names.chain(markdown::fenced_lines(text).flat_map(|(line, text)| paths_in_diagram(line, text))).collect()
}

/// Returns the names with `::` in a line of a diagram, whose other words may be prose.
fn paths_in_diagram(line: usize, text: &str) -> Vec<(usize, String)> {
    let of_code = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '…');
    let words = text.split(|c| !of_code(c)).map(|word| word.trim_matches(':'));
    words.filter(|word| word.contains("::") && !word.ends_with('…')).map(|word| (line, word.to_owned())).collect()
}

/// Returns whether a word can only be a name of code: `Answer`, `OPERATIONS`, `hook::hold`.
fn is_name(word: &str) -> bool {
    let of_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    let capital = word.len() > 3 && word.starts_with(|c: char| c.is_ascii_uppercase());
    word.chars().all(of_code) && (capital || word.contains("::"))
}

/// The names that the sources define, and the words of each file.
struct Code {
    defined: BTreeSet<String>,
    files: Vec<File>,
}

struct File {
    /// The crate and the modules that the file is in: `weir_core`, `guide`, `names`.
    modules: BTreeSet<String>,
    /// The types that the file defines or implements something for.
    types: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Code {
    fn of(tree: &Tree) -> Self {
        let mut code = Self { defined: BTreeSet::new(), files: Vec::new() };
        for (path, text) in tree.rust().filter(|(path, _)| path.contains("src/")) {
            let modules = modules(path);
            code.defined.extend(modules.iter().cloned());
            let mut file = File { modules, types: BTreeSet::new(), words: BTreeSet::new() };
            for line in rust_text::code_only(text).lines() {
                let words: Vec<&str> = words_of(line).collect();
                let after = |keywords: &[&str]| {
                    let pairs = words.windows(2).filter(|pair| keywords.contains(&pair[0]));
                    pairs.map(|pair| pair[1].to_owned()).collect::<Vec<_>>()
                };
                let types = after(&["struct", "enum", "trait", "type", "union"]);
                code.defined.extend(types.iter().cloned());
                code.defined.extend(after(&["fn", "const", "static", "mod"]));
                file.types.extend(types);
                if words.first() == Some(&"impl") {
                    file.types.extend(words.iter().map(|word| (*word).to_owned()));
                }
                file.words.extend(words.into_iter().map(str::to_owned));
            }
            code.files.push(file);
        }
        code
    }

    /// Returns whether a name is in the code, with `::` between its parts.
    fn has(&self, name: &str) -> bool {
        let parts: Vec<String> = name.split("::").map(|part| part.replace('-', "_")).collect();
        match parts.as_slice() {
            [one] => self.defined.contains(one),
            parts => parts.windows(2).all(|pair| self.files.iter().any(|file| file.has(&pair[0], &pair[1]))),
        }
    }
}

impl File {
    fn has(&self, owner: &str, name: &str) -> bool {
        let owned = self.modules.contains(owner) || self.types.contains(owner);
        owned && (self.modules.contains(name) || self.words.contains(name))
    }
}

fn modules(path: &str) -> BTreeSet<String> {
    let parts = path.trim_end_matches(".rs").split('/');
    let modules = parts.filter(|part| !matches!(*part, "crates" | "src" | "lib" | "main" | "mod"));
    modules.map(|part| part.replace('-', "_")).collect()
}

fn words_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(page: &str, text: &str) -> Checked {
        let files = [
            ("crates/weir-core/src/guide/names.rs", "pub fn write() {}\nconst LISTS: u8 = 1;\n"),
            ("crates/weir-core/src/entry.rs", "/// Unlike Ghost.\npub struct Entry {\n    pub pinned: bool,\n}\n"),
            ("crates/weir-store/src/keep.rs", "impl Entry {\n    fn keep() {}\n}\n"),
        ];
        Checked(findings(super::check, &[&[(page, text)], &files[..]].concat()))
    }

    #[test]
    fn crates_modules_types_and_members_are_found() {
        check(
            "docs/glossary.md",
            "| word | in code | not |\n| --- | --- | --- |\n\
             | a | `weir-core`, `weir_core::guide::names` | `Ghost` |\n| b | `Entry`; `Entry::pinned`, `Entry::keep` | – |\n\
             | c | `weir notes`, `docs/a.md` | – |\n",
        )
        .shows(&expect![""]);
        check(
            "ARCHITECTURE.md",
            "A `Entry { pinned }`, `names::write(x)`, `LISTS`, `notes`, `NULL=1`\n```\nEntry::keep… ─ Entry::keep: Ghosts\n```\n",
        )
        .shows(&expect![""]);
    }

    #[test]
    fn names_that_the_code_does_not_have_are_found() {
        check(
            "docs/glossary.md",
            "| word | in code |\n| --- | --- |\n| a | `Ghost`, `Entry::write` |\n| b | `weir-core::keep` |\n",
        )
        .shows(&expect![[r#"
            docs/glossary.md:3: `Ghost` is not in the code. Write the name that the code has now.
            docs/glossary.md:3: `Entry::write` is not in the code. Write the name that the code has now.
            docs/glossary.md:4: `weir-core::keep` is not in the code. Write the name that the code has now.
        "#]]);
        check("ARCHITECTURE.md", "`Ghost`, `LIST` and `entry::Ghost`\n```\nkept ─ Entry::kept\n```\n").shows(&expect![
            [r#"
            ARCHITECTURE.md:1: `Ghost` is not in the code. Write the name that the code has now.
            ARCHITECTURE.md:1: `LIST` is not in the code. Write the name that the code has now.
            ARCHITECTURE.md:1: `entry::Ghost` is not in the code. Write the name that the code has now.
            ARCHITECTURE.md:3: `Entry::kept` is not in the code. Write the name that the code has now.
        "#]
        ]);
    }
}
