//! What the map knows about one file.

use std::collections::BTreeMap;

use super::names::{WEIGHT_BITS, is_telling, mentioned, number, word_number, words_of};
use crate::model::{Item, ItemKind, ItemOrigin, Outline};

/// The weight of a word, by where it occurs.
const IN_PATH: u32 = 3;
const IN_NAME: u32 = 3;
const IN_SIGNATURE: u32 = 1;
const IN_DOC: u32 = 1;
/// Maximum weight of a word, however often it occurs in a file.
const MAX_WEIGHT: u32 = 12;
const MAX_SIGNATURE_CHARS: usize = 240;

/// What the map knows about one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The numbers of the names that other files may use, sorted.
    pub defines: Vec<u32>,
    /// The numbers of all names in the file, sorted.
    pub mentions: Vec<u32>,
    /// The words that the file is found by, sorted: the number of the word, with its weight in the last four bits.
    pub words: Vec<u32>,
    /// Its symbols, in the order of the file.
    pub symbols: Vec<Symbol>,
}

/// A symbol, as the map shows and finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its line, counted from 1.
    pub line: u32,
    /// Whether other files may use it.
    pub is_offered: bool,
    /// The names from the outermost to its own, separated by full stops.
    pub path: String,
    pub signature: String,
    /// The first sentence of its documentation, or an empty string.
    pub doc: String,
}

impl Symbol {
    /// Returns its own name, without the enclosing ones.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }

    pub fn is_member(&self) -> bool {
        self.path.contains('.')
    }

    pub(super) fn number(&self) -> u32 {
        number(self.name())
    }
}

impl Facts {
    /// Computes the facts of a file that has an outline.
    pub fn of(path: &str, text: &str, outline: &Outline) -> Self {
        let mut facts = Self { mentions: mentioned(text), ..Self::default() };
        let mut words = BTreeMap::new();
        add(&mut words, path, IN_PATH);
        add(&mut words, outline.purpose.as_deref().unwrap_or_default(), IN_DOC);
        let mut builder = FactsBuilder { facts: &mut facts, words: &mut words };
        outline.items.iter().for_each(|item| builder.item(item, "", true));
        facts.defines.sort_unstable();
        facts.defines.dedup();
        facts.words = words.into_iter().map(|(word, weight)| word << WEIGHT_BITS | weight).collect();
        facts
    }
}

struct FactsBuilder<'a> {
    facts: &'a mut Facts,
    words: &'a mut BTreeMap<u32, u32>,
}

impl FactsBuilder<'_> {
    fn item(&mut self, item: &Item, above: &str, is_reachable: bool) {
        if item.place == ItemOrigin::Test {
            return;
        }
        let is_offered = is_reachable && item.is_offered();
        let under = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        // The members of a trait implementation are known from the trait.
        let by_trait = item.kind == ItemKind::Implementation && item.names.len() > 1;
        // Re-exported items are known where they are defined, and a module that is only declared here is known by its
        // file.
        let is_elsewhere = item.kind == ItemKind::Export || (item.kind == ItemKind::Module && item.children.is_empty());
        if item.kind != ItemKind::Implementation && !is_elsewhere {
            for name in &item.names {
                self.symbol(item, name, &under(name), is_offered);
            }
        }
        let inside = under(item.names.first().map_or("", |name| plain(name)));
        let children = item.children.iter().filter(|_| !by_trait);
        children.for_each(|child| self.item(child, inside.trim_end_matches('.'), is_offered));
    }

    fn symbol(&mut self, item: &Item, name: &str, path: &str, is_offered: bool) {
        let is_name = matches!(
            item.kind,
            ItemKind::Type
                | ItemKind::Function
                | ItemKind::Constant
                | ItemKind::Macro
                | ItemKind::Variant
                | ItemKind::Module
        );
        if is_name && is_offered && is_telling(name, path.contains('.')) {
            self.facts.defines.push(number(name));
        }
        let doc = item.doc.as_deref().unwrap_or_default();
        add(self.words, name, IN_NAME);
        add(self.words, &item.signature, IN_SIGNATURE);
        add(self.words, doc, IN_DOC);
        self.facts.symbols.push(Symbol {
            line: item.lines.0,
            is_offered,
            path: one_line(path),
            signature: cut(&one_line(&item.signature)),
            doc: one_line(doc),
        });
    }
}

/// Returns a type without its parameters, so its members are found under its name.
fn plain(name: &str) -> &str {
    name.split(['<', '[', '(', ' ']).next().unwrap_or(name)
}

fn add(words: &mut BTreeMap<u32, u32>, text: &str, weight: u32) {
    words_of(text, |word| {
        let count = words.entry(word_number(word)).or_default();
        *count = (*count + weight).min(MAX_WEIGHT);
    });
}

/// Replaces control characters by spaces, since symbols are stored one per line with tabs between their parts.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).collect::<Vec<_>>().join(" ")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SIGNATURE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
