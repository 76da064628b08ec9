//! Encodes outlines as bytes, for a parser that runs in its own process.
//!
//! Invariant: a decoded outline is consistent with its text, whatever the process wrote. Its ranges and lines are
//! within the text, and anything the reader already knows is not taken from the answer.

use serde::{Deserialize, Serialize};

use crate::languages::{LANGUAGES, Language};
use crate::model::{Item, Outline};
use crate::outlined::{OutlineError, outline};

/// The parser process's findings about a text.
#[derive(Serialize, Deserialize)]
struct WireOutline {
    purpose: Option<String>,
    items: Vec<Item>,
    broken: usize,
}

/// Encodes a request to outline a text: the name of its language on one line, followed by the text.
pub fn request(language: &Language, text: &str) -> Vec<u8> {
    [language.name().as_bytes(), b"\n", text.as_bytes()].concat()
}

/// Answers a request. This is where untrusted text reaches the parsers.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let outlined = parts(request).ok_or(OutlineError::Unfit).and_then(|(language, text)| outline(language, text));
    let found = outlined.map(|Outline { purpose, items, broken, .. }| WireOutline { purpose, items, broken });
    serde_json::to_vec(&found).unwrap_or_default()
}

/// Decodes the answer to a request.
pub fn read(language: &'static Language, text: &str, answer: &[u8]) -> Result<Outline, OutlineError> {
    let found: Result<WireOutline, OutlineError> = serde_json::from_slice(answer).map_err(|_| OutlineError::Unfit)?;
    let WireOutline { purpose, items, broken } = found?;
    let made = Outline { purpose, items, broken, ..Outline::empty(language, text) };
    if made.items.iter().all(|item| fits(item, text, made.lines)) { Ok(made) } else { Err(OutlineError::Unfit) }
}

fn parts(request: &[u8]) -> Option<(&'static Language, &str)> {
    let (name, text) = std::str::from_utf8(request).ok()?.split_once('\n')?;
    let language = LANGUAGES.iter().find(|language| language.name() == name)?;
    Some((language, text))
}

fn fits(item: &Item, text: &str, lines: u32) -> bool {
    let (first, last) = item.lines;
    text.get(item.bytes.clone()).is_some()
        && first <= last
        // If a text ends with a newline, its end is on the following line.
        && last <= lines.saturating_add(1)
        && item.children.iter().all(|child| fits(child, text, lines))
}
