//! Outlines as bytes, for a parser that runs in a process of its own.
//!
//! Invariant: an outline that is read back fits its text, whatever the process wrote: its ranges and lines lie within
//! the text, and what the reader knows already is not taken from the answer.

use serde::{Deserialize, Serialize};

use crate::languages::{LANGUAGES, Language};
use crate::model::{Item, Outline};
use crate::outlined::{NoOutline, outline};

/// What the process found out about a text.
#[derive(Serialize, Deserialize)]
struct Found {
    purpose: Option<String>,
    items: Vec<Item>,
    broken: usize,
}

/// The request to outline a text: the name of its language on a line, and the text.
pub fn request(language: &Language, text: &str) -> Vec<u8> {
    [language.name().as_bytes(), b"\n", text.as_bytes()].concat()
}

/// Answers a request. This is where foreign text meets the parsers.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let outlined = parts(request).ok_or(NoOutline::Unfit).and_then(|(language, text)| outline(language, text));
    let found = outlined.map(|Outline { purpose, items, broken, .. }| Found { purpose, items, broken });
    serde_json::to_vec(&found).unwrap_or_default()
}

/// Reads the answer to a request.
pub fn read(language: &'static Language, text: &str, answer: &[u8]) -> Result<Outline, NoOutline> {
    let found: Result<Found, NoOutline> = serde_json::from_slice(answer).map_err(|_| NoOutline::Unfit)?;
    let Found { purpose, items, broken } = found?;
    let made = Outline { purpose, items, broken, ..Outline::empty(language, text) };
    if made.items.iter().all(|item| fits(item, text, made.lines)) { Ok(made) } else { Err(NoOutline::Unfit) }
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
        // The end of a text that ends with a line end is on a line of its own.
        && last <= lines.saturating_add(1)
        && item.children.iter().all(|child| fits(child, text, lines))
}
