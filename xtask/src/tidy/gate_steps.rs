//! Checks that the table of the gate's steps in `CONTRIBUTING.md` has the steps that `.ci/run` defines, in their order.

use super::{Finding, Tree, markdown, numbered};

const PAGE: &str = "CONTRIBUTING.md";
const HEADING: &str = "The gate";
const SCRIPT: &str = ".ci/run";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let (Some(page), Some(script)) = (tree.text(PAGE), tree.text(SCRIPT)) else { return Vec::new() };
    let steps: Vec<&str> =
        numbered(script).filter_map(|(_, line)| Some(line.strip_prefix("step_")?.split_once("()")?.0)).collect();
    if steps.is_empty() {
        let fix = "Tell xtask/src/tidy/gate_steps.rs how steps are written now";
        return vec![Finding::new(SCRIPT, 1, "no function `step_…()`, so this check sees no steps", fix)];
    }
    let rows = markdown::rows(&markdown::section(page, HEADING));
    let listed: Vec<&str> = rows.iter().skip(1).map(|row| row.cell(0)).collect();
    if steps == listed {
        return Vec::new();
    }
    let wrong = format!("the steps of the gate are `{}`, and the table has `{}`", steps.join(" "), listed.join(" "));
    vec![Finding::new(
        PAGE,
        rows.first().map_or(1, |row| row.line),
        wrong,
        "Give the table the same rows in the same order",
    )]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(table: &str) -> Checked {
        let page = format!("## The gate\n\n| step | what it does |\n| --- | --- |\n{table}");
        let script = "# The gate.\nstep_fmt() { cargo fmt; }\nstep_tests() {\n  cargo test\n}\n";
        Checked(findings(super::check, &[("CONTRIBUTING.md", &page), (".ci/run", script)]))
    }

    #[test]
    fn the_same_steps_in_the_same_order_are_fine() {
        check("| fmt | a |\n| tests | b |\n").shows(&expect![""]);
    }

    #[test]
    fn a_step_too_many_is_found() {
        check("| fmt | a |\n| typos | c |\n| tests | b |\n").shows(&expect![[r#"
            CONTRIBUTING.md:3: the steps of the gate are `fmt tests`, and the table has `fmt typos tests`. Give the table the same rows in the same order.
        "#]]);
    }
}
