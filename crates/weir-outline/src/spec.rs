//! What the walk needs to know of a language: a table from node kinds to what they are, and a few small functions.

use tree_sitter::Node;

use crate::model::{Item, Kind, Visibility};

/// A language, as data.
pub(crate) struct Spec {
    /// Its name, as people write it in lower case.
    pub name: &'static str,
    /// Counts up when the same bytes give another outline.
    pub version: u32,
    /// Endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// Whole names of files.
    pub file_names: &'static [&'static str],
    /// Programs in the first line of a script (`#!`).
    pub programs: &'static [&'static str],
    /// The grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// What the node kinds are. A kind without a row is passed over, with all that is inside.
    pub rows: &'static [(&'static str, Row)],
    /// Node kinds of comments.
    pub comments: &'static [&'static str],
    /// Node kinds of attributes, annotations and decorators that stand before an item or at its beginning.
    pub attributes: &'static [&'static str],
    /// Node kinds whose text is kept as it is: strings.
    pub atoms: &'static [&'static str],
    /// Node kinds whose named children may be separated by line ends alone.
    pub by_lines: &'static [&'static str],
    /// Where documentation stands.
    pub docs: Docs,
    /// The small functions.
    pub hooks: Hooks,
}

/// What a node kind is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row {
    /// Not an item, but items may be inside.
    Through,
    /// An item.
    Item(ItemRow),
    /// A macro whose tokens may be items: the hook [`Hooks::macros`] says which bytes.
    Macro,
}

/// An item, and where its parts are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemRow {
    pub kind: Kind,
    /// The field with its name.
    pub name: &'static str,
    /// What is left out of its signature.
    pub body: Option<Part>,
    /// What is left out of its signature and has items inside, if that has a row that says [`Row::Through`].
    pub open: Option<Part>,
    /// What is left out when it is long.
    pub value: Option<Part>,
}

/// A part of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// The child in a field.
    Field(&'static str),
    /// The first child of a kind.
    Kind(&'static str),
    /// What a function finds.
    By(for<'t> fn(Node<'t>) -> Option<Node<'t>>),
}

/// An item of a kind whose name is in the field `name`.
pub(crate) const fn item(kind: Kind) -> ItemRow {
    ItemRow { kind, name: "name", body: None, open: None, value: None }
}

impl ItemRow {
    pub(crate) const fn name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub(crate) const fn body(self, field: &'static str) -> Self {
        Self { body: Some(Part::Field(field)), ..self }
    }

    pub(crate) const fn body_kind(self, kind: &'static str) -> Self {
        Self { body: Some(Part::Kind(kind)), ..self }
    }

    pub(crate) const fn open(self, field: &'static str) -> Self {
        Self { open: Some(Part::Field(field)), ..self }
    }

    pub(crate) const fn open_kind(self, kind: &'static str) -> Self {
        Self { open: Some(Part::Kind(kind)), ..self }
    }

    pub(crate) const fn open_by(self, find: for<'t> fn(Node<'t>) -> Option<Node<'t>>) -> Self {
        Self { open: Some(Part::By(find)), ..self }
    }

    pub(crate) const fn value(self, field: &'static str) -> Self {
        Self { value: Some(Part::Field(field)), ..self }
    }

    /// The end of a row in a table.
    pub(crate) const fn row(self) -> Row {
        Row::Item(self)
    }
}

impl Part {
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

/// Where documentation stands.
#[derive(Clone, Copy)]
pub(crate) struct Docs {
    /// Whether a comment before an item documents it.
    pub item: fn(&str) -> bool,
    /// Whether a comment at the head of a file documents the file.
    pub file: fn(&str) -> bool,
}

/// An item that is being read.
pub(crate) struct Site<'t> {
    pub node: Node<'t>,
    pub text: &'t str,
    /// What is written at it.
    pub attributes: &'t [String],
    /// The grammar's numbers of the nodes between it and the item around it, outermost first.
    pub through: &'t [u16],
    /// The item around it, without its children.
    pub inside: Option<&'t Item>,
}

impl<'t> Site<'t> {
    /// The text of a node.
    pub(crate) fn text_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text of a field of the item.
    pub(crate) fn field(&self, field: &str) -> Option<&'t str> {
        self.node.child_by_field_name(field).map(|node| self.text_of(node))
    }

    /// The first child of a kind.
    pub(crate) fn child(&self, kind: &'static str) -> Option<Node<'t>> {
        Part::Kind(kind).of(self.node)
    }

    /// Whether a node of a kind is between it and the item around it.
    pub(crate) fn is_through(&self, kind: &str) -> bool {
        let grammar = self.node.language();
        self.through.iter().any(|id| grammar.node_kind_for_id(*id) == Some(kind))
    }

    /// Who may use what is around it; everybody at the top.
    pub(crate) fn inherited(&self) -> Visibility {
        self.inside.map_or(Visibility::Public, |item| item.visibility)
    }
}

/// The small functions of a language. [`Hooks::NONE`] has what most languages need.
#[derive(Clone, Copy)]
pub(crate) struct Hooks {
    /// Whether a text is of the language, where another one has files of the same ending.
    pub claims: fn(&str) -> bool,
    /// Mends what the grammar cannot read. The result has as many bytes, and the same line ends.
    pub mend: fn(&str) -> Option<String>,
    /// What a node is, where its kind does not say it or says it wrongly.
    pub row: fn(&Site<'_>) -> Option<Row>,
    /// Further parts of an item that are left out when they are long: the values of a declaration with several names.
    pub values: for<'t> fn(Node<'t>) -> Vec<Node<'t>>,
    /// Further parts that are left out of the signature of an item: bodies inside it.
    pub bodies: for<'t> fn(Node<'t>) -> Vec<Node<'t>>,
    /// The names of an item, where they are not the field of its row.
    pub names: fn(&Site<'_>) -> Option<Vec<String>>,
    /// Who may use an item.
    pub visibility: fn(&Site<'_>) -> Visibility,
    /// The documentation inside an item, or inside the file.
    pub doc: fn(Node<'_>, &str) -> Option<String>,
    /// The bytes of a macro's tokens that may be items.
    pub macros: fn(&Site<'_>) -> Vec<tree_sitter::Range>,
    /// The last word on an item; whether it is one.
    pub refine: fn(&Site<'_>, &mut Item) -> bool,
    /// The last word on all items of a file.
    pub finish: fn(&mut Vec<Item>, Node<'_>, &str),
}

impl Hooks {
    pub(crate) const NONE: Self = Self {
        claims: |_| true,
        mend: |_| None,
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
