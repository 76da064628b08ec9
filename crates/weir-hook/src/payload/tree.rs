//! Parses a payload from which the long texts were taken out.
//!
//! Each left an empty string behind and is known by its number among the strings of the payload, so no other string can
//! pass for one.

use std::fmt;
use std::iter::Peekable;
use std::vec::IntoIter;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use weir_clients::{LongString, LongText, Piece, Text};

/// A long text, and its place in the payload.
pub(super) struct PlacedText {
    path: Vec<Step>,
    text: Text,
}

#[derive(Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Item(usize),
}

impl PlacedText {
    /// Finds the string that stands for the text in the parsed payload.
    pub(super) fn find<'a>(&'a self, payload: &'a Value) -> Option<LongString<'a>> {
        let at = self.path.iter().try_fold(payload, |value, step| match step {
            Step::Field(name) => value.get(name),
            Step::Item(position) => value.get(*position),
        });
        at.map(|at| LongString { at, text: &self.text })
    }
}

/// Parses a payload. Each long text comes with its number among all strings, names of fields included.
pub(super) fn parse(json: &[u8], long: Vec<(usize, LongText)>) -> serde_json::Result<(Value, Vec<PlacedText>)> {
    let mut tree = Tree { strings: 0, long: long.into_iter().peekable(), path: Vec::new(), placed: Vec::new() };
    let mut json = serde_json::Deserializer::from_slice(json);
    let value = tree.deserialize(&mut json)?;
    json.end()?;
    Ok((value, tree.placed))
}

/// A payload that is being parsed.
struct Tree {
    strings: usize,
    /// The long texts that have not been reached.
    long: Peekable<IntoIter<(usize, LongText)>>,
    path: Vec<Step>,
    placed: Vec<PlacedText>,
}

impl Tree {
    /// Counts a string. Returns the long text that belongs there, if any.
    fn next_string(&mut self) -> Option<LongText> {
        let number = self.strings;
        self.strings += 1;
        self.long.next_if(|(at, _)| *at == number).map(|(_, text)| text)
    }
}

impl<'de> DeserializeSeed<'de> for &mut Tree {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Tree {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        let Some(long) = self.next_string() else { return Ok(value.into()) };
        let brief = long.brief();
        self.placed.push(PlacedText { path: self.path.clone(), text: Text::Long(vec![Piece::Long(long)]) });
        Ok(brief.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            self.path.push(Step::Item(values.len()));
            let value = items.next_element_seed(&mut *self)?;
            self.path.pop();
            match value {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let name = self.next_string().map_or(name, |long| long.brief());
            self.path.push(Step::Field(name.clone()));
            // Of several fields with one name, the last one counts.
            if object.contains_key(&name) {
                self.placed.retain(|placed| !placed.path.starts_with(&self.path));
            }
            let value = fields.next_value_seed(&mut *self)?;
            self.path.pop();
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}
