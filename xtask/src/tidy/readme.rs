//! Checks what the README takes from other pages: the lines of its example, and its figures.

use super::{Finding, Tree, markdown};

const README: &str = "README.md";
const EXAMPLE: &str = "Before and after";
const FIGURES: &str = "Figures";

/// The page of digests, which tests generate from real outputs.
const GALLERY: &str = "docs/digests.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(readme) = tree.text(README) else { return Vec::new() };
    let missing = [EXAMPLE, FIGURES].into_iter().filter(|heading| markdown::section(readme, heading).is_empty());
    let missing = missing.map(|heading| {
        let fix = "Bring it back, or tell xtask/src/tidy/readme.rs where it went";
        Finding::new(README, 1, format!("no section `{heading}`, so this check sees nothing"), fix)
    });
    missing.chain(changed_lines(tree, readme)).chain(changed_figures(tree, readme)).collect()
}

/// Finds the first line of the example that does not follow in the gallery, directly or, after `…`, further down.
fn changed_lines(tree: &Tree, readme: &str) -> Option<Finding> {
    let example = markdown::section(readme, EXAMPLE);
    let fenced: Vec<usize> = markdown::fenced_lines(readme).map(|(line, _)| line).collect();
    let mut gallery = tree.text(GALLERY).unwrap_or_default().lines();
    let mut may_skip = true;
    for (line, text) in example {
        let is_count = text.starts_with("Before: ") || text.starts_with("After: ");
        if !fenced.contains(&line) && !is_count || text == "…" {
            may_skip = true;
            continue;
        }
        let found = if may_skip { gallery.any(|other| other == text) } else { gallery.next() == Some(text) };
        if !found {
            let wrong = format!("this line of the example does not follow in {GALLERY}");
            return Some(Finding::new(README, line, wrong, "Take the example from that page again"));
        }
        may_skip = is_count;
    }
    None
}

/// Finds numbers in the table of figures that the pages linked from their row do not have.
fn changed_figures(tree: &Tree, readme: &str) -> Vec<Finding> {
    let rows = markdown::rows(&markdown::section(readme, FIGURES));
    let mut findings = Vec::new();
    for row in rows.iter().skip(1) {
        let page = row.cells.iter().find_map(|cell| cell.split_once("](")?.1.split(['#', ')']).next());
        let Some(text) = page.and_then(|page| tree.text(page)) else {
            let wrong = "a figure without a link to the page that has it";
            findings.push(Finding::new(README, row.line, wrong, "Link to the page with the method"));
            continue;
        };
        let known: Vec<&str> = numbers(text).collect();
        // The date and the commit of a figure are not in the page; figures.rs checks them.
        let figures = row.cells.iter().filter(|cell| !cell.contains("](") && !cell.contains(" at `"));
        for number in figures.flat_map(|cell| numbers(cell)).filter(|number| !known.contains(number)) {
            let wrong = format!("`{number}` is not in {}", page.unwrap_or_default());
            findings.push(Finding::new(README, row.line, wrong, "Take the figure from that page again"));
        }
    }
    findings
}

/// Returns the numbers of a text as they are written: `85.6`, `.534`, `2,441`, and the `10` of `@10`.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
    let numbers = parts.map(|part| part.trim_end_matches(['.', ',']).trim_start_matches(','));
    numbers.filter(|number| number.contains(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::findings;

    const README: &str = "## Before and after\n\nBefore: 9 lines\n```text\na\n…\nb\n```\n\n## Figures\n| what | more |\n\
        | --- | --- |\n| 1.5 % of 1,895 at p50 | [x](docs/b.md#y) |\n";

    fn check(gallery: &str, page: &str, expected: Expect) {
        let files = [("README.md", README), ("docs/digests.md", gallery), ("docs/b.md", page)];
        expected.assert_eq(&findings(super::check, &files));
    }

    #[test]
    fn an_example_may_leave_lines_out() {
        check("x\nBefore: 9 lines\n\na\nc\nb\n", "1,895 of 1.5, p50.\n", expect![""]);
    }

    #[test]
    fn a_gap_says_that_it_is_one() {
        let readme = "## Before and after\n```text\na\nb\n```\n## Figures\n\n";
        let found = findings(super::check, &[("README.md", readme), ("docs/digests.md", "a\nc\nb\n")]);
        expect![[r#"
            README.md:4: this line of the example does not follow in docs/digests.md. Take the example from that page again.
        "#]]
        .assert_eq(&found);
    }

    #[test]
    fn a_line_and_a_figure_that_changed_are_found() {
        check(
            "Before: 9 lines\nb\na\n",
            "11.5 of 1,895, p50\n",
            expect![[r#"
                README.md:7: this line of the example does not follow in docs/digests.md. Take the example from that page again.
                README.md:13: `1.5` is not in docs/b.md. Take the figure from that page again.
            "#]],
        );
    }

    #[test]
    fn a_figure_needs_a_page() {
        let found = findings(super::check, &[("README.md", "## Before and after\n\n## Figures\n| a |\n| 3 |\n")]);
        expect![[r#"
            README.md:5: a figure without a link to the page that has it. Link to the page with the method.
        "#]]
        .assert_eq(&found);
    }
}
