//! Finds the sections of an output that say the most about what someone wants to know.
//!
//! Invariants: the whole output is searched, whatever its size; sections are shown verbatim; the same question finds
//! the same sections.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::io;

use weir_core::query;

use crate::Source;
use crate::page::{Item, Page, Part, Weight};
use crate::sections::{self, Section};

/// The maximum number of sections kept. More could not be shown.
const MAX_SECTIONS: usize = 40;
/// The maximum number of words suggested for the next question, and of words counted to choose them.
const MAX_SUGGESTED_WORDS: usize = 20;
const MAX_COUNTED_WORDS: usize = 20_000;
/// In an output with at least this many sections, a word of the question that most of them have is ignored.
const MIN_SECTIONS: usize = 8;
/// BM25 parameters, as in the index: term frequency saturation (k1) and length normalisation (b).
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.4;

/// What an intent finds in an output.
pub struct IntentMatches {
    /// How often each of the words asked for occurs.
    often: Part,
    sections: Part,
    /// Words that distinguish the sections of the output, as suggestions for the next question.
    words: Part,
    asked: Question,
    counts: Counts,
}

/// Finds the sections that say the most about an intent.
pub fn find(source: &dyn Source, intent: &str) -> io::Result<IntentMatches> {
    let asked = Question::new(intent);
    let mut counts = Counts { of_term: vec![(0, 0); asked.terms.len()], ..Counts::default() };
    let mut words = SectionWords::default();
    sections::each(source, |section| counts.add(&asked.count_terms(section.text), &mut words, section.text))?;
    let mut best = TopSections::default();
    sections::each(source, |section| {
        let score = counts.score(&asked.count_terms(section.text));
        if score > 0.0 {
            best.keep(score, &section);
        }
    })?;
    let named = words.distinctive(counts.sections, &asked);
    let items = if named.is_empty() { Vec::new() } else { vec![Item::plain(named.join(" "))] };
    let sections = best.part();
    // Where nothing matches, the words that could have been asked for are the answer.
    let weight = if sections.total == 0 { Weight::Asked } else { Weight::Shape };
    let words = Part::uncounted("other telling words", weight, items);
    Ok(IntentMatches { often: counts.often(&asked), sections, words, asked, counts })
}

impl IntentMatches {
    pub fn matching_sections(&self) -> u64 {
        self.sections.total
    }

    /// Returns what matches, in the order in which it is shown: how often the words occur, facts of the page, sections,
    /// and words for the next question.
    pub fn parts(self, page: &Page) -> Vec<Part> {
        let facts = self.facts(page);
        vec![self.often, facts, self.sections, self.words]
    }

    /// Returns the facts of a page that match, best first, whether or not a digest has room for them.
    fn facts(&self, page: &Page) -> Part {
        let mut items: Vec<(f64, &Item)> = Vec::new();
        for part in &page.parts {
            let scored = part.items.iter().map(|item| (self.score(&part.name, item), item));
            items.extend(scored.filter(|(score, _)| *score > 0.0));
        }
        items.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let total = items.len() as u64;
        let items = items.into_iter().take(MAX_SECTIONS).map(|(_, item)| item.clone()).collect();
        Part::new("facts that match", Weight::Asked, items).of(total)
    }

    fn score(&self, name: &str, item: &Item) -> f64 {
        self.counts.score(&self.asked.count_terms(&format!("{name} {}", item.text)))
    }
}

/// The best sections. Of sections that differ only in their numbers, one is kept, which leaves room for others.
#[derive(Default)]
struct TopSections {
    kept: Vec<KeptSection>,
    matching: u64,
}

struct KeptSection {
    score: f64,
    alike: u64,
    same: u64,
    line: u64,
    text: String,
}

impl TopSections {
    fn keep(&mut self, score: f64, section: &Section<'_>) {
        self.matching += 1;
        let alike = without_numbers(section.text);
        let mut same = 0;
        if let Some(place) = self.kept.iter().position(|kept| kept.alike == alike) {
            self.kept[place].same += 1;
            if self.kept[place].score >= score {
                return;
            }
            same = self.kept.remove(place).same;
        }
        // Of sections with equal scores, the earlier ones come first.
        let place = self.kept.partition_point(|kept| kept.score >= score);
        if place < MAX_SECTIONS {
            let kept = KeptSection { score, alike, same, line: section.line, text: section.text.to_owned() };
            self.kept.insert(place, kept);
            self.kept.truncate(MAX_SECTIONS);
        }
    }

    fn part(self) -> Part {
        let show = |kept: KeptSection| match kept.same {
            0 => Item::at(kept.line, kept.text),
            same => Item::at(kept.line, format!("{}\n… ({same} more like this)", kept.text)),
        };
        let items = self.kept.into_iter().map(show).collect();
        Part::new("sections that match", Weight::Asked, items).of(self.matching)
    }
}

/// Hashes a text without its digits.
fn without_numbers(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.bytes().filter(|byte| !byte.is_ascii_digit()).for_each(|byte| hasher.write_u8(byte));
    hasher.finish()
}

/// The question: its words, and its phrases.
struct Question {
    terms: Vec<Vec<u16>>,
    /// The terms as the question spells them.
    names: Vec<String>,
    stems: HashMap<String, u16>,
}

impl Question {
    fn new(intent: &str) -> Self {
        let mut asked = Self { terms: Vec::new(), names: Vec::new(), stems: HashMap::new() };
        let single: Vec<String> =
            query::terms(intent).into_iter().map(|term| term.words.join(" ")).inspect(|term| asked.add(term)).collect();
        // Words that are adjacent in a question are often adjacent in its answer.
        for pair in single.windows(2).filter(|pair| pair.iter().all(|term| !term.contains(' '))) {
            asked.add(&pair.join(" "));
        }
        asked
    }

    fn add(&mut self, term: &str) {
        let places = term.split(' ').map(|word| {
            let next = self.stems.len() as u16;
            *self.stems.entry(stem(word)).or_insert(next)
        });
        let places: Vec<u16> = places.collect();
        if !self.terms.contains(&places) {
            self.terms.push(places);
            self.names.push(term.to_owned());
        }
    }

    /// Counts how often each term occurs in a text, and how many words the text has.
    fn count_terms(&self, text: &str) -> TermCounts {
        let mut look = TermCounts { times: vec![0; self.terms.len()], words: 0 };
        let mut seen: Vec<Option<u16>> = Vec::with_capacity(text.len() / 6);
        each_word(text, |word| seen.push(self.stems.get(word).copied()));
        look.words = seen.len();
        for (term, times) in self.terms.iter().zip(&mut look.times) {
            *times = match term.as_slice() {
                [word] => seen.iter().filter(|place| **place == Some(*word)).count(),
                words => {
                    seen.windows(words.len()).filter(|run| run.iter().zip(words).all(|(a, b)| *a == Some(*b))).count()
                }
            };
        }
        look
    }
}

struct TermCounts {
    times: Vec<usize>,
    words: usize,
}

#[derive(Default)]
struct Counts {
    sections: usize,
    words: usize,
    /// For each term, the number of sections that contain it and the number of occurrences.
    of_term: Vec<(usize, usize)>,
}

impl Counts {
    fn add(&mut self, look: &TermCounts, words: &mut SectionWords, text: &str) {
        self.sections += 1;
        self.words += look.words;
        for (times, (with, often)) in look.times.iter().zip(&mut self.of_term) {
            *with += usize::from(*times > 0);
            *often += times;
        }
        words.add(self.sections, text);
    }

    /// Returns how often each term occurs.
    fn often(&self, asked: &Question) -> Part {
        let counted = asked.names.iter().zip(&self.of_term).filter(|(_, (_, often))| *often > 0);
        let counted: Vec<String> = counted.map(|(name, (_, often))| format!("{name} {often}×")).collect();
        let items = if counted.is_empty() { Vec::new() } else { vec![Item::plain(counted.join(", "))] };
        Part::uncounted("how often the words asked for come, in any form", Weight::Asked, items)
    }

    /// Scores by BM25, with a bonus for sections that match more of the terms.
    fn score(&self, look: &TermCounts) -> f64 {
        let average = self.words as f64 / self.sections.max(1) as f64;
        let long = 1.0 - LENGTH + LENGTH * look.words as f64 / average.max(1.0);
        let (mut score, mut found, mut asked) = (0.0, 0.0, 0.0);
        for (times, (with, _)) in look.times.iter().zip(&self.of_term) {
            // A word that most sections have selects none of them.
            if self.sections >= MIN_SECTIONS && *with * 2 > self.sections {
                continue;
            }
            let rare = (1.0 + (self.sections as f64 - *with as f64 + 0.5) / (*with as f64 + 0.5)).ln();
            asked += rare;
            if *times > 0 {
                found += rare;
                let times = *times as f64;
                score += rare * times * (SATURATION + 1.0) / (times + SATURATION * long);
            }
        }
        score * (0.5 + 0.5 * found / f64::max(asked, f64::MIN_POSITIVE))
    }
}

/// The words of an output, with the number of sections that contain them.
#[derive(Default)]
struct SectionWords {
    counts: HashMap<String, (usize, usize)>,
}

impl SectionWords {
    fn add(&mut self, section: usize, text: &str) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if !(4..=32).contains(&word.len()) || word.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            if let Some((sections, last)) = self.counts.get_mut(word) {
                *sections += usize::from(*last != section);
                *last = section;
            } else if self.counts.len() < MAX_COUNTED_WORDS {
                self.counts.insert(word.to_owned(), (1, section));
            }
        }
    }

    /// Returns words that occur in more than one section but not everywhere, the most distinctive first.
    fn distinctive(&self, sections: usize, asked: &Question) -> Vec<&str> {
        let mut words: Vec<(f64, &str)> = Vec::new();
        for (word, (with, _)) in &self.counts {
            if *with < 2 || *with * 4 > sections || asked.stems.contains_key(&stem(&word.to_lowercase())) {
                continue;
            }
            if weir_core::words::is_stop_word(&word.to_lowercase()) {
                continue;
            }
            let with = *with as f64;
            // Identifiers distinguish better than plain words, and somewhat rare words better than very rare ones.
            let name = if word.contains('_') || word.chars().skip(1).any(char::is_uppercase) { 1.5 } else { 1.0 };
            words.push((with.ln_1p() * (sections as f64 / with).ln() * name, word));
        }
        words.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
        words.into_iter().take(MAX_SUGGESTED_WORDS).map(|(_, word)| word).collect()
    }
}

/// Visits the stems of the words of a text: runs of letters and digits, and the parts of camelCase names.
fn each_word(text: &str, mut visit: impl FnMut(&str)) {
    let mut lower = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        lower.clear();
        match word.is_ascii() {
            true => lower.extend(word.bytes().map(|byte| char::from(byte.to_ascii_lowercase()))),
            false => lower.push_str(&word.to_lowercase()),
        }
        visit(stem_of(&lower));
        if word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
            && word.bytes().any(|byte| byte.is_ascii_lowercase())
        {
            let parts = weir_core::words::camel_parts(word);
            if parts.len() > 1 {
                parts.iter().for_each(|part| visit(stem_of(part)));
            }
        }
    }
}

fn stem(word: &str) -> String {
    stem_of(word).to_owned()
}

/// Returns a word without the endings in which a question and its answer often differ.
fn stem_of(word: &str) -> &str {
    for ending in ["ings", "ing", "ures", "ure", "ers", "ed", "es", "er", "s", "e"] {
        if let Some(bare) = word.strip_suffix(ending)
            && bare.len() >= 4
            && !bare.ends_with(|c: char| c.is_ascii_digit())
        {
            return bare;
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, intent: &str) -> Vec<String> {
        let bytes = text.as_bytes();
        find(&bytes, intent)
            .unwrap()
            .sections
            .items
            .into_iter()
            .map(|item| format!("{}: {}", item.line.unwrap_or(0), item.text))
            .collect()
    }

    #[test]
    fn the_best_section_comes_first_with_its_line() {
        let filler = "GET /health 200 in 3 ms\n".repeat(400);
        let text = format!("{filler}connection refused by payments-db:5432\n{filler}");
        let found = found(&text, "why was the connection to the payments database refused?");
        assert!(found[0].contains("connection refused by payments-db:5432"), "{}", found[0]);
    }

    #[test]
    fn endings_and_cases_of_names_do_not_matter() {
        for (text, intent) in [
            ("the pools are exhausted", "pool exhausting"),
            ("fn parseHttpRequest()", "http request parser"),
            ("3 failures", "failed"),
        ] {
            assert_eq!(found(text, intent).len(), 1, "{intent}");
        }
        assert!(found("nothing of it", "quite another").is_empty());
    }

    #[test]
    fn words_for_the_next_question_are_those_that_tell() {
        let text = (0..4000)
            .map(|n| format!("line {n} of everything\n{}\n", if n % 400 == 0 { "pool_exhausted" } else { "same" }));
        let text: String = text.collect();
        let bytes = text.as_bytes();
        let words = find(&bytes, "x").unwrap().words;
        assert!(words.items[0].text.starts_with("pool_exhausted"), "{}", words.items[0].text);
    }
}
