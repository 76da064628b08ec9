//! Reads the data of an event. It is JSON that we wrote, but it has been through redaction and years of versions: what
//! cannot be read is taken as not there.

use serde_json::Value;

/// The data of an event, if it has any that can be read.
pub(super) fn read(data: Option<&str>) -> Option<Value> {
    serde_json::from_str(data?).ok()
}

/// The text of a field; a number as it is written.
pub(super) fn text(data: &Value, key: &str) -> Option<String> {
    match data.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
