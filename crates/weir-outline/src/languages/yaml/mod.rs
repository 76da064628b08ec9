//! YAML.
//!
//! Known misses: an alias is shown as an alias, not as the value it refers to.

use std::borrow::Cow;

use tree_sitter::Node;

use super::common::{children, first_of};
use super::shape::{self, KeyValue, Value};
use super::{Content, Language, Reader};
use crate::model::{Item, Outline};
use crate::parse::Parsing;

pub(super) static LANGUAGE: Language = Language::read_by(Reader {
    name: "yaml",
    version: 1,
    extensions: &["yaml", "yml"],
    file_names: &[".clang-format", ".clang-tidy", ".yamllint", "CITATION.cff"],
    read,
})
.with_content(Content::Keys);

/// Maximum nesting of values. Deeper ones, which only hostile files have, are skipped.
const MAX_DEPTH: usize = 64;

fn read(text: &str, into: &mut Outline) {
    into.purpose = shape::purpose(text, '#');
    let tree = Parsing::new(&weir_grammars::yaml()).and_then(|mut parsing| parsing.whole(text));
    let Some(tree) = tree else { return };
    into.broken = usize::from(tree.root_node().has_error());
    let documents = children(tree.root_node()).into_iter().filter(|node| matches!(node.kind(), "document" | "ERROR"));
    let values: Vec<(Value, Node<'_>)> = documents.map(|node| (value(node, text, 0), node)).collect();
    into.items = match values.as_slice() {
        [(only, _)] => shape::items(only, text),
        several => several
            .iter()
            .map(|(value, node)| document(value, *node, text))
            .flat_map(|entry| of_document(entry, text))
            .collect(),
    };
}

fn of_document(entry: KeyValue, text: &str) -> Vec<Item> {
    shape::items(&Value::Map(vec![entry]), text)
}

/// Creates the entry for one of several documents, named by its kind and name if it has them.
fn document(value: &Value, node: Node<'_>, text: &str) -> KeyValue {
    let said = |path: &[&str]| {
        scalar_at(value, path).and_then(|bytes| text.get(bytes)).map(|text| text.trim_matches(['"', '\'']))
    };
    let key = match (said(&["kind"]), said(&["metadata", "name"])) {
        (Some(kind), Some(name)) => format!("{kind} {name}"),
        (Some(kind), None) => kind.to_owned(),
        _ => "---".to_owned(),
    };
    KeyValue {
        key,
        value: value.clone(),
        bytes: node.start_byte()..node.start_byte() + text.get(node.byte_range()).unwrap_or_default().trim_end().len(),
    }
}

fn scalar_at(value: &Value, path: &[&str]) -> Option<std::ops::Range<usize>> {
    let (key, rest) = path.split_first()?;
    let Value::Map(entries) = value else { return None };
    let entry = entries.iter().find(|entry| entry.key == *key)?;
    match &entry.value {
        Value::Scalar(_) if rest.is_empty() => Some(entry.bytes.start + key.len() + 2..entry.bytes.end),
        inner => scalar_at(inner, rest),
    }
}

fn value(node: Node<'_>, text: &str, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::scalar("…");
    }
    match node.kind() {
        "block_mapping" | "flow_mapping" => Value::Map(pairs(node, text, depth)),
        "block_sequence" | "flow_sequence" => {
            let within = children(node).into_iter().filter(|node| node.is_named() && node.kind() != "comment");
            Value::List(within.map(|node| value(node, text, depth + 1)).collect())
        }
        "flow_pair" => Value::Map(pair(node, text, depth).into_iter().collect()),
        "alias" => Value::Scalar(Cow::Owned(text.get(node.byte_range()).unwrap_or_default().to_owned())),
        "integer_scalar" => Value::scalar("integer"),
        "float_scalar" => Value::scalar("float"),
        "boolean_scalar" => Value::scalar("bool"),
        "null_scalar" => Value::scalar("null"),
        "string_scalar" | "double_quote_scalar" | "single_quote_scalar" | "block_scalar" | "timestamp_scalar" => {
            Value::scalar("string")
        }
        _ => {
            let inner = children(node).into_iter().filter(Node::is_named);
            let mut inner = inner.filter(|node| {
                !matches!(node.kind(), "comment" | "anchor" | "tag" | "yaml_directive" | "tag_directive")
            });
            inner.next().map_or(Value::scalar("null"), |node| value(node, text, depth + 1))
        }
    }
}

/// Returns the pairs of a mapping, including those inside parse errors.
fn pairs(node: Node<'_>, text: &str, depth: usize) -> Vec<KeyValue> {
    children(node).into_iter().filter_map(|node| pair(node, text, depth)).collect()
}

fn pair(node: Node<'_>, text: &str, depth: usize) -> Option<KeyValue> {
    let key = match node.kind() {
        "block_mapping_pair" | "flow_pair" => node.child_by_field_name("key")?,
        // `{name}` is a key without a value.
        "flow_node" => node,
        _ => return None,
    };
    let given = node.child_by_field_name("value").filter(|_| first_of(node, &[":"]).is_some());
    let inside = given.map_or(Value::scalar("null"), |node| value(node, text, depth + 1));
    let name = text.get(key.byte_range()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
    let len = text.get(node.byte_range()).unwrap_or_default().trim_end().len();
    Some(KeyValue { key: name, value: inside, bytes: node.start_byte()..node.start_byte() + len })
}
