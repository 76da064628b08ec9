//! Detects whether an output is Markdown from the beginning.
//!
//! Scripts also have lines that begin with `#`, and logs have lists. Detection therefore requires separate headings and
//! other marks that only Markdown has, and no sign of anything else.

use super::marks::{fence, heading, is_separator, list_item};
use crate::kinds::shared::stamp;
use crate::sample::Sample;
use crate::text::starts;

#[derive(Default)]
struct MarkdownStats {
    lines: usize,
    headings: usize,
    /// Headings without a blank line before them, like comments in scripts.
    glued: usize,
    fences: usize,
    links: usize,
    lists: usize,
    tables: usize,
    bold: usize,
    quotes: usize,
    /// Lines that do not belong to a document: with a time, of a diff, or of a script.
    other: usize,
}

pub(super) fn is(sample: &Sample<'_>) -> bool {
    let Some(first) = sample.full_lines().next() else { return false };
    let named = [".md", ".mdx", ".markdown"]
        .iter()
        .any(|end| sample.about.command.split([' ', '"', '\'', '|', ';']).any(|word| word.ends_with(end)));
    if first.starts_with("#!") || first.starts_with("diff ") || first.starts_with("<!DOCTYPE") {
        return false;
    }
    let seen = line_stats(sample);
    let sorts = [seen.fences > 1, seen.links > 0, seen.lists > 2, seen.tables > 0, seen.bold > 1, seen.quotes > 1];
    let sorts = sorts.into_iter().filter(|has| *has).count();
    let clean = seen.other * 20 <= seen.lines && seen.glued * 3 <= seen.headings;
    let begins =
        heading(first).is_some() || first.trim_end() == "---" || first.starts_with("[![") || first.starts_with('<');
    let enough = match (named, begins) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    let fits = clean && seen.headings >= if named || begins { 1 } else { 2 } && sorts >= enough && seen.lines >= 4;
    // Checked last, since it examines every line again.
    fits && (seen.fences > 0 || !crate::kinds::documents::source::is(sample))
}

fn line_stats(sample: &Sample<'_>) -> MarkdownStats {
    let mut seen = MarkdownStats::default();
    let mut code: Option<(u8, usize)> = None;
    let mut front = false;
    let mut blank = true;
    for (number, line) in sample.lines().enumerate() {
        let text = line.trim();
        if number == 0 && text == "---" {
            front = true;
            continue;
        }
        if front {
            front = text != "---";
            blank = true;
            continue;
        }
        if let Some((mark, length, info)) = fence(text) {
            match code {
                Some(open) if open.0 == mark && length >= open.1 && info.is_empty() => code = None,
                Some(_) => {}
                None => {
                    code = Some((mark, length));
                    seen.fences += 1;
                }
            }
            blank = false;
            continue;
        }
        if code.is_some() {
            continue;
        }
        if text.is_empty() {
            blank = true;
            continue;
        }
        seen.lines += 1;
        if heading(line).is_some() {
            seen.headings += 1;
            seen.glued += usize::from(!blank);
            // A heading may follow a heading.
            blank = true;
            continue;
        }
        blank = false;
        seen.links += usize::from(text.contains("]("));
        seen.bold += usize::from(text.contains("**") || text.contains('`'));
        seen.quotes += usize::from(text.starts_with("> "));
        seen.tables += usize::from(is_separator(text));
        let listed = list_item(text).is_some();
        seen.lists += usize::from(listed);
        seen.other += usize::from(!listed && (is_code(line) || stamp::of(line).is_some()));
    }
    seen
}

/// Returns whether a line outside fences looks like a line of a program or of a diff.
fn is_code(line: &str) -> bool {
    let ends = line.trim_end();
    ends.ends_with(['{', ';', '}'])
        || starts(line, &["@@ ", "+++ ", "--- ", "+ ", "diff --git", "import ", "def ", "fn ", "export ", "#include"])
}
