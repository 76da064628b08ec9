//! Reads JSON without taking it apart: every value stays a part of the body.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The types of a part that is text, in all formats.
const TEXT_PARTS: [&str; 3] = ["text", "input_text", "output_text"];

/// An object, by the names of its fields.
pub(super) struct Object<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Object<'a> {
    pub(super) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok().map(Self)
    }

    pub(super) fn read_all(items: &[&'a RawValue]) -> Option<Vec<Self>> {
        items.iter().map(|item| Self::read(item.get())).collect()
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied()
    }

    pub(super) fn list(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        list(self.value(name)?)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.value(name)?.get()).ok()
    }

    pub(super) fn is(&self, name: &str, text: &str) -> bool {
        self.text(name).is_some_and(|found| found == text)
    }
}

/// Returns the texts of a result's content: the string itself, or the strings of the parts that are text.
pub(super) fn texts(content: &RawValue) -> Vec<&str> {
    if is_string(content) {
        return vec![content.get()];
    }
    let parts = list(content).unwrap_or_default();
    let texts = parts.into_iter().filter_map(|part| {
        let part = Object::read(part.get())?;
        let is_text = part.text("type").is_some_and(|found| TEXT_PARTS.contains(&found.as_str()));
        part.value("text").filter(|text| is_text && is_string(text))
    });
    texts.map(RawValue::get).collect()
}

fn list(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

fn is_string(value: &RawValue) -> bool {
    value.get().starts_with('"')
}
