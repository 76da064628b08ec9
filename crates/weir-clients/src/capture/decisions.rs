//! Finds what the user decided, corrected, gave up, aims at, is blocked by or works on, in the user's own sentences.
//!
//! The patterns are plain English phrases at the beginning of a sentence, or anywhere in it if they are unambiguous. A
//! false positive is worse than a miss, since the prompt itself is kept in any case. So a question is not a decision, a
//! sentence that begins with "if" or "maybe" decides nothing, and "don't worry" is not a correction. Code, quotations
//! and pasted data are ignored.

mod phrases;

use weir_core::{Event, EventKind, Priority};

use super::event;

/// The maximum length of a sentence, in bytes.
const MAX_SENTENCE_BYTES: usize = 380;
/// The maximum length of a prompt that is searched, in bytes, and the maximum number of sentences that are kept.
const MAX_EXAMINED_BYTES: usize = 8 << 10;
const MAX_SENTENCES: usize = 8;

/// Returns the events of a prompt's sentences, in order.
pub(super) fn events(said: &str) -> Vec<Event> {
    let said = &said[..said.floor_char_boundary(MAX_EXAMINED_BYTES)];
    let mut found: Vec<Event> = Vec::new();
    for sentence in sentences(said) {
        let Some(kind) = kind(sentence) else { continue };
        // The purpose of the session is recorded only once.
        if kind == EventKind::Intent && found.iter().any(|event| event.kind == EventKind::Intent) {
            continue;
        }
        let priority =
            if matches!(kind, EventKind::Rejected | EventKind::Intent) { Priority::P2 } else { Priority::P1 };
        found.push(event(kind, priority, sentence));
        if found.len() == MAX_SENTENCES {
            break;
        }
    }
    found
}

/// Returns the sentences of a text, without quoted lines and code.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let lines =
        text.lines().filter(|line| !line.trim_start().starts_with(['>', '|', '`']) && !line.starts_with("    "));
    lines.flat_map(|line| split_sentences(line.trim().trim_start_matches(['-', '*', '•', ' ']))).map(str::trim)
}

/// Splits a line after every full stop, exclamation mark and question mark that is followed by a space.
fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.match_indices(['.', '!', '?']).map(|(at, _)| at + 1).find(|&end| rest[end..].starts_with(' '));
        let (sentence, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(sentence)
    })
}

/// Returns the kind of event that a sentence expresses, if any.
fn kind(sentence: &str) -> Option<EventKind> {
    if sentence.len() > MAX_SENTENCE_BYTES || sentence.len() < 6 || sentence.ends_with('?') {
        return None;
    }
    let lower = sentence.to_lowercase().replace('’', "'");
    let words = LowercaseSentence(without_fillers(&lower));
    if words.begins_any(phrases::UNSURE) || words.has_any(phrases::DOUBT) {
        return None;
    }
    let found = TESTS.iter().find(|(test, _)| test(words)).map(|(_, kind)| *kind);
    found.or_else(|| is_labelled(sentence).then_some(EventKind::Decision))
}

/// Returns whether a sentence begins with a label in capitals, such as `HARD CONSTRAINT:`.
fn is_labelled(sentence: &str) -> bool {
    sentence.split_once(": ").is_some_and(|(label, rest)| {
        let letters = label.chars().filter(|c| c.is_alphabetic()).count();
        (4..=40).contains(&letters) && !rest.is_empty() && !label.contains(|c: char| !(c.is_uppercase() || c == ' '))
    })
}

/// The tests for each kind, in the order in which they are applied.
const TESTS: &[(SentenceTest, EventKind)] = &[
    (is_goal, EventKind::Goal),
    (is_blocker, EventKind::Blocker),
    (is_rejected, EventKind::Rejected),
    (is_correction, EventKind::Correction),
    (is_decision, EventKind::Decision),
    (is_intent, EventKind::Intent),
];

type SentenceTest = fn(LowercaseSentence<'_>) -> bool;

fn is_goal(words: LowercaseSentence<'_>) -> bool {
    words.begins_any(phrases::GOAL)
}

fn is_blocker(words: LowercaseSentence<'_>) -> bool {
    words.begins_any(phrases::BLOCKED)
}

fn is_rejected(words: LowercaseSentence<'_>) -> bool {
    let tried = words.begins_any(phrases::TRIED) && words.has_any(phrases::FAILED);
    tried || words.has_any(phrases::DROPPED) || words.begins_any(phrases::AGAINST)
}

fn is_correction(words: LowercaseSentence<'_>) -> bool {
    words.begins_any(phrases::WRONG) || is_forbidding(words) || is_contradiction(words) || is_redirection(words)
}

/// "Use … instead", and something to do with something not to do: "add …, but never …".
fn is_redirection(words: LowercaseSentence<'_>) -> bool {
    if !words.begins_any(phrases::INSTEAD) {
        return false;
    }
    let is_instead = |(at, _): (usize, &str)| !words.0[at..].starts_with("instead of");
    let clauses = [", and ", ", but ", " and ", " but ", "; "].iter().flat_map(|joint| words.0.split(joint).skip(1));
    words.0.match_indices("instead").any(is_instead) || clauses.map(LowercaseSentence).any(is_forbidding)
}

/// Returns whether a sentence is "don't" or "never" with an action; "don't worry" and "don't know" are not.
fn is_forbidding(words: LowercaseSentence<'_>) -> bool {
    ["don't", "do not", "dont", "never", "you must not", "you mustn't"].iter().any(|not| {
        words.after(not).is_some_and(|rest| {
            let first = rest.0.split_whitespace().next().unwrap_or_default();
            !first.is_empty()
                && !first.ends_with("ed")
                && !rest.begins_any(phrases::CALM)
                && !rest.begins_any(phrases::WAS)
        })
    })
}

/// Returns whether a sentence is "No, …" followed by what is meant instead.
fn is_contradiction(words: LowercaseSentence<'_>) -> bool {
    let Some(rest) = words.0.strip_prefix("no,").or_else(|| words.0.strip_prefix("nope,")) else { return false };
    let rest = LowercaseSentence(rest.trim_start());
    !rest.begins_any(phrases::AGREES) && rest.begins_any(phrases::MEANS)
}

fn is_decision(words: LowercaseSentence<'_>) -> bool {
    let instead = words.has_any(&["instead of", "rather than"]) && words.begins_any(phrases::INSTEAD);
    instead || words.begins_any(phrases::CHOSEN) || words.begins_any(phrases::STANDING)
}

fn is_intent(words: LowercaseSentence<'_>) -> bool {
    let is_work = |rest: LowercaseSentence<'_>| !rest.0.is_empty() && !rest.begins_any(phrases::ASKS);
    phrases::WANTS.iter().any(|want| words.after(want).is_some_and(is_work))
}

/// A sentence in lower case.
#[derive(Clone, Copy)]
struct LowercaseSentence<'s>(&'s str);

impl<'s> LowercaseSentence<'s> {
    /// Returns the text after these words if the sentence begins with them.
    fn after(self, words: &str) -> Option<LowercaseSentence<'s>> {
        let rest = self.0.strip_prefix(words)?;
        let ends =
            words.ends_with(':') || rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric() && c != '\'');
        ends.then(|| LowercaseSentence(rest.trim_start_matches(|c: char| !c.is_alphanumeric())))
    }

    fn begins_any(self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.after(phrase).is_some())
    }

    fn has_any(self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| {
            self.0.match_indices(phrase).any(|(at, _)| {
                let before = self.0[..at].chars().next_back();
                !before.is_some_and(char::is_alphanumeric) && LowercaseSentence(&self.0[at..]).after(phrase).is_some()
            })
        })
    }
}

/// Returns the sentence without leading filler words.
fn without_fillers(sentence: &str) -> &str {
    let mut rest = sentence.trim_start();
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        if end == 0 || !phrases::FILLERS.contains(&&rest[..end]) {
            return rest;
        }
        // "Good" and "right" are fillers only if something follows them.
        let after = rest[end..].trim_start_matches([',', '.', '!', ':', ';', '-', '–', '—', ' ']);
        if after.is_empty() {
            return rest;
        }
        rest = after;
    }
}
