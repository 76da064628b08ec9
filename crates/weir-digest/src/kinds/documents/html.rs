//! Web pages: title and alerts, headings, the most informative text, forms with their fields, tables by their columns,
//! links.
//!
//! Invariant: no tree is built, and memory is bounded, whatever a page contains.

use std::io;

use html5gum::{IoReader, Tokenizer};

use crate::kinds::Kind;
use crate::sample::Sample;
use crate::{Page, Source};

mod document;
mod elements;
mod forms;
mod links;
mod position;
mod tables;
mod tokens;

use document::Document;
use position::Position;
use tokens::Tokens;

pub(crate) const KIND: Kind = Kind::whole("html", is, read);

/// The maximum number of lines before a complete page.
const MAX_LINES_BEFORE: usize = 3;

/// Returns whether this is a web page or a part of one, with or without the headers of a response.
fn is(sample: &Sample<'_>) -> bool {
    let raw = sample.raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&sample.raw);
    let body = after_headers(after_words(raw)).trim_ascii_start();
    if body.first() != Some(&b'<') {
        return false;
    }
    let head: Vec<u8> = body.iter().take(2_000).map(u8::to_ascii_lowercase).collect();
    let has = |text: &[u8]| memchr::memmem::find(&head, text).is_some();
    if head.starts_with(b"<!doctype html") || head.starts_with(b"<html") {
        return true;
    }
    let xml = head.starts_with(b"<?xml") || head.starts_with(b"<!--") || head.starts_with(b"<br");
    if xml && (has(b"<html") || has(b"<!doctype html")) {
        return true;
    }
    #[rustfmt::skip]
    let tags: [&[u8]; 12] = [
        b"<div", b"<table", b"<section", b"<main", b"<body", b"<head>", b"<h1", b"<ul", b"<article", b"<form", b"<p>",
        b"<nav",
    ];
    let count = tags.iter().filter(|tag| has(tag)).count();
    tags.iter().any(|tag| head.starts_with(tag)) && count >= 2 && (has(b"class=") || has(b"</"))
}

/// Skips a few lines that say where a page comes from.
fn after_words(raw: &[u8]) -> &[u8] {
    let begins = |line: &&[u8]| {
        [&b"<!doctype"[..], b"<html", b"<?xml"]
            .iter()
            .any(|tag| line.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag)))
    };
    let ends = memchr::memchr_iter(b'\n', raw).take(MAX_LINES_BEFORE).filter_map(|end| raw.get(end + 1..));
    ends.into_iter().find(begins).unwrap_or(raw)
}

/// Skips the headers of an HTTP response, if there are any.
fn after_headers(raw: &[u8]) -> &[u8] {
    if !raw.starts_with(b"HTTP/") {
        return raw;
    }
    let end = memchr::memmem::find(raw, b"\r\n\r\n").or_else(|| memchr::memmem::find(raw, b"\n\n"));
    end.and_then(|end| raw.get(end..)).unwrap_or_default()
}

fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut document = Document::new(Position::of(source)?);
    let tokens = Tokens::into(&mut document);
    Tokenizer::new_with_emitter(IoReader::new(source.open()?), tokens).finish()?;
    Ok(Some(document.page()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn a_page_is_shown_by_what_is_on_it() {
        let mut text = String::from(
            "<!DOCTYPE html>\n<html lang=en><head><title>Departures &amp; more</title><style>a{}</style>\n\
             <meta name=\"description\" content=\"All buses.\"></head><body>\n<nav><a href=\"/a\">Home</a></nav>\n\
             <div role=alert>Line 44 does not run.</div>\n<main><h1>Departures <a href=\"#d\">#</a></h1>\n\
             <p>Tickets are sold in the <b>bus</b>. Dogs travel for half the price.\n<p>Bikes do not.\n\
             <form action=/plan method=post><label>From <input name=from required></label>\n\
             <select name=s><option>One<option selected>Two</select><input type=hidden name=x><button>Find</button></form>\n\
             <table><tr><th>Time<th>Delay</tr>\n",
        );
        for number in 0..60 {
            let delay = if number == 33 { "+94 min" } else { "on time" };
            text.push_str(&format!("<tr><td>{number}<td>{delay}</tr>\n"));
        }
        text.push_str("</table></main><script>let a = 1;</script></body></html>\n");
        check(&text, 600).shows(&expect![[r#"
            HTML page: 1 heading, 1 table with 60 rows, 1 form, 2 links, 1 script of 10 bytes, 1 style of 3 bytes
            == page: 2
            title: Departures & more
            description: All buses.
            == alerts and errors: 1
            5: Line 44 does not run.
            == headings, 1 in all, rows: 1
            Departures
            == forms, and fields outside of them: 1
            9: form: POST /plan: text "From" name=from [required], select name=s (2 options, now Two), button "Find", 1 hidden
            == table 1: unusual records: 1
            45: 33 | +94 min (unusual: Delay)
            == table 1: fields of 60 records: 2
            Time: 0 to 59, all different
            Delay: on time ×59, 94 ×1 (33)
            == table 1: first and last records: 60, 3 shown
            12: 0 | on time
            13: 1 | on time
            71: 59 | on time
            == table 1: similar values of Delay: 1
            ×59 on time
            == most telling texts: 3
            7: Tickets are sold in the bus.
            7: Dogs travel for half the price.
            8: Bikes do not.
            == links around it, 1 in all, rows: 1
            Home /a"#]]);
    }

    #[test]
    fn an_answer_with_headers_is_a_page_too() {
        let text = "HTTP/1.1 500 Internal Server Error\r\nServer: x\r\n\r\n<html><body><h1>Server Error</h1>\
                    <pre>File \"/srv/a.py\", line 12, in b</pre></body></html>\n";
        let shown = digest(text, 600);
        assert!(shown.contains("1: HTTP/1.1 500 Internal Server Error"), "{shown}");
        assert!(shown.contains("File \"/srv/a.py\", line 12, in b"), "{shown}");
    }

    #[test]
    fn what_is_no_page_is_left_alone() {
        let junit = "<?xml version=\"1.0\"?>\n<testsuites><testsuite name=\"a\"><testcase name=\"b\"/></testsuite></testsuites>\n";
        let text = "<3 this is no page\n".repeat(10);
        for text in [junit, &text, "", "<", "<!-- a"] {
            assert!(!digest(text, 600).contains("HTML page"), "{text}");
        }
    }

    #[test]
    fn a_page_may_follow_what_says_where_it_is_from() {
        let page = "<!DOCTYPE html><html><head><title>Strings</title></head><body><h1>Strings</h1><p>All of them.</p></body></html>";
        let digest = digest(
            &format!("Cannot be simplified:\nContents of http://localhost/:\n{page}\n{}", "<p>x\n".repeat(900)),
            300,
        );
        assert!(digest.contains("Strings") && !digest.contains("plain lines"), "{digest}");
    }
}
