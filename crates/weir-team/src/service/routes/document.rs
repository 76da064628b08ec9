//! `GET /openapi.json`: the routes as an OpenAPI 3.1 document. Invariant: every route but `/mcp` is in it, with each
//! status that it answers with.

use serde_json::{Map, Value, json};
use weir_http::openapi::{Document, answer, parameter, reference, refusals, security};
use weir_records::{MAX_NAME_BYTES, TokenScope};

use super::{Method, Route};
use crate::service::callers::CLIENT;
use crate::service::notes::IDEMPOTENCY_KEY;

const DESCRIPTION: &str = "The notes and records of a team. Tokens have the scope read, write or admin, and each \
    includes those before it. A field that is not known is refused. MCP is served at /mcp, as its own specification \
    describes it for Streamable HTTP without sessions.";

/// The statuses of errors, each with what it means here.
const ERRORS: &[(u16, &str)] = &[
    (400, "A header or the path is invalid, or the body is not JSON or broke off."),
    (401, "There is no token, or it is unknown, has expired or was revoked."),
    (403, "The token is not good for this, a quota is used up, or the request comes from a foreign origin."),
    (404, "There is no such thing that the caller can see."),
    (405, "The route does not support this method."),
    (408, "The body did not arrive in time."),
    (409, "The request does not fit what the server has; the title says how."),
    (410, "The invitation was used or revoked, or has expired."),
    (413, "The body is too large."),
    (421, "The server does not know the host in the request."),
    (422, "A field or parameter cannot be used, or the project is sealed."),
    (429, "The token, the tenant or the address makes too many requests."),
    (500, "Something is broken; the operator was told what."),
    (501, "The server does not support this; the hint says what does."),
    (503, "The storage cannot be used now, or the call took too long."),
    (504, "The request was not answered in time."),
];

/// The statuses that any route may answer with.
const COMMON_ERRORS: &[u16] = &[403, 405, 413, 421, 500, 504];
/// Those that a route with a token may answer with too.
const CALL_ERRORS: &[u16] = &[400, 401, 422, 429, 503];
/// Those that a route with a body may answer with too.
const BODY_ERRORS: &[u16] = &[400, 408];

/// Returns the document of these routes.
pub(in crate::service) fn document(routes: &[Route], version: &'static str) -> Value {
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.declared.path.clone()).or_insert_with(|| json!({}));
        path[route.declared.method.as_str()] = described(route);
    }
    let header = |name: &str, description: &str| parameter(name, description, json!({ "maxLength": MAX_NAME_BYTES }));
    let repeated = "Names a request that may be repeated, such as a UUID. It counts for a day.";
    let parameters = [
        ("Client", header(CLIENT.as_str(), "The client that a note is written with.")),
        ("IdempotencyKey", header(IDEMPOTENCY_KEY.as_str(), repeated)),
    ];
    let document = Document {
        title: "Weir team server",
        version,
        description: DESCRIPTION,
        token: "A token, which `weir-server invite` prints. The roles are the scopes.",
        paths,
        schemas: Map::new(),
        parameters: parameters.map(|(name, described)| (name.to_owned(), described)).into_iter().collect(),
        errors: ERRORS,
        problem_fields: problem_fields(),
    };
    document.into_json()
}

fn described(route: &Route) -> Value {
    let (declared, (media_type, schema)) = (&route.declared, &route.answer);
    let mut errors: Vec<u16> = COMMON_ERRORS.iter().chain(declared.errors).copied().collect();
    if declared.scope.is_some() {
        errors.extend(CALL_ERRORS);
    }
    if declared.method == Method::Post {
        errors.extend(BODY_ERRORS);
    }
    let mut responses = refusals(&errors);
    if !schema.is_null() {
        responses.insert(declared.status.as_str().to_owned(), answer("The answer.", media_type, schema));
    }
    let mut described = json!({
        "operationId": operation_id(route),
        "summary": declared.summary,
        "security": security(declared.scope.map(TokenScope::as_str)),
        "parameters": parameters(route),
        "responses": responses,
    });
    if !route.body.is_null() {
        let content = json!({ "application/json": { "schema": route.body } });
        described["requestBody"] = json!({ "required": true, "content": content });
    }
    described
}

/// Returns the method and the path as one name.
fn operation_id(route: &Route) -> String {
    let words = route.declared.path.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let words = words.filter(|word| !word.is_empty() && *word != "v1");
    [route.declared.method.as_str()].into_iter().chain(words).collect::<Vec<_>>().join("_")
}

fn parameters(route: &Route) -> Vec<Value> {
    let by_client = route.declared.scope.map(|_| "Client");
    let headers = ["RequestId"].into_iter().chain(by_client).chain(route.declared.header);
    let mut parameters: Vec<Value> = headers.map(|name| reference("parameters", name)).collect();
    let path = route.declared.path.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    if let Some((name, _)) = path {
        let schema = json!({ "type": "string", "minLength": 1 });
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    }
    let required = route.query["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (name, schema) in route.query["properties"].as_object().into_iter().flatten() {
        let is_required = required.iter().any(|required| required == name);
        parameters.push(json!({ "name": name, "in": "query", "required": is_required, "schema": not_null(schema) }));
    }
    parameters
}

/// Returns the schema of a value that can only be left out, because a query has no null.
fn not_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(first) = schema["type"].as_array().and_then(|types| types.first()).cloned() {
        schema["type"] = first;
    }
    schema
}

/// Returns the fields that some errors have.
fn problem_fields() -> Map<String, Value> {
    let (number, text) = (json!({ "type": "integer", "minimum": 0 }), json!({ "type": "string" }));
    let refused = json!({
        "type": "object", "required": ["id", "status", "reason"], "additionalProperties": false,
        "properties": { "id": text, "status": number, "reason": text },
    });
    let fields = [
        ("request_id", text.clone()),
        ("id", text.clone()),
        ("index", text),
        ("accepted", number.clone()),
        ("known", number.clone()),
        ("head", number.clone()),
        ("refused_count", number),
        ("refused", json!({ "type": "array", "items": refused })),
        ("forgotten_before", json!({ "type": "array", "items": { "type": "object" } })),
    ];
    fields.map(|(name, schema)| (name.to_owned(), schema)).into_iter().collect()
}
