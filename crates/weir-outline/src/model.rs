//! What an outline is made of.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::languages::Language;

/// A source file by its interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The language's name, as people write it in lower case.
    pub language: &'static str,
    /// What the file is for: the first sentence of its own documentation.
    pub purpose: Option<String>,
    /// BLAKE3 of the bytes it was made of.
    pub hash: [u8; 32],
    /// Counts up when the same bytes give another outline.
    pub version: u32,
    /// What stands in the file, in its order.
    pub items: Vec<Item>,
    /// How many places could not be parsed.
    pub broken: usize,
    /// How many lines the file has.
    pub lines: u32,
    /// How many bytes the file has.
    pub bytes: usize,
}

/// One symbol, with the symbols inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its name; more than one where one declaration names several, none where it has no name.
    pub names: Vec<String>,
    /// Its tokens without body and comments, on one line.
    pub signature: String,
    /// Who may use it.
    pub visibility: Visibility,
    /// Whether it is of the program, of its tests, or inside a macro.
    pub place: Place,
    /// The first sentence of its documentation.
    pub doc: Option<String>,
    /// What is written at it: derives, decorators, annotations.
    pub attributes: Vec<String>,
    /// Where it stands, with its body.
    pub bytes: Range<usize>,
    /// Its first and its last line, from 1.
    pub lines: (u32, u32),
    /// What is inside.
    pub children: Vec<Item>,
}

/// What an item is, whatever its language calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// A module, namespace or package with items inside.
    Module,
    /// A struct, class, enum, union, interface, trait, protocol or alias.
    Type,
    /// What a type implements, or adds to itself elsewhere.
    Implementation,
    /// A function or a method.
    Function,
    /// A field or a property.
    Field,
    /// One of the values of an enum.
    Variant,
    /// A constant or a variable.
    Constant,
    /// A macro.
    Macro,
    /// Something from elsewhere that is offered here.
    Export,
    /// A heading of a text.
    Heading,
    /// A key of a data file, a rule of a style sheet, an element of a page.
    Key,
}

/// Who may use an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Visibility {
    /// Only its own file or type.
    Private,
    /// Its own package.
    Crate,
    /// Everybody.
    Public,
}

/// Of what an item is a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Place {
    /// The program.
    Program,
    /// Its tests.
    Test,
    /// A macro's tokens, which were read as items.
    Macro,
}

impl Outline {
    /// The outline of a text that nothing is known of yet but its sizes.
    pub(crate) fn empty(language: &'static Language, text: &str) -> Self {
        Self {
            language: language.name(),
            purpose: None,
            hash: *blake3::hash(text.as_bytes()).as_bytes(),
            version: language.version(),
            items: Vec::new(),
            broken: 0,
            lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
            bytes: text.len(),
        }
    }
}

impl Item {
    /// Whether it is an interface to others: at least seen by its own package, and not a test.
    pub fn is_offered(&self) -> bool {
        self.visibility > Visibility::Private && self.place != Place::Test
    }
}
