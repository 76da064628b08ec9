//! What clearing old results would change: after a pause longer than the cache lives, the results before the newest
//! eight become stubs. A result that has something the model used later is asked for again, which costs a request.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use weir_clients::transcript::{Session, Step};

use super::compacting::REQUEST_TOKENS;
use super::course::{Change, Lifetime, MIN_WINDOW_TOKENS, TOKEN_CHARACTERS, Turn};
use crate::replay::prices::Rates;

/// How many of the newest results stay.
const KEPT_RESULTS: usize = 8;
/// A shorter result stays, in tokens.
const MIN_RESULT_TOKENS: f64 = 100.0;
const STUB_TOKENS: f64 = 30.0;
/// A shorter word identifies nothing.
const MIN_WORD_BYTES: usize = 5;

/// Returns what clearing changes about each request, with a cache of this lifetime.
pub(super) fn changes(session: &Session, turns: &[Turn], rates: &Rates, lifetime: Lifetime) -> Vec<Change> {
    let mut play = Play { session, turns, words: HashMap::new(), gone: HashSet::new(), freed: 0.0 };
    let mut changes = vec![Change::default(); turns.len()];
    for (at, turn) in turns.iter().enumerate().skip(1) {
        if turn.is_compacted {
            (play.gone, play.freed) = (HashSet::new(), 0.0);
        }
        let is_cold = turn.pause > lifetime.seconds() && !turn.is_compacted;
        if is_cold && turns[at - 1].window() > MIN_WINDOW_TOKENS {
            for lost in play.clear(at) {
                let later = play.later(at) as f64;
                let asked = turn.window() * rates.read + REQUEST_TOKENS * rates.output;
                changes[at].extra += asked + lost * (lifetime.write(rates) + rates.read * later / 2.0);
            }
        }
        changes[at].freed = play.freed;
    }
    changes
}

/// A session while it is played.
struct Play<'a> {
    session: &'a Session,
    turns: &'a [Turn],
    /// The words of each step that identify something.
    words: HashMap<usize, HashSet<&'a str>>,
    /// The results that were cleared since the last compaction.
    gone: HashSet<usize>,
    /// The tokens that this has freed.
    freed: f64,
}

impl<'a> Play<'a> {
    /// Clears results before a request. Returns the tokens of those that are asked for again.
    fn clear(&mut self, at: usize) -> Vec<f64> {
        let visible = self.visible(at);
        let results: Vec<usize> = visible.clone().filter(|step| self.is_result(*step)).collect();
        let older = &results[..results.len().saturating_sub(KEPT_RESULTS)];
        let is_due = |step: &usize| !self.gone.contains(step) && self.tokens(*step) > MIN_RESULT_TOKENS;
        let due: Vec<usize> = older.iter().copied().filter(is_due).collect();
        if due.is_empty() {
            return Vec::new();
        }
        self.freed += due.iter().map(|step| self.tokens(*step) - STUB_TOKENS).sum::<f64>();
        self.gone.extend(&due);
        self.used_later(at, visible, &due).into_iter().map(|step| self.tokens(step)).collect()
    }

    /// Returns the steps of a request's window: those since the last compaction.
    fn visible(&self, at: usize) -> Range<usize> {
        let end = self.turns[at].steps;
        let begin = self.session.steps[..end].iter().rposition(is_compaction).unwrap_or(0);
        begin..end
    }

    /// Returns the results among these whose words the model used until the next compaction, and that nothing else in
    /// its window had.
    fn used_later(&mut self, at: usize, visible: Range<usize>, cleared: &[usize]) -> HashSet<usize> {
        let left: Vec<usize> = visible.filter(|step| !self.gone.contains(step)).collect();
        left.iter().chain(cleared).for_each(|step| self.learn(*step));
        let still: HashSet<&str> = left.iter().flat_map(|step| &self.words[step]).copied().collect();
        let mut missing: HashMap<&'a str, usize> = HashMap::new();
        for step in cleared {
            missing.extend(self.words[step].iter().filter(|word| !still.contains(*word)).map(|word| (*word, *step)));
        }
        let mut used = HashSet::new();
        for step in self.until_compaction(at) {
            if missing.is_empty() {
                break;
            }
            self.learn(step);
            let is_models = matches!(self.session.steps[step], Step::Said { .. } | Step::Called { .. });
            for word in &self.words[&step] {
                used.extend(missing.remove(word).filter(|_| is_models));
            }
        }
        used
    }

    /// Returns the steps from a request to the next compaction.
    fn until_compaction(&self, at: usize) -> Range<usize> {
        let begin = self.turns[at].steps;
        let end = self.session.steps[begin..].iter().position(is_compaction).map(|after| begin + after);
        begin..end.unwrap_or(self.session.steps.len())
    }

    /// Returns the number of requests from this one to the next compaction.
    fn later(&self, at: usize) -> usize {
        let end = self.until_compaction(at).end;
        self.turns[at..].iter().filter(|turn| turn.steps < end).count()
    }

    fn is_result(&self, step: usize) -> bool {
        matches!(self.session.steps[step], Step::Result(_))
    }

    fn tokens(&self, step: usize) -> f64 {
        text(&self.session.steps[step]).chars().count() as f64 / TOKEN_CHARACTERS
    }

    fn learn(&mut self, step: usize) {
        let session = self.session;
        self.words.entry(step).or_insert_with(|| words(text(&session.steps[step])).collect());
    }
}

fn is_compaction(step: &Step) -> bool {
    matches!(step, Step::Compacted { .. })
}

fn text(step: &Step) -> &str {
    match step {
        Step::Prompt { text } | Step::Said { text, .. } | Step::Compacted { text } => text,
        Step::Called { given, .. } => given,
        Step::Result(result) => &result.text,
    }
}

/// Returns the words of a text that look like paths, numbers with a meaning, or names of a program.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_word = |character: char| character.is_ascii_alphanumeric() || "_./-".contains(character);
    let parts = text.split(move |character| !is_of_word(character)).filter(|part| part.len() >= MIN_WORD_BYTES);
    parts.map(|part| part.trim_matches(['.', '/', '-'])).filter(|word| identifies(word))
}

fn identifies(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_number = bytes.iter().all(u8::is_ascii_digit);
    let has_sign = bytes.iter().any(|byte| byte.is_ascii_digit() || b"_/.".contains(byte));
    let is_hump = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    word.len() >= MIN_WORD_BYTES && !is_number && (has_sign || bytes.windows(2).any(is_hump))
}
