//! HTML as Markdown: the part that a person would read, without what is around it.
//!
//! Invariant: whatever the page is, time and memory grow at most linearly with it, and nothing here calls itself, so that
//! no page is too deep. What was cut, left out or hidden is said in the notes.
//!
//! The tree is our own: the usual parsers and converters walk it by recursion, copy formatting from block to block as
//! browsers must, and so let a small page become a very large one.

mod choose;
mod tags;
mod tokens;
mod tree;
mod write;

use url::Url;

/// A page as Markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Converted {
    /// What the page calls itself.
    pub title: Option<String>,
    /// Its text.
    pub markdown: String,
    /// What was cut or left out, and why.
    pub notes: Vec<String>,
}

/// Longer pages are cut.
const LONGEST: usize = 32 << 20;

/// The readable part of a page as Markdown. Links are made whole with the page's address, if it has one; those to its own
/// host stay as paths.
pub fn to_markdown(html: &str, base: Option<&Url>) -> Converted {
    let mut notes = Vec::new();
    let html = match html.get(..html.floor_char_boundary(LONGEST)) {
        Some(beginning) if beginning.len() < html.len() => {
            notes.push(format!("cut after {} MB of HTML", LONGEST >> 20));
            beginning
        }
        _ => html,
    };
    let tree = tree::parse(html);
    if tree.is_cut {
        notes.push(format!("cut after {} elements", tree::MOST_NODES));
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
    Converted { title, markdown: written.markdown, notes }
}

/// A text without tags, its entities replaced by what they stand for, once.
pub(crate) fn without_entities(text: &str) -> String {
    String::from_utf8_lossy(&tree::parse(text).texts).into_owned()
}

#[cfg(test)]
mod tests;
