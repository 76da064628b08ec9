//! The walk over a file's syntax tree, shared by all languages.
//!
//! Invariant: the walk only moves forward. Documentation and attributes are collected on the way to their item, so the
//! cost is linear in the length of the file.

mod macros;

use tree_sitter::{Node, Tree, TreeCursor};

use crate::docs;
use crate::languages::{NodeClass, Table};
use crate::model::{Item, ItemKind, ItemOrigin};
use crate::parse::Parsing;
use crate::signature::{self, Omissions};
use crate::spec::{ItemRow, Row, Site, Spec};

/// Maximum nesting of items. Only hostile files exceed it.
const MAX_DEPTH: usize = 120;

pub(crate) struct WalkedItems {
    pub items: Vec<Item>,
    /// Number of places that could not be parsed.
    pub broken: usize,
}

/// A file's text, and the text that is parsed instead: it has the same length and the same lines.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub text: &'a str,
    pub parsed: &'a str,
}

pub(crate) fn items(
    spec: &Spec,
    table: &Table,
    parsing: &mut Parsing,
    (tree, source): (&Tree, Source<'_>),
) -> WalkedItems {
    let root = tree.root_node();
    let Source { text, parsed } = source;
    let mut walk = Walk { spec, table, parsing, text, parsed, broken: 0, through: Vec::new(), depth: 0 };
    let mut items = Vec::new();
    walk.children(&mut root.walk(), None, &mut items);
    let broken = if root.has_error() { walk.broken.max(1) } else { 0 };
    WalkedItems { items, broken }
}

pub(crate) struct Walk<'a> {
    pub spec: &'a Spec,
    pub table: &'a Table,
    pub parsing: &'a mut Parsing,
    pub text: &'a str,
    pub parsed: &'a str,
    broken: usize,
    /// The kind IDs of the nodes between here and the enclosing item.
    through: Vec<u16>,
    depth: usize,
}

/// What was found on the way to an item.
#[derive(Default)]
struct ItemPreamble {
    doc: String,
    /// The row on which the documentation ends.
    row: usize,
    attributes: Vec<String>,
    /// The row on which the last item ended: a comment on it belongs to that item.
    behind: Option<usize>,
}

impl Walk<'_> {
    pub(crate) fn children(&mut self, cursor: &mut TreeCursor<'_>, inside: Option<&Item>, into: &mut Vec<Item>) {
        self.children_after(ItemPreamble::default(), cursor, inside, into);
    }

    fn children_after(
        &mut self,
        mut pending: ItemPreamble,
        cursor: &mut TreeCursor<'_>,
        inside: Option<&Item>,
        into: &mut Vec<Item>,
    ) {
        if self.depth > MAX_DEPTH || !cursor.goto_first_child() {
            return;
        }
        self.depth += 1;
        loop {
            self.child(cursor, inside, &mut pending, into);
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        self.depth -= 1;
        cursor.goto_parent();
    }

    fn child(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        inside: Option<&Item>,
        pending: &mut ItemPreamble,
        into: &mut Vec<Item>,
    ) {
        let node = cursor.node();
        let row = (self.spec.hooks.row)(&self.site(node, &[], inside));
        match row.map_or_else(|| self.table.class(node), NodeClass::Row) {
            NodeClass::Comment => return self.comment(node, pending),
            NodeClass::Attribute => return pending.attributes.push(self.flat(node)),
            NodeClass::Row(Row::Item(row)) => {
                let preamble = std::mem::take(pending);
                if let Some(item) = self.item(node, row, inside, preamble) {
                    into.push(item);
                }
            }
            NodeClass::Row(Row::Through) => {
                self.broken += usize::from(node.is_error());
                self.through.push(node.kind_id());
                let from = into.len();
                self.children(cursor, inside, into);
                self.through.pop();
                attach_preamble(std::mem::take(pending), node, into.get_mut(from..).and_then(<[Item]>::first_mut));
            }
            NodeClass::Row(Row::Macro) => {
                *pending = ItemPreamble::default();
                let site = self.site(node, &[], inside);
                let ranges = (self.spec.hooks.macros)(&site);
                macros::read(self, &ranges, inside, into);
            }
            // Punctuation between items has no effect.
            _ if !node.is_named() => return,
            _ => *pending = ItemPreamble::default(),
        }
        pending.behind = Some(node.end_position().row);
    }

    fn comment(&self, node: Node<'_>, pending: &mut ItemPreamble) {
        let text = self.text.get(node.byte_range()).unwrap_or_default();
        let row = node.start_position().row;
        if pending.behind == Some(row) || !(self.spec.docs.item)(text) {
            return;
        }
        if row > pending.row + 1 {
            pending.doc.clear();
        }
        pending.doc.push_str(text.trim_end());
        pending.doc.push('\n');
        // A line comment may include its newline.
        pending.row = row + text.trim_end().matches('\n').count();
    }

    fn item(
        &mut self,
        node: Node<'_>,
        row: ItemRow,
        inside: Option<&Item>,
        mut preamble: ItemPreamble,
    ) -> Option<Item> {
        self.attributes(node, &mut preamble.attributes);
        let opened = row.open.and_then(|part| part.of(node));
        let opened = opened.filter(|node| matches!(self.table.class(*node), NodeClass::Row(Row::Through)));
        let signature = signature::write(self.spec, self.table, (node, self.text), &self.omissions(node, row, opened));
        let site = self.site(node, &preamble.attributes, inside);
        let names = (self.spec.hooks.names)(&site)
            .unwrap_or_else(|| site.field(row.name).map(str::to_owned).into_iter().collect());
        let doc = (self.spec.hooks.doc)(node, self.text).or_else(|| {
            let near = preamble_is_near(&preamble, node);
            (near && !preamble.doc.is_empty()).then(|| docs::bare(&preamble.doc))
        });
        let mut item = Item {
            kind: row.kind,
            names,
            signature,
            visibility: (self.spec.hooks.visibility)(&site),
            place: inside.map_or(ItemOrigin::Program, |item| item.place),
            doc: doc.as_deref().and_then(docs::first_sentence),
            attributes: Vec::new(),
            bytes: node.byte_range(),
            lines: lines(node, self.text),
            children: Vec::new(),
        };
        if !(self.spec.hooks.refine)(&site, &mut item) {
            return None;
        }
        item.attributes = preamble.attributes;
        if let Some(opened) = opened {
            let around = std::mem::take(&mut self.through);
            let mut children = Vec::new();
            let preamble = self.before(node, opened);
            self.children_after(preamble, &mut opened.walk(), Some(&item), &mut children);
            item.children = children;
            self.through = around;
        }
        Some(item)
    }

    /// Collects the attributes at the beginning of an item, including those among its modifiers.
    fn attributes(&self, node: Node<'_>, into: &mut Vec<String>) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match self.table.class(child) {
                NodeClass::Row(_) => break,
                NodeClass::Attribute => into.push(self.flat(child)),
                _ if child.kind() == "modifiers" => self.attributes(child, into),
                _ => {}
            }
        }
    }

    /// Collects the comments between the head of an item and its opened part: some grammars put a comment there that
    /// belongs to the first item inside.
    fn before(&self, node: Node<'_>, opened: Node<'_>) -> ItemPreamble {
        let mut pending = ItemPreamble { behind: Some(node.start_position().row), ..ItemPreamble::default() };
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).take_while(|child| child.start_byte() < opened.start_byte()) {
            if matches!(self.table.class(child), NodeClass::Comment) {
                self.comment(child, &mut pending);
            }
        }
        pending
    }

    fn omissions(&self, node: Node<'_>, row: ItemRow, opened: Option<Node<'_>>) -> Omissions {
        let mut omissions = Omissions::default();
        omissions.bodies.extend(row.body.and_then(|part| part.of(node)).map(|node| node.byte_range()));
        omissions.bodies.extend(opened.map(|node| node.byte_range()));
        omissions.bodies.extend((self.spec.hooks.bodies)(node).iter().map(Node::byte_range));
        let value = row.value.and_then(|part| part.of(node));
        for value in value.into_iter().chain((self.spec.hooks.values)(node)) {
            match self.table.class(value) {
                // A function or a class as a value: its head describes it.
                NodeClass::Row(Row::Item(row)) if row.body.or(row.open).is_some() => {
                    let body = row.body.or(row.open).and_then(|part| part.of(value));
                    omissions.bodies.extend(body.map(|node| node.byte_range()));
                }
                _ => omissions.long_value(value),
            }
        }
        omissions
    }

    fn site<'t>(&'t self, node: Node<'t>, attributes: &'t [String], inside: Option<&'t Item>) -> Site<'t> {
        Site { node, text: self.text, attributes, through: &self.through, inside }
    }

    fn flat(&self, node: Node<'_>) -> String {
        signature::write(self.spec, self.table, (node, self.text), &Omissions::default())
    }
}

/// Returns the first and last line of a node, counted from 1.
fn lines(node: Node<'_>, text: &str) -> (u32, u32) {
    let line = |row: usize| u32::try_from(row + 1).unwrap_or(u32::MAX);
    // Some grammars include the newlines after an item.
    let whole = text.get(node.byte_range()).unwrap_or_default();
    let behind = whole.get(whole.trim_end().len()..).unwrap_or_default().matches('\n').count();
    (line(node.start_position().row), line(node.end_position().row - behind))
}

/// Returns whether the pending documentation or attributes are directly before an item.
fn preamble_is_near(preamble: &ItemPreamble, node: Node<'_>) -> bool {
    !preamble.attributes.is_empty() || preamble.row + 2 > node.start_position().row
}

/// Gives an item what was found before the node that contains it.
fn attach_preamble(preamble: ItemPreamble, around: Node<'_>, item: Option<&mut Item>) {
    let Some(item) = item else { return };
    // Only if the item fills the node: a comment before a list does not describe its first member.
    if item.bytes.end < around.end_byte().saturating_sub(2) {
        return;
    }
    if item.doc.is_none() && preamble_is_near(&preamble, around) && !preamble.doc.is_empty() {
        item.doc = docs::first_sentence(&docs::bare(&preamble.doc));
    }
    if item.kind != ItemKind::Export {
        item.attributes.extend(preamble.attributes);
    }
}
