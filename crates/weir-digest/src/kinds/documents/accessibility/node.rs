//! One line of an accessibility tree.
//!
//! `- button "Save" [disabled] [ref=e12]: text`, with or without the dash, and `uid=1_12 button "Save" disabled`, where
//! a text has no role: `uid=1_13 "Saved."`.

use crate::text::clip;

/// Roles that only enclose others.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "generic", "group", "none", "presentation", "list", "listitem", "paragraph", "text", "StaticText", "InlineTextBox",
    "img", "image", "figure", "caption", "strong", "emphasis", "code", "blockquote", "separator", "rowgroup", "time",
    "term", "definition", "mark", "deletion", "insertion", "subscript", "superscript", "math", "document",
    "application", "RootWebArea", "WebArea", "LineBreak", "ignored", "iframe", "Iframe", "LabelText", "label", "legend",
    "toolbar", "tablist", "tabpanel", "radiogroup", "menu", "menubar", "tree", "feed", "article", "progressbar",
    "meter", "scrollbar", "status", "alert", "alertdialog", "dialog", "tooltip", "log", "marquee", "timer", "table",
    "grid", "treegrid", "row", "cell", "gridcell", "columnheader", "rowheader", "heading", "Section", "DescriptionList",
    "directory", "note",
];

/// Roles that can be clicked or filled in.
#[rustfmt::skip]
const CONTROLS: &[&str] = &[
    "button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider",
    "spinbutton", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem", "input", "select",
    "textarea", "DisclosureTriangle", "ColorWell", "Date", "DateTime", "InputTime",
];

/// Roles of the parts of a page.
#[rustfmt::skip]
const GROUPS: &[&str] = &[
    "banner", "navigation", "main", "form", "search", "region", "complementary", "contentinfo", "dialog", "toolbar",
    "tablist", "radiogroup", "menu", "menubar", "tree",
];

/// One line of a tree.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub indent: usize,
    pub role: &'a str,
    /// The text in quotes, without them.
    pub name: &'a str,
    /// The text in brackets, or between the name and the value.
    attributes: &'a str,
    /// The text after the colon.
    pub value: &'a str,
    uid: &'a str,
}

impl<'a> Node<'a> {
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let text = line.trim_start();
        let mut indent = line.len() - text.len();
        let mut rest = text.trim_end();
        if let Some(after) = rest.strip_prefix("- ") {
            rest = after.trim_start_matches('\'');
            indent += 1;
        }
        let mut uid = "";
        if let Some(after) = rest.strip_prefix("uid=") {
            (uid, rest) = after.split_once(' ')?;
        }
        let end = rest.bytes().position(|byte| !(byte.is_ascii_alphabetic() || byte == b'/')).unwrap_or(rest.len());
        let is_text = !uid.is_empty() && rest.starts_with('"');
        let role = if is_text { "StaticText" } else { rest.get(..end).filter(|role| !role.is_empty())? };
        rest = rest.get(end..)?.trim_start();
        let mut name = "";
        if let Some(after) = rest.strip_prefix('"') {
            // A text of several lines ends on a later line.
            let end = quote_end(after).or(is_text.then_some(after.len()))?;
            name = after.get(..end)?;
            rest = after.get(end + 1..).unwrap_or_default().trim_start();
        }
        let (attributes, value) = attributes(rest)?;
        Some(Self { indent, role, name, attributes, value, uid })
    }

    pub(super) fn is_known(&self) -> bool {
        PLAIN.contains(&self.role) || self.is_control() || GROUPS.contains(&self.role)
    }

    pub(super) fn is_control(&self) -> bool {
        CONTROLS.contains(&self.role)
    }

    pub(super) fn is_group(&self) -> bool {
        GROUPS.contains(&self.role)
    }

    /// Returns its text: its name, or its value.
    pub(super) fn shown_text(&self) -> &'a str {
        if self.name.is_empty() { self.value.trim_matches('"') } else { self.name }
    }

    pub(super) fn reference(&self) -> &'a str {
        if !self.uid.is_empty() {
            return self.uid;
        }
        self.states().find_map(|state| state.strip_prefix("ref=")).unwrap_or_default()
    }

    /// Returns the states in brackets: `ref=e12`, `disabled`, `level=1`.
    pub(super) fn states(&self) -> impl Iterator<Item = &'a str> {
        self.attributes.split(['[', ']']).map(str::trim).filter(|state| !state.is_empty())
    }

    /// Renders the node on one line, without states that say nothing: `button "Save" [disabled] [ref=e12]`.
    pub(super) fn words(&self) -> String {
        let mut words = self.role.to_owned();
        if !self.name.is_empty() {
            words.push_str(&format!(" \"{}\"", clip(self.name, 120)));
        }
        for state in self.states().filter(|state| !state.starts_with("cursor=") && !state.starts_with("ref=")).take(8) {
            words.push_str(&format!(" [{}]", clip(state, 60)));
        }
        if !self.reference().is_empty() {
            let key = if self.uid.is_empty() { "ref" } else { "uid" };
            words.push_str(&format!(" [{key}={}]", clip(self.reference(), 40)));
        }
        if !self.value.is_empty() {
            words.push_str(&format!(": {}", clip(self.value, 200)));
        }
        words
    }
}

fn quote_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' if !escaped => escaped = true,
            b'"' if !escaped => return Some(at),
            _ => escaped = false,
        }
    }
    None
}

/// Splits the rest into the attributes, in brackets or as `key="value"`, and the text after the colon.
fn attributes(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return Some(("", ""));
    }
    if let Some(value) = text.strip_prefix(':') {
        return (value.is_empty() || value.starts_with(' ')).then(|| ("", value.trim()));
    }
    if text.starts_with('[') {
        let mut end = 0;
        while let Some(rest) = text.get(end..).filter(|rest| rest.starts_with('[') || rest.starts_with(" [")) {
            end += rest.find(']')? + 1;
        }
        let rest = text.get(end..)?.trim_end_matches('\'');
        let value = rest.trim_start().strip_prefix(':').unwrap_or(rest);
        return Some((text.get(..end)?, value.trim()));
    }
    // Other tools write `focusable focused url="…"`.
    Some((text, ""))
}
