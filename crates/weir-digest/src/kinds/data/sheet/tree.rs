//! A document of bounded size as a tree.

use super::super::json::document;
use super::super::json_reader::{Piece, PieceConsumer, Reader};

/// The maximum number of values of a document that is read as a tree.
const MAX_VALUES: usize = 60_000;
/// A string of fewer bytes is not looked into.
const MIN_INNER_BYTES: usize = 20;
/// How often a document may be written as a string in another.
const MAX_INNER: usize = 3;

/// Fields that name the variant of an object.
const TAGS: [&str; 4] = ["type", "kind", "object", "event"];

/// A value of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Node {
    Object(Vec<(String, Node)>, u64),
    Array(Vec<Node>),
    /// A text, a number or a word, as written.
    Leaf(String),
}

impl Node {
    pub(super) fn is_record(&self) -> bool {
        matches!(self, Self::Object(..) | Self::Array(_))
    }

    /// Returns the line on which a record begins.
    pub(super) fn line(&self) -> Option<u64> {
        match self {
            Self::Object(_, line) => Some(*line),
            _ => None,
        }
    }
}

/// Reads the documents of an output, unless they are too large.
#[derive(Default)]
pub(in super::super) struct Builder {
    documents: Vec<Node>,
    open: Vec<(Node, Option<String>)>,
    key: Option<String>,
    values: usize,
    depth: usize,
}

impl PieceConsumer for Builder {
    fn begin(&mut self, _line: u64) {
        self.end();
    }

    fn piece(&mut self, piece: Piece, reader: &Reader<'_>) {
        self.values += 1;
        if self.values > MAX_VALUES {
            return;
        }
        match piece {
            Piece::Object => self.open.push((Node::Object(Vec::new(), reader.line), self.key.take())),
            Piece::Array => self.open.push((Node::Array(Vec::new()), self.key.take())),
            Piece::Key => self.key = Some(reader.text.clone()),
            Piece::Close => self.close(),
            Piece::Text => {
                let value = self.inner(&reader.text, false).unwrap_or_else(|| Node::Leaf(reader.text.clone()));
                let key = self.key.take();
                self.put(key, value);
            }
            Piece::Number | Piece::Word => {
                let key = self.key.take();
                self.put(key, Node::Leaf(reader.text.clone()));
            }
            Piece::End | Piece::Broken => {}
        }
    }

    fn cut(&mut self, text: &str) {
        let key = self.key.take();
        if let Some(value) = self.inner(text, true) {
            self.put(key, value);
        }
    }

    fn end(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
    }
}

impl Builder {
    /// Returns the documents, unless they have too many values.
    pub(in super::super) fn finish(mut self) -> Option<Vec<Node>> {
        self.end();
        (self.values <= MAX_VALUES).then_some(self.documents)
    }

    fn close(&mut self) {
        let Some((node, key)) = self.open.pop() else { return };
        self.put(key, tagged(node));
    }

    fn put(&mut self, key: Option<String>, value: Node) {
        match self.open.last_mut() {
            Some((Node::Object(fields, _), _)) => fields.push((key.unwrap_or_default(), value)),
            Some((Node::Array(values), _)) => values.push(value),
            _ => self.documents.push(value),
        }
    }

    /// Reads a document that is written as a string, to its end or as far as the string goes.
    fn inner(&self, text: &str, is_cut: bool) -> Option<Node> {
        let text = text.trim();
        if self.depth >= MAX_INNER || text.len() < MIN_INNER_BYTES || !text.starts_with(['{', '[']) {
            return None;
        }
        let mut reader = Reader::on(text.as_bytes());
        reader.limit = usize::MAX;
        reader.begin();
        let mut builder = Self { depth: self.depth + 1, values: self.values, ..Self::default() };
        let is_whole = document(&mut reader, &mut builder).unwrap_or(false) && reader.taken() == text.len();
        let is_valid = is_whole || is_cut;
        builder.finish().filter(|_| is_valid)?.pop()
    }
}

/// Gives the variants of an object one name: in `{"type": "text", "text": …}`, the second key becomes `<type>`.
fn tagged(node: Node) -> Node {
    let Node::Object(mut fields, line) = node else { return node };
    for place in 0..fields.len() {
        let (tag, value) = &fields[place];
        let Node::Leaf(value) = value else { continue };
        if !TAGS.contains(&tag.as_str()) {
            continue;
        }
        let variant = fields.iter().position(|(key, field)| key == value && key != tag && field.is_record());
        if let Some(variant) = variant {
            let tag = format!("<{tag}>");
            fields[variant].0 = tag;
        }
    }
    Node::Object(fields, line)
}
