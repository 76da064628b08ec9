//! Interprets imprecise arguments as they were meant, guided by the schema: a list written as text, "true", "3", a list
//! of one, a name in the singular, or the name that another program's tool uses. Anything that cannot be interpreted is
//! left for the parser to refuse.

use serde_json::{Map, Value};

/// The names that models and other programs' tools use, by operation, each with the argument that it means.
const ALIASES: &[(&str, &[(&str, &str)])] = &[
    (
        "ctx_execute",
        &[
            ("command", "code"),
            ("cmd", "code"),
            ("script", "code"),
            ("lang", "language"),
            ("run_in_background", "background"),
            ("working_directory", "cwd"),
            ("workdir", "cwd"),
        ],
    ),
    (
        "ctx_execute_file",
        &[
            ("file_path", "path"),
            ("file", "path"),
            ("command", "code"),
            ("cmd", "code"),
            ("script", "code"),
            ("lang", "language"),
        ],
    ),
    ("ctx_batch_execute", &[("cmd", "commands"), ("concurrency", "parallel")]),
    ("ctx_annotate", &[("content", "text"), ("note", "text"), ("file_path", "files")]),
    ("ctx_index", &[("content", "text"), ("file_path", "path"), ("folder", "path"), ("directory", "path")]),
    ("ctx_fetch_and_index", &[("force", "fresh")]),
    ("ctx_search", &[("q", "queries"), ("max_results", "limit")]),
    ("ctx_get", &[("id", "ref"), ("regex", "pattern")]),
    ("ctx_history", &[("session_id", "session"), ("branch", "work"), ("max_results", "limit")]),
    ("ctx_reflect", &[("session_id", "session"), ("branch", "work")]),
    ("ctx_context", &[("max_results", "limit")]),
    ("ctx_forget", &[("session_id", "session"), ("id", "refs")]),
    ("context_map", &[("folder", "path"), ("directory", "path")]),
    ("context_read", &[("file_path", "path"), ("file", "path"), ("filename", "path")]),
    (
        "context_peek",
        &[
            ("file_path", "paths"),
            ("file", "paths"),
            ("filename", "paths"),
            ("folder", "paths"),
            ("directory", "paths"),
        ],
    ),
    (
        "context_edit",
        &[
            ("file_path", "path"),
            ("old_string", "old"),
            ("old_str", "old"),
            ("new_string", "new"),
            ("new_str", "new"),
            ("replace_all", "all"),
        ],
    ),
    ("context_write", &[("file_path", "path"), ("content", "text")]),
    ("context_forget", &[("file_path", "path")]),
];

/// Values that are used for others, by operation and argument. `None` means the default.
const VALUES: &[(&str, &str, &str, Option<&str>)] =
    &[("ctx_annotate", "kind", "annotation", None), ("ctx_search", "kind", "annotation", Some("note"))];

/// Operations that take lines as a range, for which other tools take the first line and a count.
const RANGED: &[&str] = &["context_read", "ctx_get"];

/// Arguments with which a model comments on its own call. They request nothing.
const REMARKS: &[&str] = &["description", "explanation", "reason", "purpose", "thought"];

/// Whether an unknown argument could have been meant to narrow the answer.
pub fn may_narrow(name: &str) -> bool {
    !REMARKS.contains(&core(name).as_str())
}

/// Returns the arguments of an operation as meant, and the names of those that its schema does not contain.
pub fn coerce(
    tool: &str,
    arguments: Map<String, Value>,
    schema: &Map<String, Value>,
) -> (Map<String, Value>, Vec<String>) {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let (mut meant, mut unknown) = (Map::new(), Vec::new());
    let arguments = if RANGED.contains(&tool) { ranged(arguments) } else { arguments };
    // If an argument occurs under two names, its own name takes precedence.
    let (own, others): (Vec<_>, Vec<_>) = arguments.into_iter().partition(|(name, _)| properties.contains_key(name));
    for (name, value) in own.into_iter().chain(others) {
        let found = find(properties, &name).or_else(|| find(properties, alias(tool, &name)?));
        let Some((known, property)) = found.filter(|(known, _)| !meant.contains_key(*known)) else {
            if !is_nothing(&value) {
                unknown.push(name.clone());
                meant.insert(name, value);
            }
            continue;
        };
        let value = match property.get("type").and_then(Value::as_str) {
            Some("array") => list(value),
            Some("boolean") => boolean(value),
            Some("integer" | "number") => number(value),
            Some("string") => Some(text(value)).filter(|value| required(known) || !is_blank(value)).unwrap_or_default(),
            _ => value,
        };
        let value = replaced(tool, known, value);
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

fn alias(tool: &str, name: &str) -> Option<&'static str> {
    let (_, aliases) = ALIASES.iter().find(|(of, _)| *of == tool)?;
    aliases.iter().find(|(other, _)| core(other) == core(name)).map(|(_, known)| *known)
}

fn replaced(tool: &str, argument: &str, value: Value) -> Value {
    let is_it = |written: &str| value.as_str().is_some_and(|value| core(value) == core(written));
    match VALUES.iter().find(|(of, name, written, _)| *of == tool && *name == argument && is_it(written)) {
        Some((.., meant)) => meant.map_or(Value::Null, Value::from),
        None => value,
    }
}

/// Replaces a first line and a count by `lines`.
fn ranged(mut arguments: Map<String, Value>) -> Map<String, Value> {
    let line = |name: &str| arguments.get(name).cloned().map(number).and_then(|value| value.as_u64());
    let range = match (line("offset"), line("limit")) {
        (first, Some(count)) => {
            let first = first.unwrap_or(1).max(1);
            Some(format!("{first}-{}", first.saturating_add(count.max(1)) - 1))
        }
        (Some(first), None) => Some(format!("{}-", first.max(1))),
        (None, None) => None,
    };
    if let Some(range) = range.filter(|_| !arguments.contains_key("lines")) {
        arguments.remove("offset");
        arguments.remove("limit");
        arguments.insert("lines".to_owned(), Value::String(range));
    }
    arguments
}

/// Normalises a name: case, separators, number, and the long form of `ref`.
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
        // A command with a label means the command.
        Value::Object(mut fields) => match ["command", "cmd", "code"].iter().find_map(|name| fields.remove(*name)) {
            Some(Value::String(command)) => Value::String(command),
            _ => Value::Object(fields),
        },
        other => other,
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || is_blank(value) || value.as_array().is_some_and(Vec::is_empty)
}

/// Whether a text is blank. Models pass blank values for arguments they do not want.
fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::OPERATIONS;

    fn check(arguments: Value, expected: Value, unknown: &[&str]) {
        let schema = json!({ "properties": {
            "queries": { "type": "array" }, "ref": { "type": "string" }, "limit": { "type": "integer" },
            "rebuild_index": { "type": "boolean" }, "kind": { "type": "string", "enum": ["run"] },
            "text": { "type": "string" },
        }, "required": ["text"] });
        let (meant, ignored) = coerce("", arguments.as_object().unwrap().clone(), schema.as_object().unwrap());
        assert_eq!(Value::Object(meant), expected);
        assert_eq!(ignored, unknown);
    }

    fn check_tool(tool: &str, arguments: &Value, expected: &Value) {
        let operation = OPERATIONS.iter().find(|operation| operation.tool == tool).unwrap();
        let (_, schema) = (operation.schema)();
        let (meant, unknown) = coerce(tool, arguments.as_object().unwrap().clone(), &schema);
        assert_eq!(&Value::Object(meant), expected, "{tool} {arguments}");
        assert!(unknown.is_empty(), "{tool} {arguments}: {unknown:?}");
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
        check(json!({"colour": "", "size": null, "tags": []}), json!({}), &[]);
        check(json!({"query": "a", "queries": ["b"]}), json!({"query": "a", "queries": ["b"]}), &["query"]);
    }

    #[test]
    fn names_that_other_tools_have_are_understood() {
        for (tool, arguments, expected) in [
            ("ctx_history", json!({"session_id": "s"}), json!({"session": "s"})),
            ("ctx_history", json!({"sessionId": "s"}), json!({"session": "s"})),
            ("ctx_reflect", json!({"session_id": "s", "branch": "b"}), json!({"session": "s", "work": "b"})),
            ("ctx_forget", json!({"session_id": "s", "ids": ["a"]}), json!({"session": "s", "refs": ["a"]})),
            ("ctx_execute", json!({"command": "ls", "timeout": "9"}), json!({"code": "ls", "timeout": 9})),
            ("ctx_execute", json!({"cmd": ["ls"]}), json!({"code": "ls"})),
            ("ctx_execute", json!({"commands": [{"label": "a", "command": "ls"}]}), json!({"code": "ls"})),
            ("ctx_execute_file", json!({"file_path": "a", "cmd": "wc"}), json!({"path": "a", "code": "wc"})),
            (
                "ctx_batch_execute",
                json!({"commands": [{"label": "a", "command": "ls"}, {"cmd": "pwd"}, "id"]}),
                json!({"commands": ["ls", "pwd", "id"]}),
            ),
            (
                "ctx_batch_execute",
                json!({"commands": "[{\"label\": \"a\", \"command\": \"ls\"}]"}),
                json!({"commands": ["ls"]}),
            ),
            ("ctx_annotate", json!({"content": "x", "kind": "annotation"}), json!({"text": "x"})),
            ("ctx_annotate", json!({"note": "x", "kind": "decision"}), json!({"text": "x", "kind": "decision"})),
            ("ctx_index", json!({"content": "x", "source": "s"}), json!({"text": "x", "source": "s"})),
            ("ctx_search", json!({"query": "x", "kind": "annotations"}), json!({"queries": ["x"], "kind": "note"})),
            ("ctx_get", json!({"id": "k7f2m9q4xz"}), json!({"ref": "k7f2m9q4xz"})),
            ("ctx_get", json!({"ref": "a", "offset": 10, "limit": 5}), json!({"ref": "a", "lines": "10-14"})),
            ("context_read", json!({"file_path": "a", "offset": 10}), json!({"path": "a", "lines": "10-"})),
            ("context_read", json!({"file_path": "a", "limit": 5}), json!({"path": "a", "lines": "1-5"})),
            ("context_peek", json!({"file_path": "a"}), json!({"paths": ["a"]})),
            (
                "context_edit",
                json!({"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": true}),
                json!({"path": "a", "old": "b", "new": "c", "all": true}),
            ),
            ("context_write", json!({"file_path": "a", "content": "x"}), json!({"path": "a", "text": "x"})),
        ] {
            check_tool(tool, &arguments, &expected);
        }
    }

    #[test]
    fn every_alias_means_an_argument_and_hides_none() {
        for (tool, aliases) in ALIASES {
            let operation = OPERATIONS.iter().find(|operation| operation.tool == *tool).unwrap();
            let (_, schema) = (operation.schema)();
            let properties = schema.get("properties").and_then(Value::as_object).unwrap();
            for (name, known) in *aliases {
                assert!(properties.contains_key(*known), "{tool} has no `{known}`");
                assert!(find(properties, name).is_none(), "{tool} has `{name}` itself");
            }
        }
        for (tool, argument, ..) in VALUES {
            let operation = OPERATIONS.iter().find(|operation| operation.tool == *tool).unwrap();
            let (_, schema) = (operation.schema)();
            assert!(schema["properties"].get(*argument).is_some(), "{tool} has no `{argument}`");
        }
    }
}
