//! Tests of the client for an embedding model.

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use weir_embed::{Embed, EmbedError};
use weir_fetch::endpoint::{Endpoint, Remote, shown_address};

use crate::server::{TestServer, answer};

/// A model whose vectors contain the length of the text, and which answers in the wrong order.
fn model() -> TestServer {
    TestServer::new(|asked, stream| {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let texts = body["input"].as_array().unwrap();
        let mut data: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(
                |(index, text)| json!({ "index": index, "embedding": [text.as_str().unwrap().len() as f32, 4.0, 0.0] }),
            )
            .collect();
        data.reverse();
        stream.write_all(&answer("content-type: application/json", json!({ "data": data }).to_string())).unwrap();
    })
}

fn endpoint(server: &TestServer) -> Endpoint {
    Endpoint {
        url: server.url("/v1"),
        model: "small".to_owned(),
        key: Some("k-1".to_owned()),
        batch: 2,
        timeout: Duration::from_secs(5),
        ..Endpoint::default()
    }
}

#[test]
fn texts_come_back_as_vectors_in_their_order() {
    let server = model();
    let remote = Remote::connect(endpoint(&server)).unwrap();
    assert_eq!((remote.width(), remote.name(), remote.is_quick()), (3, "small@127.0.0.1", false));
    let vectors = remote.embed(&["abc", " ", "", "abcabc", "abc"]).unwrap();
    let near = |vector: &Option<Vec<f32>>, expected: [f32; 3]| {
        vector.as_ref().is_some_and(|vector| vector.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6))
    };
    assert!(near(&vectors[0], [0.6, 0.8, 0.0]), "{vectors:?}");
    assert_eq!((&vectors[1], &vectors[2]), (&None, &None));
    assert!(near(&vectors[3], [6.0 / 52_f32.sqrt(), 4.0 / 52_f32.sqrt(), 0.0]));
    assert!(near(&vectors[4], [0.6, 0.8, 0.0]));
    let asked = server.requests();
    assert_eq!((asked.len(), asked[1].path()), (3, "/v1/embeddings"));
    assert_eq!(asked[1].header("authorization"), Some("Bearer k-1"));
}

#[test]
fn the_width_may_be_given_and_then_nothing_is_asked() {
    let server = model();
    let remote = Remote::connect(Endpoint { width: Some(3), ..endpoint(&server) }).unwrap();
    assert!(!server.was_reached());
    assert_eq!(remote.width(), 3);
    let wrong = Remote::connect(Endpoint { width: Some(4), ..endpoint(&server) }).unwrap();
    assert!(matches!(wrong.embed(&["a"]).unwrap_err(), EmbedError::Unusable(_)));
}

#[test]
fn no_message_has_a_secret_of_the_address() {
    let server = TestServer::saying("HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n");
    let refusing = server.url("/v1?key=secret").replace("http://", "http://user:secret@");
    for url in
        [refusing.as_str(), "http://user:secret@127.0.0.1:1/v1?key=secret", "ftp://:secret@x/", "http://:secret@"]
    {
        let error = Remote::connect(Endpoint { url: url.to_owned(), ..endpoint(&server) }).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(!shown_address(url).contains("secret"), "{url}");
    }
    assert_eq!(shown_address("http://localhost:11434/v1"), "http://localhost:11434/v1");
}

#[test]
fn refusals_say_why_and_whether_to_try_again() {
    let refuse = |status: &str, body: &str| {
        let server = TestServer::saying(format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()));
        Remote::connect(endpoint(&server)).unwrap_err()
    };
    let error = refuse("401 No", r#"{"error":{"message":"wrong key"}}"#);
    assert!(matches!(&error, EmbedError::Unusable(why) if why.ends_with("answered 401: wrong key")), "{error}");
    assert!(matches!(refuse("503 Busy", "later"), EmbedError::Unanswered(_)));
    assert!(matches!(refuse("200 OK", "{}"), EmbedError::Unusable(_)));
    assert!(matches!(refuse("200 OK", r#"{"data":[]}"#), EmbedError::Unusable(_)));
    assert!(matches!(refuse("302 Found", ""), EmbedError::Unusable(_)));
    let nowhere =
        Endpoint { url: "http://127.0.0.1:1/v1".to_owned(), timeout: Duration::from_secs(5), ..Endpoint::default() };
    assert!(matches!(Remote::connect(nowhere).unwrap_err(), EmbedError::Unanswered(_)));
    let wrong = Endpoint { url: "file:///x".to_owned(), ..Endpoint::default() };
    assert!(matches!(Remote::connect(wrong).unwrap_err(), EmbedError::Unusable(_)));
}
