//! The contents of a page, gathered tag by tag.

use super::elements::{Region, collapse, is_block, is_void, says_where};
use super::forms::Forms;
use super::links::Links;
use super::position::Position;
use super::tables::Tables;
use super::tokens::Tag;
use crate::kinds::documents::outline::{LineNumbers, Outline};
use crate::kinds::documents::passages::{Paragraph, Passages, USUAL, counted};
use crate::kinds::shared::bounded_items::KeptItems;
use crate::text::{clip, shorten};
use crate::trouble::{self, Trouble};
use crate::{Item, Page, Part, Weight};

/// The maximum depth to which elements are followed.
const MAX_DEPTH: usize = 300;
/// How many open elements are searched for the one that an end tag closes.
const MAX_SEARCHED_ELEMENTS: usize = 60;
/// The maximum number of bytes kept of a text between two tags.
const MAX_TEXT_BYTES: usize = 4_000;
/// The maximum number of facts kept of each sort.
const MAX_ITEMS: usize = 40;
/// The maximum length of an alert. A longer text is the content of a box with that name.
const MAX_ALERT_BYTES: usize = 400;

struct Element {
    name: Vec<u8>,
    inside: Region,
}

#[derive(Default)]
pub(super) struct Document<'a> {
    position: Position<'a>,
    stack: Vec<Element>,
    /// The text since the last tag that begins or ends a block, and where it begins.
    text: Vec<u8>,
    text_at: u64,
    facts: Vec<Item>,
    outline: Outline,
    alerts: KeptItems<MAX_ITEMS>,
    notes: KeptItems<MAX_ITEMS>,
    /// Lines of a trace.
    frames: KeptItems<MAX_ITEMS>,
    passages: Passages,
    paragraph: Paragraph,
    tables: Tables,
    forms: Forms,
    links: Links,
    /// The target of the link whose text is being read, and where that begins in the text.
    link: Option<(String, usize)>,
    label: String,
    disabled: bool,
    selected: bool,
    scripts: [u64; 2],
    styles: [u64; 2],
    embedded: Vec<Item>,
}

impl<'a> Document<'a> {
    pub(super) fn new(position: Position<'a>) -> Self {
        Self { position, ..Self::default() }
    }

    pub(super) fn text(&mut self, text: &[u8], at: u64) {
        match self.stack.last().map(|element| element.name.as_slice()) {
            Some(b"script") => self.scripts[1] += text.len() as u64,
            Some(b"style") => self.styles[1] += text.len() as u64,
            // The contents of `noscript` are not parsed.
            Some(b"noscript") if text.trim_ascii_start().starts_with(b"<") => {}
            _ => {
                if self.text.trim_ascii().is_empty() {
                    self.text.clear();
                    if let Some(link) = &mut self.link {
                        link.1 = 0;
                    }
                    let blank = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    self.text_at = at + blank as u64;
                }
                let room = MAX_TEXT_BYTES.saturating_sub(self.text.len()).min(text.len());
                self.text.extend_from_slice(text.get(..room).unwrap_or_default());
            }
        }
    }

    pub(super) fn start(&mut self, tag: &Tag, at: u64) {
        let name = tag.name.as_slice();
        if is_block(name) {
            self.flush();
        }
        match name {
            b"meta" | b"link" => self.head(tag),
            b"script" => self.script(tag),
            b"style" => self.styles[0] += 1,
            b"table" => self.tables.begin(),
            b"tr" => {
                let line = self.position.line(at);
                self.tables.begin_row(line, &mut self.passages);
            }
            b"td" | b"th" => self.tables.begin_cell(name == b"th"),
            b"form" => {
                let line = self.position.line(at);
                self.forms.begin(tag, line);
            }
            b"input" | b"select" | b"textarea" => self.field(tag),
            b"option" => {
                self.end_option();
                self.selected = tag.get("selected").is_some();
            }
            b"button" => self.disabled = tag.get("disabled").is_some(),
            b"a" => self.link = tag.get("href").map(|target| (target.into_owned(), self.text.len())),
            b"img" => self.links.image(&tag.text("alt"), &tag.text("src")),
            _ => {}
        }
        if is_void(name) || self.stack.len() >= MAX_DEPTH {
            return;
        }
        // These elements end a preceding one of the same name.
        if matches!(name, b"p" | b"li" | b"td" | b"th" | b"tr" | b"option" | b"dt" | b"dd")
            && self.stack.last().is_some_and(|last| last.name == name)
        {
            self.stack.pop();
        }
        let inside = Region::of(tag, self.inside());
        self.stack.push(Element { name: name.to_vec(), inside });
    }

    pub(super) fn end(&mut self, name: &[u8]) {
        match name {
            b"title" => self.title(),
            b"a" => self.end_link(),
            b"button" => {
                let text = self.take_text();
                self.forms.button(&text, self.disabled);
            }
            b"label" | b"legend" => {
                let text = self.take_text();
                if !text.is_empty() {
                    self.label = text;
                }
            }
            b"option" => self.end_option(),
            b"select" => {
                self.end_option();
                self.forms.end_options();
            }
            b"form" => self.forms.end(),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => self.heading(name),
            _ if is_block(name) => self.flush(),
            _ => {}
        }
        match name {
            b"td" | b"th" => self.tables.end_cell(),
            b"tr" => self.tables.end_row(&mut self.passages),
            b"table" => self.tables.end(&mut self.passages),
            _ => {}
        }
        let place = self.stack.iter().rev().take(MAX_SEARCHED_ELEMENTS).position(|element| element.name == name);
        if let Some(place) = place {
            self.stack.truncate(self.stack.len() - 1 - place);
        }
    }

    fn inside(&self) -> Region {
        self.stack.last().map_or(Region::Text, |element| element.inside)
    }

    fn head(&mut self, tag: &Tag) {
        let fact = match tag.name.as_slice() {
            b"link" if tag.text("rel") == "canonical" => ("address", tag.text("href")),
            b"meta" => {
                let name = [tag.text("name"), tag.text("property"), tag.text("http-equiv")].concat();
                match name.to_ascii_lowercase().as_str() {
                    "description" => ("description", tag.text("content")),
                    "generator" => ("generator", tag.text("content")),
                    "robots" => ("robots", tag.text("content")),
                    "refresh" => ("goes on to", tag.text("content")),
                    "author" => ("author", tag.text("content")),
                    "article:published_time" => ("published", tag.text("content")),
                    _ => return,
                }
            }
            _ => return,
        };
        if !fact.1.is_empty() && self.facts.len() < MAX_ITEMS {
            self.facts.push(Item::plain(format!("{}: {}", fact.0, shorten(&fact.1, 300))));
        }
    }

    fn script(&mut self, tag: &Tag) {
        self.scripts[0] += 1;
        let sort = tag.text("type");
        if sort.contains("json") && self.embedded.len() < MAX_ITEMS {
            let name = tag.text("id");
            self.embedded.push(Item::plain(format!("data in a script: {} {}", clip(&sort, 40), clip(&name, 60))));
        }
    }

    fn field(&mut self, tag: &Tag) {
        // `<label>Name <input></label>`: the text before the field is its label.
        let within = self.stack.iter().rev().take(4).any(|element| element.name == b"label");
        let before = if within { self.take_text() } else { String::new() };
        let label = if before.is_empty() { std::mem::take(&mut self.label) } else { before };
        self.forms.field(tag, &label);
    }

    /// Ends an option, which needs no end tag.
    fn end_option(&mut self) {
        if self.stack.last().is_some_and(|last| last.name == b"option") {
            let text = self.take_text();
            self.forms.option(&text, self.selected);
        }
    }

    fn title(&mut self) {
        let text = self.take_text();
        let in_head = !self.stack.iter().any(|element| element.name == b"svg");
        if in_head && !text.is_empty() && self.facts.len() < MAX_ITEMS {
            self.passages.cover(&text);
            self.facts.insert(0, Item::plain(format!("title: {}", shorten(&text, 300))));
        }
    }

    fn end_link(&mut self) {
        let Some((target, start)) = self.link.take() else { return };
        let text = collapse(self.text.get(start..).unwrap_or_default());
        let around = matches!(self.inside(), Region::Navigation | Region::Margin);
        self.links.add(&text, &target, around);
        // Navigation is described by its links, and `#` next to a heading says nothing.
        if self.inside() == Region::Navigation
            || target.starts_with('#') && matches!(text.as_str(), "#" | "¶" | "§" | "🔗")
        {
            self.text.truncate(start);
        }
    }

    fn heading(&mut self, name: &[u8]) {
        let at = self.text_at;
        let text = self.take_text();
        let text = text.trim_end_matches(['#', '¶', ' ']);
        let level = name.get(1).map_or(1, |digit| usize::from(digit.saturating_sub(b'0')));
        if !text.is_empty() {
            let line = self.position.line(at);
            self.outline.add(line, level, text);
        }
    }

    fn take_text(&mut self) -> String {
        let text = collapse(&self.text);
        self.text.clear();
        if let Some(link) = &mut self.link {
            link.1 = 0;
        }
        text
    }

    /// Ends the text before a tag that begins or ends a block.
    fn flush(&mut self) {
        if self.text.trim_ascii().is_empty() {
            self.text.clear();
            return;
        }
        let inside = self.inside();
        let is_answer = self.facts.is_empty() && self.text.starts_with(b"HTTP/");
        if inside == Region::Code && !self.tables.in_cell() || is_answer {
            self.flush_lines(is_answer);
            return;
        }
        let at = self.text_at;
        let text = self.take_text();
        let line = self.position.line(at);
        match inside {
            Region::Navigation => {}
            Region::Alert if text.len() <= MAX_ALERT_BYTES => {
                self.passages.cover(&text);
                keep(&mut self.alerts, line, &text);
            }
            Region::Note if text.len() <= MAX_ALERT_BYTES => {
                self.passages.cover(&text);
                keep(&mut self.notes, line, &text);
            }
            _ if self.tables.in_cell() && self.tables.text(&text) => {}
            _ => self.passage(line, &text, inside),
        }
    }

    fn passage(&mut self, line: u64, text: &str, inside: Region) {
        let usual = if inside == Region::Margin { USUAL * 6 / 10 } else { USUAL };
        self.paragraph.push(line, text);
        for (number, sentence) in self.paragraph.sentences() {
            if says_where(sentence) {
                keep(&mut self.frames, number, sentence);
                continue;
            }
            let worth = if trouble::of(sentence) == Some(Trouble::Error) { usual * 3 / 2 } else { usual };
            self.passages.add(Some(number), sentence, worth);
        }
        self.paragraph.clear();
    }

    /// Takes lines of code, and the headers of a response.
    fn flush_lines(&mut self, is_answer: bool) {
        let text = std::mem::take(&mut self.text);
        let first = self.position.line(self.text_at);
        for (line, piece) in (first..).zip(text.split(|byte| *byte == b'\n')) {
            let piece = String::from_utf8_lossy(piece);
            if is_answer && self.facts.len() < MAX_ITEMS && !piece.trim().is_empty() {
                self.facts.push(Item::at(line, shorten(piece.trim(), 200)));
            } else if says_where(&piece) {
                keep(&mut self.frames, line, piece.trim());
            } else {
                self.passages.add(Some(line), piece.trim_end(), USUAL * 8 / 10);
            }
        }
        self.text = text;
        self.text.clear();
    }

    pub(super) fn page(mut self) -> Page {
        self.flush();
        let mut page = Page::new(self.what());
        let Self { facts, alerts, notes, frames, outline, mut passages, tables, forms, links, embedded, .. } = self;
        page.push(Part::new("page", Weight::Failure, facts));
        page.push(alerts.part("alerts and errors", Weight::Failure));
        page.push(frames.part("places in code", Weight::Fact));
        page.push(notes.part("notes and warnings", Weight::Fact));
        let headings = outline.parts(&mut passages, LineNumbers::No);
        page.parts.extend(headings);
        page.push(forms.part());
        tables.push(&mut page, &mut passages);
        page.push(passages.part("most telling texts", Weight::Fact));
        links.push(&mut page);
        page.push(Part::new("embedded data", Weight::Shape, embedded));
        page
    }

    fn what(&self) -> String {
        let [scripts, script_bytes] = self.scripts;
        let [styles, style_bytes] = self.styles;
        let mut parts = vec![format!("HTML page: {}", counted(self.outline.total, "heading"))];
        if self.tables.total > 0 {
            parts.push(format!("{} with {}", counted(self.tables.total, "table"), counted(self.tables.rows, "row")));
        }
        let counts = [(self.forms.total, "form"), (self.links.total, "link"), (self.links.image_total, "image")];
        parts.extend(counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| counted(*count, name)));
        parts.extend((scripts > 0).then(|| format!("{} of {script_bytes} bytes", counted(scripts, "script"))));
        parts.extend((styles > 0).then(|| format!("{} of {style_bytes} bytes", counted(styles, "style"))));
        parts.join(", ")
    }
}

/// Counts a text, and keeps it if there is room and it is new.
fn keep(kept: &mut KeptItems<MAX_ITEMS>, line: u64, text: &str) {
    if kept.items.iter().any(|item| item.text == text) {
        kept.total += 1;
    } else {
        kept.add(|| Item::at(line, shorten(text, MAX_ALERT_BYTES)));
    }
}
