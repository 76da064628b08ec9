//! Computes the difference between two texts, line by line, to show it and to undo it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffTag, TextDiff, TextDiffConfig};

/// After this time, the rest of a difference is one big replacement.
const MAX_TIME: Duration = Duration::from_millis(500);

/// A step that turns the new text into the old one: at this byte, this many bytes are replaced by this text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReverseEdit {
    at: usize,
    length: usize,
    text: String,
}

/// Returns the steps that turn the new text into the old one, in order.
pub fn undo(old: &str, new: &str) -> Vec<ReverseEdit> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let diff = config().diff_slices(&before, &after);
    let changed = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
    changed
        .map(|op| ReverseEdit {
            at: bytes(&after[..op.new_range().start]),
            length: bytes(&after[op.new_range()]),
            text: before[op.old_range()].concat(),
        })
        .collect()
}

/// Returns the old text, or `None` if the steps do not apply to this text.
pub fn undone(new: &str, cuts: &[ReverseEdit]) -> Option<String> {
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

/// Formats the difference like `diff -u`. A text that does not exist is `None`.
pub fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    let diff = config().diff_lines(old.unwrap_or_default(), new.unwrap_or_default());
    diff.unified_diff().header(name(old), name(new)).missing_newline_hint(false).to_string()
}

fn config() -> TextDiffConfig {
    let mut config = TextDiff::configure();
    config.algorithm(Algorithm::Myers).timeout(MAX_TIME);
    config
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
        .assert_eq(&unified("a", Some(old), Some(new)));
        expect![[r#"
            --- /dev/null
            +++ a
            @@ -0,0 +1 @@
            +1
        "#]]
        .assert_eq(&unified("a", None, Some("1")));
    }
}
