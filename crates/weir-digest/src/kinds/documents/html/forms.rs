//! The forms of a page: their targets, and every field and button.

use super::tokens::Tag;
use crate::text::clip;
use crate::{Item, Part, Weight};

/// The maximum number of forms, and of fields of one.
const MAX_FORMS: usize = 30;
const MAX_FIELDS: usize = 60;

#[derive(Default)]
pub(super) struct Forms {
    kept: Vec<Form>,
    pub total: u64,
    is_open: bool,
    /// Fields outside forms.
    loose: Form,
    /// The number of options of the current choice, and the selected one.
    options: u64,
    selected: String,
}

#[derive(Default)]
struct Form {
    line: u64,
    head: String,
    fields: Vec<String>,
    count: u64,
    hidden: u64,
}

impl Forms {
    pub(super) fn begin(&mut self, tag: &Tag, line: u64) {
        self.total += 1;
        self.is_open = self.kept.len() < MAX_FORMS;
        if !self.is_open {
            return;
        }
        let method = tag.text("method").to_ascii_uppercase();
        let method = if method.is_empty() { "GET" } else { &method };
        let name = [tag.text("aria-label"), tag.text("name"), tag.text("id")].into_iter().find(|name| !name.is_empty());
        let name = name.map(|name| format!(" \"{}\"", clip(&name, 60))).unwrap_or_default();
        let head = format!("form{name}: {} {}", clip(method, 10), clip(&tag.text("action"), 160));
        self.kept.push(Form { line, head, ..Form::default() });
    }

    pub(super) fn end(&mut self) {
        self.is_open = false;
    }

    /// Adds a field. `label` is the text next to it.
    pub(super) fn field(&mut self, tag: &Tag, label: &str) {
        let sort = match tag.name.as_slice() {
            b"input" => tag.text("type").to_ascii_lowercase(),
            other => String::from_utf8_lossy(other).into_owned(),
        };
        let sort = if sort.is_empty() { "text".to_owned() } else { clip(&sort, 20) };
        let form = self.form();
        if sort == "hidden" {
            form.hidden += 1;
            return;
        }
        form.count += 1;
        if form.fields.len() >= MAX_FIELDS {
            return;
        }
        let said = [label.to_owned(), tag.text("aria-label"), tag.text("placeholder"), tag.text("title")];
        let said = said.into_iter().find(|said| !said.is_empty()).unwrap_or_default();
        let mut text = sort.clone();
        if !said.is_empty() {
            text.push_str(&format!(" \"{}\"", clip(&said, 80)));
        }
        for key in ["name", "value"] {
            let value = tag.text(key);
            let is_secret = sort == "password" && key == "value";
            if !value.is_empty() && !is_secret {
                text.push_str(&format!(" {key}={}", clip(&value, 60)));
            }
        }
        for state in ["checked", "disabled", "required", "readonly"] {
            if tag.get(state).is_some() {
                text.push_str(&format!(" [{state}]"));
            }
        }
        form.fields.push(text);
    }

    pub(super) fn button(&mut self, text: &str, is_disabled: bool) {
        let form = self.form();
        form.count += 1;
        if form.fields.len() < MAX_FIELDS {
            let state = if is_disabled { " [disabled]" } else { "" };
            form.fields.push(format!("button \"{}\"{state}", clip(text, 80)));
        }
    }

    pub(super) fn option(&mut self, text: &str, is_selected: bool) {
        self.options += 1;
        if is_selected || self.options == 1 {
            self.selected = clip(text, 60);
        }
    }

    pub(super) fn end_options(&mut self) {
        let said = format!(" ({} options, now {})", self.options, self.selected);
        if let Some(last) = self.form().fields.last_mut().filter(|last| last.starts_with("select")) {
            last.push_str(&said);
        }
        self.options = 0;
    }

    fn form(&mut self) -> &mut Form {
        match self.kept.last_mut() {
            Some(form) if self.is_open => form,
            _ => &mut self.loose,
        }
    }

    pub(super) fn part(self) -> Part {
        let loose = (self.loose.count > 0).then_some(self.loose);
        let total = self.total + u64::from(loose.is_some());
        let items = self.kept.into_iter().chain(loose).map(Form::item).collect();
        Part::new("forms, and fields outside of them", Weight::Fact, items).of(total)
    }
}

impl Form {
    fn item(self) -> Item {
        let mut text = if self.head.is_empty() { "outside of forms".to_owned() } else { self.head };
        let brief = text.clone();
        if !self.fields.is_empty() {
            text.push_str(": ");
            text.push_str(&self.fields.join(", "));
        }
        let more = self.count.saturating_sub(self.fields.len() as u64);
        if more > 0 {
            text.push_str(&format!(", {more} more"));
        }
        if self.hidden > 0 {
            text.push_str(&format!(", {} hidden", self.hidden));
        }
        let line = (self.line > 0).then_some(self.line);
        Item { line, text, brief: Some(brief), ..Item::default() }
    }
}
