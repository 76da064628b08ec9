//! Checks what the README takes from other files: the lines of its example, and its figures.

use super::{Finding, Tree, markdown};

const README: &str = "README.md";
const EXAMPLE: &str = "Example";
const FIGURES: &str = "Figures";

/// The digest of a real run, which `docs/pictures/terminal.py` records.
const RECORDED: &str = "docs/pictures/digest.txt";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(readme) = tree.text(README) else { return Vec::new() };
    let missing = [EXAMPLE, FIGURES].into_iter().filter(|heading| markdown::section(readme, heading).is_empty());
    let missing = missing.map(|heading| {
        let fix = "Bring it back, or tell xtask/src/tidy/readme.rs where it went";
        Finding::new(README, 1, format!("no section `{heading}`, so this check sees nothing"), fix)
    });
    missing.chain(changed_lines(tree, readme)).chain(changed_figures(tree, readme)).collect()
}

/// Finds the first line of the example that does not follow in the recording, directly or, after `…`, further down.
fn changed_lines(tree: &Tree, readme: &str) -> Option<Finding> {
    let example = markdown::section(readme, EXAMPLE);
    let fenced: Vec<usize> = markdown::fenced_lines(readme).map(|(line, _)| line).collect();
    let mut recorded = tree.text(RECORDED).unwrap_or_default().lines();
    let mut may_skip = false;
    for (line, text) in example.into_iter().filter(|(line, _)| fenced.contains(line)) {
        if text == "…" {
            may_skip = true;
            continue;
        }
        let found = if may_skip { recorded.any(|other| other == text) } else { recorded.next() == Some(text) };
        if !found {
            let wrong = format!("this line of the example does not follow in {RECORDED}");
            return Some(Finding::new(README, line, wrong, "Take the example from that file again"));
        }
        may_skip = false;
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
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    const README: &str = "## Example\n\n```text\na\n…\nb\n```\n\n## Figures\n| what | more |\n\
        | --- | --- |\n| 1.5 % of 1,895 at p50 | [x](docs/b.md#y) |\n";

    fn check(recorded: &str, page: &str) -> Checked {
        let files = [("README.md", README), ("docs/pictures/digest.txt", recorded), ("docs/b.md", page)];
        Checked(findings(super::check, &files))
    }

    #[test]
    fn an_example_may_leave_lines_out() {
        check("a\nc\nb\n", "1,895 of 1.5, p50.\n").shows(&expect![""]);
    }

    #[test]
    fn a_gap_says_that_it_is_one() {
        let readme = "## Example\n```text\na\nb\n```\n## Figures\n\n";
        let found = findings(super::check, &[("README.md", readme), ("docs/pictures/digest.txt", "a\nc\nb\n")]);
        expect![[r#"
            README.md:4: this line of the example does not follow in docs/pictures/digest.txt. Take the example from that file again.
        "#]]
        .assert_eq(&found);
    }

    #[test]
    fn a_line_and_a_figure_that_changed_are_found() {
        check("a\nc\n", "11.5 of 1,895, p50\n").shows(&expect![[r#"
            README.md:6: this line of the example does not follow in docs/pictures/digest.txt. Take the example from that file again.
            README.md:12: `1.5` is not in docs/b.md. Take the figure from that page again.
        "#]]);
    }

    #[test]
    fn a_figure_needs_a_page() {
        let found = findings(super::check, &[("README.md", "## Example\n\n## Figures\n| a |\n| 3 |\n")]);
        expect![[r#"
            README.md:5: a figure without a link to the page that has it. Link to the page with the method.
        "#]]
        .assert_eq(&found);
    }
}
