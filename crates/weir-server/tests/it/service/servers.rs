//! Tests several servers on one storage.

use serde_json::{Value, json};
use weir_core::TenantId;
use weir_records::{Credential, Revoked, TokenScope};

use super::support::{API, World, encoded, ids, kept, options, scope, upload, written};
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

on_each_backend! {
    two_servers_are_one_to_their_users,
    records_that_arrive_at_two_servers_at_once_are_stored_once,
}
