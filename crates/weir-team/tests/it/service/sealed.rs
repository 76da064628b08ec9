//! Tests a sealed project: the server takes nothing in clear, and says so instead of finding nothing.

use serde_json::json;
use weir_records::sealed::{Identity, Keyring, Member, Roster, SealedPlace};
use weir_records::{Body, TokenScope};

use super::support::{API, World, encoded, ids, kept, record, scope, upload, written};

const TEXT: &str = "The pool has ten connections.";

fn a_sealed_project_is_read_and_written_by_members_alone(world: &World) {
    let (server, id, own) = (world.server(), ids(), scope("acme", "ana"));
    let (ana, ben) = (server.token("acme", "ana", TokenScope::Write), server.token("acme", "ben", TokenScope::Write));
    let (identity, place) = (Identity::random().unwrap(), SealedPlace { tenant: &own.tenant, project: &own.project });
    let member = Member { key: identity.public(), user: "ana".into() };
    let granted = Roster::default().change(place, &identity, &Keyring::default(), (&[member], &[])).unwrap();
    let ring = Keyring::default().extended_by(&identity, place, &granted).unwrap().unwrap();
    let entry = ring.seal(granted.key, &identity, &kept(&own, id(1), TEXT), TEXT).unwrap();
    let seal = written(&record(&own, id(0), Body::Granted(Box::new(granted))));
    server.post("/v1/sync/records", &ana, &upload(API, &[seal, written(&entry)], &[])).ok(200);

    let clear = upload(API, &[written(&kept(&own, id(2), TEXT))], &[TEXT]);
    let problem = server.post("/v1/sync/records", &ana, &clear).problem(422);
    assert!(problem["refused"][0]["reason"].as_str().unwrap().contains("sealed"), "{problem}");

    let place = json!({ "project": API });
    let named = format!("/v1/entries/{}", entry.id);
    let query = format!("project={}", encoded(API));
    let calls = [
        server.post("/v1/search", &ben, &json!({ "project": API, "query": "pool" })),
        server.post("/v1/notes", &ben, &json!({ "project": API, "text": "pool" })),
        server.post(&format!("{named}/confirm"), &ben, &place),
        server.get(&format!("{named}?{query}"), &ben),
        server.post("/v1/tools/ctx_search", &ben, &json!({ "project": API, "queries": ["pool"] })),
        server.post("/v1/tools/ctx_get", &ben, &json!({ "project": API, "reference": entry.id.to_string() })),
        server.post("/v1/tools/ctx_annotate", &ben, &json!({ "project": API, "text": "pool" })),
        server.post("/v1/tools/ctx_reflect", &ben, &place),
        server.post("/v1/tools/ctx_context", &ben, &place),
    ];
    for reply in &calls {
        let problem = reply.problem(422);
        assert_eq!(problem["title"], "Sealed project", "{problem}");
        assert!(problem["hint"].as_str().unwrap().contains("weir search"), "{problem}");
    }
    let history = server.post("/v1/tools/ctx_history", &ben, &place).ok(200);
    assert_eq!(history["data"]["records"][0]["what"], "sealed", "{history}");

    let given = server.get(&format!("/v1/sync/records?{query}"), &ben).ok(200);
    assert_eq!(given["records"][1]["record"], written(&entry));
    server.send("DELETE", &format!("{named}?{query}"), &ben, "").problem(403);
    let proof = server.send("DELETE", &format!("{named}?{query}"), &ana, "").ok(200);
    assert_eq!(proof["left"], json!({ "log": 0, "index": 0, "texts": 0 }));
    assert_eq!(server.download(&ben, API, 10).len(), 2, "the seal and the removal");
}

on_each_backend! {
    a_sealed_project_is_read_and_written_by_members_alone,
}
