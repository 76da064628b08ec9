//! Passes the tags and texts of a page from the tokenizer to the builder. Invariant: only the beginning of a long tag
//! name or attribute is kept.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State, Tokenizer, naive_next_state};

use super::tree::Builder;

/// The maximum lengths of a name and of a value, and the maximum number of attributes.
const MAX_NAME_BYTES: usize = 40;
const MAX_VALUE_BYTES: usize = 600;
const MAX_ATTRIBUTES: usize = 40;

#[derive(Default)]
pub(super) struct Attributes {
    list: Vec<(Vec<u8>, Vec<u8>)>,
    /// The number of attributes. The list may be longer, to reuse its memory.
    count: usize,
}

impl Attributes {
    /// Returns the value of an attribute, or an empty text. A value that is too long to be kept whole counts as empty.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).map(|value| String::from_utf8_lossy(value).trim().to_owned()).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn is_hidden(&self) -> bool {
        if self.get("hidden").is_some_and(|value| !value.eq_ignore_ascii_case(b"until-found")) {
            return true;
        }
        let Some(style) = self.beginning("style") else { return false };
        let style: Vec<u8> = style.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().collect();
        let style = String::from_utf8_lossy(&style).to_ascii_lowercase();
        ["display:none", "visibility:hidden", "font-size:0;", "font-size:0px", "opacity:0;"]
            .iter()
            .any(|hides| style.contains(hides))
            || style.ends_with("font-size:0")
            || style.ends_with("opacity:0")
    }

    /// Returns the value of an attribute as text, or the beginning of a long one.
    pub(super) fn beginning_of_text(&self, name: &str) -> String {
        self.beginning(name).map(|value| String::from_utf8_lossy(value).trim().to_owned()).unwrap_or_default()
    }

    fn get(&self, name: &str) -> Option<&[u8]> {
        self.beginning(name).map(|value| if value.len() < MAX_VALUE_BYTES { value } else { &value[..0] })
    }

    fn beginning(&self, name: &str) -> Option<&[u8]> {
        let found = self.list.iter().take(self.count).find(|attribute| attribute.0 == name.as_bytes())?;
        Some(&found.1)
    }
}

pub(super) fn read(html: &str, builder: &mut Builder) {
    let tokens = Tokens {
        builder,
        name: Vec::new(),
        attributes: Attributes::default(),
        is_end: false,
        is_self_closing: false,
        last: Vec::new(),
    };
    // The tokenizer returns no tokens: everything goes to the builder.
    Tokenizer::new_with_emitter(html, tokens).for_each(|_| ());
}

struct Tokens<'a> {
    builder: &'a mut Builder,
    name: Vec<u8>,
    attributes: Attributes,
    is_end: bool,
    /// Whether the tag ends with a slash.
    is_self_closing: bool,
    /// The name of the last start tag, which determines the end tag that closes it.
    last: Vec<u8>,
}

fn push(kept: &mut Vec<u8>, more: &[u8], most: usize) {
    let room = most.saturating_sub(kept.len()).min(more.len());
    kept.extend_from_slice(more.get(..room).unwrap_or_default());
}

impl Emitter for Tokens<'_> {
    type Token = Infallible;

    fn set_last_start_tag(&mut self, last: Option<&[u8]>) {
        self.last.clear();
        self.last.extend_from_slice(last.unwrap_or_default());
    }

    fn emit_eof(&mut self) {}

    fn emit_error(&mut self, _: Error) {}

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn emit_string(&mut self, text: &[u8]) {
        self.builder.text(text);
    }

    fn init_start_tag(&mut self) {
        (self.is_end, self.is_self_closing) = (false, false);
        self.name.clear();
        self.attributes.count = 0;
    }

    fn init_end_tag(&mut self) {
        self.is_end = true;
        self.name.clear();
        self.attributes.count = 0;
    }

    fn init_comment(&mut self) {}

    fn emit_current_tag(&mut self) -> Option<State> {
        if self.is_end {
            self.last.clear();
            self.builder.end(&self.name);
            return None;
        }
        self.last.clone_from(&self.name);
        if self.is_self_closing && self.builder.is_foreign(&self.name) {
            return None;
        }
        self.builder.start(&self.name, &self.attributes);
        naive_next_state(&self.name)
    }

    fn emit_current_comment(&mut self) {}

    fn emit_current_doctype(&mut self) {}

    fn set_self_closing(&mut self) {
        self.is_self_closing = true;
    }

    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, name: &[u8]) {
        push(&mut self.name, name, MAX_NAME_BYTES);
    }

    fn push_comment(&mut self, _: &[u8]) {}

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn init_doctype(&mut self) {}

    fn init_attribute(&mut self) {
        if self.attributes.count < MAX_ATTRIBUTES {
            match self.attributes.list.get_mut(self.attributes.count) {
                Some(attribute) => {
                    attribute.0.clear();
                    attribute.1.clear();
                }
                None => self.attributes.list.push((Vec::new(), Vec::new())),
            }
        }
        self.attributes.count += 1;
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        let place = self.attributes.count.wrapping_sub(1);
        if let Some(attribute) = self.attributes.list.get_mut(place) {
            push(&mut attribute.0, name, MAX_NAME_BYTES);
        }
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        let place = self.attributes.count.wrapping_sub(1);
        if let Some(attribute) = self.attributes.list.get_mut(place) {
            push(&mut attribute.1, value, MAX_VALUE_BYTES);
        }
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && !self.last.is_empty() && self.last == self.name
    }
}
