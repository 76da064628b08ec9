//! Tests invitations: who may make one, what it gives, and that it gives no more to several who come at once.

use std::thread;

use serde_json::{Value, json};
use weir_core::redact::redact;
use weir_core::{ProjectKey, TenantId, UserId};
use weir_records::{ApiToken, Credential, ErasedName, Revoked, TokenId, TokenScope};
use weir_team::{ServiceOptions, erase_name};

use super::support::{API, Reply, TestServer, World, options};
use crate::postgres::support::bridge;
use crate::support::NOW;

const INVITATIONS: &str = "/v1/invitations";
const DAY: i64 = 24 * 60 * 60 * 1000;

fn invite(server: &TestServer, admin: &str, wanted: &Value) -> Value {
    server.post(INVITATIONS, admin, wanted).ok(201)
}

/// Accepts an invitation without a token.
fn accept(server: &TestServer, code: &Value, user: Option<&str>) -> Reply {
    server.post("/v1/invitations/accept", "", &json!({ "invitation": code, "user": user }))
}

fn standings(server: &TestServer, admin: &str) -> Vec<String> {
    let listed = server.get(INVITATIONS, admin).ok(200);
    let standing = |one: &Value| one["standing"].as_str().unwrap().to_owned();
    let mut all: Vec<String> = listed["invitations"].as_array().unwrap().iter().map(standing).collect();
    all.sort_unstable();
    all
}

fn id_of(token: &str) -> TokenId {
    Credential::parse(token).unwrap().id()
}

fn an_invited_user_gets_a_token_once(world: &World) {
    let server = world.server();
    let ana = server.token("acme", "ana", TokenScope::Admin);
    let wanted = json!({ "user": "ben", "scope": "read", "projects": [API], "token_valid_for": "90d" });
    let made = invite(&server, &ana, &wanted);
    assert_eq!(made["expires_at"], NOW.0 + 7 * DAY, "{made}");
    let code = &made["invitation"];
    let given = accept(&server, code, None).ok(201);
    let token = given["token"].as_str().unwrap();
    let expected = json!({
        "tenant": "acme", "user": "ben", "scope": "read", "projects": [API], "expires_at": NOW.0 + 90 * DAY,
    });
    assert_eq!(server.get("/v1/me", token).ok(200), expected);
    assert_eq!(accept(&server, code, None).problem(410)["title"], "Closed invitation");
    assert_eq!(standings(&server, &ana), ["used"]);
    // The audit says who invited whom, with which tokens. An invitation is in it by its id alone.
    assert_eq!(world.audit("acme")[2..], ["ana invite", "ben accept invitation"]);
    assert_eq!(world.audited_tokens("acme"), [id_of(&ana).to_string(), id_of(token).to_string()]);
    // Its secret is in no list, and is redacted like that of a token.
    let (listed, code) = (server.get(INVITATIONS, &ana).body, code.as_str().unwrap());
    let secret = code.rsplit('_').next().unwrap();
    assert!(!listed.contains(secret), "{listed}");
    let text = format!("accept {code} soon");
    let redacted = String::from_utf8_lossy(&redact(text.as_bytes()).text).into_owned();
    assert!(!redacted.contains(secret), "{redacted}");
}

fn an_invitation_that_is_wrong_revoked_or_old_gives_nothing(world: &World) {
    let server = world.server();
    let ana = server.token("acme", "ana", TokenScope::Admin);
    let [first, second, third] = ["one", "two", "three"].map(|user| invite(&server, &ana, &json!({ "user": user })));
    let (code, other) = (first["invitation"].as_str().unwrap(), second["invitation"].as_str().unwrap());
    let mixed = format!("{}_{}", code.rsplit_once('_').unwrap().0, other.rsplit_once('_').unwrap().1);
    for wrong in ["", "invite_weir_", &mixed, &code[..code.len() - 1], &ana] {
        accept(&server, &json!(wrong), None).problem(404);
    }
    // Another tenant's admin sees and revokes nothing.
    let eve = server.token("umbrella", "eve", TokenScope::Admin);
    let path = format!("{INVITATIONS}/{}", first["id"].as_str().unwrap());
    assert_eq!(standings(&server, &eve), [""; 0]);
    server.send("DELETE", &path, &eve, "").problem(404);
    server.send("DELETE", &path, &ana, "").ok(200);
    server.send("DELETE", &path, &ana, "").problem(404);
    accept(&server, &first["invitation"], None).problem(410);
    // It ends with the token that it was made with.
    let acme = TenantId("acme".into());
    let other_ana = server.token("acme", "ana", TokenScope::Admin);
    server.accounts.revoke(&acme, &Revoked::Token(id_of(&ana)), NOW).unwrap();
    accept(&server, &second["invitation"], None).problem(410);
    assert_eq!(standings(&server, &other_ana), ["revoked"; 3]);
    assert_eq!(server.accounts.tokens(&acme).unwrap().len(), 2);
    let late = ServiceOptions { now: || weir_core::Timestamp(NOW.0 + 8 * DAY), ..options() };
    let made = invite(&server, &other_ana, &json!({ "user": "four" }));
    let server = world.server_named("late", late);
    accept(&server, &made["invitation"], None).problem(410);
    accept(&server, &third["invitation"], None).problem(410);
}

fn those_who_come_at_once_get_no_more_than_there_is(world: &World) {
    let server = world.server();
    let ana = server.token("acme", "ana", TokenScope::Admin);
    let race = |code: &Value, name: &(dyn Fn(usize) -> String + Sync)| -> usize {
        thread::scope(|scope| {
            let accept = |number: usize| {
                let server = &server;
                scope.spawn(move || accept(server, code, Some(&name(number))).status)
            };
            let running: Vec<_> = (0..12).map(accept).collect();
            let statuses: Vec<u16> = running.into_iter().map(|one| one.join().unwrap()).collect();
            assert!(statuses.iter().all(|status| [201, 409, 410].contains(status)), "{statuses:?}");
            statuses.iter().filter(|status| **status == 201).count()
        })
    };
    let once = invite(&server, &ana, &json!({}));
    assert_eq!(race(&once["invitation"], &|number| format!("once-{number}")), 1);
    let thrice = invite(&server, &ana, &json!({ "uses": 3 }));
    assert_eq!(race(&thrice["invitation"], &|number| format!("thrice-{number}")), 3);
    let named = invite(&server, &ana, &json!({ "user": "ben" }));
    assert_eq!(race(&named["invitation"], &|_| "ben".to_owned()), 1);
    // One name, by several invitations.
    let many = invite(&server, &ana, &json!({ "uses": 12 }));
    assert_eq!(race(&many["invitation"], &|_| "fay".to_owned()), 1);
    let users = server.accounts.tokens(&TenantId("acme".into())).unwrap();
    assert_eq!(users.len(), 1 + 1 + 3 + 1 + 1);
    assert_eq!(standings(&server, &ana), ["open", "used", "used", "used"]);
}

fn nobody_gets_a_name_that_somebody_has(world: &World) {
    let server = world.server();
    let ana = server.token("acme", "ana", TokenScope::Admin);
    server.token("acme", "Ben", TokenScope::Read);
    server.post(INVITATIONS, &ana, &json!({ "user": "ben" })).problem(409);
    let code = &invite(&server, &ana, &json!({ "uses": 5 }))["invitation"];
    accept(&server, code, None).problem(422);
    for wrong in ["", " ana", "ana ", "Fay", "fаy", "fay\u{200b}", "f y", "f/y", &"x".repeat(300)] {
        accept(&server, code, Some(wrong)).problem(422);
    }
    for taken in ["ana", "ben"] {
        accept(&server, code, Some(taken)).problem(409);
    }
    accept(&server, code, Some("fay")).ok(201);
    // A user without a token of their own is known by the host that they have sent records from.
    let scope = super::support::scope("acme", "gus");
    let record = super::support::kept(&scope, super::support::ids()(0), "by gus");
    let gus = server.token("acme", "gus", TokenScope::Write);
    server.post(
        "/v1/sync/records",
        &gus,
        &super::support::upload(API, &[super::support::written(&record)], &["by gus"]),
    );
    accept(&server, code, Some("gus")).problem(409);
    // An invitation for somebody is for nobody else, and an admin may invite themselves for another machine.
    let other = &invite(&server, &ana, &json!({ "user": "ida" }))["invitation"];
    accept(&server, other, Some("fay")).problem(422);
    let own = &invite(&server, &ana, &json!({ "user": "ana" }))["invitation"];
    assert_eq!(accept(&server, own, None).ok(201)["user"], "ana");
}

fn an_invitation_gives_no_more_than_its_admin_has(world: &World) {
    let server = world.server();
    let only = Some(vec![ProjectKey(API.into())]);
    let ana = server.token_with("acme", "ana", |token| {
        let scope = TokenScope::Admin;
        ApiToken { scope, projects: only.clone(), ..token }
    });
    server.post(INVITATIONS, &ana, &json!({ "projects": ["another"] })).problem(403);
    assert_eq!(invite(&server, &ana, &json!({}))["projects"], json!([API]));
    for wrong in [
        json!({ "uses": 0 }),
        json!({ "uses": 1001 }),
        json!({ "user": "ben", "uses": 2 }),
        json!({ "user": "b\u{0}n" }),
        json!({ "scope": "owner" }),
        json!({ "projects": [] }),
        json!({ "valid_for": "31d" }),
        json!({ "valid_for": "soon" }),
        json!({ "token_valid_for": "0d" }),
        json!({ "tenant": "umbrella" }),
    ] {
        server.post(INVITATIONS, &ana, &wrong).problem(422);
    }
    let ben = server.token("acme", "ben", TokenScope::Write);
    server.post(INVITATIONS, &ben, &json!({})).problem(403);
    server.get(INVITATIONS, &ben).problem(403);
}

fn an_address_that_tries_many_is_refused(world: &World) {
    let limited = ServiceOptions { stranger_burst: 3, strangers_per_second: 1, ..options() };
    let server = world.server_named("one", limited);
    let ana = server.token("acme", "ana", TokenScope::Admin);
    let code = &invite(&server, &ana, &json!({ "user": "ben" }))["invitation"];
    for _ in 0..3 {
        accept(&server, &json!("invite_weir_00112233445566ff_00"), None).problem(404);
    }
    let refused = accept(&server, code, None);
    refused.problem(429);
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    assert_eq!(standings(&server, &ana), ["open"]);
}

fn an_erased_user_is_in_no_invitation(world: &World) {
    let server = world.server();
    let ana = server.token("acme", "ana", TokenScope::Admin);
    invite(&server, &ana, &json!({ "user": "ben" }));
    let (acme, other) = (TenantId("acme".into()), ErasedName::draw().unwrap());
    for user in ["ana", "ben"].map(|user| UserId(user.into())) {
        match &world.database {
            Some(database) => erase_name(&database.options("owner"), bridge(), &acme, &user, &other).unwrap(),
            None => {
                weir_records::sqlite::open_accounts(world.folder()).unwrap().erase_name(&acme, &user, &other).unwrap()
            }
        };
    }
    let found = server.accounts.invitations().unwrap().invitations(&acme).unwrap();
    let erased = UserId(other.as_str().into());
    assert_eq!((&found[0].user, &found[0].invited_by), (&Some(erased.clone()), &erased));
}

on_each_backend! {
    an_invited_user_gets_a_token_once,
    an_invitation_that_is_wrong_revoked_or_old_gives_nothing,
    those_who_come_at_once_get_no_more_than_there_is,
    nobody_gets_a_name_that_somebody_has,
    an_invitation_gives_no_more_than_its_admin_has,
    an_address_that_tries_many_is_refused,
    an_erased_user_is_in_no_invitation,
}
