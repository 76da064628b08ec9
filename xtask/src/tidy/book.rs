//! Checks that the book has every page of `docs`, each once. `links` checks that its chapters exist.

use super::{Finding, Tree, numbered};

const CONTENTS: &str = "docs/SUMMARY.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(contents) = tree.text(CONTENTS) else { return Vec::new() };
    let chapters = numbered(contents).filter_map(|(line, text)| Some((line, chapter(text)?)));
    let chapters: Vec<(usize, &str)> = chapters.collect();
    let mut findings = Vec::new();
    for (path, _) in tree.texts() {
        let page = path.strip_prefix("docs/").filter(|page| page.ends_with(".md") && path != CONTENTS);
        if page.is_some_and(|page| !chapters.iter().any(|(_, chapter)| *chapter == page)) {
            findings.push(Finding::new(CONTENTS, 1, format!("the book leaves out `{path}`"), "Add a chapter"));
        }
    }
    for (index, (line, chapter)) in chapters.iter().enumerate() {
        if chapters.iter().take(index).any(|(_, before)| before == chapter) {
            let wrong = format!("`{chapter}` is a chapter already");
            findings.push(Finding::new(CONTENTS, *line, wrong, "Remove one of the two"));
        }
    }
    findings
}

/// Returns the page of a chapter: `- [Title](page.md)`.
fn chapter(line: &str) -> Option<&str> {
    line.split_once("](")?.1.split(')').next()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::findings;

    #[test]
    fn pages_that_are_left_out_or_there_twice_are_found() {
        let contents = "# Summary\n\n[A](a.md)\n\n- [B](b.md)\n  - [A again](a.md)\n";
        let found = findings(
            super::check,
            &[("docs/SUMMARY.md", contents), ("docs/a.md", ""), ("docs/b.md", ""), ("docs/c.md", ""), ("d.md", "")],
        );
        expect![[r#"
            docs/SUMMARY.md:1: the book leaves out `docs/c.md`. Add a chapter.
            docs/SUMMARY.md:6: `a.md` is a chapter already. Remove one of the two.
        "#]]
        .assert_eq(&found);
    }
}
