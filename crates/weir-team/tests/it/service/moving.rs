//! Tests what clients meet while the team of a server on SQLite is being moved, and afterwards.

use serde_json::json;
use weir_core::TenantId;
use weir_records::sqlite::SqliteLog;
use weir_records::{ErrorKind, TokenScope};
use weir_team::ServiceOptions;

use super::support::{API, Reply, TestServer, World, encoded, ids, kept, options, scope, upload, written};

/// Makes every request that writes. The entry is one of the bearer.
fn writes(server: &TestServer, token: &str, entry: &str, sent: &serde_json::Value) -> [Reply; 7] {
    let place = json!({ "project": API });
    let path = format!("/v1/entries/{entry}?project={}", encoded(API));
    [
        server.post("/v1/notes", token, &json!({ "project": API, "text": "amber too late" })),
        server.post("/v1/notes", token, &json!({ "project": API, "text": "amber newer", "supersedes": entry })),
        server.post("/v1/sync/records", token, sent),
        server.post(&format!("/v1/entries/{entry}/confirm"), token, &place),
        server.send("DELETE", &path, token, ""),
        server.post("/v1/tools/ctx_annotate", token, &json!({ "project": API, "text": "amber too late" })),
        server.post("/v1/tools/ctx_forget", token, &json!({ "project": API, "refs": [entry] })),
    ]
}

/// Checks that everything can be read, and that the entry is the only one.
fn check_reading(server: &TestServer, token: &str, entry: &str) {
    let path = format!("/v1/entries/{entry}?project={}", encoded(API));
    assert_eq!(server.get(&path, token).ok(200)["entries"][0]["text"], "amber before");
    assert_eq!(server.search(token, API, "amber"), ["amber before"]);
    assert_eq!(server.download(token, API, 10).len(), 1);
    server.get("/v1/me", token).ok(200);
    server.get("/ready", "").ok(200);
    let context = server.post("/v1/tools/ctx_context", token, &json!({ "project": API })).ok(200);
    assert!(context["text"].as_str().unwrap().contains("amber before"), "{context}");
}

#[test]
fn during_a_move_writes_are_to_be_repeated_and_reading_goes_on() {
    let world = World::on_sqlite();
    let server = world.server_named("one", ServiceOptions { report: |_| {}, ..options() });
    let (token, id) = (server.token("acme", "ana", TokenScope::Write), ids());
    let entry = server.note(&token, API, "amber before");
    let record = written(&kept(&scope("acme", "ana"), id(0), "amber uploaded"));
    let sent = upload(API, &[record], &["amber uploaded"]);
    let old = SqliteLog::open(&world.folder().join("records.db")).unwrap();
    let check_refused = || {
        for (number, reply) in writes(&server, &token, &entry, &sent).iter().enumerate() {
            reply.problem(503);
            assert!(reply.head.contains("retry-after: 2"), "{number}: {}", reply.head);
            assert!(!reply.body.contains("the new place"), "{number}: {}", reply.body);
        }
        check_reading(&server, &token, &entry);
    };
    old.lock_for_move("the new place").unwrap();
    check_refused();
    let refused = server.accounts.create_tenant(&TenantId("umbrella".into())).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Busy);
    // A move that is given up changes nothing, and what was refused succeeds when it is repeated.
    assert!(old.unlock_after_move().unwrap());
    assert_eq!(server.post("/v1/sync/records", &token, &sent).ok(200)["accepted"], 1);
    assert_eq!(server.download(&token, API, 10).len(), 2);
    let path = format!("/v1/entries/{}?project={}", id(0), encoded(API));
    server.send("DELETE", &path, &token, "").ok(200);
}

#[test]
fn after_a_move_the_old_server_still_reads_and_refuses_every_write() {
    let world = World::on_sqlite();
    let server = world.server_named("one", ServiceOptions { report: |_| {}, ..options() });
    let token = server.token("acme", "ana", TokenScope::Write);
    let entry = server.note(&token, API, "amber before");
    let old = SqliteLog::open(&world.folder().join("records.db")).unwrap();
    old.lock_for_move("the new place").unwrap();
    old.finish_move().unwrap();
    let record = written(&kept(&scope("acme", "ana"), ids()(0), "amber uploaded"));
    for reply in writes(&server, &token, &entry, &upload(API, &[record], &["amber uploaded"])) {
        reply.problem(503);
        assert!(reply.head.contains("retry-after: "), "{}", reply.head);
    }
    check_reading(&server, &token, &entry);
}
