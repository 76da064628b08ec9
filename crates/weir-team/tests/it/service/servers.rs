//! Tests several servers on one storage.

use serde_json::{Value, json};
use weir_core::TenantId;
use weir_records::{Credential, Revoked, TokenScope};

use super::support::{API, TestServer, World, encoded, ids, kept, options, scope, upload, written};
use crate::support::NOW;

fn two_servers_are_one_to_their_users(world: &World) {
    let servers = [world.server_named("one", options()), world.server_named("two", options())];
    let [one, two] = &servers;
    let token = one.token("acme", "ana", TokenScope::Write);
    one.note(&token, API, "amber from one");
    two.note(&token, API, "amber from two");
    for server in &servers {
        let mut found = server.search(&token, API, "amber");
        found.sort_unstable();
        assert_eq!(found, ["amber from one", "amber from two"]);
        assert_eq!(server.download(&token, API, 1).len(), 2);
    }
    let id = one.note(&token, API, "fleeting");
    assert_eq!(two.search(&token, API, "fleeting"), ["fleeting"]);
    one.send("DELETE", &format!("/v1/entries/{id}?project={}", encoded(API)), &token, "").ok(200);
    assert_eq!(two.search(&token, API, "fleeting"), [""; 0]);
    let credential = Credential::parse(&token).unwrap();
    one.accounts.revoke(&TenantId("acme".into()), &Revoked::Token(credential.id()), NOW).unwrap();
    two.post("/v1/search", &token, &json!({ "project": API, "query": "amber" })).problem(401);
}

fn records_that_arrive_at_two_servers_at_once_are_stored_once(world: &World) {
    let servers = [world.server_named("one", options()), world.server_named("two", options())];
    let (own, id) = (scope("acme", "ana"), ids());
    let token = servers[0].token("acme", "ana", TokenScope::Write);
    let texts: Vec<String> = (0..40).map(|number| format!("text {number}")).collect();
    let bodies: Vec<Value> = (0..)
        .zip(&texts)
        .map(|(index, text)| upload(API, &[written(&kept(&own, id(index), text))], &[text.as_str()]))
        .collect();
    let (bodies, token) = (&bodies, token.as_str());
    std::thread::scope(|threads| {
        for server in servers.iter().cycle().take(4) {
            threads.spawn(move || {
                for body in bodies {
                    server.post("/v1/sync/records", token, body).ok(200);
                }
            });
        }
    });
    for server in &servers {
        let mut found: Vec<String> = server.download(token, API, 7).iter().map(|one| one["id"].to_string()).collect();
        assert_eq!(found.len(), texts.len());
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), texts.len());
    }
}

fn an_index_made_again_from_nothing_gives_the_same_answers(world: &World) {
    let server = world.server();
    let token = server.token("acme", "ana", TokenScope::Write);
    let words = ["pool", "size", "connection", "timeout", "retry", "queue", "worker"];
    for number in 0..40 {
        let text: Vec<&str> = (0..3 + number % 5).map(|at| words[(number * 3 + at * at) % words.len()]).collect();
        let id = server.note(&token, API, &format!("{} number{number}", text.join(" ")));
        if number % 6 == 0 {
            server.send("DELETE", &format!("/v1/entries/{id}?project={}", encoded(API)), &token, "").ok(200);
        }
    }
    let answers = |server: &TestServer| {
        ["pool", "retry queue", "\"connection timeout\"", "work*", "number7"].map(|query| {
            let found = server.post("/v1/search", &token, &json!({ "project": API, "query": query, "limit": 50 }));
            found.ok(200)
        })
    };
    let live = answers(&server);
    assert!(live[0]["hits"].as_array().unwrap().len() > 5, "{live:?}");
    drop(server);
    for name in ["index", "one"] {
        let folder = world.folder().join(name);
        if folder.exists() {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
    assert_eq!(answers(&world.server()), live);
}

on_each_backend! {
    an_index_made_again_from_nothing_gives_the_same_answers,
    two_servers_are_one_to_their_users,
    records_that_arrive_at_two_servers_at_once_are_stored_once,
}
