//! A page as a tree in one list, built tag by tag.
//!
//! Invariants: a node comes after its parent, so a backward walk visits children first; the number of nodes and their
//! depth are bounded.

use super::attributes::{self, ElementAttributes};
use super::tags::{self, Tag};
use super::tokens::{self, Attributes};

/// The maximum number of elements and texts.
pub(super) const MAX_NODES: usize = 500_000;
/// The maximum depth. Elements below it are transparent.
const MAX_DEPTH: usize = 200;
/// The index that means no node.
pub(super) const NONE: u32 = u32::MAX;

pub(super) struct PageTree {
    pub nodes: Vec<Node>,
    /// All texts, one after the other.
    pub texts: Vec<u8>,
    pub title: String,
    /// The title for previews of the page elsewhere (`og:title`).
    pub shown_title: String,
    /// The base URL of links, if the page sets one.
    pub base: Option<String>,
    /// The page that this one forwards to.
    pub next: Option<String>,
    /// The number of elements below the maximum depth.
    pub too_deep: usize,
    /// The number of elements that are invisible to a person.
    pub hidden: usize,
    pub is_cut: bool,
}

/// An element or a piece of text.
pub(super) struct Node {
    pub tag: Tag,
    pub parent: u32,
    pub first: u32,
    pub next: u32,
    last: u32,
    /// The range of a piece of text in [`PageTree::texts`].
    pub text: (u32, u32),
    pub attributes: Option<Box<ElementAttributes>>,
}

impl PageTree {
    pub(super) fn text(&self, node: &Node) -> &[u8] {
        self.texts.get(node.text.0 as usize..node.text.1 as usize).unwrap_or_default()
    }

    pub(super) fn node(&self, place: u32) -> Option<&Node> {
        self.nodes.get(place as usize)
    }
}

pub(super) fn parse(html: &str) -> PageTree {
    let mut builder = Builder::default();
    builder.add(Tag::Body, None);
    builder.open.push(OpenElement { tag: Tag::Body, node: 0, silent: false });
    tokens::read(html, &mut builder);
    builder.tree
}

#[derive(Clone, Copy)]
struct OpenElement {
    tag: Tag,
    node: u32,
    /// Whether its text is ignored.
    silent: bool,
}

/// Builds the tree from tags and texts in order.
pub(super) struct Builder {
    tree: PageTree,
    open: Vec<OpenElement>,
    /// The number of open elements of each tag, so that most unmatched end tags are detected at once.
    counts: [u32; tags::COUNT],
    silent: usize,
    /// The number of open elements below the maximum depth.
    beyond: usize,
    /// The number of open spans of a drawn formula.
    drawn: usize,
}

impl Default for Builder {
    fn default() -> Self {
        let tree = PageTree {
            nodes: Vec::new(),
            texts: Vec::new(),
            title: String::new(),
            shown_title: String::new(),
            base: None,
            next: None,
            too_deep: 0,
            hidden: 0,
            is_cut: false,
        };
        Self { tree, open: Vec::new(), counts: [0; tags::COUNT], silent: 0, beyond: 0, drawn: 0 }
    }
}

impl Builder {
    pub(super) fn start(&mut self, name: &[u8], attributes: &Attributes) {
        let Some(tag) = tags::of(name) else { return self.start_span(name, attributes) };
        if tag.is_block() {
            self.end_drawn_formula();
        }
        match tag {
            Tag::Meta | Tag::Base => return self.read_head(tag, attributes),
            // A second or late body starts nothing.
            Tag::Body => return,
            _ => self.close_implied(tag),
        }
        if self.silent > 0 && tag.is_void() {
            return;
        }
        if tag == Tag::Math && self.silent == 0 {
            // The attribute has the whole formula, which the tree spreads over many elements.
            self.text(format!(" {} ", attributes.beginning_of_text("alttext")).as_bytes());
        }
        let hidden = attributes.is_hidden() && !tag.is_void();
        let silent = hidden || self.is_silent(tag, attributes);
        if !tag.is_void() {
            // What is not for readers stays so at any depth.
            if self.open.len() >= MAX_DEPTH && (!silent || self.silent > 0) {
                self.beyond += 1;
                self.tree.too_deep += 1;
                return;
            }
            self.tree.hidden += usize::from(hidden && self.silent == 0);
        }
        if tag == Tag::Annotation && !silent {
            self.clear_formula();
        }
        let node = if silent || self.silent > 0 { NONE } else { self.add(tag, attributes::of(tag, attributes)) };
        if !tag.is_void() {
            self.open.push(OpenElement { tag, node, silent });
            self.silent += usize::from(silent);
            if let Some(count) = self.counts.get_mut(tag as usize) {
                *count += 1;
            }
        }
    }

    /// Returns whether the text of an element is not for readers.
    fn is_silent(&self, tag: Tag, attributes: &Attributes) -> bool {
        match tag {
            // A heading that opens and closes its section is a button.
            Tag::Button => !self.open.iter().any(|open| open.tag.heading().is_some()),
            Tag::Math => !attributes.beginning_of_text("alttext").is_empty(),
            Tag::Annotation => !attributes.text("encoding").to_ascii_lowercase().ends_with("tex"),
            _ => tag.is_silent(),
        }
    }

    /// Removes what a formula consists of, because its source follows.
    fn clear_formula(&mut self) {
        if let Some(formula) = self.open.last().filter(|open| open.tag == Tag::Math)
            && let Some(node) = self.tree.nodes.get_mut(formula.node as usize)
        {
            (node.first, node.last) = (NONE, NONE);
        }
        self.text(b" ");
    }

    /// Handles the start tag of an element that is not in the tree. KaTeX draws a formula in spans, after its source.
    fn start_span(&mut self, name: &[u8], attributes: &Attributes) {
        if name == b"span" && (self.drawn > 0 || attributes.text("class") == "katex-html") {
            self.silent += usize::from(self.drawn == 0);
            self.drawn += 1;
        }
    }

    fn end_span(&mut self, name: &[u8]) {
        if name == b"span" && self.drawn > 0 {
            self.drawn -= 1;
            self.silent -= usize::from(self.drawn == 0);
        }
    }

    /// Ends a drawn formula in which an end tag is missing.
    fn end_drawn_formula(&mut self) {
        self.silent -= usize::from(self.drawn > 0);
        self.drawn = 0;
    }

    /// Returns whether a tag belongs to SVG or MathML, where a slash at its end also ends the element.
    pub(super) fn is_foreign(&self, name: &[u8]) -> bool {
        matches!(name, b"svg" | b"math") || self.has_open(Tag::Svg) || self.has_open(Tag::Math)
    }

    fn has_open(&self, tag: Tag) -> bool {
        self.counts.get(tag as usize).is_some_and(|count| *count > 0)
    }

    pub(super) fn end(&mut self, name: &[u8]) {
        let Some(tag) = tags::of(name) else { return self.end_span(name) };
        if tag.is_block() {
            self.end_drawn_formula();
        }
        if tag.is_void() || tag == Tag::Body {
            return;
        }
        let ends_silence = self.open.last().is_some_and(|open| open.silent && open.tag == tag);
        if self.beyond > 0 && !ends_silence {
            self.beyond -= 1;
            return;
        }
        if !self.has_open(tag) {
            return;
        }
        let stops = |open: &OpenElement| match tag {
            Tag::Table | Tag::Rows | Tag::Tr | Tag::Td | Tag::Th => open.tag == Tag::Table && tag != Tag::Table,
            _ if tag.is_block() => open.tag.is_boundary(),
            // An end tag inside a list item or a cell does not close an element outside it.
            _ => open.tag.is_boundary() || open.tag == Tag::Li,
        };
        self.pop_to(|open| open.tag == tag, stops);
        if tag == Tag::Annotation {
            self.text(b" ");
        }
    }

    pub(super) fn text(&mut self, text: &[u8]) {
        if self.open.last().is_some_and(|open| open.tag == Tag::Title) {
            if self.silent == 0 && self.tree.title.len() < 1_000 {
                self.tree.title.push_str(&String::from_utf8_lossy(text));
            }
            return;
        }
        if self.silent > 0 || text.is_empty() || self.tree.is_cut {
            return;
        }
        let start = self.tree.texts.len() as u32;
        self.tree.texts.extend_from_slice(text);
        let end = self.tree.texts.len() as u32;
        // Adjacent texts are merged, so that many small ones do not become many nodes.
        let parent = self.parent();
        let last = self.tree.nodes.get(parent as usize).map_or(NONE, |node| node.last);
        if let Some(node) = self.tree.nodes.get_mut(last as usize)
            && node.tag == Tag::Text
            && node.text.1 == start
        {
            node.text.1 = end;
            return;
        }
        let node = self.add(Tag::Text, None);
        if let Some(node) = self.tree.nodes.get_mut(node as usize) {
            node.text = (start, end);
        }
    }

    fn parent(&self) -> u32 {
        self.open.iter().rev().map(|open| open.node).find(|node| *node != NONE).unwrap_or(NONE)
    }

    fn add(&mut self, tag: Tag, attributes: Option<Box<ElementAttributes>>) -> u32 {
        if self.tree.nodes.len() >= MAX_NODES {
            self.tree.is_cut = true;
            return NONE;
        }
        let parent = self.parent();
        let place = self.tree.nodes.len() as u32;
        self.tree.nodes.push(Node { tag, parent, first: NONE, next: NONE, last: NONE, text: (0, 0), attributes });
        let before = match self.tree.nodes.get_mut(parent as usize) {
            Some(parent) => {
                if parent.first == NONE {
                    parent.first = place;
                }
                std::mem::replace(&mut parent.last, place)
            }
            None => NONE,
        };
        if let Some(before) = self.tree.nodes.get_mut(before as usize) {
            before.next = place;
        }
        place
    }

    /// Closes the elements that a start tag closes implicitly.
    fn close_implied(&mut self, tag: Tag) {
        match tag {
            Tag::Li => self.pop_to(|open| open.tag == Tag::Li, |open| is_list(open.tag) || open.tag.is_boundary()),
            Tag::Dt | Tag::Dd => {
                self.pop_to(
                    |open| matches!(open.tag, Tag::Dt | Tag::Dd),
                    |open| open.tag == Tag::Dl || open.tag.is_boundary(),
                );
            }
            Tag::Td | Tag::Th => {
                self.pop_to(|open| matches!(open.tag, Tag::Td | Tag::Th), |open| open.tag == Tag::Table);
            }
            Tag::Tr => self.pop_to(|open| open.tag == Tag::Tr, |open| open.tag == Tag::Table),
            Tag::Rows => self.pop_to(|open| open.tag == Tag::Rows, |open| open.tag == Tag::Table),
            Tag::A => self.pop_to(|open| open.tag == Tag::A, |open| open.tag.is_boundary() || open.tag == Tag::Li),
            _ => {}
        }
        if tag.heading().is_some() {
            self.pop_to(
                |open| open.tag.heading().is_some(),
                |open| open.tag.is_block() && open.tag.heading().is_none(),
            );
        }
        if tag.is_block() {
            self.pop_to(|open| open.tag == Tag::P, |open| open.tag.is_boundary() || open.tag == Tag::Li);
        }
    }

    /// Closes everything up to the nearest element that matches, unless an element that stops the search comes first.
    fn pop_to(&mut self, is_meant: impl Fn(&OpenElement) -> bool, stops: impl Fn(&OpenElement) -> bool) {
        let found = self.open.iter().enumerate().skip(1).rev().find(|(_, open)| is_meant(open) || stops(open));
        let Some((place, found)) = found else { return };
        if !is_meant(found) {
            return;
        }
        for open in self.open.drain(place..) {
            self.silent -= usize::from(open.silent);
            if let Some(count) = self.counts.get_mut(open.tag as usize) {
                *count -= 1;
            }
        }
    }

    fn read_head(&mut self, tag: Tag, attributes: &Attributes) {
        if tag == Tag::Base {
            if self.tree.base.is_none() {
                self.tree.base = Some(attributes.text("href")).filter(|base| !base.is_empty());
            }
        } else if attributes.text("http-equiv").eq_ignore_ascii_case("refresh") {
            self.tree.next = attributes::forwards_to(&attributes.text("content")).map(str::to_owned);
        } else if attributes.text("property") == "og:title" && self.tree.shown_title.is_empty() {
            self.tree.shown_title = attributes.beginning_of_text("content");
        }
    }
}

fn is_list(tag: Tag) -> bool {
    matches!(tag, Tag::Ul | Tag::Ol)
}
