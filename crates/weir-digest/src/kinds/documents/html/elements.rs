//! What a tag says about its element.

use super::tokens::Tag;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    Text,
    /// Navigation, which is described by its links.
    Navigation,
    /// Header, footer and sidebars.
    Margin,
    Alert,
    Note,
    Code,
}

impl Region {
    /// Returns what the element of this tag contains, inside `outer`.
    pub(super) fn of(tag: &Tag, outer: Self) -> Self {
        let role = tag.get("role").unwrap_or_default();
        let class = tag.get("class").unwrap_or_default();
        let named = |words: &[&str]| class.split([' ', '-', '_']).any(|word| words.contains(&word));
        match tag.name.as_slice() {
            b"nav" => return Region::Navigation,
            b"main" | b"body" | b"html" => return Region::Text,
            b"header" | b"footer" | b"aside" if outer == Region::Text => return Region::Margin,
            b"pre" if outer != Region::Alert => {
                return if named(&["exception", "error"]) { Region::Alert } else { Region::Code };
            }
            b"td" | b"th" | b"tr" | b"table" | b"tbody" | b"thead" => return outer,
            _ => {}
        }
        match role.as_ref() {
            "navigation" | "menu" | "menubar" => return Region::Navigation,
            "alert" | "alertdialog" => return Region::Alert,
            "note" | "status" => return Region::Note,
            _ => {}
        }
        if named(&["alert", "error", "errors", "danger", "exception", "errorlist", "invalid", "fatal"]) {
            return Region::Alert;
        }
        if named(&["warning", "note", "admonition", "notice", "flash", "callout", "toast", "banner", "caution"])
            && outer != Region::Alert
        {
            return Region::Note;
        }
        outer
    }
}

/// Returns whether a text names a place in a file: `prices.py, line 212`.
pub(super) fn says_where(text: &str) -> bool {
    text.contains(", line ")
        || text.contains("\", line ")
        || text.starts_with("at ")
        || text.contains(".py:")
        || text.contains(".rb:")
        || text.contains(".php:")
        || text.contains(".js:")
}

/// Collapses all white space of a text to single spaces.
pub(super) fn collapse(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut collapsed = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}

#[rustfmt::skip]
pub(super) fn is_void(name: &[u8]) -> bool {
    matches!(name,
        b"area" | b"base" | b"br" | b"col" | b"embed" | b"hr" | b"img" | b"input" | b"link" | b"meta" | b"source"
        | b"track" | b"wbr")
}

/// Returns whether text ends before and after an element.
#[rustfmt::skip]
pub(super) fn is_block(name: &[u8]) -> bool {
    !matches!(name,
        b"a" | b"abbr" | b"b" | b"bdi" | b"cite" | b"code" | b"em" | b"font" | b"i" | b"img" | b"input" | b"kbd"
        | b"label" | b"mark" | b"q" | b"s" | b"samp" | b"small" | b"span" | b"strong" | b"sub" | b"sup" | b"time"
        | b"tt" | b"u" | b"var" | b"wbr" | b"svg" | b"path" | b"ins" | b"del" | b"dfn" | b"data" | b"button"
        | b"select" | b"option" | b"textarea" | b"script" | b"style" | b"use" | b"g" | b"title")
}
