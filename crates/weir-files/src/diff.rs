//! Shows what a change did to a text, in unified diff format. Pure.

use std::collections::HashMap;
use std::ops::Range;

const CONTEXT_LINES: usize = 1;

/// Returns as many of the changes as fit in a number of tokens, and whether that is all of them.
pub fn unified(old: &str, new: &str, places: &[(Range<usize>, Range<usize>)], tokens: usize) -> (String, bool) {
    let (old, new) = (SplitText::of(old), SplitText::of(new));
    let hunks = joined(places.iter().map(|(was, is)| Hunk::of(&old, &new, was, is)).collect());
    let mut text = String::new();
    let mut left = tokens;
    for (number, hunk) in hunks.iter().enumerate() {
        let shown = hunk.show(&old, &new);
        let cost = weir_tokens::count(&shown);
        if cost > left {
            text.push_str(&format!("… {} of {} hunks not shown\n", hunks.len() - number, hunks.len()));
            return (text, false);
        }
        left -= cost;
        text.push_str(&shown);
    }
    (text, true)
}

/// Returns how many lines were added and removed. A line that only moved counts as neither.
pub fn counts(old: &str, new: &str) -> (usize, usize) {
    let mut lines: HashMap<&str, isize> = HashMap::new();
    new.lines().for_each(|line| *lines.entry(line).or_default() += 1);
    old.lines().for_each(|line| *lines.entry(line).or_default() -= 1);
    let added = lines.values().filter(|count| **count > 0).sum::<isize>();
    let removed = lines.values().filter(|count| **count < 0).sum::<isize>();
    (added.unsigned_abs(), removed.unsigned_abs())
}

struct SplitText<'a> {
    text: &'a str,
    /// Where each line begins, and where the last one ends.
    begins: Vec<usize>,
}

impl<'a> SplitText<'a> {
    fn of(text: &'a str) -> Self {
        let mut begins = vec![0];
        begins.extend(text.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < text.len()));
        begins.push(text.len());
        if text.is_empty() {
            begins.truncate(1);
        }
        Self { text, begins }
    }

    fn count(&self) -> usize {
        self.begins.len() - 1
    }

    fn line(&self, number: usize) -> &'a str {
        &self.text[self.begins[number]..self.begins[number + 1]]
    }

    /// Returns the lines that a range of bytes touches. If the range consists of whole lines, excludes the line after
    /// it.
    fn touched(&self, bytes: &Range<usize>, whole: bool) -> Range<usize> {
        let at = |byte: usize| self.begins.partition_point(|begin| *begin <= byte).saturating_sub(1);
        let first = at(bytes.start).min(self.count());
        let end = match whole {
            true if bytes.is_empty() => first,
            true => at(bytes.end - 1) + 1,
            false => at(bytes.end) + 1,
        };
        first..end.min(self.count()).max(first)
    }

    /// Whether a range of bytes ends with a line, or is empty at the beginning of one.
    fn is_whole(&self, bytes: &Range<usize>) -> bool {
        match bytes.is_empty() {
            true => self.begins.binary_search(&bytes.start).is_ok(),
            false => self.text[bytes.clone()].ends_with('\n'),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    old: Range<usize>,
    new: Range<usize>,
}

impl Hunk {
    fn of(old: &SplitText<'_>, new: &SplitText<'_>, was: &Range<usize>, is: &Range<usize>) -> Self {
        let whole = old.is_whole(was) && new.is_whole(is);
        let (mut was, mut is) = (old.touched(was, whole), new.touched(is, whole));
        // Lines that are the same at the ends of both sides did not change.
        while !was.is_empty() && !is.is_empty() && old.line(was.end - 1) == new.line(is.end - 1) {
            (was.end, is.end) = (was.end - 1, is.end - 1);
        }
        while !was.is_empty() && !is.is_empty() && old.line(was.start) == new.line(is.start) {
            (was.start, is.start) = (was.start + 1, is.start + 1);
        }
        Self { old: was, new: is }
    }

    fn show(&self, old: &SplitText<'_>, new: &SplitText<'_>) -> String {
        let before = CONTEXT_LINES.min(self.old.start).min(self.new.start);
        let after = CONTEXT_LINES.min(old.count() - self.old.end).min(new.count() - self.new.end);
        let head = |range: &Range<usize>| format!("{},{}", range.start - before + 1, range.len() + before + after);
        let mut text = format!("@@ -{} +{} @@\n", head(&self.old), head(&self.new));
        let mut push = |mark: char, line: &str| {
            text.push(mark);
            text.push_str(line.trim_end_matches(['\n', '\r']));
            text.push('\n');
        };
        (self.old.start - before..self.old.start).for_each(|number| push(' ', old.line(number)));
        self.old.clone().for_each(|number| push('-', old.line(number)));
        self.new.clone().for_each(|number| push('+', new.line(number)));
        (self.old.end..self.old.end + after).for_each(|number| push(' ', old.line(number)));
        text
    }
}

/// Joins changes that are so close that their context meets.
fn joined(hunks: Vec<Hunk>) -> Vec<Hunk> {
    let mut joined: Vec<Hunk> = Vec::new();
    for hunk in hunks {
        match joined.last_mut() {
            Some(last) if hunk.old.start <= last.old.end + 2 * CONTEXT_LINES => {
                last.old.end = hunk.old.end.max(last.old.end);
                last.new.end = hunk.new.end.max(last.new.end);
            }
            _ => joined.push(hunk),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::edit::{Edit, apply};
    use super::*;

    fn check(text: &str, (old, new): (&str, &str)) -> Checked {
        let made = apply(text.as_bytes(), Edit { old, new, all: true }).unwrap();
        let after = String::from_utf8(made.bytes).unwrap();
        let (shown, whole) = unified(text, &after, &made.places, 400);
        assert!(whole);
        Checked(shown)
    }

    #[test]
    fn a_change_is_shown_with_a_line_around_it() {
        let text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
        check(text, ("three", "3")).shows(&expect![[r#"
            @@ -2,3 +2,3 @@
             two
            -three
            +3
             four
        "#]]);
        check(text, ("two\n", "")).shows(&expect![[r#"
            @@ -1,3 +1,2 @@
             one
            -two
             three
        "#]]);
        check(text, ("one\n", "zero\none\n")).shows(&expect![[r#"
            @@ -1,1 +1,2 @@
            +zero
             one
        "#]]);
        check(text, ("eight\n", "eight\nnine")).shows(&expect![[r#"
            @@ -8,1 +8,2 @@
             eight
            +nine
        "#]]);
    }

    #[test]
    fn changes_near_each_other_are_one() {
        check("a1\nb\na2\nc\nd\ne\nf\na3\n", ("a", "x")).shows(&expect![[r#"
            @@ -1,4 +1,4 @@
            -a1
            -b
            -a2
            +x1
            +b
            +x2
             c
            @@ -7,2 +7,2 @@
             f
            -a3
            +x3
        "#]]);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let text = (0..60).map(|n| format!("line {n}\nfiller\nfiller\nfiller\n")).collect::<String>();
        let made = apply(text.as_bytes(), Edit { old: "line", new: "row", all: true }).unwrap();
        let after = String::from_utf8(made.bytes).unwrap();
        let (shown, whole) = unified(&text, &after, &made.places, 100);
        assert!(!whole && shown.ends_with("of 60 hunks not shown\n"), "{shown}");
        assert_eq!(counts(&text, &after), (60, 60));
    }
}
