//! Tests notes: writing, finding, confirming, superseding and forgetting them.

use serde_json::{Value, json};
use weir_core::Reference;
use weir_records::{Body, MAX_ABOUT, TextKey, TokenScope};
use weir_team::ServiceOptions;

use super::support::{API, World, encoded, ids, kept, options, record, scope, upload, written};
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

fn an_entry_whose_text_is_gone_says_so_and_can_be_forgotten(world: &World) {
    let server = world.server_named("one", ServiceOptions { report: |_| {}, ..options() });
    let token = server.token("acme", "ana", TokenScope::Write);
    let id = server.note(&token, API, "half forgotten");
    // As a server leaves it that ends after it has deleted the text and before it has removed the entry.
    let key = TextKey::of(b"half forgotten").to_string();
    let file = files(world.folder()).into_iter().find(|path| path.to_string_lossy().contains(&key));
    std::fs::remove_file(file.unwrap()).unwrap();
    let path = format!("/v1/entries/{id}?project={}", encoded(API));
    let found = server.get(&path, &token).ok(200);
    let entry = &found["entries"][0];
    assert_eq!((&entry["title"], &entry["missing_text"]), (&json!("half forgotten"), &json!(true)), "{found}");
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
    only_the_author_forgets_a_note_and_then_it_is_gone,
    an_entry_whose_text_is_gone_says_so_and_can_be_forgotten,
    a_secret_in_a_note_is_redacted_and_a_wrong_field_is_named,
    a_reference_of_many_entries_shows_the_oldest_and_says_that_there_are_more,
}
