//! `GET /openapi.json`: the routes as an OpenAPI 3.1 document, from the same declarations that serve them.
//!
//! Invariant: every route but `/mcp`, which has its own specification, is in the document with every status that it
//! answers with. What happens before there is a request, such as a head that cannot be parsed, is not a route's answer.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};
use weir_core::Level;
use weir_http::metrics::PROMETHEUS;
use weir_http::openapi::{Document, answer, parameter, reference, security, status_is};
use weir_operations::functions;
use weir_operations::{OPERATIONS, Operation};

use super::ServerState;
use super::caller::{CLIENT, MAX_NAME_CHARS, SESSION, WORK};
use super::compat::Compat;
use super::context_endpoint::MARKDOWN;
use super::tokens::TokenScope;

/// What is said about the whole.
const DESCRIPTION: &str = "The tools of Weir for any program. Each tool is a POST with its arguments as a JSON object. \
    Sloppy arguments are read as they are meant where that is clear: a number as text, a list of one, another name; \
    what cannot be understood is answered with 422. Tokens have the scope read, write or run, and each includes those \
    before it. MCP is served at /mcp, as its own specification describes it for Streamable HTTP without sessions.";

/// The statuses of errors, each with what it means here.
const ERRORS: &[(u16, &str)] = &[
    (400, "A header is invalid, or the body is not a JSON object."),
    (401, "There is no token, or it is unknown or has expired."),
    (403, "The scope of the token is too low, the user's rules forbid the call, or it comes from a foreign origin."),
    (404, "There is no such tool, or what was asked for does not exist."),
    (405, "The route does not support this method."),
    (408, "The body did not arrive in time."),
    (413, "The body is too large."),
    (415, "The body is not declared as JSON."),
    (421, "The server does not know the host in the request."),
    (422, "The arguments cannot be used, or the operation failed with them."),
    (500, "Something is broken; the detail says what."),
    (503, "The store or the sandbox cannot be used now, or too many calls are in progress."),
    (504, "The call took longer than the server allows."),
];

/// The statuses that any route may answer with.
const COMMON_ERRORS: &[u16] = &[403, 405, 413, 421, 500, 504];

/// One route, besides the tools.
struct Route {
    path: &'static str,
    summary: &'static str,
    /// The scope that the route needs, if it needs a token.
    scope: Option<TokenScope>,
    /// The parameters in the address, each with its schema.
    query: fn() -> Value,
    /// The media type and the schema of the answer.
    answer: fn() -> (&'static str, Value),
    /// The statuses of errors besides the common ones.
    errors: &'static [u16],
}

const ROUTES: &[Route] = &[
    Route {
        path: "/context",
        summary: "Show the last sessions and prompts and the newest notes of a project, as Markdown.",
        scope: Some(TokenScope::Read),
        query: context_query,
        answer: || (MARKDOWN, json!({ "type": "string" })),
        errors: &[400, 401, 404, 422, 503],
    },
    Route {
        path: "/health",
        summary: "Say that the server is alive.",
        scope: None,
        query: no_query,
        answer: || ("application/json", status_is("ok")),
        errors: &[],
    },
    Route {
        path: "/ready",
        summary: "Say whether the stores can be opened.",
        scope: None,
        query: no_query,
        answer: || ("application/json", status_is("ready")),
        errors: &[503],
    },
    Route {
        path: "/metrics",
        summary: "Show counters in the text format of Prometheus.",
        scope: Some(TokenScope::Read),
        query: no_query,
        answer: || (PROMETHEUS, json!({ "type": "string" })),
        errors: &[401],
    },
    Route {
        path: "/openapi.json",
        summary: "Describe the routes: this document.",
        scope: None,
        query: no_query,
        answer: || ("application/json", json!({ "type": "object", "required": ["openapi", "paths"] })),
        errors: &[],
    },
];

pub(super) async fn handle(State(state): State<Arc<ServerState>>) -> Response {
    let text = state.openapi.get_or_init(|| document(state.compat).to_string());
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-cache")], text.clone()).into_response()
}

/// Returns the document of a server, which may have routes for another program too.
fn document(compat: Option<Compat>) -> Value {
    let mut paths: Map<String, Value> = ROUTES.iter().map(|route| (route.path.to_owned(), get(route))).collect();
    paths.extend(OPERATIONS.iter().map(|operation| (path_of(operation.tool), post_of(operation))));
    if let Some(compat) = compat {
        compat.describe(&mut paths);
    }
    let document = Document {
        title: "Weir",
        version: env!("CARGO_PKG_VERSION"),
        description: DESCRIPTION,
        token: "A token, which `weir serve --print-token` prints. The roles are the scopes.",
        paths,
        schemas: functions::schemas(OPERATIONS.iter()),
        parameters: parameters(),
        errors: ERRORS,
        problem_fields: Map::new(),
    };
    document.into_json()
}

/// Describes a route that is not a tool.
fn get(route: &Route) -> Value {
    let (media_type, schema) = (route.answer)();
    let mut responses = refusals(route.errors);
    let mut parameters = vec![reference("parameters", "RequestId")];
    if let Value::Object(query) = (route.query)() {
        for (name, schema) in query {
            parameters.push(json!({ "name": name, "in": "query", "required": false, "schema": schema }));
        }
    }
    responses.insert("200".to_owned(), answer("The answer.", media_type, &schema));
    json!({ "get": {
        "operationId": route.path.trim_start_matches('/').replace('.', "_"),
        "tags": ["server"],
        "summary": route.summary,
        "security": security(route.scope.map(TokenScope::as_str)),
        "parameters": parameters,
        "responses": responses,
    } })
}

/// Returns the parameters of `GET /context`. What is not understood in a limit or in `compact` means the default.
fn context_query() -> Value {
    json!({
        "project": { "type": "string" },
        "scope": { "type": "string", "enum": Level::ALL.iter().map(|level| level.as_str()).collect::<Vec<_>>() },
        "limit": { "type": ["integer", "string"] },
        "compact": { "type": ["boolean", "string"] },
        "budget": { "type": "integer", "minimum": 0, "maximum": u32::MAX },
    })
}

fn no_query() -> Value {
    json!({})
}

/// A tool, as its path describes it.
pub(super) struct DescribedTool {
    pub name: &'static str,
    pub description: String,
    /// The scope that a call needs.
    pub scope: TokenScope,
    /// The schema of its arguments.
    pub arguments: Value,
    /// The schema of the data in its answer.
    pub data: Value,
}

pub(super) fn path_of(tool: &str) -> String {
    format!("/v1/tools/{tool}")
}

/// Describes an operation as a tool.
fn post_of(operation: &Operation) -> Value {
    let arguments = json!({ "anyOf": [
        reference("schemas", operation.tool),
        { "type": "object", "description": "Sloppy arguments, which are read as they are meant or refused with 422." },
    ] });
    let mut described = post(DescribedTool {
        name: operation.tool,
        description: (operation.schema)().0,
        scope: TokenScope::for_effect(operation.effect),
        arguments,
        data: reference("schemas", &format!("{}_answer", operation.tool)),
    });
    described["post"]["x-needs"] = operation.needs().as_str().into();
    described
}

pub(super) fn post(tool: DescribedTool) -> Value {
    let DescribedTool { name, description, scope, arguments, data } = tool;
    let summary = description.split_inclusive(". ").next().unwrap_or_default().trim().to_owned();
    let schema = json!({
        "type": "object",
        "required": ["text", "found", "data"],
        "additionalProperties": false,
        "properties": {
            "text": { "type": "string", "description": "The answer, for a model or a person." },
            "found": { "type": "boolean", "description": "Whether what was asked for was found." },
            "data": data,
        },
    });
    let all: Vec<u16> = ERRORS.iter().map(|(status, _)| *status).collect();
    let mut responses = refusals(&all);
    responses.insert("200".to_owned(), answer("The answer.", "application/json", &schema));
    let parameters = ["Session", "Client", "Work", "RequestId"].map(|name| reference("parameters", name));
    json!({ "post": {
        "operationId": name,
        "tags": ["tools"],
        "summary": summary,
        "description": description,
        "security": security(Some(scope.as_str())),
        "parameters": parameters,
        "requestBody": { "required": false, "content": { "application/json": { "schema": arguments } } },
        "responses": responses,
    } })
}

fn parameters() -> Map<String, Value> {
    let name = |header: &axum::http::HeaderName, description: &str| {
        parameter(header.as_str(), description, json!({ "maxLength": MAX_NAME_CHARS }))
    };
    let all = [
        ("Session", name(&SESSION, "The session that the call belongs to. Without it, the call belongs to none.")),
        ("Client", name(&CLIENT, "The client whose session this is; `http` by default.")),
        ("Work", name(&WORK, "The work that the call belongs to, instead of the branch that is checked out.")),
    ];
    all.map(|(key, described)| (key.to_owned(), described)).into_iter().collect()
}

/// Returns references to answers with an error: those that any route has, and these.
pub(super) fn refusals(statuses: &[u16]) -> Map<String, Value> {
    weir_http::openapi::refusals(COMMON_ERRORS.iter().chain(statuses))
}

#[cfg(test)]
mod tests {
    use weir_http::openapi::broken_references;

    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        for compat in [None, Some(Compat::Engram)] {
            let document = document(compat);
            assert_eq!(broken_references(&document, &document), [] as [String; 0]);
        }
    }

    #[test]
    fn every_operation_has_a_path_with_its_scope() {
        let document = document(None);
        for operation in OPERATIONS {
            let post = &document["paths"][format!("/v1/tools/{}", operation.tool)]["post"];
            let scope = TokenScope::for_effect(operation.effect).as_str();
            assert_eq!(post["security"], json!([{ "token": [scope] }]), "{}", operation.tool);
            assert!(post["responses"].as_object().unwrap().len() == ERRORS.len() + 1, "{}", operation.tool);
        }
    }
}
