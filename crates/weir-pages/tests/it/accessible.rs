//! What every page must have, so that it can be read without seeing it, without a mouse, and without trusting it.

use std::collections::BTreeSet;

use crate::markup::{Part, all, attributes, parts};
use crate::samples;

fn every_page() -> Vec<(&'static str, Vec<Part>)> {
    let pages = samples::full(&samples::plainly).into_iter().chain(samples::bare(&samples::plainly));
    pages.map(|(name, html)| (name, parts(&html))).collect()
}

#[test]
fn a_page_has_a_language_one_heading_and_landmarks() {
    for (name, page) in every_page() {
        assert_eq!(all(&page, "html")[0]["lang"], "en", "{name}");
        for element in ["h1", "main", "aside", "header"] {
            assert_eq!(all(&page, element).len(), 1, "{name}: {element}");
        }
        assert!(all(&page, "nav").iter().all(|nav| nav.contains_key("aria-label")), "{name}");
        assert!(all(&page, "a").iter().any(|link| link.get("class").is_some_and(|class| class == "skip")), "{name}");
    }
}

#[test]
fn headings_follow_each_other() {
    for (name, page) in every_page() {
        let mut level = 0;
        for part in &page {
            let Part::Open(element, _) = part else { continue };
            let Some(next) = element.strip_prefix('h').and_then(|digit| digit.parse::<u32>().ok()) else { continue };
            assert!(next <= level + 1, "{name}: h{next} after h{level}");
            level = next;
        }
    }
}

#[test]
fn identifiers_are_given_once_and_labels_lead_somewhere() {
    for (name, page) in every_page() {
        let mut found = BTreeSet::new();
        for id in page.iter().filter_map(attributes).filter_map(|attributes| attributes.get("id")) {
            assert!(found.insert(id.clone()), "{name}: {id} twice");
        }
        for attributes in page.iter().filter_map(attributes) {
            for key in ["aria-labelledby", "for", "popovertarget"] {
                if let Some(id) = attributes.get(key) {
                    assert!(found.contains(id), "{name}: {key}={id}");
                }
            }
        }
    }
}

#[test]
fn a_link_within_a_page_leads_to_something_on_it() {
    for (name, page) in every_page() {
        let ids: BTreeSet<&String> =
            page.iter().filter_map(attributes).filter_map(|attributes| attributes.get("id")).collect();
        for link in all(&page, "a").into_iter().filter_map(|link| link["href"].strip_prefix('#')) {
            assert!(ids.iter().any(|id| *id == link), "{name}: #{link}");
        }
    }
}

#[test]
fn every_field_has_a_label() {
    for (name, page) in every_page() {
        let labelled: BTreeSet<&String> =
            all(&page, "label").into_iter().filter_map(|label| label.get("for")).collect();
        let mut inside = 0;
        for part in &page {
            match part {
                Part::Open(element, _) if element == "label" => inside += 1,
                Part::Close(element) if element == "label" => inside -= 1,
                Part::Open(element, attributes) if ["input", "select", "textarea"].contains(&element.as_str()) => {
                    let is_hidden = attributes.get("type").is_some_and(|kind| kind == "hidden");
                    let has_label = inside > 0 || attributes.get("id").is_some_and(|id| labelled.contains(id));
                    assert!(is_hidden || has_label, "{name}: {element} {attributes:?}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn every_table_has_heads_for_columns_and_rows() {
    for (name, page) in every_page() {
        assert!(all(&page, "th").iter().all(|head| ["col", "row"].contains(&head["scope"].as_str())), "{name}");
        let tables = all(&page, "table").len();
        assert!(all(&page, "thead").len() == tables, "{name}");
    }
}

#[test]
fn every_form_that_changes_something_has_the_token() {
    let mut forms = 0;
    for (name, page) in every_page() {
        for (at, part) in page.iter().enumerate() {
            let Part::Open(element, form) = part else { continue };
            if element != "form" {
                continue;
            }
            let Some(Part::Open(_, first)) = page.get(at + 1) else { panic!("{name}: an empty form") };
            match form.get("method").map(String::as_str) {
                Some("post") => {
                    assert_eq!(
                        (first["type"].as_str(), first["name"].as_str(), first["value"].as_str()),
                        ("hidden", "token", "f2b1c8d04e7a4a6f"),
                        "{name}"
                    );
                    forms += 1;
                }
                Some("get" | "dialog") => assert_ne!(first.get("name").map(String::as_str), Some("token"), "{name}"),
                other => panic!("{name}: a form with the method {other:?}"),
            }
        }
    }
    assert!(forms > 30, "{forms} forms");
}

#[test]
fn a_chart_tells_its_finding_and_has_a_table() {
    for (name, page) in every_page() {
        let figures = all(&page, "figure").len();
        let drawn = all(&page, "div").into_iter().filter(|div| div.get("role").is_some_and(|role| role == "img"));
        assert_eq!(drawn.filter(|div| div["aria-label"].len() > 20).count(), figures, "{name}");
        let folded = all(&page, "details")
            .into_iter()
            .filter(|details| details.get("class").is_some_and(|class| class == "data"));
        assert_eq!(folded.count(), figures, "{name}");
    }
}

#[test]
fn no_page_has_inline_style_or_script() {
    for (name, page) in every_page() {
        assert!(all(&page, "style").is_empty(), "{name}");
        assert!(all(&page, "script").iter().all(|script| script["src"].starts_with("/assets/keys.")), "{name}");
        assert!(!page.iter().filter_map(attributes).any(|attributes| attributes.contains_key("style")), "{name}");
    }
    assert!(weir_pages::csp().contains("default-src 'none'") && !weir_pages::csp().contains("unsafe"));
}

#[test]
fn focus_is_visible_in_the_stylesheet() {
    let style = weir_pages::assets::STYLE.body;
    assert!(style.contains(":focus-visible { outline: 2px solid var(--accent); outline-offset: 2px;"));
    assert!(!style.contains("outline: none") && !style.contains("outline: 0"));
}
