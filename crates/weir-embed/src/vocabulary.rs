//! Looks up the numbers of tokens, in the table that [`crate::layout`] makes.
//!
//! Invariants: a lookup allocates nothing and changes nothing; a truncated table has no tokens.

use std::borrow::Cow;

use crate::layout::{self, EMPTY_HASH, HEAD_BYTES, NUMBER_BITS};

/// The prefix of a token that continues a word.
const CONTINUES: &[u8] = b"##";

/// The hash of that prefix, with which the hash of such a token begins.
const CONTINUES_HASH: u64 = layout::hash(layout::hash(EMPTY_HASH, CONTINUES[0]), CONTINUES[1]);

/// The tokens of a model.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    table: Cow<'static, [u8]>,
}

impl Vocabulary {
    pub(crate) const fn new(table: Cow<'static, [u8]>) -> Self {
        Self { table }
    }

    pub(crate) fn number(&self, token: &str) -> Option<u32> {
        let hash = token.bytes().fold(EMPTY_HASH, layout::hash);
        self.view().find(hash, b"", token.as_bytes())
    }

    /// Adds the tokens of a word to `numbers`: the longest token that begins it, then the longest that continues it, up
    /// to its end. Adds none for a word that cannot be split like this.
    pub(crate) fn split_word(&self, word: &str, numbers: &mut Vec<u32>) {
        let view = self.view();
        let before = numbers.len();
        let mut rest = word.as_bytes();
        let (mut prefix, mut seed): (&[u8], u64) = (b"", EMPTY_HASH);
        while !rest.is_empty() {
            let Some((number, length)) = view.longest(prefix, seed, rest) else {
                numbers.truncate(before);
                return;
            };
            numbers.push(number);
            rest = &rest[length..];
            (prefix, seed) = (CONTINUES, CONTINUES_HASH);
        }
    }

    fn view(&self) -> TableView<'_> {
        let table: &[u8] = &self.table;
        let [slots, longest, text_at] = [0, 1, 2].map(|at| number_at(table, at) as usize);
        let slots_end = HEAD_BYTES + slots * 4;
        TableView {
            longest,
            slots: table.get(HEAD_BYTES..slots_end).unwrap_or_default(),
            ends: table.get(slots_end..text_at).unwrap_or_default(),
            text: table.get(text_at..).unwrap_or_default(),
        }
    }
}

/// The parts of a table.
struct TableView<'a> {
    longest: usize,
    slots: &'a [u8],
    ends: &'a [u8],
    text: &'a [u8],
}

impl TableView<'_> {
    /// Returns the longest token that is `prefix` followed by a beginning of `rest`, and the length of that beginning.
    fn longest(&self, prefix: &[u8], seed: u64, rest: &[u8]) -> Option<(u32, usize)> {
        let mut hashes = [0; 64];
        let most = rest.len().min(self.longest.saturating_sub(prefix.len()));
        if most > hashes.len() {
            // No vocabulary that we know has such long tokens. If one does, each beginning is hashed from its start.
            return (1..=most).rev().find_map(|length| {
                let hash = rest[..length].iter().fold(seed, |hash, &byte| layout::hash(hash, byte));
                Some((self.find(hash, prefix, &rest[..length])?, length))
            });
        }
        let mut hash = seed;
        for (slot, &byte) in hashes.iter_mut().zip(&rest[..most]) {
            hash = layout::hash(hash, byte);
            *slot = hash;
        }
        (1..=most).rev().find_map(|length| Some((self.find(hashes[length - 1], prefix, &rest[..length])?, length)))
    }

    /// Returns the token with this hash that is `prefix` followed by `piece`.
    #[inline]
    fn find(&self, hash: u64, prefix: &[u8], piece: &[u8]) -> Option<u32> {
        let count = self.slots.len() / 4;
        if count == 0 {
            return None;
        }
        let (mut slot, tag) = layout::first_slot(hash, count);
        loop {
            let found = number_at(self.slots, slot);
            if found == 0 {
                return None;
            }
            if (found >> NUMBER_BITS) << NUMBER_BITS == tag {
                let number = (found ^ tag) - 1;
                if self.token(number).and_then(|token| token.strip_prefix(prefix)) == Some(piece) {
                    return Some(number);
                }
            }
            slot = (slot + 1) & (count - 1);
        }
    }

    fn token(&self, number: u32) -> Option<&[u8]> {
        let number = number as usize;
        let start = if number == 0 { 0 } else { number_at(self.ends, number - 1) as usize };
        self.text.get(start..number_at(self.ends, number) as usize)
    }
}

/// Returns the `at`-th number of four bytes.
#[inline]
fn number_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at * 4..).and_then(<[u8]>::first_chunk).map_or(0, |&four| u32::from_le_bytes(four))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tokens: &[&str], word: &str, wanted: &[&str]) {
        let vocabulary = Vocabulary::new(Cow::Owned(layout::lay_out(tokens).unwrap()));
        let mut numbers = Vec::new();
        vocabulary.split_word(word, &mut numbers);
        let found: Vec<&str> = numbers.iter().map(|&number| tokens[number as usize]).collect();
        assert_eq!(found, wanted, "{word}");
    }

    #[test]
    fn the_longest_beginning_is_taken_each_time() {
        let tokens = ["un", "unable", "##a", "##ab", "##able", "##le", "a", "ü", "##ü"];
        check(&tokens, "unable", &["unable"]);
        check(&tokens, "unab", &["un", "##ab"]);
        check(&tokens, "unaable", &["un", "##a", "##able"]);
        check(&tokens, "üü", &["ü", "##ü"]);
    }

    #[test]
    fn a_word_that_cannot_be_cut_up_to_its_end_has_no_tokens() {
        let tokens = ["un", "##a", "##b"];
        check(&tokens, "unax", &[]);
        check(&tokens, "aun", &[]);
        // There is no backtracking: the longest beginning is used even if a shorter one would lead further.
        check(&["a", "ab", "##bc"], "abc", &[]);
    }

    #[test]
    fn tokens_longer_than_usual_are_found() {
        let long = "x".repeat(300);
        check(&["x", "##x", &long], &long, &[&long]);
        check(&["xx", "##y", &long], "xxy", &["xx", "##y"]);
    }

    #[test]
    fn every_token_has_its_number() {
        let owned: Vec<String> = (0..5000).map(|number| format!("token{number}")).collect();
        let tokens: Vec<&str> = owned.iter().map(String::as_str).collect();
        let vocabulary = Vocabulary::new(Cow::Owned(layout::lay_out(&tokens).unwrap()));
        for (number, token) in (0..).zip(&tokens) {
            assert_eq!(vocabulary.number(token), Some(number));
        }
        assert_eq!(vocabulary.number("token5000"), None);
    }

    #[test]
    fn a_table_that_was_cut_short_has_no_tokens() {
        let table = layout::lay_out(&["a", "b"]).unwrap();
        for length in 0..table.len() {
            let vocabulary = Vocabulary::new(Cow::Owned(table[..length].to_vec()));
            vocabulary.split_word("ab", &mut Vec::new());
        }
        check(&[], "a", &[]);
    }
}
