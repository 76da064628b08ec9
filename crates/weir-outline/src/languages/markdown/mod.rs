//! Markdown: headings, front matter keys, code blocks and links.
//!
//! Known misses: headings written in HTML.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::common::Lines;
use super::{Content, Language, Reader};
use crate::docs;
use crate::model::{Item, ItemKind, ItemOrigin, Outline, Visibility};

pub(super) static LANGUAGE: Language = Language::read_by(Reader {
    name: "markdown",
    version: 2,
    extensions: &["md", "markdown", "mdown", "mkd", "mdx", "qmd", "rmd"],
    file_names: &["README", "CHANGELOG"],
    read,
})
.with_content(Content::Text);

/// Maximum number of link targets to name.
const MAX_NAMED: usize = 8;

fn read(text: &str, into: &mut Outline) {
    let options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
        | Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS;
    let mut scan = MarkdownScan::default();
    // The parser takes a byte order mark for a letter.
    let bare = text.trim_start_matches('\u{feff}');
    let start = text.len() - bare.len();
    for (event, bytes) in Parser::new_ext(bare, options).into_offset_iter() {
        scan.event(event, bytes.start + start..bytes.end + start);
    }
    let lines = Lines::of(text);
    into.purpose = docs::first_sentence(&scan.purpose);
    into.items.extend(scan.keys.take().map(|(keys, bytes)| line(ItemKind::Key, keys, bytes, &lines)));
    into.items.extend(nested(scan.headings, text, &lines));
    for (what, counts) in [("code", &scan.code.all), ("links", &scan.links.all)] {
        into.items.extend(counted(what, counts).map(|(said, bytes)| line(ItemKind::Key, said, bytes, &lines)));
    }
}

/// What was found in the text so far.
#[derive(Default)]
struct MarkdownScan {
    keys: Option<(String, Range<usize>)>,
    headings: Vec<Heading>,
    code: Counts,
    links: Counts,
    /// The first paragraph.
    purpose: String,
    role: TextRole,
}

/// What the current text belongs to.
#[derive(Default, PartialEq)]
enum TextRole {
    #[default]
    Other,
    Heading,
    Keys,
    Purpose,
}

/// How often something occurs, and where it occurs first.
struct Count {
    what: String,
    times: usize,
    first: Range<usize>,
}

/// Counts in the order of their first occurrence.
#[derive(Default)]
struct Counts {
    all: Vec<Count>,
    places: HashMap<String, usize>,
}

struct Heading {
    level: HeadingLevel,
    title: String,
    bytes: Range<usize>,
}

impl MarkdownScan {
    fn event(&mut self, event: Event<'_>, bytes: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.headings.push(Heading { level, title: String::new(), bytes });
                self.role = TextRole::Heading;
            }
            Event::Start(Tag::MetadataBlock(_)) => {
                self.keys = Some((String::new(), bytes));
                self.role = TextRole::Keys;
            }
            Event::Start(Tag::Paragraph) if self.purpose.is_empty() && self.role == TextRole::Other => {
                self.role = TextRole::Purpose;
            }
            Event::End(TagEnd::Heading(_) | TagEnd::MetadataBlock(_) | TagEnd::Paragraph) => {
                self.role = TextRole::Other;
            }
            Event::Start(Tag::CodeBlock(kind)) => count(&mut self.code, language(&kind), bytes),
            Event::Start(Tag::Link { dest_url, .. }) => count(&mut self.links, place(&dest_url), bytes),
            Event::Text(text) | Event::Code(text) => self.text(&text),
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        match self.role {
            TextRole::Heading => {
                if let Some(heading) = self.headings.last_mut() {
                    heading.title.push_str(text);
                }
            }
            TextRole::Purpose => self.purpose.push_str(text),
            TextRole::Keys => {
                let is_key = |line: &&str| line.starts_with(|c: char| c.is_alphabetic() || c == '_');
                let keys = text.lines().filter(is_key).filter_map(|line| line.split([':', '=']).next()).map(str::trim);
                let keys = keys.collect::<Vec<_>>().join(", ");
                if let Some((said, _)) = &mut self.keys {
                    *said = format!("front matter: {keys}");
                }
            }
            TextRole::Other => {}
        }
    }
}

fn language(kind: &CodeBlockKind<'_>) -> String {
    match kind {
        CodeBlockKind::Fenced(info) => {
            let word = info.split([',', ' ', '{', '\t']).find(|word| !word.is_empty()).unwrap_or("plain");
            word.to_owned()
        }
        CodeBlockKind::Indented => "plain".to_owned(),
    }
}

/// Returns the path of a project file, or the host of any other address.
fn place(address: &str) -> String {
    match address.split_once("://") {
        Some((_, rest)) => rest.split(['/', '?', '#']).next().unwrap_or(rest).to_owned(),
        None if address.starts_with("mailto:") => "mail".to_owned(),
        None => match address.split_once('#') {
            Some(("", _)) => "itself".to_owned(),
            Some((path, _)) => path.to_owned(),
            None => address.to_owned(),
        },
    }
}

fn count(counts: &mut Counts, what: String, first: Range<usize>) {
    let at = *counts.places.entry(what.clone()).or_insert(counts.all.len());
    match counts.all.get_mut(at) {
        Some(count) => count.times += 1,
        None => counts.all.push(Count { what, times: 1, first }),
    }
}

/// Formats counts as `links: a.md × 2, b.md`, and returns where the first occurs.
fn counted(what: &str, counts: &[Count]) -> Option<(String, Range<usize>)> {
    let first = counts.first()?.first.clone();
    let mut sorted: Vec<&Count> = counts.iter().collect();
    sorted.sort_by_key(|count| std::cmp::Reverse(count.times));
    let named = sorted.iter().take(MAX_NAMED).map(|count| match count.times {
        1 => count.what.clone(),
        times => format!("{} × {times}", count.what),
    });
    let mut said = format!("{what}: {}", named.collect::<Vec<_>>().join(", "));
    if sorted.len() > MAX_NAMED {
        let total: usize = counts.iter().map(|count| count.times).sum();
        said.push_str(&format!(", … {total} in all"));
    }
    Some((said, first))
}

/// Nests headings in the headings above them. Each extends to the next one that is not below it.
fn nested(headings: Vec<Heading>, text: &str, lines: &Lines) -> Vec<Item> {
    let mut open: Vec<(HeadingLevel, Item)> = Vec::new();
    let mut items = Vec::new();
    for heading in headings {
        close(&mut open, &mut items, |level| level >= heading.level, (heading.bytes.start, lines));
        let signature = format!("{} {}", "#".repeat(heading.level as usize), heading.title.trim());
        let mut item = line(ItemKind::Heading, signature, heading.bytes, lines);
        item.names = vec![heading.title.trim().to_owned()];
        open.push((heading.level, item));
    }
    close(&mut open, &mut items, |_| true, (text.trim_end().len(), lines));
    items
}

/// Closes headings while `ends` is true, from the innermost outwards.
fn close(
    open: &mut Vec<(HeadingLevel, Item)>,
    items: &mut Vec<Item>,
    ends: impl Fn(HeadingLevel) -> bool,
    (end, lines): (usize, &Lines),
) {
    while open.last().is_some_and(|(level, _)| ends(*level)) {
        let Some((_, mut item)) = open.pop() else { return };
        item.bytes.end = end.max(item.bytes.end);
        item.lines.1 = lines.at(item.bytes.end.saturating_sub(1));
        match open.last_mut() {
            Some((_, around)) => around.children.push(item),
            None => items.push(item),
        }
    }
}

fn line(kind: ItemKind, signature: String, bytes: Range<usize>, lines: &Lines) -> Item {
    Item {
        kind,
        names: signature.split(':').next().map(str::to_owned).into_iter().collect(),
        signature,
        visibility: Visibility::Public,
        place: ItemOrigin::Program,
        doc: None,
        attributes: Vec::new(),
        lines: (lines.at(bytes.start), lines.at(bytes.end.saturating_sub(1).max(bytes.start))),
        bytes,
        children: Vec::new(),
    }
}
