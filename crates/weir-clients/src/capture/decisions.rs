//! Finds what was decided, corrected, given up, aimed at or blocked, in the sentences of the user or of the model.
//!
//! The patterns are plain phrases at the beginning of a sentence, or anywhere in it if they are unambiguous: those of
//! English here, those of other languages in [`languages`]. A false positive is worse than a miss, since the prompt
//! itself is kept in any case. So a question is not a decision, a sentence that begins with "if" or "maybe" decides
//! nothing, and "don't worry" is not a correction. Code, quotations, pasted data and lines of logs are ignored, and of
//! the model's words only those count in which it says that it has decided: the rest describes code.

pub(super) mod choices;
mod english;
mod languages;

use weir_core::prose::{self, is_log_line};
use weir_core::{Event, EventKind, Priority};

use super::event;

/// The maximum length of a sentence, in bytes.
const MAX_SENTENCE_BYTES: usize = 380;
/// The maximum length of a text that is searched, in bytes, and the maximum number of sentences that are kept.
const MAX_EXAMINED_BYTES: usize = 8 << 10;
const MAX_SENTENCES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Model,
}

/// Returns the events of a text's sentences, in order.
pub(super) fn events(said: &str, speaker: Speaker) -> Vec<Event> {
    let mut found: Vec<Event> = Vec::new();
    for sentence in sentences(said) {
        let Some(kind) = kind(sentence, speaker) else { continue };
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

/// Returns whether everything in a text asks.
pub(super) fn is_question(said: &str) -> bool {
    let asks = |sentence: &str| {
        let lower = sentence.to_lowercase();
        sentence.ends_with(['?', '？']) || LowercaseSentence(without_fillers(&lower)).begins_any(english::ASKING)
    };
    said.trim_end().ends_with(['?', '？']) || sentences(said).all(asks)
}

/// Returns whether a text typed when refusing a tool says what to do or what is wrong: a few words are an answer, and a
/// text that begins with a question is a proposal.
pub(super) fn may_correct(said: &str) -> bool {
    let begins_with_question = sentences(said).next().is_some_and(|first| first.ends_with(['?', '？']));
    let is_short = said.split_whitespace().count() < 3 && !said.contains(prose::is_spaceless);
    !begins_with_question && !is_question(said) && (!is_short || kind(said.trim(), Speaker::User).is_some())
}

/// Returns the sentences of a text, without quoted lines, code, lines of logs, and the marks around a sentence.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let text = &text[..text.floor_char_boundary(MAX_EXAMINED_BYTES)];
    let is_said = |line: &&str| {
        !line.trim_start().starts_with(['>', '|', '`', '+']) && !line.starts_with("    ") && !is_log_line(line)
    };
    let lines = text.lines().filter(is_said).map(|line| line.trim().trim_start_matches(['-', '*', '•', '#', ' ']));
    lines.flat_map(prose::sentences).map(bare).filter(|sentence| !sentence.is_empty())
}

/// Returns a sentence without emphasis around it and without a quotation mark that has no counterpart.
fn bare(sentence: &str) -> &str {
    let sentence = sentence.trim_matches(['*', '_', ' ']);
    match sentence.matches('"').count() % 2 {
        0 => sentence,
        _ => sentence.strip_suffix('"').or_else(|| sentence.strip_prefix('"')).unwrap_or(sentence),
    }
}

/// Returns the kind of event that a sentence expresses, if any.
fn kind(sentence: &str, speaker: Speaker) -> Option<EventKind> {
    if sentence.len() > MAX_SENTENCE_BYTES || sentence.len() < 6 || sentence.ends_with(['?', '？']) {
        return None;
    }
    let lower = sentence.to_lowercase().replace('’', "'");
    let words = LowercaseSentence(without_fillers(&lower));
    if words.begins_any(english::UNSURE) || words.has_any(english::DOUBT) {
        return None;
    }
    if speaker == Speaker::Model {
        let is_against = words.says_more(english::AGAINST);
        let decided = words.says_more(english::DECIDED).then_some(EventKind::Decision);
        return if is_against { Some(EventKind::Rejected) } else { decided };
    }
    let found = TESTS.iter().find(|(test, _)| test(words)).map(|(_, kind)| *kind);
    let found = found.or_else(|| is_labelled(sentence).then_some(EventKind::Decision));
    found.or_else(|| languages::kind(&lower))
}

/// Returns whether a sentence begins with a label in capitals that announces a rule, such as `HARD CONSTRAINT:`.
fn is_labelled(sentence: &str) -> bool {
    sentence.split_once(": ").is_some_and(|(label, rest)| {
        let is_label = !label.contains(|c: char| !(c.is_uppercase() || c == ' ')) && label.len() <= 40;
        is_label && !rest.is_empty() && label.split(' ').any(|word| english::RULES.has(word))
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
    words.begins_any(english::GOAL)
}

fn is_blocker(words: LowercaseSentence<'_>) -> bool {
    words.begins_any(english::BLOCKED)
}

fn is_rejected(words: LowercaseSentence<'_>) -> bool {
    let tried = words.begins_any(english::TRIED) && words.has_any(english::FAILED);
    tried || words.has_any(english::DROPPED) || words.says_more(english::AGAINST)
}

fn is_correction(words: LowercaseSentence<'_>) -> bool {
    words.begins_any(english::WRONG) || is_forbidding(words) || is_contradiction(words) || is_redirection(words)
}

/// "Use … instead", and something to do with something not to do: "add …, but never …".
fn is_redirection(words: LowercaseSentence<'_>) -> bool {
    if !words.begins_any(english::INSTEAD) {
        return false;
    }
    let is_instead = |(at, _): (usize, &str)| !words.0[at..].starts_with("instead of");
    let clauses = [", and ", ", but ", " and ", " but ", "; "].iter().flat_map(|joint| words.0.split(joint).skip(1));
    words.0.match_indices("instead").any(is_instead) || clauses.map(LowercaseSentence).any(is_forbidding)
}

/// Returns whether a sentence is "don't" or "never" with an action; "don't worry" and "don't know" are not.
fn is_forbidding(words: LowercaseSentence<'_>) -> bool {
    english::FORBIDS.iter().any(|not| {
        words.after(not).is_some_and(|rest| {
            let first = rest.0.split_whitespace().next().unwrap_or_default();
            !first.is_empty()
                && !first.ends_with("ed")
                && !rest.begins_any(english::CALM)
                && !rest.begins_any(english::WAS)
        })
    })
}

/// Returns whether a sentence is "No, …" followed by what is meant instead.
fn is_contradiction(words: LowercaseSentence<'_>) -> bool {
    let Some(rest) = words.0.strip_prefix("no,").or_else(|| words.0.strip_prefix("nope,")) else { return false };
    let rest = LowercaseSentence(rest.trim_start());
    !rest.begins_any(english::AGREES) && rest.begins_any(english::MEANS)
}

fn is_decision(words: LowercaseSentence<'_>) -> bool {
    let instead = words.has_any(english::IN_PLACE_OF) && words.begins_any(english::INSTEAD);
    instead || words.says_more(english::CHOSEN) || is_rule(words) || is_proposal(words)
}

/// Returns whether a sentence is a rule that holds from now on, or has one: "keep the old key, but always write the new
/// one". "Always stores" describes what code does.
fn is_rule(words: LowercaseSentence<'_>) -> bool {
    let more = [" but always ", " and always "].iter().filter_map(|joint| words.0.find(joint));
    let clauses = more.map(|at| LowercaseSentence(words.0[at + 1..].split_once(' ').map_or("", |(_, clause)| clause)));
    std::iter::once(words).chain(clauses).any(is_rule_itself)
}

fn is_rule_itself(words: LowercaseSentence<'_>) -> bool {
    let describes = |rest: LowercaseSentence<'_>| {
        let verb = rest.0.split_whitespace().next().unwrap_or_default();
        verb.ends_with('s') && !verb.ends_with("ss")
    };
    let rule = english::STANDING.iter().find_map(|phrase| words.after(phrase));
    rule.is_some_and(|rest| rest.is_said() && !describes(rest))
}

/// "Let's completely remove X", "let's do length only": a proposal that changes what is made, not what is done next.
fn is_proposal(words: LowercaseSentence<'_>) -> bool {
    let joints = [": ", ", ", " so ", "; "];
    let begins = words
        .0
        .match_indices("let")
        .filter(|(at, _)| *at == 0 || joints.iter().any(|joint| words.0[..*at].ends_with(joint)));
    let mut proposals = begins.filter_map(|(at, _)| {
        let clause = LowercaseSentence(&words.0[at..]);
        Some((at, clause.after("let's").or_else(|| clause.after("lets"))?))
    });
    proposals.any(|(at, rest)| {
        let rest = english::ADVERBS.iter().find_map(|adverb| rest.after(adverb)).unwrap_or(rest);
        let is_limited = rest.after("do").is_some_and(|what| what.is_said() && what.0.ends_with("only"));
        // What a pronoun stands for is known only if the same sentence says it.
        let is_known = |what: LowercaseSentence<'_>| match what.is_reference() {
            true => !what.0.is_empty() && words.0[..at].split(' ').count() > 4,
            // "Let's rename to steps" does not say what.
            false => what.is_said() && what.after("to").is_none(),
        };
        let changed = english::CHANGES.iter().find_map(|verb| rest.after(verb));
        is_limited || changed.is_some_and(is_known) && !rest.begins_any(english::STEPS)
    })
}

fn is_intent(words: LowercaseSentence<'_>) -> bool {
    let is_work = |rest: LowercaseSentence<'_>| !rest.0.is_empty() && !rest.begins_any(english::ASKS);
    english::WANTS.iter().any(|want| words.after(want).is_some_and(is_work))
}

/// Phrases in lower case, separated by bars.
#[derive(Clone, Copy)]
struct Phrases(&'static str);

impl Phrases {
    fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.split('|').map(str::trim).filter(|phrase| !phrase.is_empty())
    }

    fn has(self, word: &str) -> bool {
        self.iter().any(|phrase| phrase == word)
    }
}

#[derive(Clone, Copy)]
struct LowercaseSentence<'s>(&'s str);

impl<'s> LowercaseSentence<'s> {
    /// Returns the text after these words if the sentence begins with them.
    fn after(self, words: &str) -> Option<LowercaseSentence<'s>> {
        let rest = self.0.strip_prefix(words)?;
        let ends = words.ends_with([':', ',', '：', '、', '，'])
            || words.ends_with(prose::is_spaceless)
            || rest.is_empty()
            || rest.starts_with(|c: char| !c.is_alphanumeric() && c != '\'');
        ends.then(|| LowercaseSentence(rest.trim_start_matches(|c: char| !c.is_alphanumeric())))
    }

    fn begins_any(self, phrases: Phrases) -> bool {
        phrases.iter().any(|phrase| self.after(phrase).is_some())
    }

    /// Returns whether the sentence begins with a phrase and then says what it is about.
    fn says_more(self, phrases: Phrases) -> bool {
        phrases.iter().any(|phrase| self.after(phrase).is_some_and(Self::is_said))
    }

    /// Returns whether the words name something: more than a pronoun, a label of a list, or "going".
    fn is_said(self) -> bool {
        let is_empty = |word: &str| word.chars().count() < 2 || english::EMPTY.has(word);
        self.0.split(|c: char| !c.is_alphanumeric()).any(|word| !is_empty(word))
    }

    /// Returns whether the words begin with a pronoun that stands for something said before.
    fn is_reference(self) -> bool {
        let mut words = self.0.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        match words.next() {
            Some("it" | "both" | "them") | None => true,
            Some("this" | "that" | "these" | "those") => words.next().is_none_or(|next| english::EMPTY.has(next)),
            Some(_) => false,
        }
    }

    fn has_any(self, phrases: Phrases) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }

    fn has(self, phrase: &str) -> bool {
        self.0.match_indices(phrase).any(|(at, _)| {
            let before = self.0[..at].chars().next_back();
            let starts = phrase.starts_with(prose::is_spaceless) || !before.is_some_and(char::is_alphanumeric);
            starts && LowercaseSentence(&self.0[at..]).after(phrase).is_some()
        })
    }
}

/// Returns the sentence without leading filler words.
fn without_fillers(sentence: &str) -> &str {
    let mut rest = sentence.trim_start();
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        if end == 0 || !english::FILLERS.has(&rest[..end]) {
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
