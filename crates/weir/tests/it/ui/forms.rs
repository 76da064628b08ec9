//! What a person changes from a page, and what a page of somebody else cannot.

use serde_json::Value;

use super::support::{Pages, furnished};
use crate::serve::support::Request;
use crate::support::Home;

fn note(home: &Home, topic: &str) -> Value {
    let review = home.json(&["notes", "--all"]);
    let is_it = |note: &&Value| note["topic"] == topic && note["superseded_by"].is_null();
    review["notes"].as_array().unwrap().iter().find(is_it).cloned().unwrap_or_default()
}

fn bare(note: &Value) -> String {
    note["reference"].as_str().unwrap().replace("[ctx:", "").replace(']', "")
}

#[test]
fn a_form_without_its_token_or_its_origin_changes_nothing() {
    let (home, _, reference) = furnished();
    let pages = Pages::open(&home);
    let path = format!("/entries/{reference}/confirm");
    let token = pages.token();
    let without_token = pages.form(&path, &[("back", "/")]);
    let wrong_token = pages.form(&path, &[("token", "0")]);
    let origin = format!("http://{}", pages.authority());
    let no_cookie = Request::post(&path, format!("token={token}")).header("Origin", &origin);
    let no_origin = Request::post(&path, format!("token={token}")).header("Cookie", &pages.cookie);
    let foreign = no_origin.clone().header("Origin", "https://evil.example");
    let unknown = no_origin.clone().header("Origin", "null");
    let cross_site = pages.form(&path, &[("token", token.as_str())]).header("Sec-Fetch-Site", "cross-site");
    for (name, request) in [
        ("without a token", without_token),
        ("with a wrong token", wrong_token),
        ("without the cookie", no_cookie),
        ("without an origin", no_origin),
        ("from another site", foreign),
        ("from nowhere", unknown),
        ("as the browser says", cross_site),
    ] {
        assert_eq!(pages.send(&request).status, 403, "{name}");
        assert_eq!(note(&home, "port")["confirmed_at"], Value::Null, "{name}");
    }
    assert_eq!(pages.send(&pages.request(&path)).status, 404, "a link cannot confirm");
}

#[test]
fn a_note_is_confirmed_edited_and_forgotten() {
    let (home, _, reference) = furnished();
    let pages = Pages::open(&home);
    assert_eq!(pages.submit(&format!("/entries/{reference}/confirm"), &[]), "/notes");
    assert!(note(&home, "port")["confirmed_at"].is_string());
    let text = "Tests need port 7072,\r\nsince 7071 is taken";
    pages.submit(&format!("/entries/{reference}/edit"), &[("text", text)]);
    let edited = note(&home, "port");
    assert_eq!((&edited["origin"], &edited["title"]), (&"user".into(), &"Tests need port 7072,".into()), "{edited}");
    assert_eq!(home.ok(&["get", &bare(&edited), "--raw"]), "Tests need port 7072,\nsince 7071 is taken");
    pages.submit(&format!("/entries/{}/forget", bare(&edited)), &[]);
    assert_eq!(note(&home, "port"), Value::Null);
    let gone = pages.get(&format!("/entries/{reference}"));
    assert_eq!(gone.status, 410, "older revisions are gone too: {}", gone.text());
    assert!(gone.text().contains("It was forgotten on request"), "{}", gone.text());
}

#[test]
fn a_note_that_is_still_true_is_bound_to_its_file_as_it_is_now() {
    let (home, ..) = furnished();
    home.write("pool.rs", "32");
    assert_ne!(note(&home, "pool")["doubts"].as_array().unwrap().len(), 0);
    let pages = Pages::open(&home);
    pages.submit(&format!("{}/entries/{}/confirm", pages.project(), bare(&note(&home, "pool"))), &[]);
    let renewed = note(&home, "pool");
    assert_eq!(renewed["doubts"].as_array().unwrap().len(), 0, "{renewed}");
    assert_eq!(renewed["title"], "The pool has 16 connections");
}

#[test]
fn a_form_that_is_sent_twice_does_its_work_once() {
    let (home, _, reference) = furnished();
    let pages = Pages::open(&home);
    let new = format!("{}/notes/new", pages.project());
    let edit = format!("/entries/{reference}/edit");
    for _ in 0..2 {
        pages.submit(&new, &[("topic", "style"), ("kind", "convention"), ("text", "Small commits")]);
        pages.submit(&new, &[("topic", ""), ("text", "Plain words")]);
        pages.submit(&edit, &[("text", "Tests need port 7072")]);
    }
    let notes = home.json(&["notes", "--all"]);
    for title in ["Small commits", "Plain words", "Tests need port 7072"] {
        let same = notes["notes"].as_array().unwrap().iter().filter(|note| note["title"] == title).count();
        assert_eq!(same, 1, "{title}: {notes}");
    }
    let newest = bare(&note(&home, "port"));
    for _ in 0..2 {
        pages.submit(&format!("/entries/{newest}/forget"), &[]);
    }
    assert_eq!(note(&home, "port"), Value::Null);
}

#[test]
fn a_revision_is_not_replaced_by_a_text_that_was_written_before_it() {
    let (home, _, reference) = furnished();
    let pages = Pages::open(&home);
    let edit = format!("/entries/{reference}/edit");
    pages.submit(&edit, &[("text", "Tests need port 7072")]);
    let token = pages.token();
    let late = pages.send(&pages.form(&edit, &[("token", token.as_str()), ("text", "Tests need port 7073")]));
    assert_eq!(late.status, 400, "{}", late.text());
    assert!(late.text().contains("The note has been revised since this page was opened"), "{}", late.text());
    assert_eq!(note(&home, "port")["title"], "Tests need port 7072");
}

#[test]
fn a_new_note_is_for_the_project_or_for_everywhere() {
    let (home, ..) = furnished();
    let pages = Pages::open(&home);
    let path = format!("{}/notes/new", pages.project());
    pages.submit(&path, &[("topic", "style"), ("kind", "convention"), ("text", "Small commits")]);
    pages.submit("/notes/new", &[("topic", "tone"), ("kind", "nonsense"), ("text", "Plain words")]);
    let (style, tone) = (note(&home, "style"), note(&home, "tone"));
    assert_eq!((&style["level"], &style["kind"]), (&"project".into(), &"convention".into()), "{style}");
    assert_eq!((&tone["level"], &tone["origin"]), (&"user".into(), &"user".into()), "{tone}");
    let token = pages.token();
    let empty = pages.send(&pages.form(&path, &[("token", token.as_str()), ("text", "  ")]));
    assert_eq!(empty.status, 400, "{}", empty.text());
}

#[test]
fn a_form_that_is_too_long_is_answered_with_a_page() {
    let (home, ..) = furnished();
    let pages = Pages::open(&home);
    let (token, long) = (pages.token(), "a".repeat(600 << 10));
    let path = format!("{}/notes/new", pages.project());
    let refused = pages.send(&pages.form(&path, &[("token", token.as_str()), ("text", long.as_str())]));
    assert_eq!((refused.status, refused.header("content-type")), (400, Some("text/html; charset=utf-8")));
    assert!(refused.text().contains("The form is longer than 1 MiB"), "{}", refused.text());
}

#[test]
fn the_theme_and_the_keys_are_remembered() {
    let (home, ..) = furnished();
    let pages = Pages::open(&home);
    let token = pages.token();
    let dark =
        pages.send(&pages.form("/theme", &[("token", token.as_str()), ("theme", "dark"), ("back", "/notes?show=all")]));
    assert_eq!((dark.status, dark.header("location")), (303, Some("/notes?show=all")));
    let cookie = dark.header("set-cookie").unwrap().split(';').next().unwrap();
    let both = format!("{}; {cookie}; weir-keys=off", pages.cookie);
    let page = pages.send(&Request::get("/notes").header("Cookie", &both)).text();
    assert!(page.contains("data-theme=\"dark\"") && page.contains("Turn keys on"), "{page}");
    for back in ["//evil.example", "https://evil.example", "/\\evil.example"] {
        let away = pages.send(&pages.form("/keys", &[("token", token.as_str()), ("keys", "off"), ("back", back)]));
        assert_eq!(away.header("location"), Some("/"), "{back}");
    }
}
