//! Splits text into the pieces within which o200k merges bytes into tokens.
//!
//! This implements by hand the leftmost match of o200k's pattern, whose alternatives are tried in this order:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! Invariants: the pieces follow each other without a gap; splitting a whole text takes linear time.

use crate::class::CharClass;

/// Returns the length in bytes of the first piece of `text`: 0 only if `text` is empty.
#[inline]
pub(crate) fn first(text: &str) -> usize {
    let Some((class, length)) = CharClass::at(text, 0) else {
        return 0;
    };
    if class.is_number() {
        return number(text);
    }
    if let Some(end) = word(text, class, length) {
        return end;
    }
    symbols(text).unwrap_or_else(|| space(text))
}

/// Matches the first two alternatives as one: both have the same start, and the outcome of backtracking is known at
/// once.
///
/// `class` and `length` are those of the first character.
fn word(text: &str, class: CharClass, length: usize) -> Option<usize> {
    let start = if class.is_letter() {
        0
    } else if class.may_lead() {
        length
    } else {
        return None;
    };
    let mut upper_end = start;
    let mut last_lower = None;
    while let Some((class, length)) = CharClass::at(text, upper_end)
        && class.is_upper()
    {
        upper_end += length;
        if class.is_lower() {
            last_lower = Some(upper_end);
        }
    }
    let lower_end = run(text, upper_end, CharClass::is_lower);
    let end = if lower_end > upper_end {
        lower_end
    } else if let Some(end) = last_lower {
        // The lower part needs a character, so the upper part gives back everything after its last one that can be
        // both.
        end
    } else if class.is_mark() {
        // The first alternative takes the mark as the whole word before the second one is tried.
        length
    } else if upper_end > start {
        upper_end
    } else {
        return None;
    };
    Some(end + contraction(&text.as_bytes()[end..]))
}

/// Matches `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`, where the long s, ſ, is an s in another case.
fn contraction(rest: &[u8]) -> usize {
    let [b'\'', rest @ ..] = rest else {
        return 0;
    };
    match rest {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
        [0xC5, 0xBF, ..] | [b'l' | b'L', b'l' | b'L', ..] | [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] => 3,
        _ => 0,
    }
}

/// Matches `\p{N}{1,3}`.
fn number(text: &str) -> usize {
    let mut end = 0;
    for _ in 0..3 {
        match CharClass::at(text, end) {
            Some((class, length)) if class.is_number() => end += length,
            _ => break,
        }
    }
    end
}

/// Matches ` ?[^\s\p{L}\p{N}]+[\r\n/]*`.
fn symbols(text: &str) -> Option<usize> {
    let start = usize::from(text.starts_with(' '));
    let end = run(text, start, CharClass::is_symbol);
    let tail = || text.as_bytes()[end..].iter();
    (end > start).then(|| end + tail().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count())
}

/// Matches `\s*[\r\n]+`, else `\s+(?!\S)`, else `\s+`.
fn space(text: &str) -> usize {
    let mut end = 0;
    let mut last = 0;
    let mut last_newline = None;
    while let Some((class, length)) = CharClass::at(text, end)
        && class.is_space()
    {
        last = end;
        end += length;
        if class.is_newline() {
            last_newline = Some(end);
        }
    }
    match last_newline {
        Some(end) => end,
        // The last space is left to the text that follows it, unless it is the only one.
        None if end < text.len() && last > 0 => last,
        None => end,
    }
}

/// Returns the end of the run of characters, beginning at `start`, that are `wanted`.
#[inline]
fn run(text: &str, start: usize, wanted: impl Fn(CharClass) -> bool) -> usize {
    let mut end = start;
    while let Some((class, length)) = CharClass::at(text, end)
        && wanted(class)
    {
        end += length;
    }
    end
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// The pieces of `text`, each followed by a bar.
    fn check(text: &str, expected: Expect) {
        let mut shown = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at(first(rest));
            shown.extend([piece.escape_debug().to_string().as_str(), "|"]);
            rest = tail;
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn words_take_what_stands_before_them() {
        check("Hello, World (again)", expect!["Hello|,| World| (|again|)|"]);
        check("\tif x == y", expect![[r#"\tif| x| ==| y|"#]]);
    }

    #[test]
    fn words_end_where_capitals_begin() {
        check("camelCase HTTPServer ABC", expect!["camel|Case| HTTPServer| ABC|"]);
        check("ǅungla ÀÉ", expect!["ǅungla| ÀÉ|"]);
    }

    #[test]
    fn letters_without_case_end_an_upper_part() {
        check("AB中CD 中ABc", expect!["AB中|CD| 中ABc|"]);
    }

    #[test]
    fn marks_are_words_and_lead_words() {
        check("\u{301}ABC", expect![[r#"\u{301}|ABC|"#]]);
        check("\u{301}abc", expect![[r#"\u{301}abc|"#]]);
        check("!\u{301}!\u{301}", expect!["!́|!́|"]);
    }

    #[test]
    fn contractions_belong_to_their_word_in_any_case() {
        check(
            "it's WE'LL they're I'Ve x'ſ y'lx 'tis",
            expect![[r#"it\'s| WE\'LL| they\'re| I\'Ve| x\'ſ| y|\'lx| \'|tis|"#]],
        );
    }

    #[test]
    fn numbers_come_in_threes() {
        check("1234567 ½²³4", expect!["123|456|7| |½²³|4|"]);
    }

    #[test]
    fn symbols_take_one_space_and_line_ends() {
        check(" //!\n\n/ x", expect![[r#" //!\n\n/| x|"#]]);
    }

    #[test]
    fn the_last_space_goes_to_what_follows() {
        check("a   b   5  \n  c  ", expect![[r#"a|  | b|  | |5|  \n| | c|  |"#]]);
        check(" \u{a0}\u{3000}x\r\n\r\n", expect![[r#" \u{a0}|\u{3000}x|\r\n\r\n|"#]]);
    }
}
