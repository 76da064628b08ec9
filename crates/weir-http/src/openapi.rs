//! OpenAPI 3.1 documents: what those of all servers have in common.
//!
//! Invariant: an error has one shape, and each answer has the ID of its request.

use serde_json::{Map, Value, json};

use super::observe::REQUEST_ID;
use super::problem::PROBLEM_JSON;

/// What a document is made of.
pub struct Document {
    pub title: &'static str,
    pub version: &'static str,
    pub description: &'static str,
    /// Where a token comes from.
    pub token: &'static str,
    pub paths: Map<String, Value>,
    pub schemas: Map<String, Value>,
    pub parameters: Map<String, Value>,
    /// The statuses of errors, each with what it means here.
    pub errors: &'static [(u16, &'static str)],
    /// The fields that an error may have besides the usual ones, each with its schema.
    pub problem_fields: Map<String, Value>,
}

impl Document {
    pub fn into_json(self) -> Value {
        let Self { title, version, description, token, paths, mut schemas, mut parameters, errors, .. } = self;
        schemas.insert("Problem".to_owned(), problem(self.problem_fields));
        parameters.insert("RequestId".to_owned(), request_id());
        json!({
            "openapi": "3.1.0",
            "info": { "title": title, "version": version, "description": description },
            "servers": [{ "url": "/" }],
            "paths": paths,
            "components": {
                "securitySchemes": { "token": { "type": "http", "scheme": "bearer", "description": token } },
                "schemas": schemas,
                "parameters": parameters,
                "headers": { "RequestId": {
                    "description": "The request's ID, as in the log.", "required": true, "schema": { "type": "string" },
                } },
                "responses": answers_of(errors),
            },
        })
    }
}

/// Refers to a component.
pub fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// Describes an answer.
pub fn answer(description: &str, media_type: &str, schema: &Value) -> Value {
    json!({
        "description": description,
        "headers": { "X-Request-Id": reference("headers", "RequestId") },
        "content": { media_type: { "schema": schema } },
    })
}

/// Refers to the answers with these errors.
pub fn refusals<'a>(statuses: impl IntoIterator<Item = &'a u16>) -> Map<String, Value> {
    let refer = |status: &u16| (status.to_string(), reference("responses", &status.to_string()));
    statuses.into_iter().map(refer).collect()
}

/// Describes who may call a route: those with a token of a scope, or everybody.
pub fn security(scope: Option<&str>) -> Value {
    scope.map_or_else(|| json!([]), |scope| json!([{ "token": [scope] }]))
}

/// Returns the schema of an object with one status, which has this word.
pub fn status_is(word: &str) -> Value {
    json!({
        "type": "object", "required": ["status"], "additionalProperties": false,
        "properties": { "status": { "const": word } },
    })
}

/// Returns the references in a part of a document that lead nowhere. There should be none.
pub fn broken_references(document: &Value, part: &Value) -> Vec<String> {
    let leads_nowhere = |name: &&str| name.strip_prefix('#').and_then(|at| document.pointer(at)).is_none();
    match part {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).filter(leads_nowhere).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(|value| broken_references(document, value))).collect()
        }
        Value::Array(items) => items.iter().flat_map(|item| broken_references(document, item)).collect(),
        _ => Vec::new(),
    }
}

/// Returns the schema of an error.
fn problem(more: Map<String, Value>) -> Value {
    let mut schema = json!({
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "additionalProperties": false,
        "properties": {
            "type": { "type": "string", "format": "uri", "description": "Names the sort of error." },
            "title": { "type": "string", "description": "The kind of error, in words." },
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string", "description": "What was wrong with this request." },
            "hint": { "type": "string", "description": "What to do next." },
        },
    });
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.extend(more);
    }
    schema
}

/// Describes the header of a request's ID, which may be anything.
fn request_id() -> Value {
    let description = "An ID for the request; one that cannot be used is replaced.";
    let schema = json!({ "type": "string" });
    json!({ "name": REQUEST_ID.as_str(), "in": "header", "required": false, "description": description, "schema": schema })
}

/// Describes a header of a request: text without blanks at its ends, which the rest of the schema bounds.
pub fn parameter(header: &str, description: &str, rest: Value) -> Value {
    let mut schema = json!({ "type": "string", "pattern": "^[!-~]([ -~]*[!-~])?$" });
    if let (Some(schema), Value::Object(rest)) = (schema.as_object_mut(), rest) {
        schema.extend(rest);
    }
    json!({ "name": header, "in": "header", "required": false, "description": description, "schema": schema })
}

/// Returns the answers with an error, each under its status.
fn answers_of(errors: &[(u16, &str)]) -> Value {
    let schema = reference("schemas", "Problem");
    let error = |(status, meaning): &(u16, &str)| (status.to_string(), answer(meaning, PROBLEM_JSON, &schema));
    Value::Object(errors.iter().map(error).collect())
}
