//! Tests access tokens of an OAuth issuer.

use std::sync::Arc;

use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use weir_records::TokenScope;
use weir_team::{ResourceServer, ServiceOptions};

use super::support::{API, World, options};
use crate::support::NOW;

const ISSUER: &str = "https://login.example.com";
const RESOURCE: &str = "https://weir.example.com/mcp";

/// Returns bytes in the base 64 of URLs, without padding.
fn encoded(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let padded = [group[0], *group.get(1).unwrap_or(&0), *group.get(2).unwrap_or(&0)];
        let number = u32::from(padded[0]) << 16 | u32::from(padded[1]) << 8 | u32::from(padded[2]);
        for at in 0..=group.len() {
            text.push(char::from(LETTERS[(number >> (18 - 6 * at) & 63) as usize]));
        }
    }
    text
}

fn key(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

fn signed(seed: u8, header: &Value, claims: &Value) -> String {
    let message = format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(claims.to_string().as_bytes()));
    let signature = key(seed).sign(message.as_bytes());
    format!("{message}.{}", encoded(signature.as_ref()))
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": RESOURCE, "sub": "ana", "exp": NOW.0 / 1_000 + 600, "jti": "1",
        "scope": "openid weir:read weir:write", "weir_tenant": "acme",
    })
}

fn with(field: &str, value: Value) -> Value {
    let mut changed = claims();
    changed[field] = value;
    changed
}

/// Returns tokens that are not good, each for one reason. `good` is one that is, with this header.
fn wrong(header: &Value, good: &str) -> Vec<String> {
    let brought = json!({ "kty": "OKP", "crv": "Ed25519", "x": encoded(key(2).public_key().as_ref()) });
    vec![
        signed(2, header, &claims()),
        signed(1, &json!({ "alg": "EdDSA", "kid": "k2" }), &claims()),
        signed(1, &json!({ "alg": "HS256", "kid": "k1" }), &claims()),
        signed(1, &json!({ "alg": "none", "kid": "k1" }), &claims()),
        signed(1, &json!({ "alg": "RS256", "kid": "k1" }), &claims()),
        signed(1, &json!({ "alg": "ES256", "kid": "k1" }), &claims()),
        signed(1, &json!({ "alg": "EdDSA" }), &claims()),
        signed(1, &json!({ "alg": "EdDSA", "kid": "k1", "crit": ["exp"] }), &claims()),
        signed(2, &json!({ "alg": "EdDSA", "kid": "k1", "jwk": brought }), &claims()),
        signed(1, header, &with("aud", json!(["https://other.example.com"]))),
        signed(1, header, &with("aud", json!([]))),
        signed(1, header, &with("aud", json!([7]))),
        signed(1, header, &with("iss", json!([ISSUER]))),
        signed(1, header, &with("exp", json!("never"))),
        signed(1, header, &with("exp", json!(-1))),
        signed(1, header, &with("nbf", json!("now"))),
        signed(1, header, &with("sub", json!("a\nb"))),
        signed(1, header, &with("weir_tenant", json!(""))),
        signed(1, header, &with("weir_projects", Value::Null)),
        signed(1, header, &with("weir_projects", json!(API))),
        signed(1, header, &with("aud", json!("https://other.example.com"))),
        signed(1, header, &with("aud", Value::Null)),
        signed(1, header, &with("iss", json!("https://evil.example.com"))),
        signed(1, header, &with("exp", json!(NOW.0 / 1_000 - 61))),
        signed(1, header, &with("nbf", json!(NOW.0 / 1_000 + 61))),
        signed(1, header, &with("weir_tenant", json!("nobody"))),
        signed(1, header, &with("scope", json!("openid"))),
        format!("{good}A"),
        good.rsplit_once('.').unwrap().0.to_owned() + ".",
    ]
}

fn only_a_token_of_the_issuer_for_this_resource_is_good(world: &World) {
    let public = encoded(key(1).public_key().as_ref());
    // Keys for two algorithms share an id.
    let other = json!({ "kty": "EC", "crv": "P-256", "kid": "k1", "x": encoded(&[1; 32]), "y": encoded(&[2; 32]) });
    let own = json!({ "kty": "OKP", "crv": "Ed25519", "kid": "k1", "alg": "EdDSA", "x": public });
    let keys = json!({ "keys": [other, own] });
    let oauth = ResourceServer::new(ISSUER, RESOURCE, &keys.to_string()).unwrap();
    let server = world.server_named("one", ServiceOptions { oauth: Some(Arc::new(oauth)), ..options() });
    let stored = server.token("acme", "ben", TokenScope::Read);
    let header = json!({ "alg": "EdDSA", "kid": "k1" });
    let good = signed(1, &header, &claims());
    server.note(&good, API, "amber");
    assert_eq!(server.search(&stored, API, "amber"), ["amber"], "tokens of the server are good as before");
    for also_good in [
        with("aud", json!(["https://other.example.com", RESOURCE])),
        with("exp", json!(NOW.0 / 1_000 - 59)),
        with("nbf", json!(NOW.0 / 1_000 + 59)),
        with("weir_projects", json!(["other", API])),
    ] {
        assert_eq!(server.search(&signed(1, &header, &also_good), API, "amber"), ["amber"], "{also_good}");
    }
    for token in &wrong(&header, &good) {
        let refused = server.post("/v1/search", token, &json!({ "project": API, "query": "x" }));
        refused.problem(401);
        let metadata = "resource_metadata=\"https://weir.example.com/.well-known/oauth-protected-resource/mcp\"";
        assert!(refused.head.contains(metadata), "{}", refused.head);
    }
    let reader = signed(1, &header, &with("scope", json!("weir:read")));
    let refused = server.post("/v1/notes", &reader, &json!({ "project": API, "text": "x" }));
    refused.problem(403);
    assert!(refused.head.contains("scope=\"weir:write\""), "{}", refused.head);
    let narrow = signed(1, &header, &with("weir_projects", json!(["other"])));
    server.post("/v1/search", &narrow, &json!({ "project": API, "query": "x" })).problem(403);
    // The issuer knows who the users are, and the server does not.
    let admin = signed(1, &header, &with("scope", json!("weir:admin")));
    server.post("/v1/invitations", &admin, &json!({})).problem(501);
    for path in ["", "/mcp"] {
        let found = server.get(&format!("/.well-known/oauth-protected-resource{path}"), "").ok(200);
        assert_eq!((&found["resource"], &found["authorization_servers"]), (&json!(RESOURCE), &json!([ISSUER])));
    }
}

fn without_an_issuer_nothing_changes(world: &World) {
    let server = world.server();
    server.get("/.well-known/oauth-protected-resource", "").problem(404);
    let token = signed(1, &json!({ "alg": "EdDSA", "kid": "k1" }), &claims());
    let refused = server.post("/v1/search", &token, &json!({ "project": API, "query": "x" }));
    refused.problem(401);
    assert!(!refused.head.contains("resource_metadata"), "{}", refused.head);
}

on_each_backend! {
    only_a_token_of_the_issuer_for_this_resource_is_good,
    without_an_issuer_nothing_changes,
}
