//! Tests of redirects, each of which is checked as if it were the first URL.

use std::io::Write;
use std::time::Instant;

use weir_fetch::{FetchError, Fetched, Fetcher, Request, fetch};

use crate::server::{TestServer, answer, get, page_of, settings};

fn to(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

#[test]
fn redirects_are_followed_and_counted() {
    let server = TestServer::new(|asked, stream| {
        let answer = match asked.path() {
            "/a" => to("b?x=1#part"),
            "/b?x=1" => to("/c"),
            _ => page_of("<p>there"),
        };
        stream.write_all(&answer).unwrap();
    });
    let page = get(&server.url("/a")).unwrap();
    assert_eq!((page.url, page.redirects, page.text.as_str()), (server.url("/c"), 2, "there\n"));
}

#[test]
fn circles_end() {
    let began = Instant::now();
    let server = TestServer::new(|asked, stream| {
        let next = if asked.path() == "/a" { "/b" } else { "/a" };
        stream.write_all(&to(next)).unwrap();
    });
    let error = get(&server.url("/a")).unwrap_err();
    assert_eq!(error, FetchError::TooManyRedirects { most: 5, url: server.url("/a") });
    assert_eq!(server.requests().len(), 6);
    assert!(began.elapsed().as_secs() < 5);
}

#[test]
fn a_redirect_does_not_lead_to_where_a_request_would_not() {
    for location in [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:1/",
        "http://localhost:1/",
        "http://10.0.0.1/",
        "//192.168.0.1/",
        "file:///etc/passwd",
        "ftp://example.com/",
        "http://user:pass@example.com/",
        "javascript:alert(1)",
    ] {
        let server = TestServer::saying(to(location));
        let error = get(&server.url("/")).unwrap_err();
        assert!(
            matches!(error, FetchError::Private { .. } | FetchError::Scheme { .. } | FetchError::Credentials),
            "{location}: {error}"
        );
    }
    let server = TestServer::saying("HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n");
    assert!(matches!(get(&server.url("/")).unwrap_err(), FetchError::Broken { .. }));
}

#[test]
fn what_one_host_said_is_not_told_another() {
    let other = TestServer::saying(answer("content-type: text/plain", "other"));
    let there = format!("http://localhost:{}/", other.address.port());
    let server = TestServer::saying(to(&there));
    let mut settings = settings();
    settings.guard = weir_fetch::Guard::allowing(&["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    settings.names = weir_fetch::NameResolver::Custom(std::sync::Arc::new(|_| vec![crate::server::this_machine()]));
    let request = Request { url: server.url("/"), etag: Some("\"secret\"".to_owned()), ..Request::default() };
    assert!(matches!(fetch(&request, &Fetcher::new(settings)).unwrap(), Fetched::Page(_)));
    assert_eq!(server.requests()[0].header("if-none-match"), Some("\"secret\""));
    assert_eq!(other.requests()[0].header("if-none-match"), None);
}
