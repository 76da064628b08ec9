//! Hostile texts in every field of every view model. They change what is read, and nothing else.

use std::cell::RefCell;
use std::collections::BTreeSet;

use weir_pages::Text;

use crate::markup::{Part, parts};
use crate::samples;

const PAYLOADS: [&str; 10] = [
    "<script>alert(1)</script>",
    "\" onmouseover=\"alert(1)\" x=\"",
    "' onfocus='alert(1)' autofocus='",
    "</title></textarea></style></svg></select></code></pre><img src=x onerror=alert(1)>",
    "<!--<svg/onload=alert(1)>--!>]]>",
    "javascript:alert(1)",
    "[click](javascript:alert(1)) **bold** `code` ![i](http://example.org/x.png)",
    "\u{1b}[31mred\u{1b}[0m \u{1b}]8;;http://example.org\u{7}link\u{1b}]8;;\u{7} \u{9b}2J",
    "\u{202e}dlrow\u{2066}\u{200b}\u{feff}\u{ad}\u{e0041}\u{0}\u{7}\u{85}\u{7f}\r",
    "&lt;&#60;script&#62;&NotEqualTilde; {{7*7}} ${7*7} <%= 7 %>",
];

/// Attributes that hold an identifier or a text; everything else is ours.
const OPEN_VALUES: [&str; 8] =
    ["href", "action", "value", "aria-label", "data-copy", "data-label", "title", "datetime"];

/// The elements and the names of their attributes, without what names invisible characters.
fn skeleton(parts: &[Part]) -> Vec<String> {
    let mut skeleton = Vec::new();
    let mut inside = false;
    for part in parts {
        match part {
            Part::Open(name, attributes)
                if name == "span" && attributes.get("class").is_some_and(|class| class == "unseen") =>
            {
                inside = true;
            }
            Part::Close(name) if name == "span" && inside => inside = false,
            Part::Open(name, attributes) => skeleton.push(format!("<{name} {}", ours(attributes))),
            Part::Close(name) => skeleton.push(format!("</{name}>")),
            Part::Text(_) => {}
            // Fields give back what they were given, and a tokeniser reports control characters.
            Part::Other(other)
                if other.contains("ControlCharacterInInputStream") || other.contains("UnexpectedNullCharacter") => {}
            Part::Other(other) => skeleton.push(other.clone()),
        }
    }
    skeleton
}

/// Returns the attributes of an element, with the values of those that no text may touch.
fn ours(attributes: &std::collections::BTreeMap<String, String>) -> String {
    let one = |(name, value): (&String, &String)| {
        if OPEN_VALUES.contains(&name.as_str()) { name.clone() } else { format!("{name}={value}") }
    };
    attributes.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn every_page(say: samples::Say<'_>) -> Vec<samples::Sample> {
    samples::full(say).into_iter().chain(samples::bare(say)).chain([samples::alone(say)]).collect()
}

#[test]
fn no_text_adds_an_element_or_an_attribute() {
    let tame = every_page(&|text| Text::from(text));
    for payload in PAYLOADS {
        let hostile =
            every_page(&|text| if text.is_empty() { Text::from("") } else { Text::from(format!("{text}{payload}")) });
        for ((name, tame), (_, hostile)) in tame.iter().zip(&hostile) {
            let (tame, hostile) = (skeleton(&parts(tame)), skeleton(&parts(hostile)));
            let differs = tame.iter().zip(&hostile).find(|(tame, hostile)| tame != hostile);
            assert!(differs.is_none() && tame.len() == hostile.len(), "{name} with {payload:?}: {differs:?}");
        }
    }
}

#[test]
fn a_text_that_is_only_hostile_adds_nothing_either() {
    for payload in PAYLOADS {
        for (name, html) in every_page(&|_| Text::from(payload)) {
            for part in parts(&html) {
                let Part::Open(element, attributes) = part else { continue };
                assert!(
                    !["script", "img", "iframe", "style", "base", "object", "embed"].contains(&element.as_str())
                        || attributes.get("src").is_some_and(|src| src.starts_with("/assets/")),
                    "{name}: <{element}>"
                );
                assert!(
                    !attributes.keys().any(|name| name.starts_with("on") || name == "style" || name == "srcdoc"),
                    "{name}: {attributes:?}"
                );
            }
        }
    }
}

#[test]
fn every_address_stays_here() {
    for payload in PAYLOADS.iter().chain(&["//example.org", "/\\example.org", "..", "http://example.org"]) {
        for (name, html) in every_page(&|_| Text::from(*payload)) {
            for attributes in parts(&html).iter().filter_map(crate::markup::attributes) {
                for address in ["href", "action", "src", "formaction"].iter().filter_map(|key| attributes.get(*key)) {
                    let is_local = address.starts_with('#') || (address.starts_with('/') && !address.starts_with("//"));
                    assert!(
                        is_local && !address.contains(['\\', '\u{202e}', '<']) && !address.contains("/../"),
                        "{name}: {address}"
                    );
                }
            }
        }
    }
}

#[test]
fn nothing_invisible_is_shown_as_it_is() {
    let payload = format!("{}{}", PAYLOADS[7], PAYLOADS[8]);
    let is_hidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202e}' | '\u{2066}' | '\u{200b}' | '\u{feff}' | '\u{ad}' | '\u{e0041}')
    };
    for (name, html) in every_page(&|text| Text::from(format!("{text}{payload}"))) {
        let mut is_field = false;
        for part in parts(&html) {
            match part {
                // A field gives back what it was given: an edited note must not change where nobody typed.
                Part::Open(element, _) if element == "textarea" => is_field = true,
                Part::Close(element) if element == "textarea" => is_field = false,
                Part::Text(text) if !is_field => assert!(!text.contains(is_hidden), "{name}: {text:?}"),
                Part::Open(element, attributes) => {
                    for (key, value) in attributes.iter().filter(|(key, _)| *key != "value") {
                        assert!(!value.contains(is_hidden), "{name}: <{element} {key}={value:?}>");
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn every_field_is_on_its_page() {
    let given = RefCell::new(Vec::new());
    let html: String = samples::full(&|text| {
        given.borrow_mut().push(text.to_owned());
        Text::from(if text.is_empty() { String::new() } else { format!("field{:05}", given.borrow().len()) })
    })
    .into_iter()
    .map(|(_, html)| html)
    .collect();
    let given = given.into_inner();
    let is_missing = |(at, text): &(usize, String)| !text.is_empty() && !html.contains(&format!("field{at:05}"));
    let missing: BTreeSet<String> = (1..).zip(given).filter(is_missing).map(|(_, text)| text).collect();
    assert_eq!(missing.into_iter().collect::<Vec<_>>(), REPLACED);
}

/// Texts that samples make and then replace, and the third of three doubts, which is only counted.
const REPLACED: &[&str] = &[
    " at once: more starve the downloads.", "/in/harbour/notes", "0.1.0", "Four ", "crates/uploader/src/queue.rs",
    "decision, revision 3", "depot", "docs/uploads.md is gone", "f2b1c8d04e7a4a6f", "harbour", "project", "tideline",
    "uploads",
];
