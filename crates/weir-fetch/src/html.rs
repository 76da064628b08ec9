//! Converts HTML to Markdown: the part that a person would read, without the page's navigation and decoration.
//!
//! Invariants: for any page, time and memory grow at most linearly with its length; there is no recursion, so no page
//! is nested too deeply; the notes name everything that was cut, left out or hidden.
//!
//! The tree is our own, because the usual parsers and converters walk it by recursion and copy formatting from block to
//! block as browsers must, so a small page can become a very large one.

mod attributes;
mod choose;
mod tags;
mod tokens;
mod tree;
mod write;

use url::Url;

/// A page converted to Markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConvertedPage {
    pub title: Option<String>,
    pub markdown: String,
    /// What was cut or left out, and why.
    pub notes: Vec<String>,
}

const MAX_HTML_BYTES: usize = 32 << 20;

/// Converts the readable part of a page to Markdown. Links are resolved against the page's URL, if given; links to the
/// same host become paths.
pub fn to_markdown(html: &str, base: Option<&Url>) -> ConvertedPage {
    let mut notes = Vec::new();
    let html = match html.get(..html.floor_char_boundary(MAX_HTML_BYTES)) {
        Some(beginning) if beginning.len() < html.len() => {
            notes.push(format!("cut after {} MB of HTML", MAX_HTML_BYTES >> 20));
            beginning
        }
        _ => html,
    };
    let tree = tree::parse(html);
    if tree.is_cut {
        notes.push(format!("cut after {} elements", tree::MAX_NODES));
    }
    if tree.too_deep > 0 {
        notes.push(format!(
            "{} elements were nested too deeply: their text is in the surrounding elements",
            tree.too_deep
        ));
    }
    if tree.hidden > 0 {
        notes.push(format!("left out {} hidden parts", tree.hidden));
    }
    let chosen = choose::choose(&tree);
    if chosen.left_out > 0 {
        notes.push(format!("left out menus and similar parts, {} % of the text", chosen.left_out));
    }
    let written = write::write(&tree, &chosen, base);
    if written.is_cut {
        notes.push("cut: its links are longer than its text".to_owned());
    }
    let title = [&tree.title, &tree.shown_title, &written.heading]
        .into_iter()
        .map(|title| crate::text::one_line(title, 200))
        .find(|title| !title.is_empty());
    ConvertedPage { title, markdown: written.markdown, notes }
}

/// Returns a text without tags, with its entities replaced once.
pub(crate) fn without_entities(text: &str) -> String {
    String::from_utf8_lossy(&tree::parse(text).texts).into_owned()
}

#[cfg(test)]
mod tests;
