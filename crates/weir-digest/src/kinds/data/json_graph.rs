//! Finds the similar places of a JSON document: the elements of an array, the values of an object whose keys are data,
//! and a place nested in another of the same name.
//!
//! A first pass builds this graph; a second gathers the values. Invariant: memory does not grow with the document.

use std::collections::{BTreeMap, BTreeSet};

use super::json_reader::{Piece, PieceConsumer, Reader};

const MAX_PLACES: usize = 20_000;
const MAX_KEYS: usize = 64;
/// Objects that share at least this many keys are of one kind, whatever they are called.
const MIN_SHARED_KEYS: usize = 3;
/// The maximum depth to which similar places are joined.
const MAX_DEPTH: usize = 64;

/// The places of a document.
pub(super) struct Graph {
    places: Vec<GraphNode>,
    /// The open places, from the outermost to the innermost.
    open: Vec<(Option<usize>, ValueType)>,
    key: String,
}

/// One place, which may represent many similar ones.
#[derive(Default)]
struct GraphNode {
    key: String,
    fields: BTreeMap<String, usize>,
    /// The place of the elements, if it is an array.
    element: Option<usize>,
    /// The place of the values, if it is an object whose keys are data or too many.
    value: Option<usize>,
    is_map: bool,
    objects: u64,
    arrays: u64,
    texts: u64,
    others: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueType {
    Object,
    Array,
    Text,
    Other,
}

/// The place of a whole document.
pub(super) const ROOT: usize = 0;

impl PieceConsumer for Graph {
    fn begin(&mut self, _line: u64) {
        self.open.clear();
    }

    fn piece(&mut self, piece: Piece, reader: &Reader<'_>) {
        match piece {
            Piece::Object => self.value(ValueType::Object),
            Piece::Array => self.value(ValueType::Array),
            Piece::Text => self.value(ValueType::Text),
            Piece::Number | Piece::Word => self.value(ValueType::Other),
            Piece::Key => reader.text.clone_into(&mut self.key),
            Piece::Close => {
                self.open.pop();
            }
            Piece::End | Piece::Broken => {}
        }
    }
}

impl Graph {
    pub(super) fn new() -> Self {
        Self { places: vec![GraphNode::default()], open: Vec::new(), key: String::new() }
    }

    fn value(&mut self, what: ValueType) {
        let place = self.next_place();
        if let Some(place) = place.and_then(|place| self.places.get_mut(place)) {
            match what {
                ValueType::Object => place.objects += 1,
                ValueType::Array => place.arrays += 1,
                ValueType::Text => place.texts += 1,
                ValueType::Other => place.others += 1,
            }
        }
        if matches!(what, ValueType::Object | ValueType::Array) {
            self.open.push((place, what));
        }
    }

    fn next_place(&mut self) -> Option<usize> {
        let Some(&(parent, what)) = self.open.last() else { return Some(ROOT) };
        let parent = parent?;
        if what == ValueType::Object {
            return self.field(parent);
        }
        if let Some(element) = self.places.get(parent)?.element {
            return Some(element);
        }
        let element = self.add("")?;
        self.places.get_mut(parent)?.element = Some(element);
        Some(element)
    }

    fn field(&mut self, parent: usize) -> Option<usize> {
        let of = self.places.get(parent)?;
        if let Some(&field) = of.fields.get(&self.key) {
            return Some(field);
        }
        if of.fields.len() >= MAX_KEYS {
            if of.value.is_some() {
                return of.value;
            }
            let value = self.add("")?;
            self.places.get_mut(parent)?.value = Some(value);
            return Some(value);
        }
        // A value nested in another of the same name is of the same kind.
        let named = |place: usize| self.places.get(place).is_some_and(|of| of.key == self.key);
        let same = |open: &(Option<usize>, ValueType)| open.0.filter(|&place| named(place));
        let around = if self.key.is_empty() { None } else { self.open.iter().rev().find_map(same) };
        let key = std::mem::take(&mut self.key);
        let field = around.or_else(|| self.add(&key));
        if let (Some(field), Some(of)) = (field, self.places.get_mut(parent)) {
            of.fields.insert(key.clone(), field);
        }
        self.key = key;
        field
    }

    fn add(&mut self, key: &str) -> Option<usize> {
        if self.places.len() >= MAX_PLACES {
            return None;
        }
        self.places.push(GraphNode { key: key.to_owned(), ..GraphNode::default() });
        Some(self.places.len() - 1)
    }

    /// Finds the objects whose keys are data, after everything has been read.
    pub(super) fn find_maps(&mut self) {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![ROOT];
        while let Some(place) = waiting.pop() {
            if !seen.insert(place) {
                continue;
            }
            if self.looks_like_map(place) {
                self.make_map(place);
            }
            let Some(of) = self.places.get(place) else { continue };
            waiting.extend(of.element.iter().chain(&of.value));
            if !of.is_map {
                waiting.extend(of.fields.values());
            }
        }
    }

    fn make_map(&mut self, place: usize) {
        let Some(of) = self.places.get_mut(place) else { return };
        of.is_map = true;
        let fields: Vec<usize> = of.fields.values().copied().collect();
        let Some(value) = of.value.or_else(|| fields.first().copied()) else { return };
        of.value = Some(value);
        for field in fields {
            self.join(value, field, 0);
        }
    }

    /// Adds what is known about one place to another.
    fn join(&mut self, into: usize, from: usize, depth: usize) {
        if into == from || depth > MAX_DEPTH {
            return;
        }
        let Some(of) = self.places.get_mut(from) else { return };
        let (fields, element, value) = (std::mem::take(&mut of.fields), of.element.take(), of.value.take());
        let (objects, arrays, texts, others) = (of.objects, of.arrays, of.texts, of.others);
        if let Some(of) = self.places.get_mut(into) {
            of.objects += objects;
            of.arrays += arrays;
            of.texts += texts;
            of.others += others;
        }
        for (key, place) in fields {
            let known = self.places.get(into).and_then(|of| of.fields.get(&key).copied());
            match (known, self.places.get_mut(into)) {
                (Some(known), _) => self.join(known, place, depth + 1),
                (None, Some(of)) => {
                    of.fields.insert(key, place);
                }
                _ => {}
            }
        }
        for (place, is_element) in [(element, true), (value, false)] {
            let Some(place) = place else { continue };
            let Some(of) = self.places.get_mut(into) else { return };
            let slot = if is_element { &mut of.element } else { &mut of.value };
            match *slot {
                Some(known) => self.join(known, place, depth + 1),
                None => *slot = Some(place),
            }
        }
    }

    /// Returns whether the keys of an object are data: many, and with similar values.
    fn looks_like_map(&self, place: usize) -> bool {
        let Some(of) = self.places.get(place) else { return false };
        let count = of.fields.len();
        let values: Vec<&GraphNode> = of.fields.values().filter_map(|&value| self.places.get(value)).collect();
        let stands: u64 = values.iter().map(|value| value.stands()).sum();
        // Records repeat the same fields.
        let shared = shared_keys(&values);
        let part = if shared >= MIN_SHARED_KEYS { 75 } else { 50 };
        let is_record = of.objects > 1 && stands * 100 > of.objects * count as u64 * part;
        if count < 4 || is_record {
            return false;
        }
        if of.value.is_some() {
            return true;
        }
        let as_data = of.fields.keys().filter(|key| key.contains(|c: char| "/.:@ ".contains(c) || c.is_ascii_digit()));
        let as_data = as_data.count() * 2 >= count;
        let all = |is: fn(&GraphNode) -> bool| values.iter().all(|value| is(value));
        if all(|value| value.objects > 0 && value.texts + value.others == 0) {
            let keys: BTreeSet<&String> = values.iter().flat_map(|value| value.fields.keys()).collect();
            let held: usize = values.iter().map(|value| value.fields.len()).sum();
            let alike = held * 100 / (count * keys.len().max(1));
            return (alike >= 50 && (count >= 8 || as_data || shared >= MIN_SHARED_KEYS))
                || (alike >= 20 && as_data && count >= 8)
                || (alike >= 25 && count >= 20)
                || (of.objects > 4 && count >= 12 && stands * 4 < of.objects * count as u64);
        }
        let plain = all(|value| value.texts > 0 && value.objects + value.arrays == 0)
            || all(|value| value.others > 0 && value.objects + value.arrays + value.texts == 0);
        let is_sparse = of.objects > 2 && count >= 6 && stands * 4 < of.objects * count as u64;
        (plain && (count >= 24 || is_sparse)) || (all(|value| value.arrays > 0) && (count >= 8 || as_data))
    }

    pub(super) fn field_of(&self, place: Option<usize>, key: &str) -> Option<usize> {
        let of = self.places.get(place?)?;
        if of.is_map { of.value } else { of.fields.get(key).copied() }
    }

    pub(super) fn element_of(&self, place: Option<usize>) -> Option<usize> {
        self.places.get(place?)?.element
    }

    /// Returns whether the keys of an object are data.
    pub(super) fn is_map(&self, place: Option<usize>) -> bool {
        place.and_then(|place| self.places.get(place)).is_some_and(|of| of.is_map)
    }

    /// Returns whether an array has so many plain values that each counts as a record.
    pub(super) fn is_long(&self, array: Option<usize>) -> bool {
        let Some(of) = array.and_then(|place| self.places.get(place)) else { return false };
        let elements = of.element.and_then(|element| self.places.get(element));
        elements.is_some_and(|element| element.texts + element.others > of.arrays.saturating_mul(24))
    }
}

fn shared_keys(values: &[&GraphNode]) -> usize {
    let Some((first, rest)) = values.split_first() else { return 0 };
    first.fields.keys().filter(|&key| rest.iter().all(|value| value.fields.contains_key(key))).count()
}

impl GraphNode {
    fn stands(&self) -> u64 {
        self.objects + self.arrays + self.texts + self.others
    }
}
