//! The short handle given to the model instead of a text: `[ctx:k7f2m9q4xz]`.
//!
//! Invariant: a `Reference` is ten characters of lower-case base 32 in Crockford's alphabet, which has no letters that
//! people or models confuse with digits. Parsing accepts brackets, capitals and the confusable letters.

use std::collections::HashSet;
use std::fmt;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 10;

/// The handle of one entry, unique in its store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference([u8; LENGTH]);

/// The error for a text that is not a reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a reference; one looks like [ctx:k7f2m9q4xz]")]
pub struct NotAReference(String);

impl Reference {
    /// Creates a reference from 50 of the given random bits.
    pub fn from_bits(bits: u64) -> Self {
        let mut text = [0; LENGTH];
        for (i, byte) in text.iter_mut().enumerate() {
            *byte = ALPHABET[(bits >> (5 * i)) as usize & 31];
        }
        Self(text)
    }

    /// Parses a reference, with or without its brackets.
    pub fn parse(text: &str) -> Result<Self, NotAReference> {
        Self::from_bare(bare(text)).ok_or_else(|| NotAReference(text.trim().chars().take(40).collect()))
    }

    /// Returns the first characters of a reference as they are stored, if the text can be the beginning of one.
    pub fn beginning(text: &str) -> Option<String> {
        let bare = bare(text);
        let characters: Option<Vec<u8>> = bare.bytes().map(character).collect();
        let beginning = characters.and_then(|characters| String::from_utf8(characters).ok());
        beginning.filter(|text| (1..=LENGTH).contains(&text.len()))
    }

    /// Returns every reference written with its brackets in `text`, in order and without repeats.
    pub fn cited_in(text: &str) -> Vec<Self> {
        let (mut cited, mut seen) = (Vec::new(), HashSet::new());
        for (start, opening) in text.match_indices("[ctx:") {
            let rest = &text[start + opening.len()..];
            let bare = rest.get(..LENGTH).filter(|_| rest[LENGTH..].starts_with(']'));
            if let Some(reference) = bare.and_then(Self::from_bare)
                && seen.insert(reference)
            {
                cited.push(reference);
            }
        }
        cited
    }

    /// Returns only the ten characters, as they are stored.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    fn from_bare(bare: &str) -> Option<Self> {
        let bytes: [u8; LENGTH] = bare.as_bytes().try_into().ok()?;
        let mut text = [0; LENGTH];
        for (into, byte) in text.iter_mut().zip(bytes) {
            *into = character(byte)?;
        }
        Some(Self(text))
    }
}

/// Returns a reference without its brackets.
fn bare(text: &str) -> &str {
    let bare = text.trim().trim_start_matches('[').trim_end_matches(']');
    bare.strip_prefix("ctx:").unwrap_or(bare)
}

/// Returns a character of the alphabet, also for one that is confused with it.
fn character(byte: u8) -> Option<u8> {
    match byte.to_ascii_lowercase() {
        b'o' => Some(b'0'),
        b'i' | b'l' => Some(b'1'),
        other => ALPHABET.contains(&other).then_some(other),
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[ctx:{}]", self.as_str())
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_beginning_is_read_like_a_reference() {
        for (text, expected) in [
            ("3w6n", Some("3w6n")),
            ("[ctx:K7F", Some("k7f")),
            ("foo", Some("f00")),
            ("k7f2m9q4xz", Some("k7f2m9q4xz")),
            ("", None),
            ("not one", None),
            ("k7f2m9q4xz0", None),
        ] {
            assert_eq!(Reference::beginning(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn brackets_capitals_and_confusable_letters_are_forgiven() {
        let plain = Reference::parse("k7f2m9q4x1").unwrap();
        for text in ["[ctx:k7f2m9q4x1]", "ctx:k7f2m9q4x1", " K7F2M9Q4XI ", "[ctx:k7f2m9q4xl]"] {
            assert_eq!(Reference::parse(text).unwrap(), plain, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_and_named() {
        for text in ["", "[ctx:]", "k7f2m9q4x", "k7f2m9q4x12", "k7f2m9q4xu", "käse-brot!"] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
        let message = Reference::parse("nope").unwrap_err().to_string();
        assert_eq!(message, "`nope` is not a reference; one looks like [ctx:k7f2m9q4xz]");
    }

    #[test]
    fn citations_are_found_once_each_in_order() {
        let text = "see [ctx:k7f2m9q4xz], [ctx:bad] and [ctx:0000000000]; again [ctx:k7f2m9q4xz]";
        let cited: Vec<_> = Reference::cited_in(text).iter().map(ToString::to_string).collect();
        assert_eq!(cited, ["[ctx:k7f2m9q4xz]", "[ctx:0000000000]"]);
    }

    #[test]
    fn citations_that_never_end_cost_no_more_than_others() {
        assert_eq!(Reference::cited_in(&"[ctx:".repeat(2_000_000)), []);
        let many: String = (0..200_000).map(|bits| Reference::from_bits(bits).to_string()).collect();
        assert_eq!(Reference::cited_in(&many).len(), 200_000);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(bits: u64) {
            let reference = Reference::from_bits(bits);
            prop_assert_eq!(Reference::parse(&reference.to_string()).unwrap(), reference);
        }

        #[test]
        fn parsing_never_panics(text: String) {
            let _ = Reference::parse(&text);
            let _ = Reference::cited_in(&text);
        }
    }
}
