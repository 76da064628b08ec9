//! What the proxy refuses, and what it does not keep.

use std::net::TcpListener;
use std::path::Path;

use expect_test::expect;
use serde_json::json;

use super::harness::{Api, Proxy};
use super::{ANTHROPIC, Conversation, build, parsed};
use crate::support::Home;

#[test]
fn pages_and_rebound_names_do_not_get_through() {
    let (home, api) = (Home::new(), Api::start());
    let proxy = Proxy::start(&home, &api.url());
    let port = proxy.host().rsplit_once(':').unwrap().1.to_owned();
    let evil = format!("evil.example:{port}");
    let own = format!("http://localhost:{port}");
    for (name, value, status) in [
        ("host", evil.as_str(), 421),
        ("host", "api.anthropic.com", 421),
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("upgrade", "websocket", 501),
    ] {
        let answered = proxy.send("POST /v1/messages", &[(name, value)], b"{\"messages\":[]}");
        assert_eq!(answered.status, status, "{name}: {value}");
        assert_eq!(answered.header("content-type"), Some("application/problem+json"));
        assert_eq!(answered.header("access-control-allow-origin"), None);
    }
    // An image on a page has no origin.
    assert_eq!(proxy.send("GET /v1/models", &[("sec-fetch-site", "cross-site")], b"").status, 403);
    assert_eq!(api.count(), 0);
    assert_eq!(proxy.send("POST /v1/messages", &[("sec-fetch-site", "none")], b"{\"messages\":[]}").status, 200);
    assert_eq!(proxy.send("POST /v1/messages", &[("origin", &own)], b"{\"messages\":[]}").status, 200);
}

#[test]
fn an_api_that_cannot_be_reached_is_a_problem_with_a_hint() {
    let home = Home::new();
    let address = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let proxy = Proxy::start(&home, &format!("http://{address}"));
    let answered = proxy.post("/v1/messages", b"{\"messages\":[]}");
    assert_eq!((answered.status, answered.header("content-type")), (502, Some("application/problem+json")));
    let problem = parsed(&answered);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.starts_with(&format!("cannot connect to http://{address}: ")), "{detail}");
    assert_eq!((&problem["title"], &problem["status"]), (&json!("Upstream unreachable"), &json!(502)));
    assert!(problem["hint"].as_str().unwrap().contains("--upstream"), "{problem}");

    // An API that closes the connection has not answered either.
    let api = Api::answering(|_, stream| stream.shutdown(std::net::Shutdown::Both).unwrap());
    let proxy = Proxy::start(&home, &api.url());
    let answered = proxy.post("/v1/messages", b"{\"messages\":[]}");
    assert_eq!(answered.status, 502, "{answered:?}");
    assert!(parsed(&answered)["detail"].as_str().unwrap().starts_with("no answer from "), "{answered:?}");
}

#[test]
fn keys_are_neither_stored_nor_shown() {
    let (home, api) = (Home::new(), Api::start());
    let proxy = Proxy::start(&home, &api.url());
    let key = "sk-made-up-0123456789-abcdefghij";
    let mut conversation = Conversation::new(&ANTHROPIC);
    let body = conversation.ran("toolu_1", "make", &build("weir")).body();
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", bearer.as_str()), ("x-api-key", key), ("cookie", key)];
    assert_eq!(proxy.send("POST /v1/messages", &headers, body.as_bytes()).status, 200);
    assert!(api.last().body.len() < body.len(), "the result was held back");
    let (stdout, stderr) = proxy.end();
    assert!(!stdout.contains(key) && !stderr.contains(key));
    let mut files = 0;
    each_file(home.path(), &mut |bytes| {
        files += 1;
        assert!(!bytes.windows(key.len()).any(|part| part == key.as_bytes()));
    });
    assert!(files >= 2, "the store has files");
}

fn each_file(folder: &Path, check: &mut dyn FnMut(&[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { each_file(&path, check) } else { check(&std::fs::read(&path).unwrap()) }
    }
}

#[test]
fn an_unsafe_address_is_refused() {
    let home = Home::new();
    home.check(
        &["proxy", "--upstream", "http://api.example"],
        expect![[r#"
            error: cannot pass requests on to `http://api.example`: others on the network could read your key
            hint: name the address of the API, such as https://api.anthropic.com or https://api.openai.com
            hint: add --insecure if you trust the network
            exit 2"#]],
    );
    home.check(
        &["proxy", "--upstream", "http://127.0.0.1:9", "--bind", "0.0.0.0:0"],
        expect![[r#"
            error: cannot listen on 0.0.0.0:0: the proxy is for this machine only
            hint: use a loopback address, such as 127.0.0.1:4748
            exit 2"#]],
    );
    let output = home.weir(&["proxy"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
