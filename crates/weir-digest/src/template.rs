//! Groups lines that differ only in their values into templates with counts.
//!
//! A line is split at white space. In a word with digits, and in the value of `key=value`, the part that changes is a
//! slot. Lines whose words are otherwise equal share a template from the start. Where many templates differ in a single
//! word, that word becomes a slot too; where many share a beginning and then diverge, the beginning becomes the
//! template.
//!
//! Invariants: the counts are exact; memory is bounded by the limits below, and lines beyond them are counted; time is
//! linear in the number of lines, since templates are looked up by hashes that can be updated word by word.

use std::collections::{BTreeMap, HashMap};

mod alike;
mod slot;
mod words;

pub(crate) use alike::Template;
use words::{WILD, Words, hash, mixed};

const MAX_TEMPLATES: usize = 1_000;
/// How many of the first templates are never given up.
const PROTECTED_TEMPLATES: usize = 40;
/// The maximum number of sets of slots tried for a line that matches no template exactly.
const MAX_MASKS: usize = 24;
/// How many different words at one position make it a slot.
const MIN_SLOT_WORDS: usize = 4;
/// The maximum number of bytes kept of a first and of a last line.
const MAX_LINE_BYTES: usize = 500;
/// The maximum number of values kept in all slots together.
const MAX_VALUES: usize = 12_000;

/// The sort of the lines that matter least.
pub(crate) const COMMON: u8 = u8::MAX;

#[derive(Debug, Clone, Copy)]
pub(crate) struct InputLine<'a> {
    pub number: u64,
    pub text: &'a str,
    /// The range of bytes to ignore: its time.
    pub skip: (usize, usize),
    /// Its sort. Lines of different sorts never share a template; templates of sort [`COMMON`] are given up first when
    /// there are too many.
    pub sort: u8,
}

/// The templates of the lines counted so far.
#[derive(Debug, Default)]
pub(crate) struct Templates {
    all: Vec<Template>,
    by_key: HashMap<u64, usize>,
    /// For each number of words, the sets of positions that are slots.
    masks: BTreeMap<usize, Vec<u64>>,
    /// The numbers of words for which the beginnings of lines are looked up.
    beginnings: Vec<usize>,
    /// The number of lines without a template, because there were too many.
    pub others: u64,
    values: usize,
    words: Words,
    /// The number of templates at which similar ones are joined next.
    join_at: usize,
    /// Whether templates have been given up, in which case later counts may be too low.
    gave_up: bool,
}

impl Templates {
    /// Counts a line. Returns the index of its template, and whether the line is the first of it.
    pub(crate) fn add(&mut self, given: &InputLine<'_>) -> Option<(usize, bool)> {
        let mut words = std::mem::take(&mut self.words);
        words.split(given.text, given.skip);
        let found = self.add_words(&words, given);
        self.words = words;
        found
    }

    /// Returns how many lines the template at an index has.
    pub(crate) fn count(&self, place: usize) -> u64 {
        self.all.get(place).map_or(0, |template| template.count)
    }

    /// Returns all templates in the order of their first lines, with similar ones joined, and the number of other
    /// lines.
    pub(crate) fn finish(mut self) -> (Vec<Template>, u64) {
        self.join();
        self.all.sort_by_key(|template| template.first.0);
        (self.all, self.others)
    }

    fn add_words(&mut self, words: &Words, given: &InputLine<'_>) -> Option<(usize, bool)> {
        let mut place = self.find(words, given.sort);
        if place.is_none() && self.all.len() >= self.join_at.max(MAX_TEMPLATES / 2) {
            self.join();
            // Wait until there are many new ones; otherwise every new line would pay for a join.
            self.join_at = self.all.len() + MAX_TEMPLATES / 8;
            place = self.find(words, given.sort);
        }
        let Some(place) = place else {
            if self.all.len() >= MAX_TEMPLATES {
                self.give_up();
            }
            if self.all.len() >= MAX_TEMPLATES {
                self.others += 1;
                return None;
            }
            let template = Template { late: self.gave_up, ..Template::of(words, given) };
            self.by_key.insert(template.key, self.all.len());
            self.all.push(template);
            let place = self.all.len() - 1;
            self.fill(place, words, given);
            return Some((place, true));
        };
        let template = self.all.get_mut(place)?;
        template.count += 1;
        template.keep(given);
        template.last.0 = given.number;
        template.last.1.clear();
        template.last.1.push_str(&given.text[..given.text.floor_char_boundary(MAX_LINE_BYTES)]);
        self.fill(place, words, given);
        Some((place, false))
    }

    fn fill(&mut self, place: usize, words: &Words, given: &InputLine<'_>) {
        let Some(template) = self.all.get_mut(place) else { return };
        for (word, span) in template.words.iter_mut().zip(&words.spans) {
            let Some(slot) = &mut word.slot else { continue };
            let whole = word.before.is_empty() && word.after.is_empty();
            let (start, end) = if whole { span.word } else { span.value.unwrap_or(span.word) };
            let value = given.text.get(start..end).unwrap_or_default();
            self.values += usize::from(slot.add(value, (given.number, given.text), self.values < MAX_VALUES));
        }
    }

    fn find(&self, words: &Words, sort: u8) -> Option<usize> {
        let key = words.key(sort);
        if let Some(&place) = self.by_key.get(&key) {
            return Some(place);
        }
        for mask in self.masks.get(&words.spans.len()).into_iter().flatten() {
            let mut masked = key;
            for (place, span) in words.spans.iter().enumerate().filter(|(place, _)| mask >> place & 1 == 1) {
                masked = masked.wrapping_sub(mixed(span.hash, place)).wrapping_add(mixed(WILD, place));
            }
            if let Some(&place) = self.by_key.get(&masked) {
                return Some(place);
            }
        }
        self.beginnings
            .iter()
            .filter(|&&count| count < words.spans.len())
            .find_map(|&count| self.by_key.get(&words.beginning_key(sort, count)).copied())
    }

    /// Joins templates that differ in one word, and those that share a beginning and then diverge.
    fn join(&mut self) {
        // Each pass joins at one more position. Three slots of names in one line are enough.
        for _ in 0..3 {
            if !self.join_at_words() {
                break;
            }
        }
        for (count, many) in [(8, 6), (7, 6), (6, 6), (5, 8), (4, 12), (3, 24)] {
            self.join_beginnings(count, many);
        }
    }

    fn join_at_words(&mut self) -> bool {
        let mut keys: Vec<(u64, usize, usize)> = Vec::new();
        for (place, template) in self.all.iter().enumerate().filter(|(_, template)| !template.open) {
            for (at, word) in template.words.iter().enumerate().filter(|(_, word)| word.slot.is_none()) {
                let key = template.key.wrapping_sub(mixed(word.hash, at)).wrapping_add(mixed(WILD, at));
                keys.push((key, place, at));
            }
        }
        keys.sort_unstable();
        let mut groups: Vec<&[(u64, usize, usize)]> = keys
            .chunk_by(|one, two| one.0 == two.0 && one.2 == two.2)
            .filter(|group| group.len() >= MIN_SLOT_WORDS)
            .collect();
        // The largest groups first, in an order that does not depend on the hashes.
        groups.sort_by_key(|group| (usize::MAX - group.len(), group.iter().map(|entry| entry.1).min(), group[0].2));
        let mut gone = vec![false; self.all.len()];
        let mut joined = false;
        for group in groups {
            let members: Vec<usize> = group.iter().map(|entry| entry.1).filter(|&place| !gone[place]).collect();
            let (key, _, at) = group[0];
            if members.len() < MIN_SLOT_WORDS || self.by_key.contains_key(&key) || !self.allow_mask(members[0], at) {
                continue;
            }
            joined = true;
            let into = members[0];
            for &place in &members[1..] {
                gone[place] = true;
                let other = self.all[place].clone();
                self.all[into].join(&other, at);
            }
            self.all[into].close_at(at, key);
        }
        self.keep(&gone);
        joined
    }

    /// Returns whether lines can be looked up with this position as another slot.
    fn allow_mask(&mut self, place: usize, at: usize) -> bool {
        let template = &self.all[place];
        if at >= 64 {
            return false;
        }
        let mask = template.wild | 1 << at;
        let masks = self.masks.entry(template.words.len()).or_default();
        if masks.contains(&mask) {
            return true;
        }
        let room = masks.len() < MAX_MASKS;
        if room {
            masks.push(mask);
        }
        room
    }

    /// Joins templates that share their first `count` words, if at least `many` of them have only one or two lines.
    fn join_beginnings(&mut self, count: usize, many: usize) {
        let mut keys: Vec<(u64, usize)> = Vec::new();
        for (place, template) in self.all.iter().enumerate() {
            if template.count <= 2 && !template.open && template.words.len() > count {
                keys.push((template.beginning_key(count), place));
            }
        }
        keys.sort_unstable();
        let mut gone = vec![false; self.all.len()];
        for group in keys.chunk_by(|one, two| one.0 == two.0).filter(|group| group.len() >= many) {
            let (key, into) = group[0];
            if self.by_key.contains_key(&key) {
                continue;
            }
            self.all[into].open_after(count, key);
            for &(_, place) in &group[1..] {
                gone[place] = true;
                let other = self.all[place].clone();
                self.all[into].join(&other, usize::MAX);
            }
            if !self.beginnings.contains(&count) {
                self.beginnings.push(count);
            }
        }
        self.keep(&gone);
    }

    /// Makes room: counts, instead of keeping, the older half of the common templates that have one line, except the
    /// very first.
    fn give_up(&mut self) {
        let single = |template: &Template| template.count == 1 && template.sort == COMMON;
        let mut firsts: Vec<u64> = self.all.iter().filter(|one| single(one)).map(|one| one.first.0).collect();
        if firsts.len() < MAX_TEMPLATES / 8 {
            return;
        }
        firsts.sort_unstable();
        let from = firsts.get(PROTECTED_TEMPLATES).copied().unwrap_or(0);
        let until = firsts.get(firsts.len() / 2).copied().unwrap_or(0);
        let gone: Vec<bool> = self.all.iter().map(|one| single(one) && (from..=until).contains(&one.first.0)).collect();
        self.others += gone.iter().filter(|&&gone| gone).count() as u64;
        self.gave_up = true;
        self.keep(&gone);
        self.join_at = self.all.len() + MAX_TEMPLATES / 8;
    }

    fn keep(&mut self, gone: &[bool]) {
        let mut place = 0;
        self.all.retain(|_| {
            place += 1;
            !gone.get(place - 1).copied().unwrap_or(false)
        });
        self.by_key = self.all.iter().enumerate().map(|(place, template)| (template.key, place)).collect();
    }
}

/// Hashes a text, for callers that look texts up as templates are.
pub(crate) fn text_hash(text: &str) -> u64 {
    hash(text.as_bytes(), b"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[String]) -> Vec<String> {
        let mut templates = Templates::default();
        for (number, text) in (1..).zip(lines) {
            templates.add(&InputLine { number, text, skip: (0, 0), sort: COMMON });
        }
        templates.finish().0.iter().map(|template| format!("{} {}", template.times(), template.show(200))).collect()
    }

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_long_value_says_that_it_was_cut() {
        let long = "tables::utf8_to_utf16::utf8bigindex[input_utf8_end_of_code_point_mask]";
        let lines: Vec<String> = (0..4).map(|number| format!("line {number}0 of {long}[{number}];")).collect();
        let shown = shown(&lines).join("\n");
        assert!(shown.contains("code_point_m") && shown.contains('…'), "{shown}");
    }

    #[test]
    fn values_are_slots_with_their_counts() {
        let found =
            shown(&lines(&["job 1 took 12ms user=a", "job 2 took 900ms user=b", "job 3 took 1s user=a", "bye"]));
        assert_eq!(found, ["3 job {1..3} took {12ms..1s} user={a ×2, b}", "1 bye"]);
    }

    #[test]
    fn a_value_that_never_changes_is_text() {
        assert_eq!(shown(&lines(&["sshd[12]: hello", "sshd[12]: hello"])), ["2 sshd[12]: hello"]);
    }

    #[test]
    fn words_become_slots_only_where_many_differ() {
        let users = ["ann", "bob", "cid", "dan", "eve"].map(|name| format!("login of {name} ok"));
        assert_eq!(shown(&users), ["5 login of {ann, bob, cid, dan, eve} ok"]);
        assert_eq!(shown(&lines(&["link is up", "link is down"])), ["1 link is up", "1 link is down"]);
    }

    #[test]
    fn beginnings_are_joined_where_the_rest_is_free_text() {
        let words = ["one", "two", "red", "sun", "sea", "fog", "elm", "oak"];
        let texts: Vec<String> = (1..=8).map(|count| format!("a b c d e f g h {}", words[..count].join(" "))).collect();
        assert_eq!(shown(&texts), ["8 a b c d e f g h …"]);
    }

    #[test]
    fn too_many_templates_are_counted() {
        let letters = |number: usize| -> String {
            number.to_string().bytes().map(|byte| char::from(byte - b'0' + b'a')).collect()
        };
        let texts: Vec<String> = (0..5_000).map(|number| format!("{0} x{0} y{0}", letters(number))).collect();
        let mut templates = Templates::default();
        for (number, text) in (1..).zip(&texts) {
            templates.add(&InputLine { number, text, skip: (0, 0), sort: COMMON });
        }
        let (all, others) = templates.finish();
        assert!(all.len() <= MAX_TEMPLATES);
        assert_eq!(all.iter().map(|template| template.count).sum::<u64>() + others, 5_000);
    }
}
