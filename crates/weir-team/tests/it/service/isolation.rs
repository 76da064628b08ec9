//! Tests that nothing crosses tenants, users and projects by any route, whatever the names are.

use serde_json::json;
use weir_records::TokenScope;

use super::support::{API, TestServer, World, encoded};

const TENANTS: usize = 24;
const PROJECTS: [&str; 2] = [API, "shared name"];

/// A note, who wrote it and where, and who sees it.
struct Written {
    tenant: usize,
    project: &'static str,
    audience: &'static str,
    token: String,
    id: String,
    word: String,
}

/// Two users of each tenant write a note in each project: one for the team, one for its author.
fn write_everything(server: &TestServer) -> Vec<Written> {
    let mut all = Vec::new();
    for tenant in 0..TENANTS {
        for user in ["ana", "ben"] {
            // Users and projects have the same names in all tenants.
            let token = server.token(&format!("tenant {tenant}"), user, TokenScope::Write);
            for (number, project) in PROJECTS.into_iter().enumerate() {
                let audience = if (tenant + number).is_multiple_of(3) { "author" } else { "team" };
                let word = format!("w{tenant}x{user}x{number}w");
                let text = format!("common {word}");
                let note = json!({ "project": project, "text": text, "audience": audience });
                let id = server.post("/v1/notes", &token, &note).ok(201)["id"].as_str().unwrap().to_owned();
                all.push(Written { tenant, project, audience, token: token.clone(), id, word });
            }
        }
    }
    all
}

fn nothing_crosses_by_any_route(world: &World) {
    let server = world.server();
    let all = write_everything(&server);
    for reader in &all {
        let sees = |note: &Written| {
            note.tenant == reader.tenant
                && note.project == reader.project
                && (note.audience == "team" || note.token == reader.token)
        };
        let mut expected: Vec<&str> = all.iter().filter(|note| sees(note)).map(|note| note.word.as_str()).collect();
        expected.sort_unstable();
        let hits = server.search(&reader.token, reader.project, "common");
        let mut found: Vec<&str> = hits.iter().map(|text| text.trim_start_matches("common ")).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "search of {}", reader.word);
        let downloaded = server.download(&reader.token, reader.project, 3);
        assert_eq!(downloaded.len(), expected.len(), "download of {}", reader.word);
    }
    // Every reader asks for notes of others by their ids, spread over all of them.
    for (number, reader) in all.iter().enumerate() {
        let others = all.iter().cycle().skip(number * 7 + 1).step_by(5).take(6);
        for note in others.filter(|note| note.tenant != reader.tenant) {
            let path = format!("/v1/entries/{}?project={}", note.id, encoded(note.project));
            server.get(&path, &reader.token).problem(404);
            server.send("DELETE", &path, &reader.token, "").problem(404);
            let place = json!({ "project": note.project });
            server.post(&format!("/v1/entries/{}/confirm", note.id), &reader.token, &place).problem(404);
            let newer = json!({ "project": note.project, "text": "x", "supersedes": note.id });
            server.post("/v1/notes", &reader.token, &newer).problem(404);
            let hits = server.search(&reader.token, note.project, &note.word);
            assert!(hits.iter().all(|text| !text.contains(&note.word)), "{} found {hits:?}", reader.word);
        }
    }
}

/// Returns numbers that look random and are the same in every run.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

fn a_thousand_random_calls_of_tools_cross_nothing(world: &World) {
    let server = world.server();
    let mut draw = numbers();
    let tokens: Vec<String> =
        (0..10).map(|tenant| server.token(&format!("tenant {tenant}"), "ana", TokenScope::Write)).collect();
    let mut written: Vec<(usize, usize, String)> = Vec::new();
    for number in 0..1_000 {
        let (tenant, place) = (draw(tokens.len()), draw(PROJECTS.len()));
        let (token, project) = (&tokens[tenant], PROJECTS[place]);
        let call =
            |tool: &str, arguments: serde_json::Value| server.post(&format!("/v1/tools/{tool}"), token, &arguments);
        let others = |written: &[(usize, usize, String)], at: usize| written.get(at).map(|note| note.2.clone());
        let known = others(&written, draw(written.len().max(1)));
        let reply = match (draw(6), known) {
            (0, _) | (_, None) => {
                let text = format!("common t{tenant}p{place}n{number}");
                let reply = call(
                    "ctx_annotate",
                    json!({ "project": project, "text": text, "topic": format!("topic {}", number % 20) }),
                );
                let id = reply.ok(200)["data"]["id"].as_str().unwrap().to_owned();
                written.push((tenant, place, id));
                reply
            }
            (1, Some(id)) => call("ctx_get", json!({ "project": project, "reference": id })),
            (2, Some(id)) => {
                let arguments = json!({ "project": project, "text": "common", "supersedes": [id] });
                let reply = call("ctx_annotate", arguments);
                let is_own = written.iter().any(|note| (note.0, note.1, &note.2) == (tenant, place, &id));
                assert_eq!(reply.status, if is_own { 200 } else { 404 }, "{}", reply.body);
                reply
            }
            (3, _) => call("ctx_search", json!({ "project": project, "queries": ["common"], "limit": 50 })),
            (4, _) => call("ctx_context", json!({ "project": project, "limit": 100 })),
            (_, Some(_)) => call("ctx_history", json!({ "project": project, "limit": 100 })),
        };
        for (other_tenant, other_place) in (0..tokens.len()).flat_map(|tenant| [(tenant, 0), (tenant, 1)]) {
            let foreign = format!("t{other_tenant}p{other_place}n");
            let is_own = (other_tenant, other_place) == (tenant, place);
            assert!(is_own || !reply.body.contains(&foreign), "{foreign} in {}", reply.body);
        }
    }
}

fn a_thousand_tenants_find_only_what_is_their_own(world: &World) {
    const TENANTS: usize = 1_000;
    let (server, mut draw) = (world.server(), numbers());
    let write = |number: usize| {
        let token = server.token(&format!("tenant {number}"), "ana", TokenScope::Write);
        let project = PROJECTS[draw(PROJECTS.len())];
        let note = json!({ "project": project, "text": format!("common marker-of-{number}-"), "topic": "pool" });
        let id = server.post("/v1/notes", &token, &note).ok(201)["id"].as_str().unwrap().to_owned();
        (token, project, id)
    };
    let written: Vec<(String, &str, String)> = (0..TENANTS).map(write).collect();
    for (number, (token, project, id)) in written.iter().enumerate() {
        let tool = |name: &str, mut arguments: serde_json::Value| {
            arguments["project"] = json!(project);
            server.post(&format!("/v1/tools/{name}"), token, &arguments)
        };
        let reply = match draw(7) {
            0 => server.post("/v1/search", token, &json!({ "project": project, "query": "common", "limit": 50 })),
            1 => server.get(&format!("/v1/sync/records?project={}", encoded(project)), token),
            2 => server.get(&format!("/v1/entries/{id}?project={}", encoded(project)), token),
            3 => tool("ctx_search", json!({ "queries": ["common", "marker"] })),
            4 => tool("ctx_get", json!({ "reference": id })),
            5 => tool("ctx_context", json!({})),
            _ => tool("ctx_history", json!({})),
        };
        reply.ok(200);
        let (own, body) = (format!("marker-of-{number}-"), &reply.body);
        assert!(body.contains(&own), "{own} is not in {body}");
        let foreign = body.match_indices("marker-of-").find(|(at, _)| !body[*at..].starts_with(&own));
        assert_eq!(foreign, None, "{own} in {body}");
        let (_, elsewhere, foreign) = &written[draw(TENANTS)];
        let path = format!("/v1/entries/{foreign}?project={}", encoded(elsewhere));
        let refused = match draw(4) {
            _ if foreign == id || number % 3 != 0 => continue,
            0 => server.get(&path, token),
            1 => server.send("DELETE", &path, token, ""),
            2 => tool("ctx_get", json!({ "reference": foreign })),
            _ => tool("ctx_annotate", json!({ "text": "x", "supersedes": [foreign] })),
        };
        refused.problem(404);
    }
}

fn names_and_queries_are_only_text(world: &World) {
    let server = world.server();
    let names = [
        "'; DROP TABLE records; --", "a\"b", "$1", "%", "_", "x' OR '1'='1", "../../etc/passwd", "ä 🦀", "NEAR(a b)",
        "*", "tenant:\"acme\" OR *",
    ];
    let bystander = server.token("acme", "ana", TokenScope::Write);
    server.note(&bystander, API, "untouched");
    for name in names {
        let token = server.token(name, name, TokenScope::Write);
        server.note(&token, name, "sentinel");
        assert_eq!(server.search(&token, name, "sentinel"), ["sentinel"], "{name}");
        assert_eq!(server.download(&token, name, 10).len(), 1, "{name}");
        // As a query and as every filter it finds nothing of others, and breaks nothing.
        assert_eq!(server.search(&token, API, name), [""; 0], "{name}");
        let filters = json!({ "project": name, "query": name, "author": name, "source": name });
        server.post("/v1/search", &token, &filters).ok(200);
        server.post("/v1/search", &token, &json!({ "project": name, "query": "x", "kind": name })).problem(422);
        server.get(&format!("/v1/entries/{}?project={}", encoded(name), encoded(name)), &token).problem(422);
    }
    assert_eq!(server.search(&bystander, API, "untouched"), ["untouched"]);
}

on_each_backend! {
    nothing_crosses_by_any_route,
    a_thousand_random_calls_of_tools_cross_nothing,
    a_thousand_tenants_find_only_what_is_their_own,
    names_and_queries_are_only_text,
}
