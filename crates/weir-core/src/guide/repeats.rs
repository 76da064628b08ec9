//! Leaves out what a guide or the client's summary already says. Texts are compared by their words, since the same
//! sentence is quoted with other punctuation elsewhere.

use super::requests;
use super::sections::{GuideSection, SectionItem, Speaker};
use crate::event::line;

/// Minimum number of words of a sentence that counts as a repetition. Shorter ones may mean something else each time.
const MIN_WORDS: usize = 3;
/// Maximum number of items of a section that are compared with others, which bounds the time. No guide shows more.
const MAX_COMPARED: usize = 40;

/// What is said already, each text by its words.
struct SaidTexts {
    by_user: Vec<String>,
    by_anyone: Vec<String>,
}

/// Removes the user's words that the requests, the summary or another item have, and the model's words that anything
/// has. Of equal texts, a note comes first, then the model's last words, then what was decided.
pub(super) fn remove(sections: &mut [GuideSection<'_>], requests: &[String], summary: &str) {
    let by_user: Vec<String> = requests.iter().map(String::as_str).chain([summary]).map(words).collect();
    let mut said = SaidTexts { by_anyone: by_user.clone(), by_user };
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|&place| sections[place].rank);
    for place in order {
        let mut nth = 0;
        sections[place].items.retain_mut(|item| {
            nth += 1;
            nth > MAX_COMPARED || said.is_new(item)
        });
    }
}

impl SaidTexts {
    /// Returns whether an item says something new, and adds it. A quotation of the user is shortened to what is new.
    fn is_new(&mut self, item: &mut SectionItem<'_>) -> bool {
        let is_new = match item.speaker {
            Speaker::User => shorten(item, &self.by_user),
            Speaker::Model => !is_said(&item.text, &self.by_anyone),
            Speaker::Plain => true,
        };
        if is_new {
            let words = words(&line(&item.text, item.longest));
            self.by_user.extend((item.speaker == Speaker::User).then(|| words.clone()));
            self.by_anyone.push(words);
        }
        is_new
    }
}

/// Removes the sentences of an item that are said already. Returns `false` if nothing is left.
fn shorten(item: &mut SectionItem<'_>, said: &[String]) -> bool {
    let mut left = String::new();
    let (mut is_whole, mut is_gap) = (true, false);
    for sentence in sentences(&item.text) {
        is_gap |= is_said(sentence, said);
        if is_said(sentence, said) {
            is_whole = false;
            continue;
        }
        left.push_str(match (left.is_empty(), is_gap) {
            (true, true) => "… ",
            (true, false) => "",
            (false, true) => " … ",
            (false, false) => " ",
        });
        left.push_str(sentence);
        is_gap = false;
    }
    if !is_whole {
        item.text = left.into();
    }
    !item.text.is_empty() && !requests::says_little(&item.text)
}

fn is_said(text: &str, said: &[String]) -> bool {
    let words = words(text);
    words.split_whitespace().count() >= MIN_WORDS && said.iter().any(|said| said.contains(&words))
}

/// Returns the words of a text in lower case, with a space around each, so that a text contains another only in whole
/// words.
fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    words.push(' ');
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}

/// Returns the sentences of a text. A full stop inside a name does not end one.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut ends = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let is_end = match c {
            '.' | '!' | '?' => rest.peek().is_none_or(|(_, next)| next.is_whitespace()),
            '。' | '！' | '？' | '\n' => true,
            _ => false,
        };
        if is_end {
            ends.push(at + c.len_utf8());
        }
    }
    ends.push(text.len());
    let mut from = 0;
    let sentences = ends.into_iter().map(move |end| text[std::mem::replace(&mut from, end)..end].trim());
    sentences.filter(|sentence| !sentence.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stop_inside_a_name_ends_no_sentence() {
        let found: Vec<&str> = sentences("Read a.md first. Then v1.2! Why?\nそうする。次").collect();
        assert_eq!(found, ["Read a.md first.", "Then v1.2!", "Why?", "そうする。", "次"]);
    }

    #[test]
    fn texts_are_compared_by_whole_words() {
        assert!(words("user: \"We use nom.\"").contains(&words("we use nom")));
        assert!(!words("we use nominal values").contains(&words("we use nom")));
    }
}
