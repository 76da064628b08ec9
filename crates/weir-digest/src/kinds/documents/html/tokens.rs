//! Passes the tags and texts of a page from the tokenizer to a document. Invariant: of a tag or an attribute of any
//! length, only the beginning is kept.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State, naive_next_state};

use super::document::Document;

/// The maximum number of bytes of a name and of a value, and of attributes.
const MAX_NAME_BYTES: usize = 40;
const MAX_VALUE_BYTES: usize = 300;
const MAX_ATTRIBUTES: usize = 40;

#[derive(Default)]
pub(super) struct Tag {
    pub name: Vec<u8>,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// The number of attributes; further ones are kept for their memory.
    count: usize,
}

impl Tag {
    pub(super) fn get(&self, name: &str) -> Option<std::borrow::Cow<'_, str>> {
        let found = self.attributes.iter().take(self.count).find(|attribute| attribute.0 == name.as_bytes())?;
        Some(String::from_utf8_lossy(&found.1))
    }

    /// Returns the trimmed value of an attribute, or an empty string.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).map(|value| value.trim().to_owned()).unwrap_or_default()
    }
}

/// Receives what the tokenizer finds.
pub(super) struct Tokens<'a, 'b> {
    document: &'a mut Document<'b>,
    tag: Tag,
    is_end: bool,
    /// The last start tag, which decides what ends it.
    last: Vec<u8>,
    position: u64,
}

impl<'a, 'b> Tokens<'a, 'b> {
    /// Creates a receiver that passes everything to this document.
    pub(super) fn into(document: &'a mut Document<'b>) -> Self {
        Self { document, tag: Tag::default(), is_end: false, last: Vec::new(), position: 0 }
    }
}

fn push(kept: &mut Vec<u8>, more: &[u8], most: usize) {
    let room = most.saturating_sub(kept.len()).min(more.len());
    kept.extend_from_slice(more.get(..room).unwrap_or_default());
}

impl Emitter for Tokens<'_, '_> {
    type Token = Infallible;

    fn move_position(&mut self, offset: isize) {
        self.position = self.position.saturating_add_signed(offset as i64);
    }

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
        self.document.text(text, self.position.saturating_sub(text.len() as u64));
    }

    fn init_start_tag(&mut self) {
        self.is_end = false;
        self.tag.name.clear();
        self.tag.count = 0;
    }

    fn init_end_tag(&mut self) {
        self.init_start_tag();
        self.is_end = true;
    }

    fn init_comment(&mut self) {}

    fn emit_current_tag(&mut self) -> Option<State> {
        if self.is_end {
            self.last.clear();
            self.document.end(&self.tag.name);
            return None;
        }
        self.last.clone_from(&self.tag.name);
        self.document.start(&self.tag, self.position);
        naive_next_state(&self.tag.name)
    }

    fn emit_current_comment(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_self_closing(&mut self) {}
    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, name: &[u8]) {
        push(&mut self.tag.name, name, MAX_NAME_BYTES);
    }

    fn push_comment(&mut self, _: &[u8]) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}

    fn init_attribute(&mut self) {
        if self.tag.count < MAX_ATTRIBUTES {
            match self.tag.attributes.get_mut(self.tag.count) {
                Some(attribute) => {
                    attribute.0.clear();
                    attribute.1.clear();
                }
                None => self.tag.attributes.push((Vec::new(), Vec::new())),
            }
        }
        self.tag.count += 1;
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        let place = self.tag.count.wrapping_sub(1);
        if let Some(attribute) = self.tag.attributes.get_mut(place) {
            push(&mut attribute.0, name, MAX_NAME_BYTES);
        }
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        let place = self.tag.count.wrapping_sub(1);
        if let Some(attribute) = self.tag.attributes.get_mut(place) {
            push(&mut attribute.1, value, MAX_VALUE_BYTES);
        }
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && !self.last.is_empty() && self.last == self.tag.name
    }
}
