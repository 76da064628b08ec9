//! Tests who gets in, and how far.

use serde_json::{Value, json};
use weir_core::{ProjectKey, TenantId, UserId};
use weir_records::{ApiToken, Credential, Revoked, TokenScope};

use super::support::{API, TestServer, World, encoded, ids, kept, past, scope, upload, written};
use crate::support::NOW;

/// A route, and the scope that it needs.
struct Route {
    method: &'static str,
    path: String,
    body: Value,
    needs: TokenScope,
}

fn routes() -> Vec<Route> {
    let (query, nothing) = (format!("project={}", encoded(API)), json!({}));
    let id = format!("{}-0", "0".repeat(32));
    let route = |method, path: String, body: &Value, needs| Route { method, path, body: body.clone(), needs };
    let place = json!({ "project": API });
    vec![
        route("GET", "/v1/me".into(), &nothing, TokenScope::Read),
        route("POST", "/v1/sync/records".into(), &upload(API, &[], &[]), TokenScope::Write),
        route("GET", format!("/v1/sync/records?{query}"), &nothing, TokenScope::Read),
        route("POST", "/v1/search".into(), &json!({ "project": API, "query": "x" }), TokenScope::Read),
        route("POST", "/v1/notes".into(), &json!({ "project": API, "text": "x" }), TokenScope::Write),
        route("GET", format!("/v1/entries/{id}?{query}"), &nothing, TokenScope::Read),
        route("DELETE", format!("/v1/entries/{id}?{query}"), &nothing, TokenScope::Write),
        route("POST", format!("/v1/entries/{id}/confirm"), &place, TokenScope::Write),
        route("POST", "/v1/tools/ctx_execute".into(), &nothing, TokenScope::Read),
        route("POST", "/mcp".into(), &nothing, TokenScope::Read),
        route("GET", "/metrics".into(), &nothing, TokenScope::Admin),
        route("GET", "/v1/invitations".into(), &nothing, TokenScope::Admin),
        route("POST", "/v1/invitations".into(), &nothing, TokenScope::Admin),
    ]
}

fn status(server: &TestServer, route: &Route, token: &str) -> u16 {
    server.send(route.method, &route.path, token, &route.body.to_string()).status
}

fn every_route_needs_a_good_token(world: &World) {
    let server = world.server();
    let good = server.token("acme", "ana", TokenScope::Admin);
    let expired = server.token_with("acme", "ana", |token| ApiToken { expires_at: past(), ..token });
    let revoked = server.token("acme", "ana", TokenScope::Admin);
    let id = Credential::parse(&revoked).unwrap().id();
    assert_eq!(server.accounts.revoke(&TenantId("acme".into()), &Revoked::Token(id), NOW).unwrap(), 1);
    // The id of one and the secret of another, and a token that nobody was given.
    let mixed = format!("{}_{}", &good[..21], expired.rsplit('_').next().unwrap());
    let unknown = Credential::draw().unwrap().to_string();
    for route in routes() {
        for wrong in ["", "x", "weir_", &expired, &revoked, &mixed, &unknown, &good[..good.len() - 1]] {
            let reply = server.send(route.method, &route.path, wrong, &route.body.to_string());
            reply.problem(401);
            assert!(reply.head.contains("www-authenticate: bearer"), "{}", reply.head);
        }
        let status = status(&server, &route, &good);
        assert!(![401, 403, 429].contains(&status), "{} {}: {status}", route.method, route.path);
    }
    // What is wrong with an address is for those who may come in.
    server.send("POST", "/v1/tools/%FF", "", "{}").problem(401);
    server.send("POST", "/v1/tools/%FF", &good, "{}").problem(400);
    for path in ["/health", "/ready", "/openapi.json"] {
        server.get(path, "").ok(200);
    }
}

fn a_scope_includes_the_smaller_ones_and_no_larger_one(world: &World) {
    let server = world.server();
    for &has in TokenScope::ALL {
        let token = server.token("acme", "ana", has);
        for route in routes() {
            let is_refused = status(&server, &route, &token) == 403;
            assert_eq!(is_refused, has < route.needs, "{has} {} {}", route.method, route.path);
        }
    }
}

fn a_revoked_user_is_out_at_once_and_a_replaced_token_too(world: &World) {
    let server = world.server();
    let (ana, ben) = (server.token("acme", "ana", TokenScope::Read), server.token("acme", "ben", TokenScope::Read));
    let acme = TenantId("acme".into());
    let path = format!("/v1/sync/records?project={}", encoded(API));
    server.get(&path, &ben).ok(200);
    // Another tenant cannot revoke it.
    server.accounts.create_tenant(&TenantId("umbrella".into())).unwrap();
    let others = Revoked::User(UserId("ben".into()));
    assert_eq!(server.accounts.revoke(&TenantId("umbrella".into()), &others, NOW).unwrap(), 0);
    server.get(&path, &ben).ok(200);
    assert_eq!(server.accounts.revoke(&acme, &others, NOW).unwrap(), 1);
    server.get(&path, &ben).problem(401);
    let old = Credential::parse(&ana).unwrap().id();
    let stored = server.accounts.token(old).unwrap().unwrap();
    let new = Credential::draw().unwrap();
    let replacement = ApiToken { id: new.id(), hash: new.hash(), ..stored };
    server.accounts.add_token(&replacement, Some(old)).unwrap();
    server.get(&path, &ana).problem(401);
    server.get(&path, &new.to_string()).ok(200);
    let third = Credential::draw().unwrap();
    let again = ApiToken { id: third.id(), hash: third.hash(), ..replacement };
    assert!(server.accounts.add_token(&again, Some(old)).is_err(), "it is revoked already");
    assert_eq!(server.accounts.token(third.id()).unwrap(), None, "both or neither");
    let listed: Vec<bool> =
        server.accounts.tokens(&acme).unwrap().iter().map(|token| token.revoked_at.is_some()).collect();
    assert_eq!(listed.iter().filter(|revoked| **revoked).count(), 2, "{listed:?}");
}

fn the_tenant_and_the_author_come_from_the_token(world: &World) {
    let (server, id) = (world.server(), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    server.token("umbrella", "eve", TokenScope::Write);
    for route in routes().iter().filter(|route| route.method == "POST" && route.body.get("project").is_some()) {
        for field in ["tenant", "user", "author_user"] {
            let mut body = route.body.clone();
            body[field] = json!("umbrella");
            server.post(&route.path, &token, &body).problem(422);
        }
    }
    for other in [scope("umbrella", "ana"), scope("acme", "eve"), crate::support::scope("acme", "ana", "another")] {
        let body = upload(API, &[written(&kept(&other, id(0), "forged"))], &["forged"]);
        let problem = server.post("/v1/sync/records", &token, &body).problem(422);
        assert_eq!(problem["refused"][0]["status"], 403, "{problem}");
        assert_eq!(problem["head"], 0);
    }
}

fn a_token_of_one_project_is_good_for_no_other(world: &World) {
    let server = world.server();
    let only = Some(vec![ProjectKey(API.into())]);
    let token = server.token_with("acme", "ana", |token| ApiToken { projects: only.clone(), ..token });
    server.note(&token, API, "within");
    for project in ["github.com/acme/web", "GITHUB.COM/acme/api", &format!("{API} ")] {
        server.post("/v1/notes", &token, &json!({ "project": project, "text": "x" })).problem(403);
        server.post("/v1/search", &token, &json!({ "project": project, "query": "x" })).problem(403);
        server.get(&format!("/v1/sync/records?project={}", encoded(project)), &token).problem(403);
    }
}

fn what_acts_on_a_machine_names_the_local_command(world: &World) {
    let server = world.server();
    let token = server.token("acme", "ana", TokenScope::Read);
    for (tool, status, hint) in
        [("ctx_execute", 501, "weir mcp"), ("context_edit", 501, "weir mcp"), ("no_such_tool", 404, "")]
    {
        let problem = server.post(&format!("/v1/tools/{tool}"), &token, &json!({})).problem(status);
        assert!(problem["hint"].as_str().unwrap_or_default().contains(hint), "{problem}");
    }
    server.get("/nothing", &token).problem(404);
    server.send("PUT", "/v1/notes", &token, "{}").problem(405);
}

on_each_backend! {
    every_route_needs_a_good_token,
    a_scope_includes_the_smaller_ones_and_no_larger_one,
    a_revoked_user_is_out_at_once_and_a_replaced_token_too,
    the_tenant_and_the_author_come_from_the_token,
    a_token_of_one_project_is_good_for_no_other,
    what_acts_on_a_machine_names_the_local_command,
}
