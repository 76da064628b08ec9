//! The languages, each in its own folder and listed once in [`LANGUAGES`].

use std::path::Path;
use std::sync::OnceLock;

use crate::model::Outline;
use crate::spec::{Row, Spec};

mod bash;
mod c;
mod c_family;
mod c_macros;
mod common;
mod cpp;
mod csharp;
mod css;
mod elixir;
mod go;
mod html;
mod java;
mod javascript;
mod json;
mod kotlin;
mod lua;
mod markdown;
mod php;
mod python;
mod ruby;
mod rust;
mod scala;
mod shape;
mod sql;
mod swift;
mod toml;
mod tsx;
mod typescript;
mod yaml;
mod zig;

/// All languages, in the order in which lists show them.
pub static LANGUAGES: &[&Language] = &[
    &rust::LANGUAGE,
    &python::LANGUAGE,
    &typescript::LANGUAGE,
    &tsx::LANGUAGE,
    &javascript::LANGUAGE,
    &go::LANGUAGE,
    &java::LANGUAGE,
    &csharp::LANGUAGE,
    &php::LANGUAGE,
    &kotlin::LANGUAGE,
    &swift::LANGUAGE,
    &scala::LANGUAGE,
    &c::LANGUAGE,
    &cpp::LANGUAGE,
    &lua::LANGUAGE,
    &zig::LANGUAGE,
    &bash::LANGUAGE,
    &ruby::LANGUAGE,
    &elixir::LANGUAGE,
    &css::LANGUAGE,
    &html::LANGUAGE,
    &sql::LANGUAGE,
    &yaml::LANGUAGE,
    &json::LANGUAGE,
    &toml::LANGUAGE,
    &markdown::LANGUAGE,
];

/// A language whose files can be outlined.
pub struct Language {
    pub(crate) method: ReadMethod,
    content: Content,
    table: OnceLock<Table>,
}

/// What the files of a language mostly contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Code,
    /// Keys and values. A large file is data.
    Keys,
    /// Data or prose, whose values and sentences matter. An outline omits them. A large file is data.
    Text,
}

pub(crate) enum ReadMethod {
    /// By the walk over the syntax tree.
    Walk(Spec),
    Own(Reader),
}

/// A reader for a language that the walk does not handle.
pub(crate) struct Reader {
    pub name: &'static str,
    pub version: u32,
    pub extensions: &'static [&'static str],
    pub file_names: &'static [&'static str],
    /// Fills in an outline that already has its sizes.
    pub read: fn(&str, &mut Outline),
}

/// A spec indexed by the kind IDs of its grammar.
pub(crate) struct Table {
    pub grammar: tree_sitter::Language,
    rows: Vec<NodeClass>,
}

/// What a node kind means to the walk.
#[derive(Clone, Copy)]
pub(crate) enum NodeClass {
    Other,
    Row(Row),
    Comment,
    Attribute,
    Atom,
}

impl Language {
    pub(crate) const fn walked(spec: Spec) -> Self {
        Self { method: ReadMethod::Walk(spec), content: Content::Code, table: OnceLock::new() }
    }

    pub(crate) const fn read_by(reader: Reader) -> Self {
        Self { method: ReadMethod::Own(reader), content: Content::Code, table: OnceLock::new() }
    }

    /// Says what the files contain, if it is not code.
    pub(crate) const fn with_content(mut self, content: Content) -> Self {
        self.content = content;
        self
    }

    /// Returns what the files mostly contain.
    pub fn content(&self) -> Content {
        self.content
    }

    /// Returns the usual name of the language, in lower case.
    pub fn name(&self) -> &'static str {
        match &self.method {
            ReadMethod::Walk(spec) => spec.name,
            ReadMethod::Own(reader) => reader.name,
        }
    }

    /// Returns a number that increases when the same bytes give a different outline.
    pub fn version(&self) -> u32 {
        match &self.method {
            ReadMethod::Walk(spec) => spec.version,
            ReadMethod::Own(reader) => reader.version,
        }
    }

    /// Returns the file name extensions, without the dot.
    pub fn extensions(&self) -> &'static [&'static str] {
        match &self.method {
            ReadMethod::Walk(spec) => spec.extensions,
            ReadMethod::Own(reader) => reader.extensions,
        }
    }

    fn file_names(&self) -> &'static [&'static str] {
        match &self.method {
            ReadMethod::Walk(spec) => spec.file_names,
            ReadMethod::Own(reader) => reader.file_names,
        }
    }

    fn claims(&self, text: &str) -> bool {
        match &self.method {
            ReadMethod::Walk(spec) => (spec.hooks.claims)(text),
            ReadMethod::Own(_) => true,
        }
    }

    pub(crate) fn table(&self, spec: &Spec) -> &Table {
        self.table.get_or_init(|| Table::new(spec))
    }
}

impl Table {
    fn new(spec: &Spec) -> Self {
        let grammar = (spec.grammar)();
        let class = |id: u16| {
            let kind = grammar.node_kind_for_id(id).unwrap_or_default();
            // A keyword may have the same name as a node kind.
            if !grammar.node_kind_is_named(id) {
                return NodeClass::Other;
            }
            let row = spec.rows.iter().find(|(name, _)| *name == kind).map(|(_, row)| NodeClass::Row(*row));
            row.unwrap_or(match kind {
                _ if spec.comments.contains(&kind) => NodeClass::Comment,
                _ if spec.attributes.contains(&kind) => NodeClass::Attribute,
                _ if spec.atoms.contains(&kind) => NodeClass::Atom,
                _ => NodeClass::Other,
            })
        };
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        Self { rows: (0..count).map(class).collect(), grammar }
    }

    pub(crate) fn class(&self, node: tree_sitter::Node<'_>) -> NodeClass {
        // A node that could not be parsed may contain items.
        if node.is_error() {
            return NodeClass::Row(Row::Through);
        }
        self.rows.get(usize::from(node.kind_id())).copied().unwrap_or(NodeClass::Other)
    }
}

/// Returns the language of a file, by its name or, for a script, by its first line.
pub fn language_of(path: &Path, text: &str) -> Option<&'static Language> {
    let name = path.file_name()?.to_str()?;
    let by_name = LANGUAGES.iter().find(|language| language.file_names().contains(&name));
    let ending = || {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        let of_ending = || LANGUAGES.iter().filter(|language| language.extensions().contains(&ending.as_str()));
        of_ending().find(|language| language.claims(text)).or_else(|| of_ending().next())
    };
    by_name.or_else(ending).or_else(|| by_first_line(text)).copied()
}

fn by_first_line(text: &str) -> Option<&'static &'static Language> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program =
        words.find(|word| !matches!(*word, "env" | "-S"))?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LANGUAGES.iter().find(|language| match &language.method {
        ReadMethod::Walk(spec) => spec.programs.contains(&program),
        ReadMethod::Own(_) => false,
    })
}
