//! Generates the schema of a tool's arguments in the plain subset that every client accepts.
//!
//! Gemini refuses references, `anyOf` with null, lists of types, unknown `format`s and `additionalProperties`. The
//! remaining subset is equivalent for arguments as simple as ours, and costs fewer tokens.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The JSON Schema keywords that are kept. All others are removed.
pub const KEPT_KEYWORDS: &[&str] = &["type", "description", "properties", "required", "items", "enum"];

/// Returns the description of a tool, and the schema of its arguments.
pub fn of<T: JsonSchema>() -> (String, Map<String, Value>) {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = plain(schema.to_value());
    let description = schema.remove("description").and_then(|text| text.as_str().map(ToOwned::to_owned));
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    (description.unwrap_or_default(), schema)
}

/// Returns the schema of an answer, as JSON Schema 2020-12, which OpenAPI 3.1 uses.
pub fn of_answer<T: JsonSchema>() -> Value {
    openapi().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}

/// Returns the schema of what a server is sent, in the same way.
pub fn of_input<T: JsonSchema>() -> Value {
    openapi().into_generator().into_root_schema_for::<T>().to_value()
}

fn openapi() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

/// Removes the description of an argument whose name is clear enough for a model. The command line still shows it,
/// where words cost nothing.
pub fn silent(schema: &mut Schema) {
    schema.remove("description");
}

fn plain(schema: Value) -> Map<String, Value> {
    let Value::Object(schema) = schema else { return Map::new() };
    let mut plain_schema = Map::new();
    for (word, value) in schema {
        match (word.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let properties = properties.into_iter().map(|(name, schema)| (name, Value::Object(plain(schema))));
                plain_schema.insert(word, Value::Object(properties.collect()));
            }
            ("items", value) => drop(plain_schema.insert(word, Value::Object(plain(value)))),
            ("type", Value::Array(types)) => plain_schema.extend(not_null(types).map(|value| (word, value))),
            ("anyOf", Value::Array(choices)) => {
                let choice = choices.into_iter().map(plain).find(|choice| choice.get("type") != Some(&"null".into()));
                plain_schema.extend(choice.unwrap_or_default());
            }
            ("enum", Value::Array(words)) => {
                let words = words.into_iter().filter(|word| !word.is_null()).collect();
                plain_schema.insert("enum".to_owned(), Value::Array(words));
            }
            (known, value) if KEPT_KEYWORDS.contains(&known) => drop(plain_schema.insert(word, value)),
            _ => {}
        }
    }
    plain_schema
}

fn not_null(types: Vec<Value>) -> Option<Value> {
    types.into_iter().find(|name| name != "null")
}
