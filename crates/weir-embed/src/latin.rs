//! Detects whether a text is written in the script that the model was trained on.
//!
//! Invariant: a text without letters passes, since numbers and symbols are the same in all scripts.

/// Returns whether at least half of the letters are Latin.
pub(crate) fn mostly(text: &str) -> bool {
    if text.is_ascii() {
        return true;
    }
    let (mut latin, mut other) = (0_usize, 0_usize);
    for character in text.chars() {
        if is_latin(character) {
            latin += 1;
        } else if !character.is_ascii() && character.is_alphabetic() {
            other += 1;
        }
    }
    latin >= other
}

fn is_latin(character: char) -> bool {
    character.is_ascii_alphabetic()
        || matches!(
            u32::from(character),
            0xAA | 0xBA | 0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0x2B8 | 0x1D00..=0x1D25 | 0x1D2C..=0x1D5C
            | 0x1E00..=0x1EFF | 0x2C60..=0x2C7F | 0xA722..=0xA7FF | 0xAB30..=0xAB64 | 0xFB00..=0xFB06
            | 0xFF21..=0xFF3A | 0xFF41..=0xFF5A
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_decide_and_nothing_else() {
        for text in ["", "123 + 4 → 5", "ascii", "Ωmega", "naïve Việt Łódź", "ﬁ ＡＢＣ", "中文 and English words"]
        {
            assert!(mostly(text), "{text}");
        }
        for text in ["中文", "русский текст with", "한국어", "हिन्दी", "ελληνικά 123456789"]
        {
            assert!(!mostly(text), "{text}");
        }
    }
}
