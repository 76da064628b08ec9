//! Classifies characters as o200k's split pattern requires.
//!
//! Invariant: a class answers exactly as `\p{…}` and `\s` of the `regex` crate do, for every `char`.

use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// The class of one character: a small set of the traits below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CharClass(u8);

/// In `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: may be in the upper part of a word.
const UPPER: u8 = 1;
/// In `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: may be in the lower part of a word.
const LOWER: u8 = 2;
/// In `\p{M}`: may be in a word, but is not a letter.
const MARK: u8 = 4;
/// In `\p{N}`.
const NUMBER: u8 = 8;
/// In `\s`.
const SPACE: u8 = 16;
/// In `[\r\n]`.
const NEWLINE: u8 = 32;

impl CharClass {
    /// Returns the class of the character at byte `at` of `text`, and its length, or `None` at the end.
    #[inline]
    pub(crate) fn at(text: &str, at: usize) -> Option<(Self, usize)> {
        let byte = *text.as_bytes().get(at)?;
        match ASCII.get(usize::from(byte)) {
            Some(&class) => Some((class, 1)),
            None => {
                let character = text[at..].chars().next()?;
                Some((Self::beyond_ascii(character), character.len_utf8()))
            }
        }
    }

    /// Returns whether it may be in the upper part of a word.
    pub(crate) fn is_upper(self) -> bool {
        self.0 & UPPER != 0
    }

    /// Returns whether it may be in the lower part of a word.
    pub(crate) fn is_lower(self) -> bool {
        self.0 & LOWER != 0
    }

    /// Returns whether it matches `\p{L}`.
    pub(crate) fn is_letter(self) -> bool {
        self.0 & (UPPER | LOWER) != 0 && !self.is_mark()
    }

    /// Returns whether it matches `\p{M}`.
    pub(crate) fn is_mark(self) -> bool {
        self.0 & MARK != 0
    }

    /// Returns whether it matches `\p{N}`.
    pub(crate) fn is_number(self) -> bool {
        self.0 & NUMBER != 0
    }

    /// Returns whether it matches `\s`.
    pub(crate) fn is_space(self) -> bool {
        self.0 & SPACE != 0
    }

    /// Returns whether it matches `[\r\n]`.
    pub(crate) fn is_newline(self) -> bool {
        self.0 & NEWLINE != 0
    }

    /// Returns whether it matches `[^\s\p{L}\p{N}]`, as marks do too.
    pub(crate) fn is_symbol(self) -> bool {
        self.0 & !(UPPER | LOWER | MARK) == 0 && !self.is_letter()
    }

    /// Returns whether it matches `[^\r\n\p{L}\p{N}]`, so that it may precede the first letter of a word, as part of
    /// it.
    pub(crate) fn may_lead(self) -> bool {
        self.0 & (NUMBER | NEWLINE) == 0 && !self.is_letter()
    }

    fn beyond_ascii(character: char) -> Self {
        Self(match get_general_category(character) {
            Category::UppercaseLetter | Category::TitlecaseLetter => UPPER,
            Category::LowercaseLetter => LOWER,
            Category::ModifierLetter | Category::OtherLetter => UPPER | LOWER,
            Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark => UPPER | LOWER | MARK,
            Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber => NUMBER,
            Category::SpaceSeparator | Category::LineSeparator | Category::ParagraphSeparator => SPACE,
            // "Next line" is the only space beyond ASCII whose category is not a separator.
            Category::Control if character == '\u{85}' => SPACE,
            _ => 0,
        })
    }
}

/// The classes of ASCII, where most text is.
static ASCII: [CharClass; 128] = ascii();

const fn ascii() -> [CharClass; 128] {
    let mut classes = [CharClass(0); 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = CharClass(match byte {
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b'0'..=b'9' => NUMBER,
            b'\r' | b'\n' => SPACE | NEWLINE,
            b'\t' | b'\x0B' | b'\x0C' | b' ' => SPACE,
            _ => 0,
        });
        byte += 1;
    }
    classes
}
