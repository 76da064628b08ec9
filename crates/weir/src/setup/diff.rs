//! Computes the difference between two texts, line by line, to show it and to undo it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The number of context lines around a difference.
const CONTEXT_LINES: usize = 3;
/// The maximum number of pairs of lines that are compared one by one.
const MAX_PAIRS: usize = 4_000_000;

/// A step that turns the new text into the old one: at this byte, this many bytes are replaced by this text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReverseEdit {
    at: usize,
    length: usize,
    text: String,
}

/// Returns the steps that turn the new text into the old one, in order.
pub(super) fn undo(old: &str, new: &str) -> Vec<ReverseEdit> {
    let (before, after) = (lines(old), lines(new));
    let differing = differences(&before, &after);
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    differing
        .into_iter()
        .map(|(old, new)| ReverseEdit {
            at: bytes(&after[..new.start]),
            length: bytes(&after[new]),
            text: before[old].concat(),
        })
        .collect()
}

/// Returns the old text, or `None` if the steps do not apply to this text.
pub(super) fn undone(new: &str, cuts: &[ReverseEdit]) -> Option<String> {
    let mut old = String::new();
    let mut from = 0;
    for cut in cuts {
        old.push_str(new.get(from..cut.at)?);
        old.push_str(&cut.text);
        from = cut.at + cut.length;
    }
    old.push_str(new.get(from..)?);
    Some(old)
}

/// Formats the difference like `diff -u`.
pub(super) fn shown(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path.to_owned() } else { "/dev/null".to_owned() };
    let mut shown = format!("--- {}\n+++ {}\n", name(old), name(new));
    let (before, after) = (lines(old.unwrap_or_default()), lines(new.unwrap_or_default()));
    for group in grouped(differences(&before, &after)) {
        let (first, last) = (&group[0], &group[group.len() - 1]);
        let old = first.0.start.saturating_sub(CONTEXT_LINES)..(last.0.end + CONTEXT_LINES).min(before.len());
        let new = first.1.start.saturating_sub(CONTEXT_LINES)..(last.1.end + CONTEXT_LINES).min(after.len());
        shown.push_str(&format!("@@ -{} +{} @@\n", numbers(&old), numbers(&new)));
        let mut from = old.start;
        for (removed, added) in group {
            push(&mut shown, ' ', &before[from..removed.start]);
            push(&mut shown, '-', &before[removed.clone()]);
            push(&mut shown, '+', &after[added]);
            from = removed.end;
        }
        push(&mut shown, ' ', &before[from..old.end]);
    }
    shown
}

type Difference = (Range<usize>, Range<usize>);

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn numbers(range: &Range<usize>) -> String {
    format!("{},{}", if range.is_empty() { range.start } else { range.start + 1 }, range.len())
}

fn push(shown: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        shown.push(mark);
        shown.push_str(line.trim_end_matches(['\n', '\r']));
        shown.push('\n');
    }
}

/// Groups differences that are so close that their context touches.
fn grouped(differences: Vec<Difference>) -> Vec<Vec<Difference>> {
    let mut groups: Vec<Vec<Difference>> = Vec::new();
    for difference in differences {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| difference.0.start <= last.0.end + 2 * CONTEXT_LINES) => {
                group.push(difference);
            }
            _ => groups.push(vec![difference]),
        }
    }
    groups
}

fn differences(old: &[&str], new: &[&str]) -> Vec<Difference> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let same_end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (old.len() - same_end, new.len() - same_end);
    let (inner_old, inner_new) = (&old[start..old_end], &new[start..new_end]);
    if inner_old.is_empty() && inner_new.is_empty() {
        return Vec::new();
    }
    if inner_old.is_empty() || inner_new.is_empty() || inner_old.len() * inner_new.len() > MAX_PAIRS {
        return vec![(start..old_end, start..new_end)];
    }
    let shift = |range: Range<usize>| range.start + start..range.end + start;
    compared(inner_old, inner_new).into_iter().map(|(a, b)| (shift(a), shift(b))).collect()
}

/// Compares along the longest common subsequence of lines.
fn compared(old: &[&str], new: &[&str]) -> Vec<Difference> {
    let width = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < old.len() || j < new.len() {
        let (from_old, from_new) = (i, j);
        while (i < old.len() || j < new.len()) && !(i < old.len() && j < new.len() && old[i] == new[j]) {
            let drop_old = longest.get((i + 1) * width + j).copied().filter(|_| i < old.len());
            let drop_new = (j < new.len()).then(|| longest[i * width + j + 1]);
            if drop_old >= drop_new { i += 1 } else { j += 1 }
        }
        if i > from_old || j > from_new {
            found.push((from_old..i, from_new..j));
        }
        while i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_done_can_be_undone(old in "([ab]\r?\n){0,12}[ab]{0,2}", new in "([abc]\r?\n){0,12}[ab]{0,2}") {
            let cuts = undo(&old, &new);
            prop_assert_eq!(undone(&new, &cuts), Some(old));
        }
    }

    #[test]
    fn a_difference_reads_as_one() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\n2\nx\n4\n5\n6\n7\n8\n9\n10\n11\n11b\n12\n";
        expect![[r#"
            --- a
            +++ a
            @@ -1,6 +1,6 @@
             1
             2
            -3
            +x
             4
             5
             6
            @@ -9,4 +9,5 @@
             9
             10
             11
            +11b
             12
        "#]]
        .assert_eq(&shown("a", Some(old), Some(new)));
        expect![[r#"
            --- /dev/null
            +++ a
            @@ -0,0 +1,1 @@
            +1
        "#]]
        .assert_eq(&shown("a", None, Some("1")));
    }
}
