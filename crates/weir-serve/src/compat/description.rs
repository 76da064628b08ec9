//! What the OpenAPI document says about the routes for engram. Invariant: it is what they answer.

use serde_json::{Map, Value, json};
use weir_http::openapi::{answer, reference};

use super::super::openapi::{DescribedTool, path_of, post, refusals};
use super::super::tokens::TokenScope;
use super::aliases::{ALIASES, Alias};

/// The statuses of errors of a plugin's request, besides those that any route has.
const ERRORS: &[u16] = &[400, 401, 404, 408, 422, 503];

/// A request that plugins make.
struct Report {
    path: &'static str,
    summary: &'static str,
    /// The texts that the body must have.
    required: &'static [&'static str],
    /// The texts that it may have.
    optional: &'static [&'static str],
    /// The schema of each field of the answer.
    answer: fn() -> Value,
    /// The statuses of answers.
    statuses: &'static [u16],
}

const REPORTS: &[Report] = &[
    Report {
        path: "/sessions",
        summary: "Record that a session began.",
        required: &["id"],
        optional: &["project", "directory"],
        answer: || json!({ "id": { "type": "string" }, "status": { "enum": ["created", "known"] } }),
        statuses: &[200, 201],
    },
    Report {
        path: "/prompts",
        summary: "Record a prompt of the user.",
        required: &["session_id", "content"],
        optional: &["project"],
        answer: || json!({ "id": { "type": ["integer", "null"] }, "status": { "enum": ["saved", "skipped"] } }),
        statuses: &[200, 201],
    },
    Report {
        path: "/observations/passive",
        summary: "Keep what a text says was learned, each item as a note.",
        required: &["session_id"],
        optional: &["content", "project", "source"],
        answer: || {
            let fields = ["extracted", "saved", "duplicates", "left_out"];
            fields.into_iter().map(|field| (field.to_owned(), json!({ "type": "integer" }))).collect()
        },
        statuses: &[200],
    },
];

/// Adds the routes to the paths of a document.
pub(super) fn add_to(paths: &mut Map<String, Value>) {
    if let Some(context) = paths.get_mut("/context") {
        let answer = object(&json!({ "context": { "type": "string" } }));
        context["get"]["security"] = security(TokenScope::Read);
        context["get"]["responses"]["200"]["content"]["application/json"] = json!({ "schema": answer });
    }
    paths.extend(REPORTS.iter().map(|report| (report.path.to_owned(), report.described())));
    paths.extend(ALIASES.iter().map(|alias| (path_of(alias.name), tool(alias))));
}

impl Report {
    fn described(&self) -> Value {
        let required = self.required.iter().map(|field| ((*field).to_owned(), json!({ "type": "string" })));
        let optional = self.optional.iter().map(|field| ((*field).to_owned(), json!({ "type": ["string", "null"] })));
        let body = json!({
            "type": "object", "required": self.required, "properties": required.chain(optional).collect::<Value>(),
        });
        let mut responses = refusals(ERRORS);
        let schema = object(&(self.answer)());
        for status in self.statuses {
            responses.insert(status.to_string(), answer("The answer.", "application/json", &schema));
        }
        json!({ "post": {
            "operationId": self.path.trim_start_matches('/').replace('/', "_"),
            "tags": ["engram"],
            "summary": self.summary,
            "security": security(TokenScope::Write),
            "parameters": [reference("parameters", "RequestId")],
            "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
            "responses": responses,
        } })
    }
}

/// Describes a tool of engram.
fn tool(alias: &Alias) -> Value {
    post(DescribedTool {
        name: alias.name,
        description: alias.about.to_owned(),
        scope: TokenScope::for_effect(alias.effect),
        arguments: Value::Object(alias.tool().input_schema.as_ref().clone()),
        data: json!({}),
    })
}

/// Returns the schema of an object that has these fields and no others.
fn object(fields: &Value) -> Value {
    let names: Vec<&String> = fields.as_object().into_iter().flat_map(Map::keys).collect();
    json!({ "type": "object", "required": names, "additionalProperties": false, "properties": fields })
}

/// Says that a process of the user needs no token, and that anyone else needs one with this scope.
fn security(scope: TokenScope) -> Value {
    json!([{}, { "token": [scope.as_str()] }])
}
