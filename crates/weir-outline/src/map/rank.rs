//! Ranks files: by direct references in both directions, by words, by proximity, and by common changes.
//!
//! The fewer files mention a name, the more it counts; the more files define it, the less. Each of the four parts is
//! normalised to its best file, so none of them decides alone. Without a focus and a query, a file counts by how much
//! others mention what it offers.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::facts::Symbol;
use super::names::{WEIGHT_BITS, is_telling, word_number, words_of};

/// A file, as the ranking needs it.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Its path below the root.
    pub path: String,
    /// As in [`Facts`](super::Facts).
    pub defines: Vec<u32>,
    /// As in [`Facts`](super::Facts).
    pub mentions: Vec<u32>,
    /// As in [`Facts`](super::Facts).
    pub words: Vec<u32>,
}

/// What the map is for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wish<'a> {
    /// The files being worked on, as indices.
    pub focus: &'a [usize],
    /// Words that describe the work.
    pub query: &'a str,
    /// How often files changed together with the focus.
    pub together: &'a [(usize, f64)],
}

/// How much each part counts.
#[derive(Debug, Clone, Copy)]
pub struct Weights {
    pub references: f64,
    pub words: f64,
    /// The same folder, or the same name in another.
    pub near: f64,
    /// Common changes.
    pub together: f64,
}

impl Default for Weights {
    /// Set by hand. `weir-bench map` shows how little halving or doubling each changes.
    fn default() -> Self {
        Self { references: 1.0, words: 1.0, near: 0.5, together: 1.0 }
    }
}

/// A file with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    pub file: usize,
    /// How much the file matters, above 0.
    pub score: f64,
}

/// How much names and words matter, for selecting symbols.
#[derive(Debug, Default)]
pub struct Heat {
    names: Numbers<f64>,
    words: Numbers<f64>,
}

/// A cheap hasher, since the numbers of names are already evenly distributed.
#[derive(Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = (self.0 << 8) ^ u64::from(*byte));
    }

    fn write_u32(&mut self, number: u32) {
        // Multiply, since the hash table uses the upper bits too.
        self.0 = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

type Numbers<T> = HashMap<u32, T, BuildHasherDefault<NumberHasher>>;

impl Heat {
    pub fn of(&self, symbol: &Symbol) -> f64 {
        let mut heat = if symbol.is_offered { 0.1 } else { 0.02 };
        // A field may share its name with something that is used everywhere.
        if is_telling(symbol.name(), symbol.is_member()) {
            heat += self.names.get(&symbol.number()).copied().unwrap_or_default();
        }
        if !self.words.is_empty() {
            let mut seen = HashSet::new();
            let mut add = |text: &str, share: f64| {
                words_of(text, |word| {
                    let word = word_number(word);
                    if let Some(weight) = self.words.get(&word).filter(|_| seen.insert(word)) {
                        heat += weight * share;
                    }
                });
            };
            add(&symbol.path, 1.0);
            add(&symbol.signature, 0.3);
            add(&symbol.doc, 0.3);
        }
        heat
    }
}

/// Returns the files that matter, best first, without those of the focus.
pub fn rank(files: &[Known], wish: Wish<'_>) -> (Vec<Ranked>, Heat) {
    rank_with(files, wish, Weights::default())
}

/// Like [`rank`], with other weights.
pub fn rank_with(files: &[Known], wish: Wish<'_>, weights: Weights) -> (Vec<Ranked>, Heat) {
    let mut scores = vec![0.0; files.len()];
    let mut heat = Heat::default();
    let mut add = |part: Vec<f64>, weight: f64| {
        let best = part.iter().copied().fold(0.0, f64::max);
        if best > 0.0 {
            scores.iter_mut().zip(part).for_each(|(score, part)| *score += weight * part / best);
        }
    };
    let (by_words, words) = by_words(files, wish.query);
    heat.words = words;
    if wish.focus.is_empty() {
        let (mut part, names) = offered(files);
        heat.names = names;
        if wish.query.is_empty() {
            // A file that no other mentions is still part of the project.
            let best = part.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            part.iter_mut().zip(files).for_each(|(score, file)| *score += best * least(file));
            add(part, 1.0);
        } else {
            // This only breaks ties between files that match the words equally well.
            part.iter_mut().zip(&by_words).for_each(|(score, words)| *score *= f64::from(*words > 0.0));
            add(part, 0.05);
        }
    } else {
        let (part, names) = references(files, wish.focus);
        heat.names = names;
        add(part, weights.references);
        add(near(files, wish.focus), weights.near);
    }
    add(by_words, weights.words);
    let mut part = vec![0.0; files.len()];
    for (file, weight) in wish.together {
        if let Some(slot) = part.get_mut(*file) {
            *slot += weight;
        }
    }
    add(part, weights.together);
    let in_focus = |file: usize| wish.focus.contains(&file);
    let places = scores.into_iter().enumerate().filter(|(file, score)| *score > 0.0 && !in_focus(*file));
    let mut ranked: Vec<Ranked> = places.map(|(file, score)| Ranked { file, score }).collect();
    let path = |ranked: &Ranked| files.get(ranked.file).map(|file| file.path.as_str());
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| path(a).cmp(&path(b))));
    (ranked, heat)
}

/// Returns the minimum score of a file, which is tiny, or zero if it is empty.
fn least(file: &Known) -> f64 {
    if file.mentions.is_empty() { 0.0 } else { 0.001 }
}

/// How many files mention a name, and how many define it.
#[derive(Clone, Copy, Default)]
struct NameFrequency {
    mentions: u32,
    defines: u32,
}

impl NameFrequency {
    fn weight(self, files: usize) -> f64 {
        let rare = (files as f64 / f64::from(self.mentions.max(1))).ln().max(0.0);
        rare / f64::from(self.defines.max(1))
    }
}

/// Scores the references between the focus and each file, and returns the weight of each name.
fn references(files: &[Known], focus: &[usize]) -> (Vec<f64>, Numbers<f64>) {
    let own: Vec<&Known> = focus.iter().filter_map(|file| files.get(*file)).collect();
    let gather = |names: fn(&Known) -> &[u32]| {
        let mut all: Vec<u32> = own.iter().flat_map(|file| names(file).iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (offers, uses) = (gather(|file| &file.defines), gather(|file| &file.mentions));
    let mut spread: Numbers<NameFrequency> = Numbers::default();
    for file in files {
        each_shared(&offers, &file.mentions, |name| spread.entry(name).or_default().mentions += 1);
        each_shared(&uses, &file.defines, |name| spread.entry(name).or_default().defines += 1);
    }
    // A name that the focus uses counts only if it is defined somewhere.
    let used: Vec<u32> = uses.into_iter().filter(|name| spread.get(name).is_some_and(|it| it.defines > 0)).collect();
    let only_used: Vec<u32> = used.iter().copied().filter(|name| offers.binary_search(name).is_err()).collect();
    for file in files {
        each_shared(&only_used, &file.mentions, |name| spread.entry(name).or_default().mentions += 1);
    }
    let weights: Numbers<f64> = spread.into_iter().map(|(name, it)| (name, it.weight(files.len()))).collect();
    let weight = |name: u32| weights.get(&name).copied().unwrap_or_default();
    let score = |file: &Known| {
        let mut score = 0.0;
        each_shared(&offers, &file.mentions, |name| score += weight(name));
        each_shared(&only_used, &file.defines, |name| score += weight(name));
        score
    };
    let scores = files.iter().map(score).collect();
    (scores, weights)
}

/// Scores how much other files mention what each file offers, and returns the weight of each name.
fn offered(files: &[Known]) -> (Vec<f64>, Numbers<f64>) {
    let mut spread: Numbers<NameFrequency> = Numbers::default();
    for name in files.iter().flat_map(|file| &file.defines) {
        spread.entry(*name).or_default().defines += 1;
    }
    for name in files.iter().flat_map(|file| &file.mentions) {
        if let Some(it) = spread.get_mut(name) {
            it.mentions += 1;
        }
    }
    let heat = |it: NameFrequency| it.weight(files.len()) * f64::from(it.mentions.saturating_sub(1)).sqrt();
    let heats: Numbers<f64> = spread.into_iter().map(|(name, it)| (name, heat(it))).collect();
    let score = |file: &Known| file.defines.iter().filter_map(|name| heats.get(name)).sum::<f64>();
    (files.iter().map(score).collect(), heats)
}

/// Scores how well files match the words of a query, and returns the weight of each word.
fn by_words(files: &[Known], query: &str) -> (Vec<f64>, Numbers<f64>) {
    /// The weight in a file at which a word reaches half of its maximum score.
    const HALF_SCORE_WEIGHT: f64 = 3.0;
    let mut asked: Vec<u32> = Vec::new();
    words_of(query, |word| asked.push(word_number(word)));
    asked.sort_unstable();
    asked.dedup();
    let mut scores = vec![0.0; files.len()];
    let mut weights = Numbers::default();
    for word in asked {
        let have: Vec<(usize, f64)> =
            files.iter().enumerate().filter_map(|(at, file)| Some((at, weight_in(file, word)?))).collect();
        // A word that nearly every file contains distinguishes little. It still counts, so a file with all of the words
        // wins.
        let rare = ((files.len() + 1) as f64 / have.len().max(1) as f64).ln();
        weights.insert(word, rare);
        for (at, weight) in have {
            scores[at] += rare * weight / (weight + HALF_SCORE_WEIGHT);
        }
    }
    (scores, weights)
}

fn weight_in(file: &Known, word: u32) -> Option<f64> {
    let at = file.words.partition_point(|it| it >> WEIGHT_BITS < word);
    let found = file.words.get(at).filter(|it| **it >> WEIGHT_BITS == word)?;
    Some(f64::from(found & ((1 << WEIGHT_BITS) - 1)))
}

/// Scores how near each file is to the focus: by common folders, and by a common name.
fn near(files: &[Known], focus: &[usize]) -> Vec<f64> {
    let own: Vec<&str> = focus.iter().filter_map(|file| files.get(*file)).map(|file| file.path.as_str()).collect();
    let nearest = |file: &Known| own.iter().map(|path| nearness(path, &file.path)).fold(0.0, f64::max);
    files.iter().map(nearest).collect()
}

fn nearness(one: &str, other: &str) -> f64 {
    let (folder_one, name_one) = one.rsplit_once('/').unwrap_or(("", one));
    let (folder_other, name_other) = other.rsplit_once('/').unwrap_or(("", other));
    let parts = |folder: &str| folder.split('/').filter(|part| !part.is_empty()).count();
    let common =
        folder_one.split('/').zip(folder_other.split('/')).take_while(|(a, b)| a == b && !a.is_empty()).count();
    let depth = parts(folder_one).max(parts(folder_other));
    let folders = (common as f64 + 0.5) / (depth as f64 + 0.5);
    let same_name = stem(name_one) == stem(name_other);
    // `store.rs` is about the folder `store`.
    let about = |folder: &str, name: &str| folder.rsplit('/').next() == Some(stem(name));
    let related = same_name || about(folder_one, name_other) || about(folder_other, name_one);
    if related { folders + 0.5 } else { folders }
}

/// Returns a file name without its extension and without a test prefix or suffix.
fn stem(name: &str) -> &str {
    let stem = name.split('.').next().unwrap_or(name);
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    stem.strip_suffix("_test").or_else(|| stem.strip_suffix("Test")).unwrap_or(stem)
}

/// Calls `give` with each number that two sorted lists share.
fn each_shared(one: &[u32], other: &[u32], mut give: impl FnMut(u32)) {
    let (small, large) = if one.len() < other.len() { (one, other) } else { (other, one) };
    // For a short list, looking up each number is faster than merging with a long one.
    if small.len() * 16 < large.len() {
        small.iter().filter(|number| large.binary_search(number).is_ok()).for_each(|number| give(*number));
        return;
    }
    let mut rest = large.iter().copied().peekable();
    for number in small {
        while rest.next_if(|other| other < number).is_some() {}
        if rest.peek() == Some(number) {
            give(*number);
        }
    }
}
