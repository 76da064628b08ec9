//! Converts feeds to Markdown: one heading per entry, its date and link, and its text.
//!
//! Invariant: only HTML's entities are replaced, so no entity can expand to a long text.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use url::Url;

use crate::html::{self, ConvertedPage};

const MAX_ENTRIES: usize = 500;

/// Converts an RSS, RSS 1.0 or Atom feed to Markdown. The result is empty for any other text.
pub(crate) fn to_markdown(xml: &str, url: &Url) -> ConvertedPage {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let (mut feed, mut notes) = (Feed::default(), Vec::new());
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) if !feed.start(&mut reader, &start) => {
                notes.push("incomplete: the feed ends inside an entry".to_owned());
                break;
            }
            Ok(Event::Empty(empty)) => feed.link(&empty),
            Ok(Event::Eof) => break,
            Ok(_) => {}
            // The parser's message repeats what is in the feed, and notes are our own words.
            Err(_) => {
                let at = reader.error_position();
                notes.push(format!("the feed is damaged at byte {at}; entries before the damage are kept"));
                break;
            }
        }
        if feed.entries.len() > MAX_ENTRIES {
            feed.entries.pop();
            notes.push(format!("cut after {MAX_ENTRIES} entries"));
            break;
        }
    }
    let markdown = if feed.entries.is_empty() { String::new() } else { feed.write(url) };
    ConvertedPage { title: Some(feed.title).filter(|title| !title.is_empty()), markdown, notes }
}

#[derive(Default)]
struct Feed {
    title: String,
    entries: Vec<FeedEntry>,
}

#[derive(Default)]
struct FeedEntry {
    title: String,
    link: String,
    date: String,
    text: String,
}

impl Feed {
    /// Reads an element. Returns `false` if it has no end.
    fn start(&mut self, reader: &mut Reader<&[u8]>, start: &BytesStart<'_>) -> bool {
        let name = start.local_name();
        let name = name.as_ref();
        if matches!(name, "item" | "entry") {
            self.entries.push(FeedEntry::default());
            return true;
        }
        if !matches!(
            name,
            "title"
                | "link"
                | "pubDate"
                | "published"
                | "updated"
                | "date"
                | "description"
                | "summary"
                | "content"
                | "encoded"
        ) {
            return true;
        }
        self.link(start);
        let end = start.to_end().into_owned();
        let Ok(raw) = reader.read_text(end.name()) else { return false };
        self.take(name, &raw);
        true
    }

    fn take(&mut self, name: &str, raw: &str) {
        let Some(entry) = self.entries.last_mut() else {
            if name == "title" && self.title.is_empty() {
                self.title = line(raw);
            }
            return;
        };
        match name {
            "title" if entry.title.is_empty() => entry.title = line(raw),
            "link" if entry.link.is_empty() => entry.link = line(raw),
            "pubDate" | "published" | "date" => entry.date = line(raw),
            "updated" if entry.date.is_empty() => entry.date = line(raw),
            // The full text may follow a summary.
            "description" | "summary" | "content" | "encoded" if raw.len() > entry.text.len() => {
                entry.text = unwrapped(raw);
            }
            _ => {}
        }
    }

    /// Reads Atom's links, which are attributes.
    fn link(&mut self, start: &BytesStart<'_>) {
        let value = |name: &str| {
            let attribute = start.try_get_attribute(name).ok().flatten()?;
            Some(line(&attribute.value))
        };
        let Some(entry) = self.entries.last_mut() else { return };
        let is_page = value("rel").is_none_or(|rel| rel == "alternate");
        if start.local_name().as_ref() == "link" && is_page && entry.link.is_empty() {
            entry.link = value("href").unwrap_or_default();
        }
    }

    fn write(&self, url: &Url) -> String {
        let mut out = String::new();
        if !self.title.is_empty() {
            out.push_str(&format!("# {}\n", self.title));
        }
        for entry in &self.entries {
            let title = if entry.title.is_empty() { "(no title)" } else { &entry.title };
            out.push_str(&format!("\n## {title}\n"));
            let facts: Vec<&str> =
                [entry.date.as_str(), entry.link.as_str()].into_iter().filter(|fact| !fact.is_empty()).collect();
            if !facts.is_empty() {
                out.push_str(&format!("\n{}\n", facts.join(" · ")));
            }
            let text = html::to_markdown(&entry.text, Some(url)).markdown;
            if !text.trim().is_empty() {
                out.push_str(&format!("\n{}\n", text.trim()));
            }
        }
        out
    }
}

/// Returns the text of a field on one line, without tags.
fn line(raw: &str) -> String {
    crate::text::one_line(&html::to_markdown(&unwrapped(raw), None).markdown, 300)
}

/// Returns the content of a field: CDATA or elements as they are, any other text with its entities replaced.
fn unwrapped(raw: &str) -> String {
    if let Some(start) = raw.find("<![CDATA[") {
        let inner = raw.get(start + "<![CDATA[".len()..).unwrap_or_default();
        let end = inner.rfind("]]>").unwrap_or(inner.len());
        return inner.get(..end).unwrap_or(inner).replace("]]><![CDATA[", "");
    }
    if raw.contains('<') { raw.to_owned() } else { html::without_entities(raw) }
}
