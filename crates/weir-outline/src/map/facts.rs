//! What the map knows of one file.

use std::collections::BTreeMap;

use super::names::{WEIGHT_BITS, is_telling, mentioned, number, word_number, words_of};
use crate::model::{Item, Kind, Outline, Place};

/// How much a word counts by where it stands.
const IN_PATH: u32 = 3;
const IN_NAME: u32 = 3;
const IN_SIGNATURE: u32 = 1;
const IN_DOC: u32 = 1;
/// A word counts at most so much, however often it stands in a file.
const MOST: u32 = 12;
/// A signature is kept to so many characters.
const LONGEST: usize = 240;

/// What is known of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The numbers of the names that others may use, sorted.
    pub defines: Vec<u32>,
    /// The numbers of all names that stand in it, sorted.
    pub mentions: Vec<u32>,
    /// The words it is found by, sorted: the number of the word, and in the last four bits how much it counts.
    pub words: Vec<u32>,
    /// Its symbols, in the order of the file.
    pub symbols: Vec<Symbol>,
}

/// A symbol, as the map shows and finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its line, from 1.
    pub line: u32,
    /// Whether others may use it.
    pub is_offered: bool,
    /// The names from the outside in, with a full stop between.
    pub path: String,
    /// Its signature.
    pub signature: String,
    /// The first sentence of its documentation; empty if there is none.
    pub doc: String,
}

impl Symbol {
    /// Its own name, without what it is in.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }

    /// Whether it is inside another one.
    pub fn is_member(&self) -> bool {
        self.path.contains('.')
    }

    pub(super) fn number(&self) -> u32 {
        number(self.name())
    }
}

impl Facts {
    /// The facts of a file that has an outline.
    pub fn of(path: &str, text: &str, outline: &Outline) -> Self {
        let mut facts = Self { mentions: mentioned(text), ..Self::default() };
        let mut words = BTreeMap::new();
        add(&mut words, path, IN_PATH);
        add(&mut words, outline.purpose.as_deref().unwrap_or_default(), IN_DOC);
        let mut gather = Gather { facts: &mut facts, words: &mut words };
        outline.items.iter().for_each(|item| gather.item(item, "", true));
        facts.defines.sort_unstable();
        facts.defines.dedup();
        facts.words = words.into_iter().map(|(word, weight)| word << WEIGHT_BITS | weight).collect();
        facts
    }
}

struct Gather<'a> {
    facts: &'a mut Facts,
    words: &'a mut BTreeMap<u32, u32>,
}

impl Gather<'_> {
    fn item(&mut self, item: &Item, above: &str, is_reachable: bool) {
        if item.place == Place::Test {
            return;
        }
        let is_offered = is_reachable && item.is_offered();
        let under = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        // What a type has by a trait is known by the trait.
        let by_trait = item.kind == Kind::Implementation && item.names.len() > 1;
        // What comes from elsewhere is known where it is, and a module that is only named here by its file.
        let is_elsewhere = item.kind == Kind::Export || (item.kind == Kind::Module && item.children.is_empty());
        if item.kind != Kind::Implementation && !is_elsewhere {
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
            Kind::Type | Kind::Function | Kind::Constant | Kind::Macro | Kind::Variant | Kind::Module
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

/// A type without its parameters, so that its members are found under its name.
fn plain(name: &str) -> &str {
    name.split(['<', '[', '(', ' ']).next().unwrap_or(name)
}

fn add(words: &mut BTreeMap<u32, u32>, text: &str, weight: u32) {
    words_of(text, |word| {
        let count = words.entry(word_number(word)).or_default();
        *count = (*count + weight).min(MOST);
    });
}

/// Symbols are kept one on a line, with tabs between their parts.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).collect::<Vec<_>>().join(" ")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
