//! Tests the limits of a tenant and of a token.

use std::net::Ipv4Addr;

use serde_json::json;
use weir_core::{ProjectKey, Scope, TenantId};
use weir_http::listen::ServerLimits;
use weir_records::{Body, Credential, TokenScope};
use weir_team::ServiceOptions;

use super::support::{API, World, ids, kept, options, record, scope, upload, written};

/// Returns the usual limits, with another one on the body.
fn up_to(max_body_bytes: usize) -> ServerLimits {
    ServerLimits { max_body_bytes, ..ServerLimits::default() }
}

fn a_tenant_over_its_quota_can_repeat_and_remove_but_not_add(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    server.accounts.set_max_records(&TenantId("acme".into()), 2).unwrap();
    let first = upload(API, &[written(&kept(&own, id(0), "a")), written(&kept(&own, id(1), "b"))], &["a", "b"]);
    let path = "/v1/sync/records";
    server.post(path, &token, &first).ok(200);
    assert_eq!(server.post(path, &token, &first).ok(200)["known"], 2);
    let more = upload(API, &[written(&kept(&own, id(2), "c"))], &["c"]);
    assert_eq!(server.post(path, &token, &more).problem(403)["title"], "Quota exceeded");
    server.post("/v1/notes", &token, &json!({ "project": "other", "text": "c" })).problem(403);
    let removal = record(&own, id(3), Body::forgets(id(0)));
    // The removal is taken, although what comes with it is not.
    let mixed = upload(API, &[written(&kept(&own, id(2), "c")), written(&removal)], &["c"]);
    let refused = server.post(path, &token, &mixed).problem(403);
    assert_eq!([&refused["accepted"], &refused["known"]], [1, 0], "{refused}");
    assert_eq!(server.post(path, &token, &upload(API, &[written(&removal)], &[])).ok(200)["known"], 1);
    // Another tenant has its own.
    let other = server.token("umbrella", "eve", TokenScope::Write);
    server.note(&other, API, "free");
}

fn removals_of_nothing_need_room_once_a_tenant_is_far_over_its_quota(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    server.accounts.set_max_records(&TenantId("acme".into()), 10).unwrap();
    let removal = |number: u64, of: u64| written(&record(&own, id(number), Body::forgets(id(of))));
    let send = |records: &[serde_json::Value], texts: &[&str]| {
        server.post("/v1/sync/records", &token, &upload(API, records, texts))
    };
    let notes: Vec<_> = (0..10).map(|number| written(&kept(&own, id(number), "same"))).collect();
    send(&notes, &["same"]).ok(200);
    // The record may arrive later, so its removal counts at first.
    assert_eq!(send(&[removal(20, 100), removal(21, 101)], &[]).ok(200)["accepted"], 2);
    assert_eq!(send(&[removal(22, 102)], &[]).problem(403)["accepted"], 0);
    let mixed = send(&[removal(23, 0), removal(24, 103), removal(25, 0)], &[]).problem(403);
    assert_eq!(mixed["accepted"], 1, "{mixed}");
    assert_eq!(send(&[removal(26, 1), removal(27, 2)], &[]).ok(200)["accepted"], 2);
}

fn a_tenant_has_a_limited_number_of_projects(world: &World) {
    let server = world.server_named("one", ServiceOptions { max_tenant_projects: 2, ..options() });
    let (token, own, id) = (server.token("acme", "ana", TokenScope::Write), scope("acme", "ana"), ids());
    server.note(&token, API, "first");
    server.note(&token, "second", "second");
    server.note(&token, API, "again");
    server.post("/v1/notes", &token, &json!({ "project": "third", "text": "x" })).problem(403);
    let elsewhere = Scope { project: ProjectKey("third".into()), ..own };
    let refused = upload("third", &[written(&kept(&elsewhere, id(0), "x"))], &["x"]);
    assert_eq!(server.post("/v1/sync/records", &token, &refused).problem(403)["title"], "Quota exceeded");
    let other = server.token("umbrella", "eve", TokenScope::Write);
    server.note(&other, "third", "free");
}

fn what_a_tenant_has_already_takes_no_room(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    server.accounts.set_max_records(&TenantId("acme".into()), 3).unwrap();
    let [first, second, third] = [("a", 0), ("b", 1), ("c", 2)].map(|(text, at)| written(&kept(&own, id(at), text)));
    let path = "/v1/sync/records";
    server.post(path, &token, &upload(API, &[first.clone(), second.clone()], &["a", "b"])).ok(200);
    let taken = server.post(path, &token, &upload(API, &[first, second, third], &["a", "b", "c"])).ok(200);
    assert_eq!([&taken["accepted"], &taken["known"]], [1, 2], "{taken}");
}

fn a_text_that_many_records_have_is_not_a_body_for_each(world: &World) {
    let server = world.server_named("one", ServiceOptions { limits: up_to(100_000), ..options() });
    let (token, own, id) = (server.token("acme", "ana", TokenScope::Write), scope("acme", "ana"), ids());
    let text = "x".repeat(20_000);
    let records: Vec<_> = (0..6).map(|number| written(&kept(&own, id(number), &text))).collect();
    let send = |some: &[serde_json::Value]| server.post("/v1/sync/records", &token, &upload(API, some, &[&text]));
    let refused = send(&records).problem(413);
    assert!(refused["detail"].as_str().unwrap().contains("counted for each record"), "{refused}");
    assert_eq!(server.download(&token, API, 10).len(), 0);
    send(&records[..5]).ok(200);
    assert_eq!(server.download(&token, API, 10).len(), 5);
}

fn a_token_that_asks_too_often_waits_and_others_do_not(world: &World) {
    let few = ServiceOptions { burst: 3, requests_per_second: 1, ..options() };
    let server = world.server_named("one", few);
    let (ana, ben) = (server.token("acme", "ana", TokenScope::Read), server.token("acme", "ben", TokenScope::Read));
    let search = |token: &str| server.post("/v1/search", token, &json!({ "project": API, "query": "x" }));
    for _ in 0..3 {
        search(&ana).ok(200);
    }
    let refused = search(&ana);
    refused.problem(429);
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    search(&ben).ok(200);
    server.get("/health", "").ok(200);
}

fn an_address_without_a_good_token_waits_and_a_good_token_does_not(world: &World) {
    let few = ServiceOptions { stranger_burst: 3, strangers_per_second: 1, ..options() };
    let server = world.server_named("one", few);
    let good = server.token("acme", "ana", TokenScope::Read);
    let unknown = Credential::draw().unwrap().to_string();
    for wrong in ["", "x", &unknown] {
        server.get("/v1/me", wrong).problem(401);
    }
    for (method, path) in [("GET", "/v1/me"), ("POST", "/v1/sync/records"), ("POST", "/mcp"), ("GET", "/metrics")] {
        let refused = server.send(method, path, &unknown, "{}");
        let problem = refused.problem(429);
        assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
        assert!(problem["hint"].as_str().unwrap().contains("check the token"), "{problem}");
        server.send(method, path, "", "{}").problem(429);
    }
    // Others behind the same address go on, and so do other addresses.
    server.get("/v1/me", &good).ok(200);
    server.get("/health", "").ok(200);
    let request = "GET /v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    // Two addresses may share a bucket, and eight do not.
    let is_heard = |last: u8| server.exchange_from(Ipv4Addr::new(127, 0, 0, last), request).status == 401;
    assert!((2..10).any(is_heard));
    assert_eq!(server.exchange(request).status, 429);
}

fn a_body_beyond_the_limit_is_refused(world: &World) {
    let server = world.server_named("one", ServiceOptions { limits: up_to(1_000), ..options() });
    let token = server.token("acme", "ana", TokenScope::Write);
    let body = json!({ "project": API, "text": "x".repeat(1_100) });
    server.post("/v1/notes", &token, &body).problem(413);
    for (body, status) in [("{", 400), ("", 400), ("[]", 422), ("{}", 422), ("{\"project\":7,\"text\":\"x\"}", 422)] {
        server.send("POST", "/v1/notes", &token, body).problem(status);
    }
    server.post("/v1/notes", &token, &json!({ "project": API, "text": " " })).problem(422);
    server.post("/v1/notes", &token, &json!({ "project": "a\u{0}b", "text": "x" })).problem(422);
}

fn the_figures_show_the_lag_of_the_index_to_admins(world: &World) {
    let server = world.server();
    let (admin, writer) =
        (server.token("acme", "ana", TokenScope::Admin), server.token("acme", "ben", TokenScope::Write));
    server.note(&writer, API, "counted");
    assert_eq!(server.search(&writer, API, "counted"), ["counted"]);
    server.get("/metrics", &writer).problem(403);
    let page = server.get("/metrics", &admin);
    assert_eq!(page.status, 200);
    for line in [
        "weir_tenant_records{tenant=\"acme\"} 1",
        "weir_tenant_projects{tenant=\"acme\"} 1",
        "weir_index_lag_records 0",
        "weir_index_failures_total 0",
        "weir_http_requests_total{route=\"/v1/notes\",status=\"201\"} 1",
        "weir_http_requests_total{route=\"/metrics\",status=\"403\"} 1",
    ] {
        assert!(page.body.lines().any(|found| found == line), "{line}\n{}", page.body);
    }
    let stranger = server.token("umbrella", "eve", TokenScope::Admin);
    assert!(server.get("/metrics", &stranger).body.contains("weir_tenant_records{tenant=\"umbrella\"} 0\n"));
}

fn each_change_is_in_the_audit(world: &World) {
    let server = world.server();
    let token = server.token("acme", "ana", TokenScope::Write);
    let id = server.note(&token, API, "audited");
    let path = format!("/v1/entries/{id}?project={}", super::support::encoded(API));
    assert_eq!(server.send("DELETE", &path, &token, "").ok(200)["left"], json!({ "log": 0, "index": 0, "texts": 0 }));
    let expected = ["operator create tenant", "operator add token", "ana append", "ana append", "ana remove"];
    assert_eq!(world.audit("acme"), expected);
}

on_each_backend! {
    a_tenant_over_its_quota_can_repeat_and_remove_but_not_add,
    removals_of_nothing_need_room_once_a_tenant_is_far_over_its_quota,
    a_tenant_has_a_limited_number_of_projects,
    what_a_tenant_has_already_takes_no_room,
    a_text_that_many_records_have_is_not_a_body_for_each,
    a_token_that_asks_too_often_waits_and_others_do_not,
    an_address_without_a_good_token_waits_and_a_good_token_does_not,
    a_body_beyond_the_limit_is_refused,
    the_figures_show_the_lag_of_the_index_to_admins,
    each_change_is_in_the_audit,
}
