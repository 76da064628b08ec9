//! The shape of data: keys with the types of their values, and lists with the types of their elements, three levels
//! deep.
//!
//! Invariant: the output grows with the number of different keys, not with the number of records.

use std::borrow::Cow;
use std::ops::Range;

use super::common::Lines;
use crate::model::{Item, ItemKind, ItemOrigin, Visibility};

/// Maximum depth. Deeper values are shown by their size.
const MAX_DEPTH: usize = 3;
/// Maximum number of keys of one map to show. Further ones are counted.
const MAX_KEYS: usize = 60;
/// Minimum number of maps with the same keys to show as one.
const MIN_ALIKE_MAPS: usize = 8;
/// Maximum number of names of such maps to show.
const MAX_NAMED: usize = 6;

#[derive(Clone)]
pub(super) struct KeyValue {
    pub key: String,
    pub value: Value,
    pub bytes: Range<usize>,
}

/// A value, reduced to its shape.
#[derive(Clone)]
pub(super) enum Value {
    /// The name of its type.
    Scalar(Cow<'static, str>),
    Map(Vec<KeyValue>),
    List(Vec<Value>),
}

impl Value {
    pub(super) const fn scalar(kind: &'static str) -> Self {
        Self::Scalar(Cow::Borrowed(kind))
    }

    fn kind(&self) -> Cow<'_, str> {
        match self {
            Self::Scalar(kind) => Cow::Borrowed(kind),
            Self::Map(entries) if entries.is_empty() => Cow::Borrowed("{}"),
            Self::Map(_) => Cow::Borrowed("{…}"),
            Self::List(values) if values.is_empty() => Cow::Borrowed("[]"),
            Self::List(values) => Cow::Owned(format!("[{}] × {}", kinds(values), values.len())),
        }
    }
}

/// Returns the types of values, without duplicates. A list in a list is shown without its length.
fn kinds(values: &[Value]) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for value in values {
        let kind = match value {
            Value::List(inner) => format!("[{}]", self::kinds(inner)),
            other => other.kind().into_owned(),
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.join("|")
}

/// Returns the items of a file's top-level value.
pub(super) fn items(value: &Value, text: &str) -> Vec<Item> {
    let lines = Lines::of(text);
    match value {
        Value::Map(entries) => of_map(entries, 1, &lines),
        Value::Scalar(_) => Vec::new(),
        Value::List(_) => {
            let whole = KeyValue { key: String::new(), value: value.clone(), bytes: 0..text.trim_end().len() };
            vec![of_entry(&whole, 1, &lines)]
        }
    }
}

fn of_map(entries: &[KeyValue], depth: usize, lines: &Lines) -> Vec<Item> {
    let mut items: Vec<Item> = entries.iter().take(MAX_KEYS).map(|entry| of_entry(entry, depth, lines)).collect();
    if let Some(next) = entries.get(MAX_KEYS) {
        let end = entries.last().map_or(next.bytes.end, |last| last.bytes.end);
        let rest = format!("… {} more keys", entries.len() - MAX_KEYS);
        items.push(item((String::new(), rest), next.bytes.start..end, Vec::new(), lines));
    }
    items
}

fn of_entry(entry: &KeyValue, depth: usize, lines: &Lines) -> Item {
    let key = entry.key.as_str();
    let is_deep = depth >= MAX_DEPTH;
    let inside = |entries: &[KeyValue]| of_map(entries, depth + 1, lines);
    let (signature, children) = match &entry.value {
        Value::Map(entries) if is_deep && !entries.is_empty() => (labelled(key, &size(entries.len())), Vec::new()),
        Value::Map(entries) if !entries.is_empty() => match alike(entries) {
            Some(merged) => {
                let names: Vec<&str> = entries.iter().take(MAX_NAMED).map(|entry| entry.key.as_str()).collect();
                (format!("{key}: {{{}, …}} × {}, each", names.join(", "), entries.len()), inside(&merged))
            }
            None => (key.to_owned(), inside(entries)),
        },
        Value::List(values) if !is_deep => {
            let maps: Vec<&[KeyValue]> = values.iter().filter_map(as_map).collect();
            let children = if maps.is_empty() { Vec::new() } else { inside(&merge(&maps)) };
            (labelled(key, &entry.value.kind()), children)
        }
        value => (labelled(key, &value.kind()), Vec::new()),
    };
    item((key.to_owned(), signature), entry.bytes.clone(), children, lines)
}

fn size(keys: usize) -> String {
    format!("{{{keys} {}}}", if keys == 1 { "key" } else { "keys" })
}

fn labelled(key: &str, kind: &str) -> String {
    if key.is_empty() { kind.to_owned() } else { format!("{key}: {kind}") }
}

fn as_map(value: &Value) -> Option<&[KeyValue]> {
    match value {
        Value::Map(entries) => Some(entries),
        _ => None,
    }
}

/// Returns the merged keys of many maps with the same keys, as in a table indexed by name.
fn alike(entries: &[KeyValue]) -> Option<Vec<KeyValue>> {
    let maps: Vec<&[KeyValue]> = entries.iter().filter_map(|entry| as_map(&entry.value)).collect();
    if entries.len() < MIN_ALIKE_MAPS || maps.len() < entries.len() {
        return None;
    }
    let merged = merge(&maps);
    let keys: usize = maps.iter().map(|map| map.len()).sum();
    // On average, a map has at least half of all the keys.
    (keys * 2 >= merged.len() * maps.len()).then_some(merged)
}

/// Merges maps. A key that is not in all of them gets a `?`.
fn merge(maps: &[&[KeyValue]]) -> Vec<KeyValue> {
    let mut merged: Vec<(KeyValue, Vec<Value>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for entry in maps.iter().flat_map(|map| map.iter()) {
        let at = *places.entry(entry.key.as_str()).or_insert(merged.len());
        match merged.get_mut(at) {
            Some((_, values)) => values.push(entry.value.clone()),
            None => merged.push((entry.clone(), vec![entry.value.clone()])),
        }
    }
    let one = |(entry, values): (KeyValue, Vec<Value>)| {
        let mark = if values.len() < maps.len() { "?" } else { "" };
        KeyValue { key: format!("{}{mark}", entry.key), value: joined(values), ..entry }
    };
    merged.into_iter().map(one).collect()
}

fn joined(values: Vec<Value>) -> Value {
    if values.iter().all(|value| as_map(value).is_some()) {
        let maps: Vec<&[KeyValue]> = values.iter().filter_map(as_map).collect();
        return Value::Map(merge(&maps));
    }
    if values.iter().all(|value| matches!(value, Value::List(_))) {
        let all: Vec<Value> =
            values.into_iter().flat_map(|value| if let Value::List(all) = value { all } else { Vec::new() }).collect();
        let shape = if all.is_empty() { "[]".to_owned() } else { format!("[{}]", kinds(&all)) };
        return Value::Scalar(Cow::Owned(shape));
    }
    Value::Scalar(Cow::Owned(kinds(&values)))
}

fn item((name, signature): (String, String), bytes: Range<usize>, children: Vec<Item>, lines: &Lines) -> Item {
    Item {
        // A small member is shown on the line of its parent.
        kind: if children.is_empty() { ItemKind::Field } else { ItemKind::Key },
        names: if name.is_empty() { Vec::new() } else { vec![name] },
        signature,
        visibility: Visibility::Public,
        place: ItemOrigin::Program,
        doc: None,
        attributes: Vec::new(),
        lines: (lines.at(bytes.start), lines.at(bytes.end.saturating_sub(1).max(bytes.start))),
        bytes,
        children,
    }
}

/// Returns the first sentence of the comment at the top of a data file.
pub(super) fn purpose(text: &str, mark: char) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().skip_while(|line| line.trim().is_empty() || line.starts_with("---"));
    let comment: Vec<&str> = lines.map(str::trim).take_while(|line| line.starts_with(mark)).collect();
    let comment = comment.join("\n");
    if crate::docs::is_licence(&comment) { None } else { crate::docs::first_sentence(&crate::docs::bare(&comment)) }
}
