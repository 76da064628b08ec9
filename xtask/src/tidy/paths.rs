//! Checks that the paths of this repository that documents name exist.
//!
//! A word of inline code is such a path if it begins with a folder at the top of the repository, or with the name of a
//! crate. In the pages about the code, names of source files count too, by their end: `hold/repeats.rs`.

use std::collections::BTreeSet;

use super::tree::is_sample;
use super::{Finding, Tree, markdown, missing};

/// Pages about the code, in which the name of a source file means one of ours. Their diagrams are checked too.
const ABOUT_CODE: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Folders that projects of users have too: a path in them may be theirs. Links into them are checked as all links are.
const ALSO_USERS: &[&str] = &[".github"];

/// The page that says how things were.
const CHANGELOG: &str = "CHANGELOG.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let repository = Repository::of(tree);
    let pages = tree.texts().filter(|(path, _)| is_document(path));
    pages.flat_map(|(path, text)| check_page(&repository, path, text)).collect()
}

/// Returns whether a page says how things are now: those at the top of the repository and in `docs`.
pub(super) fn is_document(path: &str) -> bool {
    let name = path.strip_prefix("docs/").unwrap_or(path);
    name.ends_with(".md") && !name.contains('/') && !is_sample(path) && path != CHANGELOG
}

fn check_page(repository: &Repository<'_>, page: &str, text: &str) -> Vec<Finding> {
    let about_code = ABOUT_CODE.contains(&page);
    let diagrams = markdown::fenced_lines(text).filter(|_| about_code).map(|(line, text)| (line, text.to_owned()));
    let mut named: Vec<(usize, String)> = markdown::code_spans(text).into_iter().chain(diagrams).collect();
    let missing = markdown::section(text, missing::HEADING);
    named.retain(|(line, _)| !missing.iter().any(|(of_list, _)| of_list == line));
    named.sort();
    let words = named.iter().flat_map(|(line, code)| code.split_whitespace().map(move |word| (*line, bare(word))));
    let wrong = words.filter(|(_, word)| !repository.resolves(word, about_code));
    wrong
        .map(|(line, word)| {
            let fix = "Correct the path, or write the part that varies in capitals";
            Finding::new(page, line, format!("`{word}` does not exist"), fix)
        })
        .collect()
}

/// Returns a word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_start_matches(['(', '"', '\'']).trim_end_matches([',', ';', ':', ')', '"', '\'', '/'])
}

/// The files, and the names with which their paths may begin.
struct Repository<'a> {
    tree: &'a Tree,
    top: BTreeSet<&'a str>,
    crates: BTreeSet<&'a str>,
}

impl<'a> Repository<'a> {
    fn of(tree: &'a Tree) -> Self {
        let folders = |path: &'a str| path.split_once('/').map(|(folder, _)| folder);
        let top =
            tree.texts().filter_map(|(path, _)| folders(path)).filter(|name| !ALSO_USERS.contains(name)).collect();
        let crates = tree.texts().filter_map(|(path, _)| folders(path.strip_prefix("crates/")?)).collect();
        Self { tree, top, crates }
    }

    fn resolves(&self, word: &str, about_code: bool) -> bool {
        let path = word.strip_prefix("./").unwrap_or(word);
        match path.split_once('/') {
            Some((first, _)) if self.top.contains(first) => self.exists(path),
            Some((first, _)) if self.crates.contains(first) => self.exists(&format!("crates/{path}")),
            _ => !about_code || !is_source(path) || self.ends_a_path(path),
        }
    }

    /// Returns whether the path exists, up to the first part that stands for others.
    fn exists(&self, path: &str) -> bool {
        let fixed: Vec<&str> = path.split('/').take_while(|part| !is_placeholder(part)).collect();
        self.tree.has(path) || (fixed.len() < path.split('/').count() && self.tree.has(&fixed.join("/")))
    }

    fn ends_a_path(&self, name: &str) -> bool {
        let end = format!("/{name}");
        self.tree.texts().any(|(path, _)| path == name || path.ends_with(&end))
    }
}

/// Returns whether a word names a file of ours by its extension, and not a place outside the repository.
fn is_source(word: &str) -> bool {
    let outside = word.starts_with(['~', '$', '/', '.']) || word.contains(['*', '…', '<']);
    !outside && [".rs", ".toml", ".sql", ".txt"].iter().any(|end| word.ends_with(end) && word.len() > end.len())
}

/// Returns whether a part of a path stands for others: a pattern, or a word in capitals such as `NAME.rs`.
fn is_placeholder(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part);
    let capitals = stem.len() > 1 && stem.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c == '-');
    capitals || part.contains(['*', '…', '<'])
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(page: &str, text: &str) -> Checked {
        let files = [
            ("crates/weir-store/src/log.rs", ""),
            ("crates/weir-store/src/log/rows.rs", ""),
            (".ci/run", ""),
            (".github/workflows/release.yml", ""),
        ];
        Checked(findings(super::check, &[&[(page, text)], &files[..]].concat()))
    }

    #[test]
    fn paths_from_the_top_from_a_crate_and_by_their_end_are_found() {
        check(
            "ARCHITECTURE.md",
            "`crates/weir-store/src/log/`, `weir-store/src/log.rs` and `log/rows.rs`; `X=1 .ci/run fmt`\n```\na ─ log.rs, rows.rs\n```\n",
        )
        .shows(&expect![""]);
    }

    #[test]
    fn a_part_that_varies_is_not_looked_for() {
        check("docs/a.md", "`crates/weir-store/src/NAME.rs`, `crates/*/src`, `weir-store/src/log/*`\n")
            .shows(&expect![""]);
    }

    #[test]
    fn what_does_not_exist_is_found() {
        check(
            "ARCHITECTURE.md",
            "`crates/weir-store/src/logs.rs`\n`weir-store/src/other/NAME.rs` `rows2.rs`\n```\na ─ logs.rs\n```\n",
        )
        .shows(&expect![[r#"
            ARCHITECTURE.md:1: `crates/weir-store/src/logs.rs` does not exist. Correct the path, or write the part that varies in capitals.
            ARCHITECTURE.md:2: `rows2.rs` does not exist. Correct the path, or write the part that varies in capitals.
            ARCHITECTURE.md:2: `weir-store/src/other/NAME.rs` does not exist. Correct the path, or write the part that varies in capitals.
            ARCHITECTURE.md:4: `logs.rs` does not exist. Correct the path, or write the part that varies in capitals.
        "#]]);
    }

    #[test]
    fn the_list_of_what_is_missing_names_what_does_not_exist() {
        check("ARCHITECTURE.md", "## What is missing\n| a server | `crates/server` |\n").shows(&expect![""]);
    }

    #[test]
    fn files_of_users_are_theirs() {
        check(
            "docs/a.md",
            "`src/pool.rs`, `~/.cargo/config.toml`, `target/release/weir`, `.claude/settings.json`, `.github/hooks/a.json`\n",
        )
        .shows(&expect![""]);
        check("CHANGELOG.md", "`crates/weir-old`\n").shows(&expect![""]);
    }
}
