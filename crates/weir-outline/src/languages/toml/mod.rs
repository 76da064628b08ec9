//! TOML.
//!
//! Known misses: in a file with syntax errors, up to eight invalid lines are left out.

use toml_edit::{Array, Document, Item, Key, TableLike, Value as Toml};

use super::shape::{self, KeyValue, Value};
use super::{Content, Language, Reader};
use crate::model::Outline;

pub(super) static LANGUAGE: Language = Language::read_by(Reader {
    name: "toml",
    version: 1,
    extensions: &["toml"],
    file_names: &["Cargo.lock", "poetry.lock", "uv.lock", "Pipfile", "pdm.lock"],
    read,
})
.with_content(Content::Keys);

/// Maximum number of invalid lines. A file with more is something else.
const MAX_BROKEN_LINES: usize = 8;

fn read(text: &str, into: &mut Outline) {
    into.purpose = shape::purpose(text, '#');
    let mut blanked = text.to_owned();
    for _ in 0..=MAX_BROKEN_LINES {
        match Document::parse(blanked.as_str()) {
            Ok(document) => {
                into.items = shape::items(&Value::Map(entries(document.as_table())), text);
                return;
            }
            Err(error) => {
                into.broken += 1;
                let Some(span) = error.span() else { return };
                blank_line(&mut blanked, span.start);
            }
        }
    }
}

/// Blanks the line of a byte, or the line before if that is blank.
fn blank_line(text: &mut String, at: usize) {
    let at = at.min(text.len());
    let line = |end: usize| {
        let start = text
            .as_bytes()
            .get(..end)
            .unwrap_or_default()
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let len = text.as_bytes().get(start..).unwrap_or_default().iter().position(|byte| *byte == b'\n');
        start..len.map_or(text.len(), |len| start + len)
    };
    let mut which = line(at);
    while text.get(which.clone()).is_some_and(|line| line.trim().is_empty()) && which.start > 0 {
        which = line(which.start - 1);
    }
    let blank = " ".repeat(which.len());
    if text.get(which.clone()).is_some() {
        text.replace_range(which, &blank);
    }
}

fn entries(table: &dyn TableLike) -> Vec<KeyValue> {
    let keyed = table.iter().filter_map(|(name, item)| Some((table.key(name)?, item)));
    keyed.map(|(key, item)| entry(key, item)).collect()
}

fn entry(key: &Key, item: &Item) -> KeyValue {
    let start = key.span().or(item.span()).unwrap_or_default();
    let value = of_item(item);
    let end = item.span().map_or(start.end, |span| span.end).max(last(&value));
    KeyValue { key: key.get().to_owned(), value, bytes: start.start..end.max(start.end) }
}

fn last(value: &Value) -> usize {
    match value {
        Value::Map(entries) => entries.iter().map(|entry| entry.bytes.end).max().unwrap_or(0),
        Value::List(values) => values.iter().map(last).max().unwrap_or(0),
        Value::Scalar(_) => 0,
    }
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::scalar("?"),
        Item::Value(value) => of_value(value),
        Item::Table(table) => Value::Map(entries(table)),
        Item::ArrayOfTables(tables) => Value::List(tables.iter().map(|table| Value::Map(entries(table))).collect()),
    }
}

fn of_value(value: &Toml) -> Value {
    match value {
        Toml::String(_) => Value::scalar("string"),
        Toml::Integer(_) => Value::scalar("integer"),
        Toml::Float(_) => Value::scalar("float"),
        Toml::Boolean(_) => Value::scalar("bool"),
        Toml::Datetime(_) => Value::scalar("datetime"),
        Toml::Array(array) => of_array(array),
        Toml::InlineTable(table) => Value::Map(entries(table)),
    }
}

fn of_array(array: &Array) -> Value {
    Value::List(array.iter().map(of_value).collect())
}
