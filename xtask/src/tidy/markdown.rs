//! The parts of a Markdown page that checks read: inline code, fenced lines, sections and tables.

use super::numbered;

/// A row of a table: its line, and its cells without the bars.
pub(super) struct Row<'a> {
    pub(super) line: usize,
    pub(super) cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// Returns a cell, which is empty if the row is too short.
    pub(super) fn cell(&self, column: usize) -> &'a str {
        self.cells.get(column).copied().unwrap_or_default()
    }
}

/// Returns the inline code of a page, each with its line. A span may continue on the next line of its paragraph.
pub(super) fn code_spans(text: &str) -> Vec<(usize, String)> {
    let mut spans = Vec::new();
    let mut open: Option<(usize, usize, String)> = None;
    for (number, line) in outside_fences(text) {
        let Some(line) = line.filter(|line| !line.trim().is_empty()) else {
            open = None;
            continue;
        };
        let mut rest = line;
        while !rest.is_empty() {
            let plain = rest.find('`').unwrap_or(rest.len());
            let (before, ticks_on) = rest.split_at(plain);
            if let Some((_, _, span)) = &mut open {
                span.push_str(before);
            }
            let ticks = ticks_on.len() - ticks_on.trim_start_matches('`').len();
            rest = &ticks_on[ticks..];
            open = match open.take() {
                Some((start, wanted, span)) if wanted == ticks => {
                    spans.push((start, span.trim().to_owned()));
                    None
                }
                Some((start, wanted, span)) => Some((start, wanted, span + &"`".repeat(ticks))),
                None => (ticks > 0).then(|| (number, ticks, String::new())),
            };
        }
        if let Some((_, _, span)) = &mut open {
            span.push(' ');
        }
    }
    spans
}

/// Returns the inline code of one cell or line.
pub(super) fn spans_in(text: &str) -> Vec<String> {
    code_spans(text).into_iter().map(|(_, span)| span).collect()
}

pub(super) fn fenced_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    outside_fences(text).zip(text.lines()).filter_map(|((number, outside), line)| {
        let is_fence = line.trim_start().starts_with("```");
        (outside.is_none() && !is_fence).then_some((number, line))
    })
}

/// Returns the lines below a heading, up to the next heading of any level. It is empty if there is no such heading.
pub(super) fn section<'a>(text: &'a str, heading: &str) -> Vec<(usize, &'a str)> {
    let is_heading = |line: &str| line.starts_with('#');
    let below =
        numbered(text).skip_while(|(_, line)| !is_heading(line) || line.trim_start_matches('#').trim() != heading);
    below.skip(1).take_while(|(_, line)| !is_heading(line)).collect()
}

/// Returns the rows of the tables among some lines, with the rows of titles, without the rules below those.
pub(super) fn rows<'a>(lines: &[(usize, &'a str)]) -> Vec<Row<'a>> {
    let is_rule = |line: &str| line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let in_table = lines.iter().filter(|(_, line)| line.starts_with('|') && !is_rule(line));
    in_table
        .map(|(number, line)| {
            let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
            let mut in_code = false;
            let is_bar = move |c: char| {
                in_code ^= c == '`';
                c == '|' && !in_code
            };
            Row { line: *number, cells: inner.split(is_bar).map(str::trim).collect() }
        })
        .collect()
}

/// Returns every line with its number, and `None` for the lines of fenced blocks and their fences.
fn outside_fences(text: &str) -> impl Iterator<Item = (usize, Option<&str>)> {
    let mut fence: Option<&str> = None;
    numbered(text).map(move |(number, line)| {
        let start = line.trim_start();
        let ticks = &start[..start.len() - start.trim_start_matches('`').len()];
        match fence {
            Some(open) => {
                if ticks.len() >= open.len() {
                    fence = None;
                }
                (number, None)
            }
            None if ticks.len() >= 3 => {
                fence = Some(ticks);
                (number, None)
            }
            None => (number, Some(line)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_may_cross_a_line_and_hold_other_ticks() {
        let page = "a `b` and `c\nd` ``e `f` g``\n\n`open\n\n`h`\n```\n`not this`\n```\n`i`\n";
        let spans = code_spans(page);
        let expected = [(1, "b"), (1, "c d"), (2, "e `f` g"), (6, "h"), (10, "i")];
        assert_eq!(spans, expected.map(|(line, span)| (line, span.to_owned())));
    }

    #[test]
    fn fenced_lines_are_those_between_the_fences() {
        let page = "a\n````text\nb\n```\nc\n````\nd\n```sh\ne\n```\n";
        assert_eq!(fenced_lines(page).collect::<Vec<_>>(), [(3, "b"), (5, "c"), (9, "e")]);
    }

    #[test]
    fn a_section_ends_at_the_next_heading_and_a_table_is_its_cells() {
        let page = "# A\n## B, c\n\n| x | y |\n| --- | --- |\n| `1|` | | 2 |\n### D\n| z |\n";
        let rows = rows(&section(page, "B, c"));
        assert_eq!(
            rows.iter().map(|row| (row.line, row.cells.clone())).collect::<Vec<_>>(),
            [(4, vec!["x", "y"]), (6, vec!["`1|`", "", "2"])]
        );
        assert_eq!(rows[1].cell(0), "`1|`");
        assert_eq!(rows[1].cell(7), "");
        assert!(section(page, "E").is_empty());
    }
}
