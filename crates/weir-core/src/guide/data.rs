//! Reads the data of an event. This is JSON that Weir wrote, but it has been through redaction and may be from any
//! earlier version. What cannot be read is treated as missing.

use serde_json::Value;

use crate::Event;

/// Returns the data of an event, if it has any that can be read.
pub(super) fn read(data: Option<&str>) -> Option<Value> {
    serde_json::from_str(data?).ok()
}

/// Returns the text of a field, or a number as it is written.
pub(super) fn text(data: &Value, key: &str) -> Option<String> {
    match data.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns whether an event comes from a subagent.
pub(super) fn is_of_subagent(event: &Event) -> bool {
    read(event.data.as_deref()).is_some_and(|data| data.get("agent").is_some())
}
