//! Tests notes: writing, finding, confirming, superseding and forgetting them.

use serde_json::{Value, json};
use weir_core::Reference;
use weir_records::{Body, MAX_ABOUT, TextKey, TokenScope};
use weir_team::ServiceOptions;

use super::support::{API, Reply, TestServer, World, encoded, ids, kept, options, record, scope, upload, written};
use crate::support::files;

fn a_note_of_one_user_is_found_by_another_with_its_author(world: &World) {
    let server = world.server();
    let (ana, ben) = (server.token("acme", "ana", TokenScope::Write), server.token("acme", "ben", TokenScope::Write));
    let note = json!({ "project": API, "text": "The pool has ten connections.", "kind": "decision", "topic": "pool" });
    let id = server.post("/v1/notes", &ana, &note).ok(201)["id"].as_str().unwrap().to_owned();
    let search = || server.post("/v1/search", &ben, &json!({ "project": API, "query": "connections" })).ok(200);
    let hit = search()["hits"][0].clone();
    assert_eq!((&hit["id"], &hit["author"]), (&json!(id), &json!({ "user": "ana", "client": "test" })), "{hit}");
    assert_eq!((&hit["origin"], &hit["confirmed"]), (&json!("model"), &json!([])), "nobody has confirmed it");
    server.post(&format!("/v1/entries/{id}/confirm"), &ben, &json!({ "project": API })).ok(200);
    assert_eq!(search()["hits"][0]["confirmed"][0]["by"], "ben");
    let reference = hit["reference"].as_str().unwrap();
    for name in [id.as_str(), reference] {
        let found = server.get(&format!("/v1/entries/{name}?project={}", encoded(API)), &ben).ok(200);
        assert_eq!(found["entries"][0]["text"], "The pool has ten connections.");
    }
    let newer = json!({ "project": API, "text": "The pool has twelve connections.", "supersedes": id });
    let newer = server.post("/v1/notes", &ben, &newer).ok(201)["id"].clone();
    let hits = search()["hits"].clone();
    assert_eq!((&hits[0]["id"], &hits[1]["superseded_by"]), (&newer, &newer), "{hits}");
}

fn an_entry_says_that_more_was_said_about_it_than_was_read(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    let confirmed = |number: u64| record(&own, id(number), Body::Confirmed { record: id(0), by: own.user.clone() });
    let mut records = vec![written(&kept(&own, id(0), "popular"))];
    records.extend((1..=MAX_ABOUT as u64).map(|number| written(&confirmed(number))));
    server.post("/v1/sync/records", &token, &upload(API, &records, &["popular"])).ok(200);
    let entry = || {
        let path = format!("/v1/entries/{}?project={}", id(0), encoded(API));
        server.get(&path, &token).ok(200)["entries"][0].clone()
    };
    assert_eq!((&entry()["confirmed_by"], &entry()["more_about"]), (&json!(["ana"]), &Value::Null));
    let one_more = written(&confirmed(MAX_ABOUT as u64 + 1));
    server.post("/v1/sync/records", &token, &upload(API, &[one_more], &[])).ok(200);
    assert_eq!((&entry()["confirmed_by"], &entry()["more_about"]), (&json!(["ana"]), &json!(true)));
    let shown = server.post("/v1/tools/ctx_get", &token, &json!({ "project": API, "reference": id(0).to_string() }));
    let text = shown.ok(200)["text"].as_str().unwrap().to_owned();
    assert!(text.contains("confirmed by ana, going by the newest 100 records about it\n"), "{text}");
}

/// Returns the id in the answer to a note with a key.
fn keyed(server: &TestServer, token: &str, key: &str, note: &Value) -> Reply {
    let body = note.to_string();
    let length = body.len();
    server.exchange(&format!(
        "POST /v1/notes HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Idempotency-Key: {key}\r\nX-Request-Id: test-1\r\nContent-Length: {length}\r\n\r\n{body}"
    ))
}

fn a_note_that_is_sent_again_is_stored_once(world: &World) {
    let server = world.server();
    let (ana, ben) = (server.token("acme", "ana", TokenScope::Write), server.token("acme", "ben", TokenScope::Write));
    let old = server.note(&ben, API, "The pool has eight connections.");
    let note = json!({ "project": API, "text": "The pool has ten connections.", "supersedes": old });
    let first = keyed(&server, &ana, "a-1", &note).ok(201);
    let head = server.download(&ana, API, 10).len();
    assert_eq!(keyed(&server, &ana, "a-1", &note).ok(201), first);
    // From the same user with another token, and on another server.
    let other_token = server.token("acme", "ana", TokenScope::Write);
    assert_eq!(keyed(&world.server_named("two", options()), &other_token, "a-1", &note).ok(201), first);
    assert_eq!(server.download(&ana, API, 10).len(), head, "nothing is added");
    let changed = json!({ "project": API, "text": "The pool has twelve connections." });
    let problem = keyed(&server, &ana, "a-1", &changed).problem(422);
    assert!(problem["detail"].as_str().unwrap().contains("Idempotency-Key"), "{problem}");
    assert_ne!(keyed(&server, &ben, "a-1", &note).ok(201)["id"], first["id"], "a key is that of a user");
    keyed(&server, &ana, &"x".repeat(300), &note).problem(400);
    let path = format!("/v1/entries/{}?project={}", first["id"].as_str().unwrap(), encoded(API));
    server.send("DELETE", &path, &ana, "").ok(200);
    let again = keyed(&server, &ana, "a-1", &note).ok(201);
    assert_eq!((&again["id"], &again["reference"]), (&first["id"], &json!(null)), "it stays forgotten");
}

fn of_requests_with_one_key_at_once_one_is_stored(world: &World) {
    let server = world.server();
    let token = server.token("acme", "ana", TokenScope::Write);
    let projects = [API, "web"];
    let ids: Vec<Value> = std::thread::scope(|threads| {
        let (server, token) = (&server, &token);
        let send = |number: usize| {
            let note = json!({ "project": projects[number % 2], "text": "at once" });
            threads.spawn(move || keyed(server, token, &format!("b-{}", number % 2), &note).ok(201)["id"].clone())
        };
        let sent: Vec<_> = (0..8).map(send).collect();
        sent.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let stored: std::collections::BTreeSet<String> = ids.iter().map(Value::to_string).collect();
    assert_eq!(stored.len(), 2, "{ids:?}");
    let count = |project: &str| server.search(&token, project, "once").len();
    assert_eq!(projects.map(count), [1, 1]);
}

fn only_the_author_forgets_a_note_and_then_it_is_gone(world: &World) {
    let server = world.server();
    let (ana, ben) = (server.token("acme", "ana", TokenScope::Write), server.token("acme", "ben", TokenScope::Write));
    let id = server.note(&ana, API, "ephemeral");
    let path = format!("/v1/entries/{id}?project={}", encoded(API));
    server.send("DELETE", &path, &ben, "").problem(403);
    let proof = server.send("DELETE", &path, &ana, "").ok(200);
    assert_eq!(proof["left"], json!({ "log": 0, "index": 0, "texts": 0 }));
    server.get(&path, &ana).problem(404);
    assert_eq!(server.search(&ben, API, "ephemeral"), [""; 0]);
    assert_eq!(server.download(&ben, API, 10).len(), 1, "the removal itself");
}

fn an_admin_removes_a_members_note_and_the_audit_says_who(world: &World) {
    let server = world.server();
    let (ana, ben) = (server.token("acme", "ana", TokenScope::Admin), server.token("acme", "ben", TokenScope::Write));
    let id = server.note(&ben, API, "a leaked secret");
    let path = format!("/v1/entries/{id}?project={}", encoded(API));
    let refused = server.send("DELETE", &path, &ana, "").problem(403);
    assert!(refused["hint"].as_str().unwrap().contains("as_admin=true"), "{refused}");
    let as_admin = format!("{path}&as_admin=true");
    let other = server.note(&ana, API, "not for ben to remove");
    let others = format!("/v1/entries/{other}?project={}&as_admin=true", encoded(API));
    server.send("DELETE", &others, &ben, "").problem(403);
    let proof = server.send("DELETE", &as_admin, &ana, "").ok(200);
    assert_eq!(proof["left"], json!({ "log": 0, "index": 0, "texts": 0 }));
    server.get(&path, &ben).problem(404);
    assert_eq!(server.search(&ben, API, "leaked"), [""; 0]);
    let removal = server.download(&ben, API, 10).pop().unwrap();
    assert_eq!(removal["author"]["user"], "ana", "{removal}");
    assert_eq!((&removal["body"]["removed"]["as_admin"], &removal["format"]), (&json!(true), &json!(3)), "{removal}");
    // Only a server says that somebody is an admin.
    let mut forged = removal;
    forged["id"] = json!(ids()(0).to_string());
    forged["body"]["removed"]["record"] = json!(other);
    let refused = server.post("/v1/sync/records", &ana, &upload(API, &[forged], &[])).problem(422);
    assert_eq!(refused["refused"][0]["status"], 403, "{refused}");
    assert!(world.audit("acme").contains(&"ana remove as admin".to_owned()), "{:?}", world.audit("acme"));
}

fn an_entry_whose_text_is_gone_says_so_and_can_be_forgotten(world: &World) {
    let server = world.server_named("one", ServiceOptions { report: |_| {}, ..options() });
    let token = server.token("acme", "ana", TokenScope::Write);
    // A text that is not in the row of its record.
    let text = format!("half forgotten {}", "word ".repeat(2_000));
    let id = server.note(&token, API, &text);
    // As a server leaves it that ends after it has deleted the text and before it has removed the entry.
    let key = TextKey::of(text.as_bytes()).to_string();
    let file = files(world.folder()).into_iter().find(|path| path.to_string_lossy().contains(&key));
    std::fs::remove_file(file.unwrap()).unwrap();
    let path = format!("/v1/entries/{id}?project={}", encoded(API));
    let found = server.get(&path, &token).ok(200);
    let entry = &found["entries"][0];
    assert!(entry["title"].as_str().unwrap().starts_with("half forgotten"), "{found}");
    assert_eq!(entry["missing_text"], true, "{found}");
    assert!(entry["text"].is_null() && found["hint"].as_str().unwrap().contains("no longer be read"), "{found}");
    let shown = server.post("/v1/tools/ctx_get", &token, &json!({ "project": API, "reference": id })).ok(200);
    assert!(shown["text"].as_str().unwrap().contains("no longer be read"), "{shown}");
    let page = server.get(&format!("/v1/sync/records?project={}", encoded(API)), &token).ok(200);
    assert_eq!(page["missing_texts"], json!([key]), "{page}");
    let proof = server.send("DELETE", &path, &token, "").ok(200);
    assert_eq!(proof["left"], json!({ "log": 0, "index": 0, "texts": 0 }));
    server.get(&path, &token).problem(404);
}

fn a_secret_in_a_note_is_redacted_and_a_wrong_field_is_named(world: &World) {
    let server = world.server();
    let token = server.token("acme", "ana", TokenScope::Write);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    server.note(&token, API, &format!("cobalt {secret}"));
    let found = server.search(&token, API, "cobalt").concat();
    assert!(found.starts_with("cobalt") && !found.contains(&secret), "{found}");
    for (field, word) in [("kind", "decision"), ("audience", "team"), ("origin", "user")] {
        let problem = server.post("/v1/notes", &token, &json!({ "project": API, "text": "x", field: "odd" }));
        let problem = problem.problem(422);
        assert!(problem["hint"].as_str().unwrap().contains(word), "{problem}");
    }
    let missing = format!("{}-7", "0".repeat(32));
    let note = json!({ "project": API, "text": "x", "supersedes": missing });
    server.post("/v1/notes", &token, &note).problem(404);
    server.get(&format!("/v1/entries/%20?project={}", encoded(API)), &token).problem(422);
}

fn a_reference_of_many_entries_shows_the_oldest_and_says_that_there_are_more(world: &World) {
    let server = world.server();
    let token = server.token("acme", "ana", TokenScope::Write);
    let (own, id) = (scope("acme", "ana"), ids());
    let texts: Vec<String> = (0..30).map(|number| format!("namesake {number}")).collect();
    let named = |(index, text): (u64, &String)| {
        let mut record = kept(&own, id(index), text);
        if let Body::Kept(entry) = &mut record.body {
            entry.reference = Reference::from_bits(7);
        }
        written(&record)
    };
    let records: Vec<Value> = (0..).zip(&texts).map(named).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let reference = Reference::from_bits(7);
    let path = format!("/v1/entries/{}?project={}", reference.as_str(), encoded(API));
    for (most, shown, count, more) in [(20, 20, json!(20), json!(null)), (30, 20, json!(null), json!(true))] {
        server.post("/v1/sync/records", &token, &upload(API, &records[..most], &texts[..most])).ok(200);
        let found = server.get(&path, &token).ok(200);
        assert_eq!((&found["count"], &found["more"]), (&count, &more), "{found}");
        let excerpts = found["entries"].as_array().unwrap().iter().map(|entry| entry["excerpt"].as_str().unwrap());
        assert_eq!(excerpts.collect::<Vec<_>>(), texts[..shown]);
        let detail = server.send("DELETE", &path, &token, "").problem(422)["detail"].as_str().unwrap().to_owned();
        assert_eq!(detail.starts_with("more than 20 entries"), more == true, "{detail}");
        assert!(detail.contains("20 entries have this reference"), "{detail}");
    }
    let get = server.post("/v1/tools/ctx_get", &token, &json!({ "project": API, "reference": reference.as_str() }));
    assert!(get.ok(200)["text"].as_str().unwrap().contains("and there are more"));
}

on_each_backend! {
    a_note_of_one_user_is_found_by_another_with_its_author,
    an_entry_says_that_more_was_said_about_it_than_was_read,
    a_note_that_is_sent_again_is_stored_once,
    of_requests_with_one_key_at_once_one_is_stored,
    only_the_author_forgets_a_note_and_then_it_is_gone,
    an_admin_removes_a_members_note_and_the_audit_says_who,
    an_entry_whose_text_is_gone_says_so_and_can_be_forgotten,
    a_secret_in_a_note_is_redacted_and_a_wrong_field_is_named,
    a_reference_of_many_entries_shows_the_oldest_and_says_that_there_are_more,
}
