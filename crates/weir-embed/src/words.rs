//! Splits a text into the words that a BERT vocabulary is made of.
//!
//! Control characters are dropped, an ideograph or a punctuation character is a word of its own, and the rest is split
//! at white space. If the vocabulary has no capitals, letters lose their accents and are converted to lower case.
//!
//! Invariant: the words and their order are those of the `tokenizers` library with a `BertNormalizer` and a
//! `BertPreTokenizer`, except that the names of special tokens are ordinary words, and that some six hundred characters
//! newer than that library's tables are known here.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::char::decompose_canonical;

/// How letters are normalised before they are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LetterNormalisation {
    /// Whether they are converted to lower case.
    pub(crate) lowercase: bool,
    /// Whether they lose their accents.
    pub(crate) strip_accents: bool,
}

/// Calls `take` with each word of the text, using `word` as the buffer.
pub(crate) fn each(text: &str, letters: LetterNormalisation, word: &mut String, mut take: impl FnMut(&str)) {
    word.clear();
    let mut words = WordSplitter { letters, word, take: &mut take };
    for character in text.chars() {
        words.read(character);
    }
    words.end();
}

struct WordSplitter<'a, F> {
    letters: LetterNormalisation,
    word: &'a mut String,
    take: &'a mut F,
}

impl<F: FnMut(&str)> WordSplitter<'_, F> {
    #[inline]
    fn read(&mut self, character: char) {
        if character.is_ascii_alphanumeric() {
            let small = if self.letters.lowercase { character.to_ascii_lowercase() } else { character };
            self.word.push(small);
        } else if character.is_ascii() {
            self.put(character);
        } else {
            self.read_other(character);
        }
    }

    /// Reads a character outside ASCII, which may decompose into several.
    fn read_other(&mut self, character: char) {
        if is_dropped(character) {
            return;
        }
        let ideograph = is_ideograph(character);
        if ideograph {
            self.end();
        }
        if self.letters.strip_accents {
            decompose_canonical(character, |part| {
                if get_general_category(part) != GeneralCategory::NonspacingMark {
                    self.put_cased(part);
                }
            });
        } else {
            self.put_cased(character);
        }
        if ideograph {
            self.end();
        }
    }

    fn put_cased(&mut self, character: char) {
        if self.letters.lowercase {
            character.to_lowercase().for_each(|small| self.put(small));
        } else {
            self.put(character);
        }
    }

    fn put(&mut self, character: char) {
        if matches!(character, '\t' | '\n' | '\r') || character.is_whitespace() && !character.is_control() {
            self.end();
        } else if is_punctuation(character) {
            self.end();
            self.word.push(character);
            self.end();
        } else if !character.is_control() {
            self.word.push(character);
        }
    }

    fn end(&mut self) {
        if !self.word.is_empty() {
            (self.take)(self.word);
            self.word.clear();
        }
    }
}

fn is_dropped(character: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    character == char::REPLACEMENT_CHARACTER || matches!(get_general_category(character), Control | Format | PrivateUse)
}

fn is_punctuation(character: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation, InitialPunctuation, OpenPunctuation,
        OtherPunctuation,
    };
    if character.is_ascii() {
        return character.is_ascii_punctuation();
    }
    matches!(
        get_general_category(character),
        ClosePunctuation
            | ConnectorPunctuation
            | DashPunctuation
            | FinalPunctuation
            | InitialPunctuation
            | OpenPunctuation
            | OtherPunctuation
    )
}

/// Returns whether a character is in one of the blocks that BERT splits character by character.
fn is_ideograph(character: char) -> bool {
    matches!(
        u32::from(character),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    )
}
