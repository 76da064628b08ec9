//! Reads sloppy arguments as they were meant, guided by the schema: a list written as text, "true", "3", a list of
//! one, a name in the singular. What cannot be meant otherwise is left for the parser to refuse.

use serde_json::{Map, Value};

/// The arguments as meant, and the names of those the schema does not know.
pub(crate) fn coerce(arguments: Map<String, Value>, schema: &Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let (mut meant, mut unknown) = (Map::new(), Vec::new());
    for (name, value) in arguments {
        let Some((known, property)) = find(properties, &name) else {
            unknown.push(name.clone());
            meant.insert(name, value);
            continue;
        };
        let value = match property.get("type").and_then(Value::as_str) {
            Some("array") => list(value),
            Some("boolean") => boolean(value),
            Some("integer" | "number") => number(value),
            Some("string") => Some(text(value)).filter(|value| required(known) || !is_blank(value)).unwrap_or_default(),
            _ => value,
        };
        if !value.is_null() {
            meant.insert(known.clone(), value);
        }
    }
    (meant, unknown)
}

fn find<'a>(properties: &'a Map<String, Value>, name: &str) -> Option<(&'a String, &'a Map<String, Value>)> {
    let exact = properties.get_key_value(name);
    let found = exact.or_else(|| properties.iter().find(|(known, _)| core(known) == core(name)))?;
    Some((found.0, found.1.as_object()?))
}

/// A name without what varies: case, separators, number, and the long form of `ref`.
fn core(name: &str) -> String {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let plain = plain.replace("reference", "ref").replace("queries", "query");
    plain.strip_suffix('s').map_or(plain.clone(), ToOwned::to_owned)
}

fn list(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(text).collect()),
        Value::Null => Value::Null,
        Value::String(written) => match serde_json::from_str(written.trim()) {
            Ok(Value::Array(items)) => list(Value::Array(items)),
            _ if written.trim().is_empty() => Value::Array(Vec::new()),
            _ => Value::Array(vec![Value::String(written)]),
        },
        other => Value::Array(vec![text(other)]),
    }
}

fn boolean(value: Value) -> Value {
    let word = match &value {
        Value::String(word) => word.trim().to_ascii_lowercase(),
        Value::Number(number) => number.to_string(),
        _ => return value,
    };
    match word.as_str() {
        "true" | "yes" | "1" | "on" => Value::Bool(true),
        "false" | "no" | "0" | "off" | "" => Value::Bool(false),
        _ => value,
    }
}

fn number(value: Value) -> Value {
    let parsed = match &value {
        Value::String(written) if written.trim().is_empty() => return Value::Null,
        Value::String(written) => written.trim().parse::<f64>().ok(),
        Value::Number(number) => number.as_f64(),
        _ => None,
    };
    match parsed {
        Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => Value::from(number as i64),
        _ => value,
    }
}

fn text(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Bool(flag) => Value::String(flag.to_string()),
        Value::Array(mut items) if items.len() == 1 => text(items.remove(0)),
        other => other,
    }
}

/// Models fill in arguments they do not want with nothing.
fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(arguments: Value, expected: Value, unknown: &[&str]) {
        let schema = json!({ "properties": {
            "queries": { "type": "array" }, "ref": { "type": "string" }, "limit": { "type": "integer" },
            "rebuild_index": { "type": "boolean" }, "kind": { "type": "string", "enum": ["run"] },
            "text": { "type": "string" },
        }, "required": ["text"] });
        let (meant, ignored) = coerce(arguments.as_object().unwrap().clone(), schema.as_object().unwrap());
        assert_eq!(Value::Object(meant), expected);
        assert_eq!(ignored, unknown);
    }

    #[test]
    fn sloppy_arguments_are_read_as_meant() {
        check(json!({"queries": "[\"a\", \"b\"]"}), json!({"queries": ["a", "b"]}), &[]);
        check(json!({"query": "pool size"}), json!({"queries": ["pool size"]}), &[]);
        check(json!({"queries": ["a", 7]}), json!({"queries": ["a", "7"]}), &[]);
        check(json!({"limit": "3", "rebuildIndex": "true"}), json!({"limit": 3, "rebuild_index": true}), &[]);
        check(json!({"limit": 3.0, "kind": "", "reference": null}), json!({"limit": 3}), &[]);
        check(json!({"reference": ["k7f2m9q4xz"]}), json!({"ref": "k7f2m9q4xz"}), &[]);
        check(json!({"limit": "many", "queries": ""}), json!({"limit": "many", "queries": []}), &[]);
        check(json!({"text": "", "ref": " "}), json!({"text": ""}), &[]);
        check(json!({"colour": "red"}), json!({"colour": "red"}), &["colour"]);
    }
}
