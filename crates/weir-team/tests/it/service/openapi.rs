//! Tests the OpenAPI document: every route is in it, and every answer has the shape that it says.

use serde_json::{Value, json};
use weir_http::openapi::broken_references;
use weir_records::TokenScope;

use super::support::{API, Reply, TestServer, World, encoded, ids, kept, scope, upload, written};

/// A server with its document.
struct Described {
    server: TestServer,
    document: Value,
    token: String,
}

impl Described {
    fn new(world: &World) -> Self {
        let server = world.server();
        let (document, token) =
            (server.get("/openapi.json", "").ok(200), server.token("acme", "ana", TokenScope::Admin));
        Self { server, document, token }
    }

    /// Makes a request of a route, and checks the answer by the document. Returns the answer.
    #[track_caller]
    fn check(&self, method: &str, route: &str, path: &str, body: &Value) -> Value {
        let reply = self.server.send(&method.to_uppercase(), path, &self.token, &body.to_string());
        let Reply { status, head, body } = &reply;
        let responses = &self.document["paths"][route][method]["responses"];
        let mut described = &responses[status.to_string()];
        if let Some(reference) = described["$ref"].as_str() {
            described = self.document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
        }
        let (media_type, content) = described["content"].as_object().expect(route).iter().next().unwrap();
        assert!(head.contains(&format!("content-type: {media_type}").to_lowercase()), "{route}: {head}");
        let Ok(answer) = serde_json::from_str::<Value>(body) else {
            assert_eq!(content["schema"]["type"], "string", "{route}");
            return Value::Null;
        };
        self.check_shape(&content["schema"], &answer, route);
        answer
    }

    /// Checks that a value has the type that its schema says, the fields that are required and no unknown ones.
    #[track_caller]
    fn check_shape(&self, schema: &Value, value: &Value, at: &str) {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.check_shape(self.document.pointer(reference.strip_prefix('#').unwrap()).unwrap(), value, at);
        }
        let types = match &schema["type"] {
            Value::Array(types) => types.clone(),
            Value::Null => return,
            one => vec![one.clone()],
        };
        let has = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let fits = |named: &Value| *named == has || (*named == "number" && has == "integer");
        assert!(types.iter().any(fits), "{at}: {value} is no {types:?}");
        for name in schema["required"].as_array().into_iter().flatten().filter(|_| value.is_object()) {
            assert!(value.get(name.as_str().unwrap()).is_some(), "{at}: {value} has no {name}");
        }
        for (name, field) in value.as_object().into_iter().flatten() {
            if let Some(properties) = schema["properties"].as_object() {
                let described = properties.get(name).unwrap_or_else(|| panic!("{at}: `{name}` is not described"));
                self.check_shape(described, field, &format!("{at}.{name}"));
            }
        }
        for item in value.as_array().into_iter().flatten() {
            self.check_shape(&schema["items"], item, &format!("{at}[]"));
        }
    }
}

fn every_answer_has_the_shape_that_the_document_says(world: &World) {
    let described = Described::new(world);
    let (project, place) = (encoded(API), json!({ "project": API }));
    let check = |method: &str, route: &str, path: &str, body: &Value| described.check(method, route, path, body);
    for path in ["/health", "/ready", "/openapi.json", "/v1/me", "/metrics"] {
        check("get", path, path, &json!({}));
    }
    let note = json!({ "project": API, "text": "the pool is small", "kind": "decision", "topic": "pool" });
    let ben = described.server.token("acme", "ben", TokenScope::Write);
    described.server.post("/v1/notes", &ben, &note).ok(201);
    let forked = check("post", "/v1/notes", "/v1/notes", &note);
    assert_eq!(forked["fork"].as_array().map(Vec::len), Some(1), "{forked}");
    let id = forked["id"].as_str().unwrap();
    let other = check("post", "/v1/notes", "/v1/notes", &json!({ "project": API, "text": "another pool" }));
    let entry = format!("/v1/entries/{id}?project={project}");
    check("post", "/v1/entries/{id}/confirm", &format!("/v1/entries/{id}/confirm"), &place);
    check("get", "/v1/entries/{id}", &entry, &json!({}));
    let found = check("post", "/v1/search", "/v1/search", &json!({ "project": API, "query": "pool" }));
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(3), "{found}");
    let (own, id_of) = (scope("acme", "ana"), ids());
    let body = upload(API, &[written(&kept(&own, id_of(0), "uploaded"))], &["uploaded"]);
    check("post", "/v1/sync/records", "/v1/sync/records", &body);
    let wrong = upload(API, &[written(&kept(&scope("acme", "eve"), id_of(1), "forged"))], &["forged"]);
    let refused = check("post", "/v1/sync/records", "/v1/sync/records", &wrong);
    assert_eq!(refused["refused_count"], 1, "{refused}");
    let page = check("get", "/v1/sync/records", &format!("/v1/sync/records?project={project}&limit=2"), &json!({}));
    assert_eq!(page["records"].as_array().map(Vec::len), Some(2), "{page}");
    for (tool, more) in [
        ("ctx_search", json!({ "queries": ["pool"] })),
        ("ctx_get", json!({ "reference": id })),
        ("ctx_annotate", json!({ "text": "by a tool" })),
        ("ctx_forget", json!({ "refs": [other["id"]] })),
        ("ctx_history", json!({})),
        ("ctx_reflect", json!({})),
        ("ctx_context", json!({})),
        ("ctx_stats", json!({})),
    ] {
        let mut body = place.clone();
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let path = format!("/v1/tools/{tool}");
        assert!(check("post", &path, &path, &body)["text"].is_string(), "{tool}");
    }
    check("post", "/v1/tools/{name}", "/v1/tools/ctx_execute", &json!({}));
    check("delete", "/v1/entries/{id}", &entry, &json!({}));
    check("delete", "/v1/entries/{id}", &entry, &json!({}));
}

fn the_document_has_every_route_with_its_scope(world: &World) {
    let Described { server, document, token } = Described::new(world);
    assert_eq!(broken_references(&document, &document), [] as [String; 0]);
    let reader = server.token("acme", "ben", TokenScope::Read);
    let mut described = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            described += 1;
            let (method, path) = (method.to_uppercase(), path.replace("{id}", "x").replace("{name}", "x"));
            let scope = route["security"].pointer("/0/token/0").and_then(Value::as_str);
            assert_eq!(server.send(&method, &path, "", "{}").status == 401, scope.is_some(), "{method} {path}");
            let by_reader = server.send(&method, &path, &reader, "{}").status;
            assert_eq!(by_reader == 403, scope.is_some_and(|scope| scope != "read"), "{method} {path}: {by_reader}");
            let by_admin = server.send(&method, &path, &token, "{}");
            assert!(![401, 403, 405].contains(&by_admin.status), "{method} {path}: {}", by_admin.body);
        }
        let known = methods.as_object().unwrap();
        let allowed = server.send("PATCH", &path.replace("{id}", "x").replace("{name}", "x"), &token, "");
        let allow = allowed.head.lines().find_map(|line| line.strip_prefix("allow: ")).unwrap();
        let served = allow.split(',').filter(|method| *method != "head").count();
        assert_eq!(served, known.len(), "{path}: {allow}");
    }
    assert!(described > 20, "{described}");
}

on_each_backend! {
    every_answer_has_the_shape_that_the_document_says,
    the_document_has_every_route_with_its_scope,
}
