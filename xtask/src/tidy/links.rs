//! Checks that relative links in Markdown lead to files and headings that exist.

use super::tree::is_sample;
use super::{Finding, Tree, numbered};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let markdown = tree.texts().filter(|(path, _)| path.ends_with(".md") && !is_sample(path));
    markdown.flat_map(|(path, text)| check_page(tree, path, text)).collect()
}

fn check_page(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in prose(text) {
        for target in targets(&line).filter(|target| is_relative(target)) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let Some(file) = resolve(path, file).filter(|file| tree.has(file)) else {
                let fix = "Correct the link, or add the file";
                findings.push(Finding::new(path, number, format!("`{target}` leads nowhere"), fix));
                continue;
            };
            let page = tree.text(&file).filter(|_| file.ends_with(".md") && !heading.is_empty());
            if page.is_some_and(|page| !has_heading(page, heading)) {
                let wrong = format!("`{file}` has no heading `#{heading}`");
                findings.push(Finding::new(path, number, wrong, "Correct the link, or the heading"));
            }
        }
    }
    findings
}

/// Returns the lines outside fenced code, with inline code blanked out.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    numbered(text).filter_map(move |(number, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        let outside_code = || line.split('`').step_by(2).collect::<Vec<_>>().join("` `");
        (!fenced && !fence).then(|| (number, outside_code()))
    })
}

/// Returns the targets of `[text](target)` and of `[name]: target`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
    inline.chain(definition)
}

fn is_relative(target: &str) -> bool {
    !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:")
}

/// Returns the file that a link on `page` refers to, or `None` if it leaves the repository.
pub(crate) fn resolve(page: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn has_heading(page: &str, wanted: &str) -> bool {
    page.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line.trim_start_matches('#')) == wanted)
}

/// Returns a heading as an anchor: lower case, hyphens for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(page: &str) -> Checked {
        let other = ("STYLE.md", "# Style\n## Small things, first\n");
        Checked(findings(super::check, &[("docs/a.md", page), other]))
    }

    #[test]
    fn links_to_files_folders_headings_and_other_sites_are_fine() {
        check(
            "# Here\n[a](../STYLE.md) [b](../STYLE.md#small-things-first) [c](#here) [d](../docs) [e](https://x.test/y)\n[f]: ../STYLE.md\n",
        )
        .shows(&expect![""]);
    }

    #[test]
    fn links_in_code_are_not_links() {
        check("`[a](nowhere.md)`\n```\n[b](nowhere.md)\n```\n").shows(&expect![""]);
    }

    #[test]
    fn missing_files_and_headings_are_found() {
        check("[a](nowhere.md)\n[b](../STYLE.md#large-things) and [c](../../out.md)\n").shows(&expect![[r#"
            docs/a.md:1: `nowhere.md` leads nowhere. Correct the link, or add the file.
            docs/a.md:2: `STYLE.md` has no heading `#large-things`. Correct the link, or the heading.
            docs/a.md:2: `../../out.md` leads nowhere. Correct the link, or add the file.
        "#]]);
    }
}
