//! The description of a language for the walk: a table from node kinds to their meaning, and a few small functions.

use tree_sitter::Node;

use crate::model::{Item, ItemKind, Visibility};

pub(crate) struct Spec {
    /// The usual name of the language, in lower case.
    pub name: &'static str,
    /// Increases when the same bytes give a different outline.
    pub version: u32,
    /// File name extensions, without the dot.
    pub extensions: &'static [&'static str],
    pub file_names: &'static [&'static str],
    /// Interpreters in the first line of a script (`#!`).
    pub programs: &'static [&'static str],
    pub grammar: fn() -> tree_sitter::Language,
    /// The meaning of node kinds. A kind without a row is skipped, with everything inside it.
    pub rows: &'static [(&'static str, Row)],
    pub comments: &'static [&'static str],
    /// Node kinds of attributes, annotations and decorators, before an item or at its beginning.
    pub attributes: &'static [&'static str],
    /// Node kinds whose text is copied unchanged, such as strings.
    pub atoms: &'static [&'static str],
    /// Node kinds whose named children may be separated by newlines alone.
    pub by_lines: &'static [&'static str],
    /// Which comments are documentation.
    pub docs: Docs,
    /// Language-specific functions.
    pub hooks: Hooks,
}

/// The meaning of a node kind.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row {
    /// Not an item, but may contain items.
    Through,
    Item(ItemRow),
    /// A macro whose tokens may be items; the hook [`Hooks::macros`] returns their ranges.
    Macro,
}

/// The kind of an item, and where its parts are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemRow {
    pub kind: ItemKind,
    /// The field that holds its name.
    pub name: &'static str,
    /// The part to omit from its signature.
    pub body: Option<NodeSelector>,
    /// The part to omit from its signature that contains items, if its row is [`Row::Through`].
    pub open: Option<NodeSelector>,
    /// The part to omit if it is long.
    pub value: Option<NodeSelector>,
}

/// How to find a part of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NodeSelector {
    /// The child in a field.
    Field(&'static str),
    /// The first child of a kind.
    Kind(&'static str),
    /// The result of a function.
    By(for<'t> fn(Node<'t>) -> Option<Node<'t>>),
}

/// Creates an item row whose name is in the field `name`.
pub(crate) const fn item(kind: ItemKind) -> ItemRow {
    ItemRow { kind, name: "name", body: None, open: None, value: None }
}

impl ItemRow {
    pub(crate) const fn name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub(crate) const fn body(self, field: &'static str) -> Self {
        Self { body: Some(NodeSelector::Field(field)), ..self }
    }

    pub(crate) const fn body_kind(self, kind: &'static str) -> Self {
        Self { body: Some(NodeSelector::Kind(kind)), ..self }
    }

    pub(crate) const fn open(self, field: &'static str) -> Self {
        Self { open: Some(NodeSelector::Field(field)), ..self }
    }

    pub(crate) const fn open_kind(self, kind: &'static str) -> Self {
        Self { open: Some(NodeSelector::Kind(kind)), ..self }
    }

    pub(crate) const fn open_by(self, find: for<'t> fn(Node<'t>) -> Option<Node<'t>>) -> Self {
        Self { open: Some(NodeSelector::By(find)), ..self }
    }

    pub(crate) const fn value(self, field: &'static str) -> Self {
        Self { value: Some(NodeSelector::Field(field)), ..self }
    }

    /// Converts the row for use in a table.
    pub(crate) const fn row(self) -> Row {
        Row::Item(self)
    }
}

impl NodeSelector {
    pub(crate) fn of<'t>(self, node: Node<'t>) -> Option<Node<'t>> {
        match self {
            Self::Field(field) => node.child_by_field_name(field),
            Self::Kind(kind) => {
                let mut cursor = node.walk();
                node.children(&mut cursor).find(|child| child.kind() == kind)
            }
            Self::By(find) => find(node),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Docs {
    /// Whether a comment before an item documents it.
    pub item: fn(&str) -> bool,
    /// Whether a comment at the top of a file documents the file.
    pub file: fn(&str) -> bool,
}

/// An item that is being read.
pub(crate) struct Site<'t> {
    pub node: Node<'t>,
    pub text: &'t str,
    pub attributes: &'t [String],
    /// The kind IDs of the nodes between it and the enclosing item, outermost first.
    pub through: &'t [u16],
    /// The enclosing item, without its children.
    pub inside: Option<&'t Item>,
}

impl<'t> Site<'t> {
    pub(crate) fn text_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(crate) fn field(&self, field: &str) -> Option<&'t str> {
        self.node.child_by_field_name(field).map(|node| self.text_of(node))
    }

    pub(crate) fn child(&self, kind: &'static str) -> Option<Node<'t>> {
        NodeSelector::Kind(kind).of(self.node)
    }

    /// Returns whether a node of a kind is between it and the enclosing item.
    pub(crate) fn is_through(&self, kind: &str) -> bool {
        let grammar = self.node.language();
        self.through.iter().any(|id| grammar.node_kind_for_id(*id) == Some(kind))
    }

    /// Returns the visibility of the enclosing item, or public at the top level.
    pub(crate) fn inherited(&self) -> Visibility {
        self.inside.map_or(Visibility::Public, |item| item.visibility)
    }
}

/// Language-specific functions. [`Hooks::NONE`] has the defaults that suit most languages.
#[derive(Clone, Copy)]
pub(crate) struct Hooks {
    /// Whether a text is in this language, if another language uses the same extension.
    pub claims: fn(&str) -> bool,
    /// Replaces syntax that the grammar cannot read. The result must have the same number of bytes and the same
    /// newlines.
    pub preprocess: fn(&str) -> Option<String>,
    /// The row of a node whose kind does not determine it, or determines it wrongly.
    pub row: fn(&Site<'_>) -> Option<Row>,
    /// Further parts of an item to omit if they are long: the values of a declaration with several names.
    pub values: for<'t> fn(Node<'t>) -> Vec<Node<'t>>,
    /// Further parts to omit from the signature of an item: bodies inside it.
    pub bodies: for<'t> fn(Node<'t>) -> Vec<Node<'t>>,
    /// The names of an item, if they are not in the field of its row.
    pub names: fn(&Site<'_>) -> Option<Vec<String>>,
    pub visibility: fn(&Site<'_>) -> Visibility,
    /// The documentation inside an item, or inside the file.
    pub doc: fn(Node<'_>, &str) -> Option<String>,
    /// The ranges of a macro's tokens that may be items.
    pub macros: fn(&Site<'_>) -> Vec<tree_sitter::Range>,
    /// Adjusts an item, and returns whether to keep it.
    pub refine: fn(&Site<'_>, &mut Item) -> bool,
    /// Adjusts all items of a file.
    pub finish: fn(&mut Vec<Item>, Node<'_>, &str),
}

impl Hooks {
    pub(crate) const NONE: Self = Self {
        claims: |_| true,
        preprocess: |_| None,
        row: |_| None,
        values: |_| Vec::new(),
        bodies: |_| Vec::new(),
        names: |_| None,
        visibility: |_| Visibility::Public,
        doc: |_, _| None,
        macros: |_| Vec::new(),
        refine: |_, _| true,
        finish: |_, _, _| (),
    };
}
