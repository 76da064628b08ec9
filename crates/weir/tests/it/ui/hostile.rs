//! Texts that others wrote: they are read on every page, and do nothing.

use serde_json::json;

use super::support::{Pages, between, ran};
use crate::support::Home;

/// Markup, Markdown, terminal sequences and characters that reorder others, with a word to search for.
const HOSTILE: &str = "zebra \u{202e}dlrow\u{2066} <script>alert(1)</script> <img src=x onerror=alert(2)> \
                       [a](javascript:alert(3)) **b** \u{1b}[31mred\u{1b}[0m \
                       \u{1b}]8;;http://evil.example\u{7}link\u{1b}]8;;\u{7} \" onmouseover=\"alert(4)";

/// Returns a page without what gives back exactly what it was given: fields of forms.
fn without_fields(page: &str) -> String {
    let mut rest = page;
    let mut shown = String::new();
    while let Some((before, after)) = rest.split_once("<textarea") {
        shown.push_str(before);
        rest = after.split_once("</textarea>").map_or("", |(_, rest)| rest);
    }
    shown.push_str(rest);
    let mut parts = shown.split(" value=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| shown + part.split_once('"').map_or("", |(_, rest)| rest))
}

fn check(path: &str, page: &str) {
    for text in ["<script>alert", "<img", "\"javascript:", "href=\"http"] {
        assert!(!page.contains(text), "{path} has {text}:\n{page}");
    }
    let shown = without_fields(page);
    assert!(!shown.contains("\" onmouseover=\"alert"), "{path}:\n{page}");
    let hidden = ['\u{1b}', '\u{7}', '\u{202e}', '\u{2066}'];
    assert!(!shown.contains(hidden), "{path} has a character that is not seen:\n{page}");
}

#[test]
fn hostile_texts_are_shown_and_do_nothing_on_every_page() {
    let home = Home::new();
    home.hook("s", "UserPromptSubmit", &json!({ "prompt": HOSTILE }));
    let lines: String = (0..800).map(|number| format!("{HOSTILE} {number}\n")).collect();
    let output = ran(&home, &format!("make '{HOSTILE}'"), &lines).unwrap();
    let note = home.note(&[HOSTILE, "--topic", HOSTILE]);
    let note = between(&note, "[ctx:", "]").unwrap();
    let pages = Pages::open(&home);
    let project = pages.project();
    let of_entry = |reference: &str, rest: &str| format!("{project}/entries/{reference}{rest}");
    let paths = [
        project.clone(),
        format!("{project}/sessions"),
        format!("{project}/sessions/claude-code~s"),
        format!("{project}/sessions/claude-code~s?events=all"),
        format!("{project}/search?q=zebra"),
        format!("{project}/search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E%1b%5B31m%e2%80%ae"),
        of_entry(&output, ""),
        of_entry(&output, "?unfold=all"),
        of_entry(&output, "?lines=%2Fzebra%2F"),
        of_entry(&note, ""),
        format!("{project}/notes"),
        "/".to_owned(),
        "/search?q=zebra".to_owned(),
        "/projects".to_owned(),
        "/%3Cscript%3Ealert(1)%3C%2Fscript%3E".to_owned(),
        "/entries/%3Cscript%3Ealert(1)%3C%2Fscript%3E".to_owned(),
        "/sessions/%3Cscript%3Ealert(1)%3C%2Fscript%3E~%1b%5B31m".to_owned(),
    ];
    for path in &paths {
        check(path, &pages.get(path).text());
    }
    // They are not left out either.
    for path in &paths[2..5] {
        let page = pages.get(path).text();
        assert!(page.contains("&lt;script&gt;") && page.contains("U+202E"), "{path}:\n{page}");
    }
    let raw = pages.get(&of_entry(&output, "/raw"));
    assert_eq!(raw.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(raw.header("x-content-type-options"), Some("nosniff"));
}
