//! Words as the index sees them: stop words, and words hidden inside other words.

use std::borrow::Cow;

/// Words so common that they only cost time. Words that can be a command or a name are not included.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in",
    "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "she", "should", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "us", "was", "we", "were", "what",
    "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// Returns whether a lower-case word carries no meaning of its own.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Returns whether a character belongs to a script written without spaces: Chinese, Japanese, Thai, Lao, Burmese or
/// Khmer. Korean counts too, because its words take endings.
pub fn is_spaceless(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns whether a character is a vowel sign or a tone mark of Thai, Lao, Burmese or Khmer. The index takes these for
/// the end of a word, so they are left out of [`pairs`].
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{eb1}' | '\u{eb4}'..='\u{ebc}'
        | '\u{ec8}'..='\u{ece}' | '\u{102b}'..='\u{103e}' | '\u{1056}'..='\u{1059}' | '\u{105e}'..='\u{1060}'
        | '\u{1062}'..='\u{1064}' | '\u{1067}'..='\u{106d}' | '\u{1071}'..='\u{1074}' | '\u{1082}'..='\u{108d}'
        | '\u{108f}' | '\u{109a}'..='\u{109d}' | '\u{17b4}'..='\u{17d3}' | '\u{17dd}')
}

/// Returns whether a character is part of a word: a letter, a digit, or an accent that follows its letter, as in
/// decomposed text.
pub fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns whether a character does not end a word: one of [`is_in_word`], or a vowel sign or tone mark.
pub fn continues_word(c: char) -> bool {
    is_in_word(c) || is_mark(c)
}

/// Composes the syllables of Korean in decomposed text, as composed text has them.
pub fn with_composed_korean(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(|c: char| matches!(c, '\u{1100}'..='\u{11ff}')) {
        return Cow::Borrowed(text);
    }
    let mut composed = String::with_capacity(text.len());
    for c in text.chars() {
        match composed.chars().next_back().and_then(|last| composed_syllable(last, c)) {
            Some(syllable) => {
                composed.pop();
                composed.push(syllable);
            }
            None => composed.push(c),
        }
    }
    Cow::Owned(composed)
}

/// Returns the syllable of a consonant and a vowel, or of a syllable without a final consonant and such a consonant, as
/// the Unicode Standard computes it (section 3.12).
fn composed_syllable(last: char, next: char) -> Option<char> {
    let (last, next) = (u32::from(last), u32::from(next));
    let syllable = match (last, next) {
        (0x1100..=0x1112, 0x1161..=0x1175) => 0xac00 + ((last - 0x1100) * 21 + (next - 0x1161)) * 28,
        (0xac00..=0xd7a3, 0x11a8..=0x11c2) if (last - 0xac00).is_multiple_of(28) => last + (next - 0x11a7),
        _ => return None,
    };
    char::from_u32(syllable)
}

/// Splits a word where a script written without spaces meets another one: `用Rust编写` has `用`, `Rust` and `编写`.
pub fn script_runs(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let first = is_spaceless(rest.chars().next()?);
        let end = rest.find(|c: char| is_spaceless(c) != first).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

/// Returns the words hidden inside the words of `text`, for the index: the parts of camelCase names, the pairs of
/// characters of scripts written without spaces, and words of other scripts among those. Snake case needs nothing,
/// since the tokeniser splits it anyway.
pub fn hidden_words(text: &str) -> String {
    let mut found = String::new();
    each_word(&with_composed_korean(text), |word| {
        if !word.is_ascii() && word.chars().any(is_spaceless) {
            push_words(&mut found, &pairs(word));
            for run in script_runs(word).filter(|run| !run.starts_with(is_spaceless)) {
                push_words(&mut found, &[run.to_lowercase()]);
                push_parts(&mut found, run);
            }
        } else {
            push_parts(&mut found, word);
        }
    });
    found
}

fn push_parts(into: &mut String, word: &str) {
    if has_capital_inside(word) {
        let parts = camel_parts(word);
        if parts.len() > 1 {
            push_words(into, &parts);
        }
    }
}

/// Calls `give` with each run of letters, digits and their marks in a text. Everything that is indexed passes through
/// here. Most bytes of most texts are ASCII, and a table classifies those.
pub fn each_word(text: &str, mut give: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        let (is_word, length) = match byte {
            0..0x80 => (IN_WORD[byte as usize], 1),
            _ => {
                let c = text[at..].chars().next().unwrap_or(' ');
                (continues_word(c), c.len_utf8())
            }
        };
        if !is_word {
            if start < at {
                give(&text[start..at]);
            }
            start = at + length;
        }
        at += length;
    }
    if start < bytes.len() {
        give(&text[start..]);
    }
}

/// The ASCII letters and digits.
const IN_WORD: [bool; 128] = {
    let mut table = [false; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// Returns whether a name may have parts: whether it has a capital letter after its first letter.
fn has_capital_inside(word: &str) -> bool {
    word.as_bytes().iter().skip(1).any(u8::is_ascii_uppercase)
}

/// Calls `give` with the words of a text as the vocabulary stores them, including repeats: the [`spellings`] of all its
/// words.
pub fn each_spelling(text: &str, mut give: impl FnMut(&str)) {
    each_word(text, |word| spellings(word, &mut give));
}

/// Calls `give` with a word as the vocabulary stores it: in lower case, and for a name also its parts. Skips words that
/// are never misspelt or looked for by a part: one or two letters, numbers, hashes, and scripts without spaces, whose
/// pairs are indexed anyway.
pub fn spellings(word: &str, mut give: impl FnMut(&str)) {
    if !is_telling(word) {
        return;
    }
    let lower = word.to_lowercase();
    give(&lower);
    if has_capital_inside(word) {
        for part in camel_parts(word) {
            if part.len() < lower.len() && is_telling(&part) {
                give(&part);
            }
        }
    }
}

/// Returns whether a word is one that people write, and not a number or a hash.
fn is_telling(word: &str) -> bool {
    if !(3..=48).contains(&word.len()) {
        return false;
    }
    if !word.is_ascii() {
        return word.chars().nth(2).is_some() && !word.chars().any(is_spaceless);
    }
    // `utf8`, `sha256` and `v1beta` are words; `3f2a9c` and `request10422` are not.
    let bytes = word.as_bytes();
    if bytes[0].is_ascii_digit() {
        return false;
    }
    let (mut changes, mut digits) = (0, 0);
    for pair in bytes.windows(2) {
        let is_digit = pair[1].is_ascii_digit();
        changes += u32::from(pair[0].is_ascii_digit() != is_digit);
        digits = if is_digit { digits + 1 } else { 0 };
        if digits > 3 || changes > 2 {
            return false;
        }
    }
    true
}

/// Returns the parts of a camelCase or PascalCase name in lower case: `parseHTTPRequest` has `parse`, `http`,
/// `request`. A name without such parts is its own only part.
pub fn camel_parts(word: &str) -> Vec<String> {
    // Only ASCII letters are considered: the case of other scripts says little about names in code.
    let bytes = word.as_bytes();
    let mut cuts = vec![0];
    for i in 1..bytes.len() {
        let (before, here, next) = (bytes[i - 1], bytes[i], bytes.get(i + 1).copied().unwrap_or(b' '));
        let rises = here.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit());
        let acronym_ends = before.is_ascii_uppercase() && here.is_ascii_uppercase() && next.is_ascii_lowercase();
        if rises || acronym_ends {
            cuts.push(i);
        }
    }
    cuts.push(bytes.len());
    cuts.windows(2).map(|cut| word[cut[0]..cut[1]].to_ascii_lowercase()).collect()
}

/// Returns the overlapping pairs of characters of a word, and its last character alone so that it can be found too.
pub fn pairs(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().filter(|c| !is_mark(*c)).collect();
    let mut pairs: Vec<String> = chars.windows(2).map(|pair| pair.iter().collect()).collect();
    pairs.extend(chars.last().map(ToString::to_string));
    pairs
}

fn push_words(into: &mut String, words: &[String]) {
    for word in words {
        into.push_str(word);
        into.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_in_order_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("test"));
    }

    #[test]
    fn names_are_split_where_people_read_them_apart() {
        assert_eq!(camel_parts("parseHTTPRequest"), ["parse", "http", "request"]);
        assert_eq!(camel_parts("utf8Decoder"), ["utf8", "decoder"]);
        assert_eq!(camel_parts("plain"), ["plain"]);
        assert_eq!(camel_parts("Größe"), ["größe"]);
    }

    #[test]
    fn hidden_words_are_only_those_the_tokeniser_would_miss() {
        assert_eq!(hidden_words("call parseUrl and snake_case"), "parse url ");
        assert_eq!(hidden_words("検索機能 ok"), "検索 索機 機能 能 ");
        assert_eq!(hidden_words("检索API"), "检索 索A AP PI I api ");
        assert_eq!(hidden_words("调parseUrl"), "调p pa ar rs se eU Ur rl l parseurl parse url ");
        // Without the tone mark on the first letter of the second word.
        assert_eq!(hidden_words("ระบบค\u{e49}นหา"), "ระ ะบ บบ บค คน นห หา า ");
    }

    #[test]
    fn an_accent_belongs_to_the_letter_before_it() {
        let mut found = Vec::new();
        each_word("re\u{301}sume\u{301} \u{fc}ber", |word| found.push(word.to_owned()));
        assert_eq!(found, ["re\u{301}sume\u{301}", "\u{fc}ber"]);
    }

    #[test]
    fn decomposed_korean_is_read_as_composed() {
        let decomposed = "\u{1100}\u{1165}\u{11b7}\u{1109}\u{1162}\u{11a8} \u{1102}\u{1161}";
        assert_eq!(with_composed_korean(decomposed), "검색 나");
        assert_eq!(hidden_words(decomposed), hidden_words("검색 나"));
        // Letters that make no syllable stay, and a second final consonant too.
        let letters = "\u{1100}\u{1100} \u{1161} 각\u{11a8}";
        assert_eq!(with_composed_korean(letters), letters);
    }

    proptest::proptest! {
        #[test]
        fn words_are_what_stands_between_other_characters(text: String) {
            let mut found = Vec::new();
            each_word(&text, |word| found.push(word.to_owned()));
            let plain: Vec<_> = text.split(|c: char| !continues_word(c)).filter(|word| !word.is_empty()).collect();
            proptest::prop_assert_eq!(found, plain);
        }
    }

    #[test]
    fn spellings_are_words_that_people_write() {
        let mut found = Vec::new();
        each_spelling(
            "The parseUrl of utf8, v1beta 1234 3f2a9c b3cc896ab id10422 Größe 検索機能 a_b max_size",
            |word| {
                found.push(word.to_owned());
            },
        );
        assert_eq!(found, ["the", "parseurl", "parse", "url", "utf8", "v1beta", "größe", "max", "size"]);
    }
}
