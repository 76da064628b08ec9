//! Tests of honest pages of every type.

use std::io::Write;

use expect_test::expect;
use weir_check::Checked;
use weir_fetch::{FetchError, Fetched, Fetcher, PageFormat, Proxies, Request, Settings, fetch};

use crate::server::{TestServer, answer, get, get_with, page_of, settings};

fn check(headers: &str, body: impl AsRef<[u8]>) -> Checked {
    let server = TestServer::saying(answer(headers, body));
    let page = get(&server.url("/docs/file")).unwrap();
    let mut shown = format!("{} ({}, {})\n", page.title, page.form.as_str(), page.media);
    page.notes.iter().for_each(|note| shown.push_str(&format!("note: {note}\n")));
    shown.push_str(&page.text);
    Checked(shown)
}

#[test]
fn types_are_converted() {
    check("content-type: text/html; charset=iso-8859-1", b"<title>T\xe4</title><p>caf\xe9 <a href=x>l</a>").shows(
        &expect![[r#"
        Tä (html, text/html)
        café [l](/docs/x)
    "#]],
    );
    check("content-type: text/markdown", "# Name #\n\nText\r\nmore\n").shows(&expect![[r#"
        Name (markdown, text/markdown)
        # Name #

        Text
        more
    "#]]);
    check("content-type: application/json", r#"{"a":[1,2],"b":"c"}"#).shows(&expect![[r#"
        file (127.0.0.1) (json, application/json)
        {"a": [1, 2], "b": "c"}
    "#]]);
    check("content-type: application/json", r#"{"a":[1,2"#).shows(&expect![[r#"
        file (127.0.0.1) (json, application/json)
        note: not valid JSON, so it is stored unchanged
        {"a":[1,2"#]]);
    check("content-type: text/x-python", "def f():\n    pass\n").shows(&expect![[r#"
        file (127.0.0.1) (text, text/x-python)
        def f():
            pass
    "#]]);
    check("x: y", "just words\n").shows(&expect![[r#"
        file (127.0.0.1) (text, )
        just words
    "#]]);
    check("content-type: application/xml", "<a><b/></a>").shows(&expect![[r#"
        file (127.0.0.1) (xml, application/xml)
        <a><b/></a>"#]]);
}

#[test]
fn feeds_are_read_by_structure() {
    check(
        "content-type: application/rss+xml",
        "<?xml version='1.0'?><rss><channel><title>News &amp; more</title><link>https://e.com</link>\
         <item><title>First</title><link>https://e.com/1</link><pubDate>Mon, 1 Jan 2026</pubDate>\
         <description>&lt;p&gt;Short &lt;b&gt;text&lt;/b&gt;&lt;/p&gt;</description></item>\
         <item><title><![CDATA[Second & last]]></title><content:encoded><![CDATA[<p>Long</p><ul><li>a</ul>]]></content:encoded>\
         <description>Short</description></item></channel></rss>",
    )
    .shows(&expect![[r#"
        News & more (feed, application/rss+xml)
        # News & more

        ## First

        Mon, 1 Jan 2026 · https://e.com/1

        Short **text**

        ## Second & last

        Long

        - a
    "#]]);
    check(
        "content-type: text/xml",
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>Blog</title><entry><title type='html'>A &amp;amp; B</title>\
         <link rel='self' href='https://e.com/self'/><link href='https://e.com/a'/><updated>2026-01-02</updated>\
         <content type='xhtml'><div xmlns='x'><p>In <em>XML</em></p></div></content></entry></feed>",
    )
    .shows(&expect![[r#"
        Blog (feed, text/xml)
        # Blog

        ## A & B

        2026-01-02 · https://e.com/a

        In *XML*
    "#]]);
}

#[test]
fn compressed_pages_are_inflated() {
    let text = "words that repeat ".repeat(200);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(text.as_bytes()).unwrap();
    let compressed = gz.finish().unwrap();
    let received = compressed.len() as u64;
    let server = TestServer::saying(answer("content-type: text/plain\r\ncontent-encoding: gzip", compressed));
    let page = get(&server.url("/")).unwrap();
    assert_eq!((page.text.as_str(), page.received), (text.as_str(), received));
    assert_eq!(server.requests()[0].header("accept-encoding"), Some("gzip, br"));
}

#[test]
fn what_is_kept_is_asked_for_and_not_sent_again() {
    let server = TestServer::new(|asked, stream| {
        let known = asked.header("if-none-match") == Some("\"v1\"");
        let answer = if known {
            b"HTTP/1.1 304 Not Modified\r\netag: \"v1\"\r\n\r\n".to_vec()
        } else {
            answer("content-type: text/plain\r\netag: \"v1\"\r\nlast-modified: Mon, 01 Jan 2026 00:00:00 GMT", "text")
        };
        stream.write_all(&answer).unwrap();
    });
    let fetcher = Fetcher::new(settings());
    let mut request = Request { url: server.url("/"), ..Request::default() };
    let Fetched::Page(page) = fetch(&request, &fetcher).unwrap() else { panic!("there was nothing to be unchanged") };
    assert_eq!(page.etag.as_deref(), Some("\"v1\""));
    request.etag = page.etag;
    request.last_modified = page.last_modified;
    assert_eq!(fetch(&request, &fetcher).unwrap(), Fetched::Unchanged);
    let asked = server.requests();
    assert_eq!(asked[1].header("if-modified-since"), Some("Mon, 01 Jan 2026 00:00:00 GMT"));
    assert_eq!(asked[0].header("if-none-match"), None);
}

#[test]
fn what_has_no_text_says_what_it_is() {
    let server = TestServer::saying(answer("content-type: application/zip", "PK"));
    let error = get(&server.url("/a.zip")).unwrap_err();
    assert_eq!(error.to_string(), "`application/zip` is not supported");
    assert!(!error.hint().is_empty());
    let server = TestServer::saying(page_of("<script>render()</script><div id=root></div>"));
    assert!(matches!(get(&server.url("/")).unwrap_err(), FetchError::Empty { .. }));
    let server = TestServer::saying("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    assert!(matches!(get(&server.url("/")).unwrap_err(), FetchError::Status { status: 404, .. }));
    let server = TestServer::saying("HTTP/1.1 429 Slow\r\nretry-after: 30\r\ncontent-length: 0\r\n\r\n");
    let error = get(&server.url("/")).unwrap_err();
    assert_eq!(error.to_string(), format!("{} answered 429, retry after 30", server.url("/")));
}

#[test]
fn a_page_is_asked_of_the_proxy_by_its_name() {
    // The proxy does not connect but reads the request and answers on behalf of the host.
    let proxy = TestServer::new(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stream.try_clone().unwrap()));
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        stream.write_all(&answer("content-type: text/plain", "through the proxy")).unwrap();
    });
    let settings = Settings {
        proxies: Proxies { http: Some(format!("http://{}", proxy.address)), ..Proxies::default() },
        ..Settings::default()
    };
    let page = get_with(settings.clone(), "http://docs.example.com/page").unwrap();
    assert_eq!((page.text.as_str(), page.form), ("through the proxy", PageFormat::Plain));
    assert_eq!(proxy.requests()[0].line.trim(), "CONNECT docs.example.com:80 HTTP/1.1");
    let error = get_with(settings, "http://metadata.google.internal/").unwrap_err();
    assert!(matches!(error, FetchError::Private { .. }));
    assert_eq!(proxy.requests().len(), 1);
}
