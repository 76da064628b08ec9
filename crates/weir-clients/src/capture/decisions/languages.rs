//! Decisions and corrections in languages other than English: one table of patterns for each, in a file of its own.
//!
//! A pattern is in lower case. `a` is the beginning of a sentence, `…a` its end, `…a…` a part of it, and `a…b` a
//! beginning after which `b` follows somewhere.

mod chinese;
mod french;
mod german;
mod japanese;
mod portuguese;
mod spanish;

use weir_core::EventKind;
use weir_core::prose::is_spaceless;

use super::{LowercaseSentence, Phrases};

/// The patterns of one language.
struct Language {
    /// Words at the beginning of a sentence that are skipped.
    fillers: Phrases,
    /// What asks, supposes or calms, so that the sentence decides nothing.
    undecided: Phrases,
    /// What says that something is given up or not wanted.
    rejected: Phrases,
    /// What forbids, or says that something is wrong.
    corrected: Phrases,
    /// What chooses, or sets a rule.
    decided: Phrases,
}

const LANGUAGES: &[Language] =
    &[german::GERMAN, french::FRENCH, spanish::SPANISH, portuguese::PORTUGUESE, chinese::CHINESE, japanese::JAPANESE];

/// Returns the kind of event that a sentence in lower case expresses, if any. What is undecided in one language is not
/// a decision in another: some have words in common.
pub(super) fn kind(sentence: &str) -> Option<EventKind> {
    let sentence = sentence.trim_end_matches(['.', '!', '。', '！', ' ']);
    let words = |language: &Language| without_fillers(sentence, language.fillers);
    if LANGUAGES.iter().any(|language| has_pattern(words(language), language.undecided)) {
        return None;
    }
    LANGUAGES.iter().find_map(|language| {
        let words = words(language);
        let kinds = [
            (language.rejected, EventKind::Rejected),
            (language.corrected, EventKind::Correction),
            (language.decided, EventKind::Decision),
        ];
        kinds.into_iter().find(|(patterns, _)| has_pattern(words, *patterns)).map(|(_, kind)| kind)
    })
}

fn without_fillers(sentence: &str, fillers: Phrases) -> LowercaseSentence<'_> {
    let mut words = LowercaseSentence(sentence.trim_start());
    while let Some(rest) = fillers.iter().find_map(|filler| words.after(filler)).filter(|rest| !rest.0.is_empty()) {
        words = rest;
    }
    words
}

fn has_pattern(words: LowercaseSentence<'_>, patterns: Phrases) -> bool {
    patterns.iter().any(|pattern| match pattern.split_once('…') {
        None => words.after(pattern).is_some_and(|rest| rest.0.len() > 1),
        Some(("", part)) => match part.strip_suffix('…') {
            Some(part) => words.has(part),
            None => ends_with(words.0, part),
        },
        Some((begin, part)) => words.after(begin.trim_end()).is_some_and(|rest| rest.has(part.trim_start())),
    })
}

fn ends_with(sentence: &str, end: &str) -> bool {
    let before = sentence.strip_suffix(end).and_then(|before| before.chars().next_back());
    before.is_some_and(|before| !before.is_alphanumeric() || end.starts_with(is_spaceless))
}
