//! Names the characters of a text that nobody sees, so that it can neither hide a part of itself nor show it in another
//! order. Invariant: naming is idempotent and never changes the number of lines.

use std::borrow::Cow;

/// Returns whether a character is invisible or changes how others are shown: direction marks, joiners, selectors,
/// fillers, tags. Control characters and white space do not count.
pub fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character is never shown as it is: a control character, a line end of another script, or one that
/// nobody sees and that is not needed for words or symbols either, as joiners and selectors are.
pub fn is_obeyed(c: char) -> bool {
    let is_needed = matches!(c, '\u{200c}' | '\u{200d}') || is_selector(c);
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || (is_unseen(c) && !is_needed)
}

/// Returns a text in which every character that is not seen, and every one that a terminal would obey, is replaced by
/// its name, such as `<U+202E>`.
///
/// Line ends and tabs stay, and so do joiners and selectors after a character that they can belong to, since some
/// scripts and many symbols need them, and a byte order mark at the beginning.
pub fn named(text: &str) -> Cow<'_, str> {
    named_except(text, &['\n', '\t'])
}

/// The same for a text that must be a single line: line ends and tabs are named, too.
pub fn named_in_line(text: &str) -> Cow<'_, str> {
    named_except(text, &[])
}

pub fn push_name(to: &mut String, c: char) {
    to.push_str(&format!("<U+{:04X}>", u32::from(c)));
}

fn named_except<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let is_plain = |byte: u8| matches!(byte, 0x20..=0x7e) || (byte.is_ascii() && kept.contains(&char::from(byte)));
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let (mut copied, mut before) = (0, None);
    for (at, c) in text.char_indices() {
        let is_line_end = c == '\r' && kept.contains(&'\n') && text[at + 1..].starts_with('\n');
        let is_plain = kept.contains(&c) || is_line_end || is_in_place(before, c);
        before = Some(c);
        if is_plain || !(is_obeyed(c) || is_unseen(c)) {
            continue;
        }
        shown.push_str(&text[copied..at]);
        push_name(&mut shown, c);
        before = Some('>');
        copied = at + c.len_utf8();
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(shown + &text[copied..]),
    }
}

/// Whether a joiner, a selector or a byte order mark is where it has a meaning.
fn is_in_place(before: Option<char>, c: char) -> bool {
    match (before, c) {
        (None, '\u{feff}') => true,
        (Some(before), '\u{200c}' | '\u{200d}') => !before.is_ascii() && (!is_unseen(before) || is_selector(before)),
        (Some(before), c) if is_selector(c) => {
            (!before.is_ascii() && !is_unseen(before)) || matches!(before, '0'..='9' | '#' | '*')
        }
        _ => false,
    }
}

/// Whether a character chooses between the plain and the coloured form of the symbol before it.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(named(text), expected);
    }

    #[test]
    fn what_is_not_seen_is_named() {
        check("gnp.\u{202e}exe", "gnp.<U+202E>exe");
        check("a\u{200b}b\u{2066}c\u{e0041}", "a<U+200B>b<U+2066>c<U+E0041>");
        check("\u{1b}]0;title\u{7}\r", "<U+001B>]0;title<U+0007><U+000D>");
        check("one\u{2028}two\u{85}", "one<U+2028>two<U+0085>");
        assert_eq!(named_in_line("a\nhint: b\t"), "a<U+000A>hint: b<U+0009>");
    }

    #[test]
    fn what_scripts_and_symbols_need_stays() {
        for text in ["a\n\tb\r\n", "⚠️ 1️⃣ 👩‍💻 🏳️‍🌈", "می‌خواهم", "क्‍ष", "\u{feff}name,age", "plain äöü 日本"]
        {
            assert!(matches!(named(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
        check("a\u{200d}b⚠\u{fe0f}\u{fe0f}", "a<U+200D>b⚠\u{fe0f}<U+FE0F>");
    }

    proptest! {
        #[test]
        fn naming_is_idempotent_and_keeps_lines(text in "[a-z\n\r\t\u{1b}\u{202e}\u{200b}-\u{200f}\u{feff}\u{fe0f}⚠é]{0,60}") {
            let once = named(&text).into_owned();
            prop_assert_eq!(named(&once), once.as_str());
            prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
        }
    }
}
