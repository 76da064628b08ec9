//! Names and words as numbers. Names are compared often and never shown, so four bytes for each are enough.

/// Minimum length of a name. A shorter one says nothing about where it is defined.
const MIN_NAME_BYTES: usize = 3;
/// Below this length, a plain word is more likely a word than a name.
const MIN_PLAIN_NAME_BYTES: usize = 7;
/// Maximum length of a name. Longer runs of letters are data.
const MAX_NAME_BYTES: usize = 80;

/// Number of bits of a word in the facts that hold its weight.
pub(super) const WEIGHT_BITS: u32 = 4;

/// Returns the number of a word, which leaves room for its weight.
pub(super) fn word_number(word: &str) -> u32 {
    number(word) >> WEIGHT_BITS
}

/// Returns the number of a name, as used in facts.
pub fn name_number(name: &str) -> u32 {
    number(name)
}

pub(super) fn number(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns the numbers of all identifiers in a text, sorted and without duplicates.
pub(super) fn mentioned(text: &str) -> Vec<u32> {
    let mut found = Vec::with_capacity(text.len() / 12);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !starts_name(bytes[at]) {
            // Skip a number as a whole, including the letters in it.
            at += if bytes[at].is_ascii_digit() { run(&bytes[at..]) } else { 1 };
            continue;
        }
        let length = run(&bytes[at..]);
        if (MIN_NAME_BYTES..=MAX_NAME_BYTES).contains(&length) {
            found.push(number(&text[at..at + length]));
        }
        at += length;
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn run(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| starts_name(**byte) || byte.is_ascii_digit()).count()
}

/// Returns whether a mention of a name is likely to mean it: a plain word may mean anything in another file and its
/// comments.
pub(super) fn is_telling(name: &str, is_member: bool) -> bool {
    let bytes = name.as_bytes();
    let has_hump = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_compound = has_hump || bytes.iter().skip(1).any(|byte| *byte == b'_');
    let is_type = bytes.first().is_some_and(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase);
    name.len() >= MIN_NAME_BYTES && (is_compound || (!is_member && (is_type || name.len() >= MIN_PLAIN_NAME_BYTES)))
}

/// Calls `give` with each word of a text as people would search for it: the parts of names, in lower case, without
/// endings. Repeated words are given repeatedly.
pub fn words_of(text: &str, mut give: impl FnMut(&str)) {
    let mut word = String::new();
    let mut before = LetterClass::Other;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let class = LetterClass::of(letter);
        let next = letters.peek().map_or(LetterClass::Other, |next| LetterClass::of(*next));
        let breaks = match (before, class) {
            (_, LetterClass::Other)
            | (LetterClass::Lower, LetterClass::Upper)
            | (LetterClass::Digit, LetterClass::Lower | LetterClass::Upper) => true,
            // The last capital of HTTPServer begins the next word.
            (LetterClass::Upper, LetterClass::Upper) => next == LetterClass::Lower,
            _ => false,
        };
        if breaks {
            emit(&mut word, &mut give);
        }
        if class != LetterClass::Other {
            word.extend(letter.to_lowercase());
        }
        before = class;
    }
    emit(&mut word, &mut give);
}

fn emit(word: &mut String, give: &mut impl FnMut(&str)) {
    let letters = word.chars().count();
    if letters >= 2 && word.chars().any(char::is_alphabetic) {
        give(stem(word));
    }
    word.clear();
}

/// Removes endings that do not change the meaning of a word.
fn stem(word: &str) -> &str {
    let endings = ["ations", "ation", "ings", "ing", "ies", "ers", "er", "es", "ed", "s", "e", "y"];
    let cut = endings.iter().filter_map(|ending| word.strip_suffix(ending)).find(|rest| rest.len() >= 4);
    let cut = cut.or_else(|| word.strip_suffix('s').filter(|rest| rest.len() >= 3 && !rest.ends_with('s')));
    cut.unwrap_or(word)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterClass {
    Lower,
    Upper,
    Digit,
    Other,
}

impl LetterClass {
    fn of(letter: char) -> Self {
        match letter {
            _ if letter.is_uppercase() => Self::Upper,
            _ if letter.is_alphabetic() => Self::Lower,
            _ if letter.is_numeric() => Self::Digit,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_into_words_without_endings() {
        let cases = [
            ("parseHTTPHeader", "pars http head"),
            ("read_all_entries", "read all entr"),
            ("Searching the indexes", "search the index"),
            ("utf8 sha256sum v2", "utf8 sha256 sum v2"),
        ];
        for (text, expected) in cases {
            let mut words = Vec::new();
            words_of(text, |word| words.push(word.to_owned()));
            assert_eq!(words.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn identifiers_are_found_whole_and_numbers_are_none() {
        let found = mentioned("let big_name = 0x1f + other.big_name(ab);");
        let mut expected = [number("let"), number("big_name"), number("other")];
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
