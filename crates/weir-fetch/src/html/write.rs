//! Writes the chosen part of a page as Markdown. Invariants: one walk without recursion; the output is bounded.

mod blocks;
mod links;
mod tables;

use url::Url;

use super::attributes::CellSpan;
use super::choose::PageSelection;
use super::tags::Tag;
use super::tree::{NONE, Node, PageTree};
use blocks::Blocks;
use links::Links;
use tables::TableWriter;

pub(super) struct MarkdownOutput {
    pub markdown: String,
    /// The first `h1` heading.
    pub heading: String,
    pub is_cut: bool,
}

pub(super) fn write(tree: &PageTree, chosen: &PageSelection, base: Option<&Url>) -> MarkdownOutput {
    let is_data = tables::find(tree);
    let mut writer = MarkdownWriter {
        tree,
        is_data: &is_data,
        links: Links::of(base, tree.base.as_deref()),
        blocks: Blocks::default(),
        marks: Vec::new(),
        lists: Vec::new(),
        tables: Vec::new(),
        preformatted: 0,
        heading: String::new(),
        is_in_heading: false,
    };
    let mut place = chosen.root;
    'walk: while let Some(node) = tree.node(place) {
        let dropped = chosen.dropped.get(place as usize).copied().unwrap_or_default();
        let mut entered = !dropped && writer.enter(node, place);
        if entered && node.first != NONE {
            place = node.first;
            continue;
        }
        loop {
            let Some(node) = tree.node(place) else { break 'walk };
            if entered {
                writer.leave(node);
            }
            if place == chosen.root {
                break 'walk;
            }
            if node.next != NONE {
                place = node.next;
                break;
            }
            (place, entered) = (node.parent, true);
        }
    }
    writer.blocks.flush();
    if let Some(link) = tree.next.as_deref().and_then(|next| writer.links.resolve(next)) {
        writer.blocks.write(&format!("[This page forwards to another one]({link})"));
    }
    let (markdown, is_cut) = writer.blocks.finish();
    MarkdownOutput { markdown, heading: writer.heading, is_cut }
}

/// The start of an inline element.
struct InlineMark {
    tag: Tag,
    start: usize,
    /// The number of its line. If the number has changed at its end, the element spans several lines.
    line: u32,
}

struct OpenList {
    next: Option<u32>,
    is_empty: bool,
}

struct MarkdownWriter<'a> {
    tree: &'a PageTree,
    is_data: &'a [u32],
    links: Links,
    blocks: Blocks,
    marks: Vec<InlineMark>,
    lists: Vec<OpenList>,
    tables: Vec<TableWriter>,
    preformatted: usize,
    heading: String,
    is_in_heading: bool,
}

impl MarkdownWriter<'_> {
    /// Starts a node. Returns whether its children are to be written.
    fn enter(&mut self, node: &Node, place: u32) -> bool {
        let tag = node.tag;
        if tag.is_block() {
            self.break_block();
        }
        match tag {
            Tag::Text => {
                let text = String::from_utf8_lossy(self.tree.text(node));
                if self.preformatted > 0 {
                    self.blocks.raw(&text);
                } else {
                    self.blocks.words(&text);
                }
                return false;
            }
            Tag::Br => self.line_break(),
            // In a cell or in code, it would be written before the text that it divides.
            Tag::Hr if self.preformatted == 0 && !self.is_in_cell() => self.blocks.write("---"),
            Tag::Img => self.image(node),
            Tag::Pre => self.preformatted += 1,
            Tag::Ul | Tag::Ol => self.lists.push(OpenList { next: start(node), is_empty: true }),
            Tag::Li => self.item(),
            Tag::Dt => self.blocks.indent("- ", "  "),
            Tag::Dd => {
                self.blocks.indent("  ", "  ");
                self.blocks.is_tight = true;
            }
            Tag::Quote => self.blocks.indent("> ", "> "),
            Tag::Table => self.tables.push(TableWriter::new(self.is_data.binary_search(&place).is_ok())),
            Tag::Td | Tag::Th => {
                if let Some(table) = self.tables.last_mut() {
                    table.begin_cell();
                }
            }
            Tag::A | Tag::Em | Tag::Strong | Tag::Del | Tag::Code => {
                let (start, line) = self.blocks.place();
                self.marks.push(InlineMark { tag, start, line });
            }
            _ if tag.heading().is_some() => self.is_in_heading = true,
            _ => {}
        }
        !tag.is_void()
    }

    fn leave(&mut self, node: &Node) {
        match node.tag {
            Tag::A | Tag::Em | Tag::Strong | Tag::Del | Tag::Code => return self.leave_mark(node),
            Tag::Pre => return self.leave_preformatted(node),
            Tag::Td | Tag::Th if self.is_in_cell() => {
                let text = self.blocks.take();
                if let Some(table) = self.tables.last_mut() {
                    let span = node.attributes.as_ref().and_then(|attributes| attributes.span);
                    table.end_cell(&text, span.unwrap_or(CellSpan::ONE));
                }
                return;
            }
            // A table may end with cells outside any row.
            Tag::Tr | Tag::Table => {
                if let Some(row) = self.tables.last_mut().and_then(TableWriter::end_row) {
                    self.blocks.flush();
                    self.blocks.is_tight = row.is_tight;
                    self.blocks.write(&row.text);
                }
            }
            tag if tag.heading().is_some() => return self.leave_heading(tag),
            _ => {}
        }
        if !node.tag.is_block() {
            return;
        }
        self.break_block();
        match node.tag {
            Tag::Ul | Tag::Ol => drop(self.lists.pop()),
            Tag::Table => drop(self.tables.pop()),
            Tag::Li | Tag::Dt | Tag::Dd | Tag::Quote => self.blocks.outdent(),
            _ => {}
        }
    }

    fn is_in_cell(&self) -> bool {
        self.tables.last().is_some_and(|table| table.is_in_cell)
    }

    /// Ends the current block; a cell or a heading has only one line.
    fn break_block(&mut self) {
        if self.preformatted > 0 {
            self.blocks.raw_line_end();
        } else if self.is_in_cell() || self.is_in_heading {
            self.blocks.words(" ");
        } else {
            self.blocks.flush();
        }
    }

    fn line_break(&mut self) {
        if self.preformatted > 0 {
            self.blocks.raw("\n");
        } else if self.is_in_cell() || self.is_in_heading {
            self.blocks.words(" ");
        } else {
            self.blocks.line_end();
        }
    }

    fn item(&mut self) {
        let nested = self.lists.len() > 1;
        let (marker, is_tight) = match self.lists.last_mut() {
            None => ("- ".to_owned(), false),
            Some(list) => {
                let is_tight = nested || !list.is_empty;
                list.is_empty = false;
                let marker = match &mut list.next {
                    None => "- ".to_owned(),
                    Some(number) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", number.saturating_sub(1))
                    }
                };
                (marker, is_tight)
            }
        };
        self.blocks.indent(&marker, &" ".repeat(marker.len()));
        self.blocks.is_tight = is_tight;
    }

    fn image(&mut self, node: &Node) {
        let Some(attributes) = &node.attributes else { return };
        let alt = crate::text::one_line(&attributes.alt, 200);
        if alt.is_empty() || self.preformatted > 0 {
            return;
        }
        let is_linked = self.marks.iter().any(|mark| mark.tag == Tag::A);
        match self.links.resolve(&attributes.link) {
            Some(link) if !is_linked && !self.is_in_heading => self.blocks.words(&format!("![{alt}]({link})")),
            _ => self.blocks.words(&alt),
        }
    }

    fn leave_mark(&mut self, node: &Node) {
        let Some(mark) = self.marks.pop() else { return };
        if self.preformatted > 0 || self.marks.iter().any(|outer| outer.tag == mark.tag) {
            return;
        }
        let link = node.attributes.as_ref().and_then(|attributes| self.links.resolve(&attributes.link));
        if mark.tag == Tag::A && self.blocks.place().1 != mark.line {
            // The link spans whole blocks, as on cards, so it is written below them.
            if let Some(link) = link.filter(|_| !self.is_in_cell()) {
                self.blocks.flush();
                self.blocks.is_tight = true;
                self.blocks.write(&format!("[link]({link})"));
            }
            return;
        }
        self.blocks.around(mark.start, mark.line, |text| match mark.tag {
            Tag::A => links::link(text, link.as_deref()),
            Tag::Code => links::code(text),
            _ if self.is_in_heading => text.to_owned(),
            Tag::Em => format!("*{text}*"),
            Tag::Del => format!("~~{text}~~"),
            _ => format!("**{text}**"),
        });
    }

    fn leave_heading(&mut self, tag: Tag) {
        self.is_in_heading = false;
        if self.is_in_cell() || self.preformatted > 0 {
            return;
        }
        let text = self.blocks.take();
        let text = text.replace('\n', " ");
        let text = text.trim().trim_end_matches(['¶', '#', '🔗', '§']).trim();
        if text.is_empty() {
            return;
        }
        if tag == Tag::H1 && self.heading.is_empty() {
            self.heading = text.to_owned();
        }
        self.blocks.write(&format!("{} {text}", "#".repeat(tag.heading().unwrap_or(1))));
    }

    fn leave_preformatted(&mut self, node: &Node) {
        self.preformatted = self.preformatted.saturating_sub(1);
        if self.preformatted > 0 {
            return;
        }
        let text = self.blocks.take();
        if self.is_in_cell() {
            return self.blocks.words(&text);
        }
        let text = text.trim_start_matches('\n').trim_end();
        if !text.is_empty() {
            let fence = links::ticks(text, 3);
            let language = self.language(node).unwrap_or_default();
            self.blocks.write(&format!("{fence}{language}\n{text}\n{fence}"));
        }
    }

    /// Returns the language of a code block: from the block, from the code in it, or from the elements around it.
    fn language<'n>(&'n self, node: &'n Node) -> Option<&'n str> {
        let parent = self.tree.node(node.parent);
        let around = parent.and_then(|parent| self.tree.node(parent.parent));
        [Some(node), self.tree.node(node.first), parent, around].into_iter().flatten().find_map(|node| {
            let names = node.attributes.as_ref()?.names.split_whitespace();
            names.filter_map(language).find(|name| !matches!(*name, "text" | "none" | "plaintext" | "default"))
        })
    }
}

fn language(class: &str) -> Option<&str> {
    let found = ["language-", "lang-", "highlight-source-", "highlight-", "brush:"]
        .iter()
        .find_map(|before| class.strip_prefix(before))?;
    let is_name = found.len() <= 20 && found.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-".contains(&byte));
    (is_name && !found.is_empty()).then_some(found)
}

fn start(node: &Node) -> Option<u32> {
    (node.tag == Tag::Ol).then(|| node.attributes.as_ref().and_then(|attributes| attributes.start).unwrap_or(1))
}
