//! Checks that the figures of the README are of the program that is here: each names the date and the commit that it
//! was measured at, and the code that it measures has not become another since.

use super::tree::Growth;
use super::{Finding, Tree, markdown};

const README: &str = "README.md";
const FIGURES: &str = "Figures";
const MEASURED: &str = "measured";

/// What each benchmark measures.
const CODE: &[(&str, &[&str])] = &[
    ("weir-bench recall", &["crates/weir-digest/src"]),
    ("weir-bench mcp", &["crates/weir-hook/src", "crates/weir-clients/src", "crates/weir-digest/src"]),
    ("weir-bench sessions", &["crates/weir-hook/src", "crates/weir-clients/src", "crates/weir-digest/src"]),
    ("weir replay", &["crates/weir-hook/src", "crates/weir-clients/src", "crates/weir-digest/src"]),
    ("weir-bench hooks", &["crates/weir-hook/src", "crates/weir-clients/src", "crates/weir-store/src"]),
];

/// How much of the code may have changed since, in percent. The next release measures again in any case.
const MAX_CHANGED_PERCENT: u64 = 25;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(readme) = tree.text(README) else { return Vec::new() };
    let rows = markdown::rows(&markdown::section(readme, FIGURES));
    let Some(column) = rows.first().and_then(|head| head.cells.iter().position(|cell| *cell == MEASURED)) else {
        let line = rows.first().map_or(1, |head| head.line);
        let wrong = format!("the figures have no column `{MEASURED}`");
        return vec![Finding::new(README, line, wrong, "Say for each when it was measured: DATE at COMMIT")];
    };
    rows.iter().skip(1).filter_map(|row| problem(tree, row, column)).collect()
}

fn problem(tree: &Tree, row: &markdown::Row<'_>, column: usize) -> Option<Finding> {
    let finding = |wrong: String, fix: &str| Some(Finding::new(README, row.line, wrong, fix));
    let measured = row.cell(column);
    let Some((date, commit)) = measured.split_once(" at ").filter(|(date, commit)| is_date(date) && is_commit(commit))
    else {
        return finding(format!("`{measured}` does not say when this was measured"), "Write DATE at COMMIT");
    };
    let commands: Vec<String> = row.cells.iter().flat_map(|cell| markdown::spans_in(cell)).collect();
    let known = CODE.iter().find(|(command, _)| commands.iter().any(|named| named.starts_with(command)));
    let Some((command, code)) = known else {
        return finding("no known benchmark measures this".to_owned(), "Name it in xtask/src/tidy/figures.rs");
    };
    let fix = format!("Measure again: {command}");
    match tree.growth_since(commit.trim_matches('`'), code) {
        Err(why) => finding(format!("cannot compare with {commit}: {why}"), &fix),
        Ok(Growth { releases, changed, .. }) if releases > 1 && changed > 0 => {
            finding(format!("measured on {date}, and {releases} releases have come since"), &fix)
        }
        Ok(Growth { changed, lines, .. }) if changed * 100 > lines * MAX_CHANGED_PERCENT => {
            finding(format!("measured on {date}, and {changed} of {lines} lines have changed since"), &fix)
        }
        Ok(_) => None,
    }
}

fn is_date(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00"
}

fn is_commit(text: &str) -> bool {
    let hash = text.trim_matches('`');
    hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::*;

    fn check(row: &str, growth: (u64, u64, usize)) -> Checked {
        let readme = format!("## Figures\n| what | measured | command |\n| --- | --- | --- |\n{row}\n");
        let (changed, lines, releases) = growth;
        let tree = Tree::of(&[(README, &readme)]).grown("abcdef1", Growth { changed, lines, releases });
        let found: Vec<String> = super::check(&tree).iter().map(ToString::to_string).collect();
        Checked(found.join("\n"))
    }

    const ROW: &str = "| 3 ms | 2026-11-17 at `abcdef1` | `weir-bench hooks target/release/weir` |";

    #[test]
    fn a_figure_of_the_code_that_is_here_is_fine() {
        check(ROW, (24, 100, 0)).shows(&expect![""]);
        check(ROW, (0, 100, 3)).shows(&expect![""]);
    }

    #[test]
    fn a_figure_of_other_code_is_found() {
        check(ROW, (31, 100, 0)).shows(&expect![
                "README.md:4: measured on 2026-11-17, and 31 of 100 lines have changed since. Measure again: weir-bench hooks."
            ]);
        check(ROW, (1, 100, 2)).shows(&expect![
            "README.md:4: measured on 2026-11-17, and 2 releases have come since. Measure again: weir-bench hooks."
        ]);
    }

    #[test]
    fn a_figure_says_when_and_with_what_it_was_measured() {
        check("| 3 ms | recently | `weir-bench hooks x` |", (0, 1, 0))
            .shows(&expect!["README.md:4: `recently` does not say when this was measured. Write DATE at COMMIT."]);
        check("| 3 ms | 2026-11-17 at `abcdef1` | `time weir` |", (0, 1, 0))
            .shows(&expect!["README.md:4: no known benchmark measures this. Name it in xtask/src/tidy/figures.rs."]);
        check("| 3 ms | 2026-11-17 at `0000000` | `weir-bench hooks x` |", (0, 1, 0)).shows(&expect![
            "README.md:4: cannot compare with `0000000`: it is not in the history. Measure again: weir-bench hooks."
        ]);
    }
}
