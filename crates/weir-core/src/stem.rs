//! Porter's stemmer, as FTS5 has it (`porter` in its tokenizers), so that both indexes find the same forms of a word.
//!
//! Invariant: only ASCII letters are cut off, so a word of any script stays valid text.

/// Longer words are left as they are, in bytes; and so are shorter ones.
const MAX_STEMMED_BYTES: usize = 64;
const MIN_STEMMED_BYTES: usize = 3;

/// An ending, and what takes its place if the part before it is long enough.
type Rule = (&'static str, &'static str);

// Of two endings that fit, the longer one comes first.
const DOUBLE_ENDINGS: &[Rule] = &[
    ("ational", "ate"), // typos: allow
    ("tional", "tion"), // typos: allow
    ("enci", "ence"),   // typos: allow
    ("anci", "ance"),   // typos: allow
    ("izer", "ize"),    // typos: allow
    ("logi", "log"),    // typos: allow
    ("bli", "ble"),     // typos: allow
    ("alli", "al"),     // typos: allow
    ("entli", "ent"),   // typos: allow
    ("eli", "e"),       // typos: allow
    ("ousli", "ous"),   // typos: allow
    ("ization", "ize"), // typos: allow
    ("ation", "ate"),   // typos: allow
    ("ator", "ate"),    // typos: allow
    ("alism", "al"),    // typos: allow
    ("iveness", "ive"), // typos: allow
    ("fulness", "ful"), // typos: allow
    ("ousness", "ous"), // typos: allow
    ("aliti", "al"),    // typos: allow
    ("iviti", "ive"),   // typos: allow
    ("biliti", "ble"),  // typos: allow
];
const SINGLE_ENDINGS: &[Rule] = &[
    ("ical", "ic"), // typos: allow
    ("ness", ""),
    ("icate", "ic"), // typos: allow
    ("iciti", "ic"), // typos: allow
    ("ful", ""),
    ("ative", ""),   // typos: allow
    ("alize", "al"), // typos: allow
];
const LAST_ENDINGS: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", // typos: allow
    "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", // typos: allow
];

/// Replaces the word from `start` to the end of `text` by its stem. The word is in lower case.
pub fn stem(text: &mut String, start: usize) {
    let length = text.len().saturating_sub(start);
    if !(MIN_STEMMED_BYTES..=MAX_STEMMED_BYTES).contains(&length) {
        return;
    }
    let mut word = Word { text, start };
    word.cut_plural();
    if word.cut_past() {
        word.repair();
    }
    if word.ends("y") && has_vowel(word.before(1)) {
        word.replace(1, "i");
    }
    word.replace_first(DOUBLE_ENDINGS);
    word.replace_first(SINGLE_ENDINGS);
    word.cut_last();
    let stem = word.before(1);
    if word.ends("e") && (has_two_syllables(stem) || (has_one_syllable(stem) && !is_short(stem))) {
        word.replace(1, "");
    }
    if word.ends("ll") && has_two_syllables(word.before(1)) {
        word.replace(1, "");
    }
}

/// A word at the end of a text.
struct Word<'a> {
    text: &'a mut String,
    start: usize,
}

impl Word<'_> {
    fn bytes(&self) -> &[u8] {
        self.text.as_bytes().get(self.start..).unwrap_or_default()
    }

    /// Returns the word without its last bytes.
    fn before(&self, ending: usize) -> &[u8] {
        let bytes = self.bytes();
        bytes.get(..bytes.len().saturating_sub(ending)).unwrap_or_default()
    }

    fn ends(&self, ending: &str) -> bool {
        self.bytes().ends_with(ending.as_bytes())
    }

    /// Returns whether the word has this ending, and something before it.
    fn has(&self, ending: &str) -> bool {
        self.bytes().len() > ending.len() && self.ends(ending)
    }

    /// Replaces the last bytes, which are ASCII.
    fn replace(&mut self, ending: usize, with: &str) {
        self.text.truncate(self.text.len() - ending);
        self.text.push_str(with);
    }

    fn cut_plural(&mut self) {
        if self.has("sses") || self.has("ies") {
            self.replace(2, "");
        } else if self.ends("s") && !self.ends("ss") {
            self.replace(1, "");
        }
    }

    /// Cuts off `ed` and `ing`, and returns whether it did.
    fn cut_past(&mut self) -> bool {
        if self.has("eed") {
            if has_syllable(self.before(3)) {
                self.replace(1, "");
            }
            return false;
        }
        let ending = if self.has("ed") {
            2
        } else if self.has("ing") {
            3
        } else {
            return false;
        };
        let cuts = has_vowel(self.before(ending));
        if cuts {
            self.replace(ending, "");
        }
        cuts
    }

    /// Gives a word back what it lost when it took on `ed` or `ing`: `hop` of `hopping`, `hope` of `hoping`.
    fn repair(&mut self) {
        if self.has("at") || self.has("bl") || self.has("iz") {
            self.text.push('e');
            return;
        }
        let is_doubled = match self.bytes() {
            [.., before, last] => before == last && last.is_ascii() && !b"aeioulsz".contains(last),
            _ => false,
        };
        if is_doubled {
            self.replace(1, "");
        } else if has_one_syllable(self.bytes()) && is_short(self.bytes()) {
            self.text.push('e');
        }
    }

    fn replace_first(&mut self, rules: &[Rule]) {
        if let Some((ending, with)) = rules.iter().find(|(ending, _)| self.has(ending))
            && has_syllable(self.before(ending.len()))
        {
            self.replace(ending.len(), with);
        }
    }

    fn cut_last(&mut self) {
        let Some(ending) = LAST_ENDINGS.iter().find(|ending| self.has(ending)) else { return };
        let stem = self.before(ending.len());
        if has_two_syllables(stem) && (*ending != "ion" || matches!(stem.last(), Some(b's' | b't'))) {
            self.replace(ending.len(), "");
        }
    }
}

/// Returns whether a letter is a vowel. `y` is one after a consonant.
fn is_vowel(letter: u8, after_consonant: bool) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u') || (letter == b'y' && after_consonant)
}

/// Returns where the first run of vowels and the consonant after it end, or 0 if there are none.
fn syllable_end(stem: &[u8], mut after_consonant: bool) -> usize {
    let mut had_vowel = false;
    for (at, letter) in stem.iter().enumerate() {
        after_consonant = !is_vowel(*letter, after_consonant);
        if had_vowel && after_consonant {
            return at + 1;
        }
        had_vowel |= !after_consonant;
    }
    0
}

fn syllables(stem: &[u8]) -> usize {
    let first = syllable_end(stem, false);
    let rest = stem.get(first..).unwrap_or_default();
    if first == 0 { 0 } else { 1 + usize::from(syllable_end(rest, true) > 0) }
}

fn has_syllable(stem: &[u8]) -> bool {
    syllables(stem) > 0
}

fn has_one_syllable(stem: &[u8]) -> bool {
    syllables(stem) == 1
}

fn has_two_syllables(stem: &[u8]) -> bool {
    syllables(stem) > 1
}

fn has_vowel(stem: &[u8]) -> bool {
    stem.iter().enumerate().any(|(at, letter)| is_vowel(*letter, at > 0))
}

/// Returns whether a stem ends with consonant, vowel and a consonant that is not `w`, `x` or `y`.
fn is_short(stem: &[u8]) -> bool {
    let (mut shape, mut consonant) = (0u8, false);
    for letter in stem {
        consonant = !is_vowel(*letter, consonant);
        shape = (shape << 1 | u8::from(consonant)) & 0b111;
    }
    shape == 0b101 && !matches!(stem.last(), Some(b'w' | b'x' | b'y'))
}
