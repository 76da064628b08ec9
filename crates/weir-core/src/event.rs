//! Events: immutable facts captured in a session, in the order they happened.

use crate::unseen::is_unseen;
use crate::{Reference, SessionKey, Timestamp};

crate::written_enum! {
    pub enum EventKind {
        /// The user asked for something.
        Prompt = "prompt",
        /// A file was read, edited, written or searched.
        File = "file",
        /// A task was opened, changed or finished.
        Task = "task",
        Decision = "decision",
        /// The user corrected the model.
        Correction = "correction",
        /// A git command changed the repository.
        Git = "git",
        Error = "error",
        Fix = "fix",
        /// The environment changed: a folder, a variable, a dependency.
        Environment = "environment",
        /// A file with rules was loaded.
        Rule = "rule",
        Tool = "tool",
        /// A subagent was started or returned.
        Subagent = "subagent",
        Plan = "plan",
        Goal = "goal",
        /// Something blocks the work.
        Blocker = "blocker",
        /// An approach was tried and given up.
        Rejected = "rejected",
        /// The user pasted a lot of data.
        Data = "data",
        /// The purpose of the session.
        Intent = "intent",
        /// The model said something at the end of a turn, or before it was compacted.
        Said = "said",
        Kept = "kept",
        /// An entry is gone, or events were removed.
        Gone = "gone",
    }
}

crate::written_enum! {
    /// How much an event matters if there is not enough room for all.
    pub enum Priority {
        /// Never dropped while anything less important is left.
        P1 = "P1",
        /// Important.
        P2 = "P2",
        /// Ordinary.
        P3 = "P3",
        /// First to be dropped.
        P4 = "P4",
    }
}

/// An event to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub kind: EventKind,
    pub priority: Priority,
    /// The event in one sentence or line.
    pub text: String,
    /// Details, as JSON.
    pub data: Option<String>,
    /// The whole text, if the line shows only a part of it. The log keeps it as an entry and adds the entry's reference
    /// to the details, under [`WHOLE`].
    pub whole: Option<String>,
}

/// The key in the details of a logged event under which the reference of its whole text is.
pub const WHOLE: &str = "whole";

impl Event {
    /// Returns the reference of the whole text of a logged event, if its line shows only a part of it.
    pub fn whole_reference(&self) -> Option<Reference> {
        let data = self.data.as_deref().filter(|data| data.contains(WHOLE))?;
        let data: serde_json::Value = serde_json::from_str(data).ok()?;
        Reference::parse(data[WHOLE].as_str()?).ok()
    }

    /// Returns whether the model said it, for kinds of events that the user may say too.
    pub fn is_by_model(&self) -> bool {
        self.data.as_deref().is_some_and(|data| data.contains(r#""by":"model""#))
    }
}

/// An event as the log has it, with its time and place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedEvent {
    /// The position of the event in the log.
    pub seq: i64,
    pub at: Timestamp,
    pub session: Option<SessionKey>,
    pub work: Option<String>,
    pub event: Event,
    /// The entry that the event refers to, if any.
    pub reference: Option<Reference>,
}

/// Maximum length of the line of an event, in bytes. A request of the user may be longer.
pub const LONGEST_TEXT: usize = 400;

/// Minimum length at which a cut says how much it left out. A shorter line only shows that it was cut.
const MIN_COUNTED_CUT_BYTES: usize = 32;

/// Returns a text as one line of at most `most` bytes, which says how much of it was left out.
///
/// Escape sequences, control characters, line ends of any script, and characters that reverse or hide text are removed,
/// so that the result cannot pass for more than one line. The cost grows with `most`, not with the text.
pub fn line(text: &str, most: usize) -> String {
    let text = text.trim();
    let head = &text[..text.floor_char_boundary(most.saturating_mul(4).saturating_add(1_024))];
    let cleaned = crate::terminal::clean(head.as_bytes());
    let cleaned = String::from_utf8_lossy(&cleaned);
    let mut written = String::with_capacity(cleaned.len().min(most));
    let mut rest = cleaned.as_ref();
    while let Some(c) = rest.chars().next() {
        let gap = c.is_whitespace() || c.is_control();
        if gap && !written.is_empty() && !written.ends_with(' ') {
            written.push(' ');
        } else if !gap && !is_hidden(c) {
            if written.len() + c.len_utf8() > most {
                break;
            }
            written.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    let left = rest.len() + (text.len() - head.len());
    match left {
        0 => written.truncate(written.trim_end().len()),
        _ => cut(&mut written, left, most),
    }
    written
}

/// Returns whether a character is left out of a line: one that nobody sees, except the two that choose the form of a
/// symbol.
pub(crate) fn is_hidden(c: char) -> bool {
    is_unseen(c) && !matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Cuts the text to make room for the words that say how much is missing.
fn cut(written: &mut String, mut left: usize, most: usize) {
    // The number itself may get longer as more is cut.
    let tries = if most < MIN_COUNTED_CUT_BYTES { 0 } else { 3 };
    for _ in 0..tries {
        let mark = format!("… ({left} more bytes)");
        if written.len() + mark.len() <= most {
            return written.push_str(&mark);
        }
        let keep = written.floor_char_boundary(most.saturating_sub(mark.len() + 1));
        left += written.len() - keep;
        written.truncate(keep);
    }
    written.truncate(written.floor_char_boundary(most.saturating_sub('…'.len_utf8())));
    if most >= '…'.len_utf8() {
        written.push('…');
    }
}

/// Returns which events to drop so that at most `most` are left: the least important first, and of those the oldest.
/// `priorities` is in the order of the events, oldest first, and so is the result.
pub fn to_drop(priorities: &[Priority], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..priorities.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(priorities[at]), at));
    order.truncate(priorities.len().saturating_sub(most));
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(priorities: &[Priority], most: usize, dropped: &[usize]) {
        assert_eq!(to_drop(priorities, most), dropped);
    }

    #[test]
    fn the_least_important_goes_first_and_of_those_the_oldest() {
        use Priority::{P1, P2, P3, P4};
        check(&[P1, P4, P2, P4, P3], 5, &[]);
        check(&[P1, P4, P2, P4, P3], 9, &[]);
        check(&[P1, P4, P2, P4, P3], 4, &[1]);
        check(&[P1, P4, P2, P4, P3], 3, &[1, 3]);
        check(&[P1, P4, P2, P4, P3], 2, &[1, 3, 4]);
        check(&[P1, P1, P1], 1, &[0, 1]);
        check(&[P1, P4], 0, &[0, 1]);
        check(&[], 0, &[]);
    }

    fn check_line(text: &str, most: usize, expected: &str) {
        assert_eq!(line(text, most), expected);
    }

    #[test]
    fn a_line_is_one_line() {
        check_line(" a\n\n b\tc\r\n", 100, "a b c");
        check_line("\u{1b}[31mred\u{1b}[0m\u{2028}next\u{7}", 100, "red next");
        check_line("left\u{202e}thgir\u{200b}", 100, "leftthgir");
    }

    #[test]
    fn a_cut_says_how_much_it_cut() {
        check_line(&"a".repeat(100), 40, &format!("{}… (80 more bytes)", "a".repeat(20)));
        check_line(&"a".repeat(1 << 20), 40, &format!("{}… (1048561 more bytes)", "a".repeat(15)));
        check_line("what a long text", 9, "what a…");
    }

    fn priority() -> impl Strategy<Value = Priority> {
        prop::sample::select(Priority::ALL)
    }

    proptest! {
        #[test]
        fn none_goes_while_a_less_important_one_is_left(all in prop::collection::vec(priority(), 0..60), most in 0usize..70) {
            let dropped = to_drop(&all, most);
            let kept: Vec<usize> = (0..all.len()).filter(|at| !dropped.contains(at)).collect();
            prop_assert_eq!(kept.len(), all.len().min(most));
            for &gone in &dropped {
                prop_assert!(kept.iter().all(|&at| all[at] < all[gone] || (all[at] == all[gone] && at > gone)));
            }
        }

        #[test]
        fn a_line_is_bounded_and_whole(text in "\\PC{0,80}|[\\x00-\\x20é\u{2028}\u{1b}\\[m;]{0,200}", most in 0usize..120) {
            let line = line(&text, most);
            prop_assert!(line.len() <= most);
            prop_assert!(!line.contains(char::is_control));
            let ends = ['\u{2028}', '\u{2029}'];
            prop_assert!(!line.contains(ends));
        }
    }
}
