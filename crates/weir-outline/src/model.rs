//! The data model of an outline.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::languages::Language;

/// The interface of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The usual name of the language, in lower case.
    pub language: &'static str,
    /// The purpose of the file: the first sentence of its own documentation.
    pub purpose: Option<String>,
    /// BLAKE3 hash of the bytes that were outlined.
    pub hash: [u8; 32],
    /// Increases when the same bytes give a different outline.
    pub version: u32,
    /// The items of the file, in order.
    pub items: Vec<Item>,
    /// Number of places that could not be parsed.
    pub broken: usize,
    pub lines: u32,
    pub bytes: usize,
}

/// One symbol, with the symbols inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub kind: ItemKind,
    /// Its names: several if one declaration names several, none if it has no name.
    pub names: Vec<String>,
    /// Its tokens on one line, without body and comments.
    pub signature: String,
    pub visibility: Visibility,
    /// Whether it belongs to the program, to its tests, or to the tokens of a macro.
    pub place: ItemOrigin,
    /// The first sentence of its documentation.
    pub doc: Option<String>,
    /// Its derives, decorators and annotations.
    pub attributes: Vec<String>,
    /// Its byte range in the file, including its body.
    pub bytes: Range<usize>,
    /// Its first and last line, counted from 1.
    pub lines: (u32, u32),
    pub children: Vec<Item>,
}

/// The kind of an item, independent of its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ItemKind {
    /// A module, namespace or package with items inside.
    Module,
    /// A struct, class, enum, union, interface, trait, protocol or alias.
    Type,
    /// An implementation of a trait, or an extension of a type declared elsewhere.
    Implementation,
    /// A function or a method.
    Function,
    /// A field or a property.
    Field,
    Variant,
    /// A constant or a variable.
    Constant,
    Macro,
    /// A re-export of something from elsewhere.
    Export,
    Heading,
    /// A key in a data file, a rule in a style sheet, or an element of a page.
    Key,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Visibility {
    /// Only its own file or type.
    Private,
    /// Its own package.
    Crate,
    Public,
}

/// What an item is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ItemOrigin {
    Program,
    Test,
    /// The tokens of a macro, which were parsed as items.
    Macro,
}

impl Outline {
    /// Creates an outline with only the hash and the sizes of a text.
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
    /// Returns whether the item is part of the interface: visible at least to its own package, and not a test.
    pub fn is_offered(&self) -> bool {
        self.visibility > Visibility::Private && self.place != ItemOrigin::Test
    }
}
