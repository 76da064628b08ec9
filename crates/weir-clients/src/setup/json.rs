//! Edits JSON with comments in place.
//!
//! Invariant: text that is not ours keeps its bytes, except for the comma before our part and empty lines at the edge
//! of an object that we add to.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::Unusable;

/// The byte order mark that some editors write first, and that the parser would take for part of the text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the text after a change to its root object. A text without a value gets an empty object first.
pub(super) fn edit(text: &str, change: impl FnOnce(&CstObject) -> Result<(), Unusable>) -> Result<String, Unusable> {
    let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let root = parse(body)?;
    let object = root.object_value_or_create().ok_or_else(|| Unusable::new("it is not an object"))?;
    change(&object)?;
    Ok(format!("{mark}{root}"))
}

/// Returns whether the text has no value, or an object with nothing in it but a version.
pub(super) fn is_effectively_empty(text: &str) -> bool {
    let Ok(root) = parse(text.trim_start_matches(BYTE_ORDER_MARK)) else { return false };
    let nothing = |object: &CstObject| {
        object.properties().iter().all(|property| property.decoded_name().as_deref() == Some("version"))
    };
    let comment = |node: &CstNode| node.is_comment();
    match root.object_value() {
        Some(object) => {
            nothing(&object) && !object.children().iter().any(comment) && !root.children().iter().any(comment)
        }
        None => root.children().iter().all(|node| node.is_whitespace() || node.is_newline()),
    }
}

/// Returns the keys of an object in the root that are not set to `false`; empty if the object is missing.
pub(super) fn keys(text: &str, object: &str) -> impl Iterator<Item = String> {
    let root = parse(text.trim_start_matches(BYTE_ORDER_MARK)).ok().and_then(|root| root.object_value());
    let properties =
        root.and_then(|root| root.object_value(object)).map(|object| object.properties()).unwrap_or_default();
    let on = |value: Option<Value>| value != Some(Value::Bool(false));
    let on =
        properties.into_iter().filter(move |property| on(property.value().and_then(|value| value.to_serde_value())));
    on.filter_map(|property| property.decoded_name())
}

/// Returns the object at this path, creating it if it is missing.
pub(super) fn object_at(root: &CstObject, path: &[&str]) -> Result<CstObject, Unusable> {
    path.iter().try_fold(root.clone(), |object, key| {
        check_once(&object, key)?;
        object.object_value_or_create(key).ok_or_else(|| Unusable::new(format!("`{key}` is not an object")))
    })
}

/// Refuses an object that has a key twice: a client reads the last one, and we would change the first.
pub(super) fn check_once(object: &CstObject, key: &str) -> Result<(), Unusable> {
    let properties = object.properties();
    let found = properties.iter().filter(|property| property.decoded_name().as_deref() == Some(key)).count();
    if found > 1 { Err(Unusable::new(format!("it has `{key}` twice"))) } else { Ok(()) }
}

/// Returns the object at this path, if it exists.
pub(super) fn existing_object_at(root: &CstObject, path: &[&str]) -> Option<CstObject> {
    path.iter().try_fold(root.clone(), |object, key| object.object_value(key))
}

/// Removes the objects along a path that have become empty, from the inside out.
pub(super) fn prune(root: &CstObject, path: &[&str]) {
    for length in (1..=path.len()).rev() {
        let (outer, key) = (existing_object_at(root, &path[..length - 1]), path[length - 1]);
        let Some(property) = outer.and_then(|outer| outer.get(key)) else { return };
        let empty = property.object_value().is_some_and(|object| is_bare(&object.children()));
        if !empty {
            return;
        }
        property.remove();
    }
}

/// Returns whether there is nothing between the brackets, not even a comment.
pub(super) fn is_bare(children: &[CstNode]) -> bool {
    children.iter().all(|node| node.is_token() || node.is_whitespace() || node.is_newline())
}

/// Converts a value for the editor.
pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(object) => {
            CstInputValue::Object(object.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

/// Parses JSON with comments and trailing commas, since most clients accept them, but no other extensions.
fn parse(text: &str) -> Result<CstRootNode, Unusable> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| Unusable {
        line: Some(error.line_display()),
        why: format!("it is not JSON: {}", error.kind()),
    })
}
