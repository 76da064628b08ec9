//! Finds what a line defines or imports, for each language.

use super::language::{DefinitionKind, LineItem};

fn name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-'))).unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty())
}

/// Returns whether a name is written like a constant.
fn is_shouted(name: &str) -> bool {
    name.len() > 1
        && name.bytes().any(|byte| byte.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn definition<'a>(sort: DefinitionKind, text: &'a str) -> Option<LineItem<'a>> {
    name(text).map(|name| LineItem::Definition(sort, name))
}

/// Returns the text after one of `words`, which any of the words in `before` may precede.
fn after<'a>(text: &'a str, before: &[&str], words: &[&str]) -> Option<&'a str> {
    let mut rest = text;
    for _ in 0..8 {
        if let Some(after) = words.iter().find_map(|word| rest.strip_prefix(word)) {
            return Some(after);
        }
        rest = before.iter().find_map(|word| rest.strip_prefix(word))?.trim_start();
    }
    None
}

pub(super) fn python(text: &str, top: bool) -> Option<LineItem<'_>> {
    if let Some(rest) = after(text, &["async "], &["def "]) {
        return definition(DefinitionKind::Function, rest);
    }
    if let Some(rest) = text.strip_prefix("class ") {
        return definition(DefinitionKind::Type, rest);
    }
    if !top {
        return None;
    }
    if let Some(rest) = text.strip_prefix("import ").or_else(|| text.strip_prefix("from ")) {
        return Some(LineItem::Import(rest.split(" import ").next().unwrap_or(rest)));
    }
    let name = name(text)?;
    let value = text.get(name.len()..)?.trim_start();
    (is_shouted(name.trim_start_matches('_')) && (value.starts_with("= ") || value.starts_with(": ")))
        .then_some(LineItem::Definition(DefinitionKind::Constant, name))
}

pub(super) fn rust(text: &str) -> Option<LineItem<'_>> {
    const MODIFIERS: [&str; 9] =
        ["pub ", "pub(crate) ", "pub(super) ", "pub(in ", "unsafe ", "async ", "const ", "default ", "extern \"C\" "];
    if let Some(rest) = text.strip_prefix("use ").or_else(|| text.strip_prefix("pub use ")) {
        return Some(LineItem::Import(rest.trim_end_matches(';')));
    }
    if let Some(rest) = after(text, &MODIFIERS, &["fn "]) {
        return definition(DefinitionKind::Function, rest);
    }
    if let Some(rest) = after(text, &MODIFIERS, &["struct ", "enum ", "trait ", "type ", "union ", "macro_rules! "]) {
        return definition(DefinitionKind::Type, rest);
    }
    let rest = after(text, &["pub ", "pub(crate) ", "pub(super) "], &["const ", "static mut ", "static "])?;
    text.contains('=').then(|| definition(DefinitionKind::Constant, rest)).flatten()
}

pub(super) fn script<'a>(text: &'a str, line: &str) -> Option<LineItem<'a>> {
    const MODIFIERS: [&str; 6] = ["export ", "default ", "async ", "declare ", "abstract ", "public "];
    if text.starts_with("import ") || text.contains(" = require(") {
        let from = text.rsplit(['\'', '"']).nth(1);
        return from.map(LineItem::Import);
    }
    if let Some(rest) = after(text, &MODIFIERS, &["function* ", "function "]) {
        return definition(DefinitionKind::Function, rest);
    }
    if let Some(rest) = after(text, &MODIFIERS, &["class ", "interface ", "enum ", "type ", "namespace "]) {
        let named = definition(DefinitionKind::Type, rest);
        return named.filter(|_| text.ends_with(['{', '=', '|', ';', '>', '&']) || text.contains(" = "));
    }
    let indent = line.len() - line.trim_start().len();
    if let Some(rest) = after(text, &MODIFIERS, &["const ", "let ", "var "]) {
        let found = name(rest)?;
        let is_function =
            text.contains("=>") || text.contains("function") || text.ends_with("= (") || text.contains("= async");
        let sort = if is_function { DefinitionKind::Function } else { DefinitionKind::Constant };
        return (indent == 0 && (is_function || text.contains('='))).then_some(LineItem::Definition(sort, found));
    }
    method(text, indent)
}

/// Recognises `  name(arguments): Type {` in a class.
fn method(text: &str, indent: usize) -> Option<LineItem<'_>> {
    const MODIFIERS: [&str; 9] =
        ["public ", "private ", "protected ", "static ", "async ", "readonly ", "override ", "get ", "set "];
    if indent == 0 || indent > 4 || !text.ends_with(['{', '(', ',']) {
        return None;
    }
    let mut rest = text;
    while let Some(after) = MODIFIERS.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after;
    }
    let found = name(rest.trim_start_matches(['#', '*']))?;
    let follows = rest.get(rest.find(found)? + found.len()..)?;
    let keyword =
        ["if", "for", "while", "switch", "catch", "return", "function", "else", "do", "try", "with", "new", "await"];
    let called = follows.starts_with('(') && (text.ends_with('{') || text.ends_with('('));
    (called && !keyword.contains(&found) && !text.contains("=>") && !text.contains(" = "))
        .then_some(LineItem::Definition(DefinitionKind::Function, found))
}

pub(super) fn go(text: &str, top: bool) -> Option<LineItem<'_>> {
    if !top {
        // Packages in `import (…)` are just strings.
        let path = text.rsplit_once(' ').map_or(text, |(_, path)| path);
        let quoted = path.strip_prefix('"').and_then(|path| path.strip_suffix('"'));
        return quoted.filter(|_| text.len() - path.len() < 16 && !text.contains(':')).map(LineItem::Import);
    }
    if let Some(rest) = text.strip_prefix("func ") {
        let rest = rest.strip_prefix('(').and_then(|method| method.split_once(") ")).map_or(rest, |(_, rest)| rest);
        return definition(DefinitionKind::Function, rest);
    }
    if let Some(rest) = text.strip_prefix("type ") {
        return definition(DefinitionKind::Type, rest);
    }
    if let Some(rest) = text.strip_prefix("import ") {
        return Some(LineItem::Import(rest.trim_matches('"'))).filter(|_| rest.contains('"'));
    }
    let rest = text.strip_prefix("const ").or_else(|| text.strip_prefix("var "))?;
    text.contains('=').then(|| definition(DefinitionKind::Constant, rest)).flatten()
}

pub(super) fn java(text: &str) -> Option<LineItem<'_>> {
    #[rustfmt::skip]
    const MODIFIERS: [&str; 16] = [
        "public ", "private ", "protected ", "static ", "final ", "abstract ", "sealed ", "synchronized ", "default ",
        "internal ", "override ", "async ", "partial ", "readonly ", "open ", "data ",
    ];
    if let Some(rest) = text.strip_prefix("import ").or_else(|| text.strip_prefix("using ")) {
        return text.ends_with(';').then(|| LineItem::Import(rest.trim_end_matches(';')));
    }
    if let Some(rest) = after(text, &MODIFIERS, &["class ", "interface ", "enum ", "record ", "@interface ", "struct "])
    {
        return definition(DefinitionKind::Type, rest);
    }
    let modified = MODIFIERS.iter().any(|word| text.starts_with(word));
    if !modified {
        return None;
    }
    if let Some(at) = text.find('(').filter(|at| !text.get(..*at).is_some_and(|before| before.contains('='))) {
        let before = text.get(..at)?;
        return definition(DefinitionKind::Function, before.rsplit(' ').next()?);
    }
    let before = text.split('=').next()?.trim_end();
    let found = before.rsplit(' ').next()?;
    (text.contains('=') && is_shouted(found)).then_some(LineItem::Definition(DefinitionKind::Constant, found))
}

pub(super) fn c(text: &str, top: bool) -> Option<LineItem<'_>> {
    if let Some(rest) = text.strip_prefix("#include") {
        return Some(LineItem::Import(rest.trim()));
    }
    if let Some(rest) = text.strip_prefix("#define ") {
        return definition(DefinitionKind::Constant, rest).filter(|_| rest.contains(' '));
    }
    if let Some(rest) =
        after(text, &["typedef ", "static ", "enum "], &["struct ", "class ", "enum ", "union ", "namespace "])
        && text.ends_with('{')
    {
        return definition(DefinitionKind::Type, rest);
    }
    if !top || !text.contains('(') || text.ends_with(';') || text.starts_with(['#', '}', '(']) {
        return None;
    }
    let before = text.split('(').next()?.trim_end();
    let found = before.rsplit([' ', '*', '&']).next().filter(|found| !found.is_empty())?;
    let keyword = ["if", "for", "while", "switch", "return", "sizeof"];
    (before.contains(' ') && !before.contains('=') && !keyword.contains(&found))
        .then_some(LineItem::Definition(DefinitionKind::Function, found))
}

pub(super) fn shell(text: &str) -> Option<LineItem<'_>> {
    if let Some(rest) = text.strip_prefix("function ") {
        return definition(DefinitionKind::Function, rest);
    }
    if let Some(rest) = text.strip_prefix("source ").or_else(|| text.strip_prefix(". ")) {
        return Some(LineItem::Import(rest));
    }
    let found = name(text)?;
    let rest = text.get(found.len()..)?;
    if rest.starts_with("()") {
        return Some(LineItem::Definition(DefinitionKind::Function, found));
    }
    (rest.starts_with('=') && is_shouted(found)).then_some(LineItem::Definition(DefinitionKind::Constant, found))
}
