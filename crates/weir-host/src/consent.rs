//! Prepares a text that a person must agree to: all of it is shown and nothing is hidden, or the question is
//! not asked.
//!
//! Invariant: no character of the text is left out, and none can hide or move another.

use std::pin::Pin;
use std::sync::Arc;

use weir_core::unseen::{is_unseen, push_name};

use crate::error::{CommandError, ErrorKind};

/// The most that a question may show. Clients show it in a dialog, where few people scroll.
const MAX_CHARS: usize = 4_000;
const MAX_LINES: usize = 60;
/// The longest line. Anything beyond it may be outside the visible area.
const MAX_LINE_CHARS: usize = 400;
/// A gap this wide inside a line is replaced by its width.
const MIN_GAP_CHARS: usize = 12;

/// Asks the user for consent: takes a question and what the question is about, and resolves to whether the user agreed.
/// Without one, the answer is no.
pub type ConsentPrompt = Option<Arc<dyn Fn(String, String) -> ConsentFuture + Send + Sync>>;

/// The user's pending answer.
pub type ConsentFuture = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Returns a text in a form that a person can judge. Refuses a text that cannot be shown completely.
pub fn shown(text: &str) -> Result<String, CommandError> {
    let text = text.trim_end_matches('\n');
    let lines: Vec<String> = text.split('\n').map(line).collect();
    let characters = lines.iter().map(|line| line.chars().count() + 1).sum::<usize>();
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let too = |what: &str, has: usize, most: usize| {
        let message = format!("cannot ask the user: {what} is {has}, but at most {most} can be shown in full");
        Err(CommandError::new(ErrorKind::Denied, message)
            .hint("shorten it, or write it to a project file first, where the user can read it"))
    };
    if lines.len() > MAX_LINES {
        return too("the number of lines", lines.len(), MAX_LINES);
    }
    if longest > MAX_LINE_CHARS {
        return too("the number of characters in a line", longest, MAX_LINE_CHARS);
    }
    if characters > MAX_CHARS {
        return too("the number of characters", characters, MAX_CHARS);
    }
    Ok(lines.join("\n"))
}

/// Makes invisible characters visible in a text of our own that quotes others.
pub fn visible(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Makes the invisible characters of one line visible.
fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut gap = 0;
    for c in text.chars() {
        if c == ' ' {
            gap += 1;
            continue;
        }
        push_gap(&mut shown, gap);
        gap = 0;
        match c {
            '\t' => shown.push_str("    "),
            c if is_hidden(c) => push_name(&mut shown, c),
            c => shown.push(c),
        }
    }
    push_gap(&mut shown, gap);
    shown
}

/// Appends spaces, or their number if they could push the rest of the line out of sight. Indentation is kept.
fn push_gap(shown: &mut String, spaces: usize) {
    if spaces >= MIN_GAP_CHARS && !shown.trim().is_empty() {
        shown.push_str(&format!(" <{spaces} spaces> "));
    } else {
        shown.extend(std::iter::repeat_n(' ', spaces));
    }
}

/// Whether a character is named wherever it is: one that nobody sees, or any space other than the ordinary one.
fn is_hidden(c: char) -> bool {
    c.is_control() || is_unseen(c) || (c.is_whitespace() && c != ' ')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_stay_and_what_cannot_be_seen_is_named() {
        assert_eq!(shown("a\n  b\n\n").unwrap(), "a\n  b");
        assert_eq!(shown("x\u{202e}y\r\n\u{1b}[2Kz\u{200b}").unwrap(), "x<U+202E>y<U+000D>\n<U+001B>[2Kz<U+200B>");
        let hidden = format!("git status;{}rm x", " ".repeat(100));
        assert_eq!(shown(&hidden).unwrap(), "git status; <100 spaces> rm x");
    }

    #[test]
    fn what_cannot_be_shown_whole_is_refused() {
        for text in ["\n".repeat(80) + "x", "x".repeat(401), "x x\n".repeat(1_001), "abcdefg hi\n".repeat(59).repeat(7)]
        {
            let error = shown(&text).unwrap_err();
            assert!(error.message.contains("can be shown in full"), "{}", error.message);
        }
    }

    proptest! {
        #[test]
        fn every_visible_character_is_shown(text in "\\PC{0,300}") {
            let shown = shown(&text).unwrap();
            let seen = text.chars().filter(|c| !is_hidden(*c) && !c.is_whitespace());
            let mut left = shown.chars();
            for c in seen {
                prop_assert!(left.any(|shown| shown == c), "{c:?} of {text:?} is not in {shown:?}");
            }
        }
    }
}
