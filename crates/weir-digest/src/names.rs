//! The names in an output that its digest lacks: what the next call may need, and nobody can guess.

use std::collections::HashSet;
use std::io::{self, Read as _};

use crate::{Digest, Source};

/// How much of an output is read for its names, in bytes.
const MAX_BYTES: u64 = 256 << 10;
/// The longest name that is listed, in bytes.
const MAX_NAME_BYTES: usize = 80;
/// Fewer names are not worth a heading.
const MIN_NAMES: usize = 3;
/// A shorter word is not taken for encoded data, in bytes.
const MIN_ENCODED_BYTES: usize = 48;

impl Digest {
    /// Adds the names of the output that the digest lacks, in the order in which they appear, in at most `budget`
    /// tokens. Of data, they are taken from `words`, which has no names of fields.
    pub fn with_names(mut self, source: &dyn Source, words: Option<&str>, budget: usize) -> io::Result<Self> {
        let mut raw = Vec::new();
        let text = match words {
            Some(words) => words.into(),
            None => {
                source.open()?.take(MAX_BYTES).read_to_end(&mut raw)?;
                weir_core::terminal::shown(&raw)
            }
        };
        if let Some(names) = not_in(&self.body, &text, budget)
            && let Some(end) = self.body.rfind('\n')
        {
            let is_begin = words.is_none() && source.bytes() > MAX_BYTES;
            let first = if is_begin { " at its beginning" } else { "" };
            self.body.insert_str(end, &format!("\n== names{first} that are not shown above{names}"));
        }
        Ok(self)
    }
}

/// Returns the names of a text that are not in `shown`, in the order in which they appear, in at most `budget` tokens,
/// after how many of them are listed.
pub fn not_in(shown: &str, text: &str, budget: usize) -> Option<String> {
    let mut known: HashSet<String> = HashSet::new();
    weir_core::names::each(shown, |word, _| {
        known.insert(word.to_owned());
    });
    let mut names: Vec<String> = Vec::new();
    weir_core::names::each(text, |word, _| {
        if word.len() <= MAX_NAME_BYTES && !is_noise(word) && !known.contains(word) {
            known.insert(word.to_owned());
            names.push(word.to_owned());
        }
    });
    let mut left = budget;
    let fitting = names.iter().take_while(|name| {
        let cost = weir_tokens::count(name) + 1;
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    });
    let count = fitting.count();
    let counted = if count < names.len() { format!(", {count} of {}", names.len()) } else { String::new() };
    (count >= MIN_NAMES).then(|| format!("{counted}: {}", names[..count].join(" ")))
}

/// Returns whether a word is encoded data: long, without a mark between words, and of letters and digits in any order.
fn is_noise(word: &str) -> bool {
    let bytes = word.as_bytes();
    let changes = bytes.windows(2).filter(|pair| sort(pair[0]) != sort(pair[1])).count();
    bytes.len() >= MIN_ENCODED_BYTES
        && !bytes.contains(&b'.')
        && !bytes.contains(&b'_')
        && changes * 5 > bytes.len() * 2
}

/// Returns of which sort a character is: a small letter, a capital, a digit or a mark.
fn sort(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_shown_are_listed_in_order() {
        let text = "open a_b1 with c_d22 and e_f33, then c_d22, g_h44, i_j55 and k_l66";
        assert_eq!(not_in("c_d22", text, 100).as_deref(), Some(": e_f33 g_h44 i_j55 k_l66"));
        assert_eq!(not_in("", text, 15).as_deref(), Some(", 3 of 5: c_d22 e_f33 g_h44"));
        assert_eq!(not_in(text, text, 100), None);
        assert_eq!(not_in("", "words alone", 100), None);
    }
}
