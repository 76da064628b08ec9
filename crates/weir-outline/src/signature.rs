//! A signature: the tokens of an item on one line, without its body and comments.
//!
//! Invariant: the tokens are those of the file, in order. Only the space between them changes, and a trailing comma
//! before a bracket on the next line is dropped, unless it makes a tuple.

use std::ops::Range;

use tree_sitter::{Node, TreeCursor};

use crate::languages::{NodeClass, Table};
use crate::spec::Spec;

/// Values of more bytes are omitted.
const MAX_VALUE_BYTES: usize = 80;
/// Maximum nesting of a signature. Only hostile files exceed it.
const MAX_DEPTH: usize = 200;

#[derive(Default)]
pub(crate) struct Omissions {
    /// Ranges to omit without a trace.
    pub bodies: Vec<Range<usize>>,
    /// Ranges to replace by `…`.
    pub values: Vec<Range<usize>>,
}

impl Omissions {
    pub(crate) fn long_value(&mut self, node: Node<'_>) {
        if node.end_byte() - node.start_byte() > MAX_VALUE_BYTES {
            self.values.push(node.byte_range());
        }
    }
}

pub(crate) fn write(spec: &Spec, table: &Table, (node, text): (Node<'_>, &str), omissions: &Omissions) -> String {
    let mut writer = SignatureWriter {
        spec,
        table,
        text,
        omissions,
        line: String::new(),
        end: node.start_byte(),
        owed: false,
        is_tuple_end: false,
    };
    writer.node(&mut node.walk(), 0);
    let line = writer.line.trim_end();
    let line = line.trim_end_matches([';', ',']).trim_end();
    // A multi-line string is one token.
    line.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

struct SignatureWriter<'a> {
    spec: &'a Spec,
    table: &'a Table,
    text: &'a str,
    omissions: &'a Omissions,
    line: String,
    /// Where the last token ended.
    end: usize,
    /// Whether a separator is due before the next token.
    owed: bool,
    /// Whether the next token belongs to a tuple with one element, as in `(a,)`.
    is_tuple_end: bool,
}

impl SignatureWriter<'_> {
    fn node(&mut self, cursor: &mut TreeCursor<'_>, depth: usize) {
        let node = cursor.node();
        if self.omissions.bodies.contains(&node.byte_range()) {
            return;
        }
        if self.omissions.values.contains(&node.byte_range()) {
            self.token(node.start_byte(), node.end_byte(), "…");
            return;
        }
        match self.table.class(node) {
            NodeClass::Comment => return,
            // Attributes of the item itself are kept separately; inside it, as on a parameter, they are part of the
            // signature.
            NodeClass::Attribute if matches!(depth, 1 | 2) && self.line.is_empty() => {
                self.end = node.end_byte();
                return;
            }
            NodeClass::Atom => return self.copy(node),
            _ if node.child_count() == 0 || depth > MAX_DEPTH => return self.copy(node),
            _ => {}
        }
        let by_lines = self.spec.by_lines.contains(&node.kind());
        let is_single = node.kind().starts_with("tuple") && node.named_child_count() == 1;
        if !cursor.goto_first_child() {
            return;
        }
        loop {
            let child = cursor.node();
            self.owed |= by_lines && child.is_named() && !self.line.ends_with(['{', ';', ',', '(']);
            self.is_tuple_end = is_single && child.kind() == ")";
            self.node(cursor, depth + 1);
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        cursor.goto_parent();
    }

    fn copy(&mut self, node: Node<'_>) {
        let text = self.text.get(node.byte_range()).unwrap_or_default();
        self.token(node.start_byte(), node.end_byte(), text);
    }

    fn token(&mut self, start: usize, end: usize, token: &str) {
        // Some grammars have a token for the end of a line.
        if token.trim().is_empty() {
            return;
        }
        let gap = self.text.get(self.end..start).unwrap_or_default();
        let closes = token.starts_with([')', ']', '}', '>']);
        let opened = self.line.ends_with(['(', '[', '<']);
        let broken = gap.contains('\n');
        if broken && closes && self.line.ends_with(',') && !self.is_tuple_end {
            self.line.pop();
        }
        if std::mem::take(&mut self.owed) && broken && !closes && !self.line.is_empty() {
            self.line.push(';');
        }
        let tight = self.line.is_empty() || gap.is_empty() || broken && (opened || token.starts_with([')', ']', '>']));
        if !tight {
            self.line.push(' ');
        }
        self.line.push_str(token);
        self.end = end;
    }
}
