//! Bytes that are not text: their type, their number, and the readable text in them.
//!
//! Invariant: memory does not grow with the number of bytes.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::magic;
use crate::text::clip;
use crate::trouble;
use crate::{Item, Page, Part, Weight};

/// The maximum number of bytes kept from the beginning and from the end.
const MAX_HEAD_BYTES: usize = 64 << 10;
const MAX_TAIL_BYTES: usize = 16;
/// The minimum number of characters of a text, and the maximum that is kept.
const MIN_TEXT_CHARS: usize = 6;
const MAX_TEXT_CHARS: usize = 600;
const MAX_TEXTS: usize = 2_000;

#[derive(Default)]
pub(super) struct Bytes {
    pub count: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
    run: Vec<u8>,
    run_length: usize,
    texts: Vec<TextGroup>,
    places: HashMap<u64, usize>,
    /// The number of texts, and how many of them came after the limit was reached.
    found: u64,
    beyond: u64,
}

/// Texts with the same words.
struct TextGroup {
    first: String,
    count: u64,
    at: u64,
}

impl Bytes {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let room = MAX_HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..room).unwrap_or_default());
        for &byte in bytes {
            self.count += 1;
            if matches!(byte, 0x20..=0x7e | b'\t') {
                self.run_length += 1;
                if self.run.len() < MAX_TEXT_CHARS {
                    self.run.push(byte);
                }
            } else {
                self.end_run();
            }
        }
        self.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(MAX_TAIL_BYTES)..).unwrap_or_default());
        let more = self.tail.len().saturating_sub(MAX_TAIL_BYTES);
        self.tail.drain(..more);
    }

    pub(super) fn skip(&mut self, count: u64) {
        if count > 0 {
            self.end_run();
            self.count = self.count.saturating_add(count);
        }
    }

    pub(super) fn facts(&self) -> Vec<String> {
        magic::facts(&self.head, &self.tail)
    }

    fn end_run(&mut self) {
        if self.run_length >= MIN_TEXT_CHARS {
            self.text();
        }
        self.run.clear();
        self.run_length = 0;
    }

    fn text(&mut self) {
        let Ok(text) = std::str::from_utf8(&self.run) else { return };
        let text = text.trim();
        if text.len() < MIN_TEXT_CHARS || !is_readable(text) {
            return;
        }
        self.found += 1;
        let mut hasher = DefaultHasher::new();
        // One or two letters are often bytes around the text.
        for word in text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 2) {
            word.hash(&mut hasher);
        }
        let key = hasher.finish();
        if let Some(known) = self.places.get(&key).and_then(|&place| self.texts.get_mut(place)) {
            known.count += 1;
        } else if self.texts.len() < MAX_TEXTS {
            self.places.insert(key, self.texts.len());
            let at = self.count.saturating_sub(self.run_length as u64 + 1);
            self.texts.push(TextGroup { first: text.to_owned(), count: 1, at });
        } else {
            self.beyond += 1;
        }
    }

    /// Returns the name of their type, in our words.
    pub(super) fn name(&self) -> Option<&'static str> {
        magic::name(&self.head)
    }

    /// Returns the first bytes as text, if all of them are readable.
    pub(super) fn as_text(&self) -> Option<&str> {
        let end =
            if self.count as usize > self.head.len() { self.head.len().saturating_sub(4) } else { self.head.len() };
        let text = std::str::from_utf8(self.head.get(..end)?).ok()?;
        let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
        (!text.is_empty() && text.chars().all(plain)).then_some(text)
    }

    pub(super) fn push(mut self, page: &mut Page) {
        self.end_run();
        let name = self.name();
        let facts = self.facts().into_iter().map(Item::plain).collect();
        page.push(Part::new("facts from its first bytes", Weight::Fact, facts));
        let packed = magic::is_packed(name);
        let mut texts: Vec<&TextGroup> = self.texts.iter().filter(|text| !packed || is_wording(&text.first)).collect();
        texts.sort_by_key(|text| (rank(&text.first), if text.count > 1 { 1 } else { 0 }, text.at));
        let (important, others): (Vec<&TextGroup>, Vec<&TextGroup>) =
            texts.iter().partition(|text| rank(&text.first) < 3);
        let total = if packed { texts.len() as u64 } else { self.found };
        page.push(Part::new("text in it that may matter", Weight::Fact, items(&important)).of(important.len() as u64));
        let mut others = others;
        others.sort_by_key(|text| (std::cmp::Reverse(text.count > 2), text.at));
        let what = if self.beyond > 0 { "other text in it, at least" } else { "other text in it" };
        let others_count = if packed { others.len() as u64 } else { others.iter().map(|text| text.count).sum() };
        page.push(Part::new(what, Weight::Shape, items(&others)).of(others_count.min(total) + self.beyond));
    }
}

fn items(texts: &[&TextGroup]) -> Vec<Item> {
    let item = |text: &&TextGroup| {
        let times = if text.count > 1 { format!(" ×{}, similar", text.count) } else { String::new() };
        Item::plain(format!("at byte {}: {}{times}", text.at, clip(shown(&text.first), 300)))
    };
    texts.iter().take(40).map(item).collect()
}

/// Extracts the definition of a database table, which other words and a possibly readable byte surround.
fn shown(text: &str) -> &str {
    let Some(table) = text.find("CREATE ").and_then(|start| text.get(start..)) else { return text };
    table.rfind(')').and_then(|end| table.get(..=end)).unwrap_or(table)
}

/// Ranks a text by how much it may matter.
fn rank(text: &str) -> u8 {
    #[rustfmt::skip]
    const TELLING: [&str; 11] = [
        "version", "http://", "https://", "copyright", "licen", "gcc: ", "rustc", "clang", "go1.", "built", "author",
    ];
    if text.contains("CREATE TABLE") || text.contains("CREATE INDEX") || text.contains("CREATE VIEW") {
        return 0;
    }
    if trouble::of(text).is_some() {
        return 1;
    }
    let lower = text.to_ascii_lowercase();
    if TELLING.iter().any(|word| lower.contains(word)) { 2 } else { 3 }
}

/// Returns whether a text is plausible: machine code contains bytes that happen to be letters.
fn is_readable(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let in_words = text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || b" _./:-,".contains(byte)).count();
    let small = text.as_bytes().windows(3).any(|three| three.iter().all(u8::is_ascii_lowercase));
    letters * 4 >= text.len() && in_words * 10 >= text.len() * 7 && (small || text.contains([' ', '.', '/', '_', '-']))
}

/// Returns whether a text consists of words rather than random letters.
fn is_wording(text: &str) -> bool {
    let good = text.bytes().filter(|byte| byte.is_ascii_alphabetic() || *byte == b' ').count();
    text.len() >= 10 && good * 10 >= text.len() * 8 && text.contains(' ')
}
