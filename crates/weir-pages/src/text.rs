//! Texts that others wrote: the user, a model, a tool, a page.
//!
//! Invariant: a foreign text reaches a page through [`Text`] only. It is escaped, terminal sequences are removed, and
//! characters that are invisible or reorder others are named, so that what a person reads is what is there.

use std::fmt::Write;

use maud::{Escaper, Render, html};

/// A text that somebody else wrote, or an identifier that they chose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// Returns the text for a place that has no elements: an attribute, a title. The caller escapes it, as maud does.
    pub fn plain(&self) -> String {
        let mut written = String::with_capacity(self.0.len());
        each_character(&self.0, |character| match character {
            Character::Seen(c) => written.push(c),
            Character::Unseen(c) => {
                let _ = write!(written, "<U+{:04X}>", u32::from(c));
            }
        });
        written
    }

    pub fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// Returns the bytes of the text as they are, to be encoded in an address or sent back in a form.
    pub(crate) fn raw(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl Render for Text {
    fn render_to(&self, page: &mut String) {
        each_character(&self.0, |character| match character {
            Character::Seen(c) => {
                let _ = Escaper::new(page).write_char(c);
            }
            Character::Unseen(c) => {
                let _ = write!(page, "<span class=\"unseen\">U+{:04X}</span>", u32::from(c));
            }
        });
    }
}

/// A sentence of Weir's own, in which some words are code. A foreign text within it is what it is in a [`Text`].
#[derive(Debug, Clone)]
pub struct Prose(Vec<(Text, bool)>);

impl Prose {
    /// Reads a sentence in which what is between backticks is code. A single backtick is a character like any other.
    pub fn of(text: &str) -> Self {
        let parts: Vec<&str> = text.split('`').collect();
        match parts.len() % 2 {
            1 => Self((0..).zip(parts).map(|(at, part)| (part.into(), at % 2 == 1)).collect()),
            _ => Text::from(text).into(),
        }
    }
}

impl From<Text> for Prose {
    fn from(text: Text) -> Self {
        Self(vec![(text, false)])
    }
}

impl Render for Prose {
    fn render_to(&self, page: &mut String) {
        for (text, is_code) in &self.0 {
            let part = html! { @if *is_code { code { (text) } } @else { (text) } };
            page.push_str(&part.0);
        }
    }
}

enum Character {
    Seen(char),
    Unseen(char),
}

/// Calls `show` with each character that is left when terminal sequences are removed.
fn each_character(text: &str, mut show: impl FnMut(Character)) {
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = sequence(rest) {
            rest = &rest[length..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let ends_line = c == '\r' && rest.starts_with('\n');
        if !ends_line {
            show(if is_unseen(c, before) { Character::Unseen(c) } else { Character::Seen(c) });
        }
        before = c;
    }
}

/// Maximum length of a title or a link in a terminal sequence, in bytes.
const MAX_STRING_BYTES: usize = 4 << 10;

/// Returns the length of the terminal sequence that a text begins with.
///
/// A string that does not end on its line does not count as one, so that no text can hide behind an unfinished title.
fn sequence(text: &str) -> Option<usize> {
    let after = text.strip_prefix('\u{1b}').or_else(|| text.strip_prefix('\u{9b}'))?;
    let opener = text.len() - after.len();
    let is_short = text.starts_with('\u{9b}');
    match after.chars().next() {
        _ if is_short => parameters(after).map(|length| opener + length),
        Some('[') => parameters(&after[1..]).map(|length| opener + 1 + length),
        Some(']' | 'P' | 'X' | '^' | '_') => string(&after[1..]).map(|length| opener + 1 + length),
        Some('(' | ')' | '*' | '+' | '#' | '%') => {
            after[1..].chars().next().filter(char::is_ascii_graphic).map(|_| opener + 2)
        }
        Some('\u{30}'..='\u{7e}') => Some(opener + 1),
        _ => None,
    }
}

/// Returns the length of the parameters of a control sequence, with its final character.
fn parameters(text: &str) -> Option<usize> {
    let length = text.bytes().take(64).take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
    matches!(text.as_bytes().get(length), Some(0x40..=0x7e)).then_some(length + 1)
}

/// Returns the length of a string with its terminator, if it ends on this line.
fn string(text: &str) -> Option<usize> {
    let head = &text[..text.floor_char_boundary(MAX_STRING_BYTES)];
    let line = head.split('\n').next().unwrap_or_default();
    let bell = line.find('\u{7}').map(|at| at + 1);
    let terminator = line.find("\u{1b}\\").map(|at| at + 2);
    [bell, terminator].into_iter().flatten().min()
}

/// Returns whether a character is invisible, or changes the order in which others are shown.
fn is_unseen(c: char, before: char) -> bool {
    // One of these chooses between the coloured and the plain form of the symbol before it.
    if matches!(c, '\u{fe0e}' | '\u{fe0f}') {
        return before.is_ascii() || ('\u{fe00}'..='\u{fe0f}').contains(&before);
    }
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, html: &str, plain: &str) {
        let text = Text::from(text);
        assert_eq!(text.render().into_string(), html);
        assert_eq!(text.plain(), plain);
    }

    #[test]
    fn what_is_between_backticks_is_code() {
        let check = |text: &str, expected: &str| assert_eq!(Prose::of(text).render().into_string(), expected);
        check("run `weir <b>` now", "run <code>weir &lt;b&gt;</code> now");
        check("a single ` is what it is", "a single ` is what it is");
    }

    #[test]
    fn markup_is_text() {
        check("<b onclick=\"x\">&amp;", "&lt;b onclick=&quot;x&quot;&gt;&amp;amp;", "<b onclick=\"x\">&amp;");
    }

    #[test]
    fn what_cannot_be_seen_is_named() {
        check(
            "a\u{202e}b\u{200b}\0",
            "a<span class=\"unseen\">U+202E</span>b<span class=\"unseen\">U+200B</span><span class=\"unseen\">U+0000</span>",
            "a<U+202E>b<U+200B><U+0000>",
        );
    }

    #[test]
    fn colours_and_titles_of_terminals_are_removed() {
        check(
            "\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}\u{1b}]8;;http://x\u{1b}\\link\u{1b}(B\u{1b}7",
            "red link",
            "red link",
        );
        check("\u{9b}31mred", "red", "red");
    }

    #[test]
    fn an_unfinished_title_hides_nothing() {
        check("\u{1b}]0;rest\nnext", "<span class=\"unseen\">U+001B</span>]0;rest\nnext", "<U+001B>]0;rest\nnext");
    }

    #[test]
    fn a_line_end_of_two_characters_is_one_and_a_lone_return_is_named() {
        check("a\r\nb\rc", "a\nb<span class=\"unseen\">U+000D</span>c", "a\nb<U+000D>c");
    }

    #[test]
    fn a_coloured_symbol_stays_one_and_a_row_of_selectors_does_not() {
        check("⚠\u{fe0f}", "⚠\u{fe0f}", "⚠\u{fe0f}");
        check("x\u{fe0f}", "x<span class=\"unseen\">U+FE0F</span>", "x<U+FE0F>");
    }

    proptest! {
        #[test]
        fn no_text_leaves_markup_or_anything_unseen(text in "(?s)(.|[<>&\"'\u{1b}\u{9b}\\[\\]\u{7}\u{202e}\u{200b}\u{fe0f}mP0-9;]){0,80}") {
            let text = Text::from(text);
            let html = text.render().into_string().replace("<span class=\"unseen\">", "").replace("</span>", "");
            prop_assert!(!html.contains(['<', '>', '"']));
            for written in [html, text.plain()] {
                prop_assert!(written.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')));
                let has_hidden = written.contains(['\u{202e}', '\u{200b}', '\u{2066}', '\u{feff}']);
                prop_assert!(!has_hidden);
            }
        }
    }
}
