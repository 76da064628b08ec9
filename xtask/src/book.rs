//! Prepares the pages of `docs` for mdBook, as a preprocessor that `docs/book.toml` names.
//!
//! Pages also link to files that are not in the book, which works in the repository and not in the book: such a link
//! becomes its text with the path of the file. Two chapters are files at the top of the repository. Invariant: what a
//! page shows as code stays as it is.

use std::path::Path;
use std::{fmt, fs, io};

use serde_json::Value;

use crate::tidy::resolve;

/// Files at the top of the repository that are chapters, and the pages of `docs` whose place they take.
const CHAPTERS: &[(&str, &str)] = &[("README.md", "introduction.md"), ("SECURITY.md", "threat-model.md")];

/// The contents, which mdBook shows beside every chapter.
const CONTENTS: &str = "docs/SUMMARY.md";

/// Returns the book as mdBook is to render it. `input` is what mdBook gives to a preprocessor: a context and the book.
pub(crate) fn prepare(input: &str) -> Result<String, BookError> {
    let (context, mut book): (Value, Value) = serde_json::from_str(input).map_err(BookError::Json)?;
    let docs = context["root"].as_str().ok_or(BookError::NoRoot)?;
    prepare_chapters(&Path::new(docs).join(".."), &mut book)?;
    Ok(book.to_string())
}

/// Why the book could not be prepared.
#[derive(Debug)]
pub(crate) enum BookError {
    Input(io::Error),
    Json(serde_json::Error),
    NoRoot,
    Read(String, io::Error),
}

impl fmt::Display for BookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => write!(f, "cannot read standard input: {error}"),
            Self::Json(error) => write!(f, "standard input is not what mdBook gives to a preprocessor: {error}"),
            Self::NoRoot => write!(f, "mdBook does not say where the book is"),
            Self::Read(path, error) => write!(f, "cannot read {path}: {error}"),
        }
    }
}

/// Prepares everything that has a path and a content, however deep: versions of mdBook nest chapters differently.
fn prepare_chapters(repository: &Path, value: &mut Value) -> Result<(), BookError> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| prepare_chapters(repository, item)),
        Value::Object(fields) => {
            let part = |name: &str| fields.get(name).and_then(Value::as_str);
            if let (Some(path), Some(content)) = (part("path"), part("content")) {
                let prepared = prepared(repository, path, content)?;
                fields.insert("content".to_owned(), Value::String(prepared));
            }
            fields.values_mut().try_for_each(|field| prepare_chapters(repository, field))
        }
        _ => Ok(()),
    }
}

fn prepared(repository: &Path, path: &str, content: &str) -> Result<String, BookError> {
    match CHAPTERS.iter().find(|(_, chapter)| *chapter == path) {
        Some((file, _)) => {
            let text = fs::read_to_string(repository.join(file));
            let text = text.map_err(|error| BookError::Read((*file).to_owned(), error))?;
            Ok(with_links(file, &text))
        }
        None => Ok(with_links(&format!("docs/{path}"), content)),
    }
}

/// Returns a page with links that work in the book. `page` is its path in the repository.
fn with_links(page: &str, text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut fence: Option<usize> = None;
    let mut in_code = false;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let ticks = start.len() - start.trim_start_matches('`').len();
        match fence {
            None if ticks < 3 => {
                // Code between two ticks may continue on the next line of its paragraph.
                in_code &= !start.is_empty();
                add_line(page, line, &mut in_code, &mut shown);
            }
            None => {
                fence = Some(ticks);
                shown.push_str(line);
            }
            Some(open) => {
                fence = fence.filter(|_| ticks < open);
                shown.push_str(line);
            }
        }
    }
    shown
}

fn add_line(page: &str, line: &str, in_code: &mut bool, shown: &mut String) {
    for (index, part) in line.split('`').enumerate() {
        if index > 0 {
            shown.push('`');
            *in_code = !*in_code;
        }
        let mut rest = part;
        while let Some((before, after)) = rest.split_once("](").filter(|_| !*in_code) {
            shown.push_str(before);
            let Some((target, behind)) = after.split_once(')') else {
                shown.push_str("](");
                rest = after;
                continue;
            };
            match destination(page, target) {
                Destination::InBook(target) => shown.push_str(&format!("]({target})")),
                Destination::Outside(path) => unlink(&path, shown),
            }
            rest = behind;
        }
        shown.push_str(rest);
    }
}

enum Destination {
    /// To a chapter, to a picture, to a heading of this page, or to another site.
    InBook(String),
    /// To a file or folder of the repository that the book does not have.
    Outside(String),
}

fn destination(page: &str, target: &str) -> Destination {
    if target.contains("://") || target.starts_with('#') || target.starts_with("mailto:") {
        return Destination::InBook(target.to_owned());
    }
    let (file, heading) = target.find('#').map_or((target, ""), |at| target.split_at(at));
    let file = resolve(page, file).unwrap_or_else(|| file.to_owned());
    let at_top = CHAPTERS.iter().find(|(name, _)| *name == file).map(|(_, chapter)| *chapter);
    let is_in_book = |name: &&str| [".md", ".svg", ".png"].iter().any(|end| name.ends_with(end)) && file != CONTENTS;
    let in_docs = file.strip_prefix("docs/").filter(is_in_book);
    match at_top.or(in_docs) {
        Some(chapter) => Destination::InBook(format!("{}{chapter}{heading}", up_from(page))),
        None => Destination::Outside(file),
    }
}

fn up_from(page: &str) -> String {
    "../".repeat(page.strip_prefix("docs/").map_or(0, |page| page.matches('/').count()))
}

/// Replaces the link whose text is last by that text and the path of its file.
fn unlink(path: &str, shown: &mut String) {
    let text = shown.rfind('[').map(|open| shown.split_off(open)).unwrap_or_default();
    let text = text.strip_prefix('[').unwrap_or(&text);
    shown.push_str(text);
    let named = if text.trim_matches('`') == path { String::new() } else { format!("`{path}` ") };
    shown.push_str(&format!(" ({named}in the repository)"));
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::*;

    fn check(page: &str, text: &str) -> Checked {
        Checked(with_links(page, text))
    }

    #[test]
    fn links_between_chapters_and_to_other_sites_stay() {
        check("docs/a.md", "[b](b.md) [c](b.md#d) [e](#f) [g](https://x.test/y) [h](../SECURITY.md#i)\n").shows(
            &expect![[r#"
            [b](b.md) [c](b.md#d) [e](#f) [g](https://x.test/y) [h](threat-model.md#i)
        "#]],
        );
        check("README.md", "[a](docs/a.md#b) [c](SECURITY.md) ![d](docs/pictures/e.svg)\n").shows(&expect![[r#"
            [a](a.md#b) [c](threat-model.md) ![d](pictures/e.svg)
        "#]]);
        check("docs/results/a.md", "[b](b.md) [c](../d.md#e) [f](../../bench/g)\n").shows(&expect![[r#"
            [b](../results/b.md) [c](../d.md#e) f (`bench/g` in the repository)
        "#]]);
    }

    #[test]
    fn a_link_out_of_the_book_becomes_its_text_and_the_path() {
        check(
            "docs/a.md",
            "See [the list\nof names](../crates/x.rs),\n[`bench`](../bench) and [contents](SUMMARY.md).\n",
        )
        .shows(&expect![[r#"
            See the list
            of names (`crates/x.rs` in the repository),
            `bench` (in the repository) and contents (`docs/SUMMARY.md` in the repository).
        "#]]);
    }

    #[test]
    fn code_stays_as_it_is() {
        let text = "`[a](../b)` and `c\n[d](../e)` f\n```\n[g](../h)\n```\n````text\n```\n[i](../j)\n````\n";
        assert_eq!(with_links("docs/a.md", text), text);
    }

    #[test]
    fn chapters_are_prepared_at_any_depth() {
        let book = r##"[{"root": "docs"}, {"items": [{"Chapter": {"path": "a.md", "content": "[x](../y)",
            "sub_items": [{"Chapter": {"path": "b.md", "content": "[a](a.md)", "sub_items": []}}]}}, "Separator"]}]"##;
        let prepared: Value = serde_json::from_str(&prepare(book).unwrap()).unwrap();
        let chapter = &prepared["items"][0]["Chapter"];
        assert_eq!(chapter["content"], "x (`y` in the repository)");
        assert_eq!(chapter["sub_items"][0]["Chapter"]["content"], "[a](a.md)");
        assert!(prepare("{}").is_err() && prepare("[{}, {}]").is_err());
    }
}
