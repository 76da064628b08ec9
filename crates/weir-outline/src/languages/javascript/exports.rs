//! The exports of a module: by `export`, by a later `export { … }`, or by `module.exports`.
//!
//! An export of something declared in the same file makes that public and is not an item itself; all others are items.
//! A file that is not a module shows everything.

use std::collections::HashSet;

use tree_sitter::Node;

use super::declared::unquoted;
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::Site;

/// A local name, and the name that it is exported by.
type Pair = (String, String);

/// Returns the names that an `export` without a declaration exports.
pub(in crate::languages) fn names(site: &Site<'_>) -> Vec<String> {
    // Its names are taken from its signature later.
    if site.child("export_clause").is_some() {
        return Vec::new();
    }
    if let Some(name) = site.child("namespace_export").and_then(|node| node.named_child(0)) {
        return vec![unquoted(site.text_of(name)).to_owned()];
    }
    let mut cursor = site.node.walk();
    let words = site.node.children(&mut cursor).map(|node| site.text_of(node));
    let words: Vec<&str> = words.filter(|word| *word != "type").collect();
    let name = match words.get(1..) {
        Some(["*", ..]) => "*",
        Some(["=", ..]) => "export=",
        Some(["as", _, name, ..]) => name,
        _ => "default",
    };
    vec![name.to_owned()]
}

/// Returns the names that an assignment exports: `exports.a`, or `module.exports` with its keys.
pub(in crate::languages) fn assigned(site: &Site<'_>) -> Vec<String> {
    let Some(left) = site.field("left") else { return Vec::new() };
    match left.strip_prefix("module.exports").or_else(|| left.strip_prefix("exports")) {
        Some("") if left == "module.exports" => {
            let keys =
                site.node.child_by_field_name("right").map(|right| members(right, site.text)).unwrap_or_default();
            let keys: Vec<String> = keys.into_iter().map(|(_, key)| key).collect();
            if keys.is_empty() { vec![left.to_owned()] } else { keys }
        }
        Some(name) if name.starts_with('.') && !name[1..].contains('.') => vec![name[1..].to_owned()],
        _ => Vec::new(),
    }
}

/// Returns the members of an object: their local names, if they have one, and their keys.
fn members(object: Node<'_>, text: &str) -> Vec<Pair> {
    if object.kind() != "object" {
        return Vec::new();
    }
    let text_of = |node: Node<'_>| unquoted(text.get(node.byte_range()).unwrap_or_default()).to_owned();
    let mut cursor = object.walk();
    let pair = |node: Node<'_>| match node.kind() {
        "shorthand_property_identifier" => Some((text_of(node), text_of(node))),
        "pair" => {
            let value = node.child_by_field_name("value").filter(|value| value.kind() == "identifier");
            Some((value.map(text_of).unwrap_or_default(), text_of(node.child_by_field_name("key")?)))
        }
        "method_definition" => Some((String::new(), text_of(node.child_by_field_name("name")?))),
        _ => None,
    };
    object.named_children(&mut cursor).filter_map(pair).collect()
}

pub(in crate::languages) fn finish(items: &mut Vec<Item>, root: Node<'_>, text: &str) {
    let mut is_module = false;
    let mut pairs = Vec::new();
    let mut cursor = root.walk();
    for node in root.named_children(&mut cursor) {
        match node.kind() {
            "import_statement" | "export_statement" => is_module = true,
            "expression_statement" => {
                let assignment = node.named_child(0).filter(|node| node.kind() == "assignment_expression");
                let assigned = assignment.map(|node| pairs_of_assignment(node, text)).unwrap_or_default();
                is_module |= !assigned.is_empty();
                pairs.extend(assigned);
            }
            _ => {}
        }
    }
    let scope = if is_module { ExportScope::ByName } else { ExportScope::Script };
    apply_exports(items, pairs, scope, text);
}

fn pairs_of_assignment(node: Node<'_>, text: &str) -> Vec<Pair> {
    let text_of = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let sides = [node.child_by_field_name("left"), node.child_by_field_name("right")];
    let [Some(left), Some(right)] = sides else { return Vec::new() };
    let name = match text_of(left) {
        "module.exports" if right.kind() == "object" => return members(right, text),
        "module.exports" => "module.exports",
        left => match left.strip_prefix("module.exports.").or_else(|| left.strip_prefix("exports.")) {
            Some(name) => name,
            None => return Vec::new(),
        },
    };
    let local = if right.kind() == "identifier" { text_of(right) } else { "" };
    vec![(local.to_owned(), name.to_owned())]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportScope {
    /// Only what is marked.
    ByName,
    /// Everything, because the file is not a module.
    Script,
    /// Everything, because it is only declared.
    Declared,
    /// Only what is marked, inside something that is only declared.
    DeclaredByName,
}

fn apply_exports(items: &mut Vec<Item>, mut pairs: Vec<Pair>, scope: ExportScope, text: &str) {
    for item in items.iter_mut().filter(|item| is_export(item)) {
        // The grammar does not accept a keyword as a name: `export { null_ as null }`.
        if let Some((pairs, _)) = specifiers(&item.signature) {
            item.names = pairs.into_iter().map(|(_, name)| name).collect();
        }
    }
    pairs.extend(items.iter().filter(|item| item.kind == ItemKind::Export).flat_map(|item| pairs_of(&item.signature)));
    let locals: HashSet<&str> = pairs.iter().map(|(local, _)| local.as_str()).collect();
    let mut declared = HashSet::new();
    for item in items.iter_mut().filter(|item| !is_export(item)) {
        if matches!(scope, ExportScope::Script | ExportScope::Declared) {
            item.visibility = Visibility::Public;
        }
        let is_local = |name: &String| locals.contains(name.as_str());
        if item.visibility == Visibility::Private && item.names.iter().any(is_local) {
            item.names.retain(is_local);
            item.visibility = Visibility::Public;
        }
        declared.extend(item.names.clone());
    }
    let plain: HashSet<&str> =
        pairs.iter().filter(|(local, exported)| local == exported).map(|(local, _)| local.as_str()).collect();
    for item in items.iter_mut().filter(|item| is_export(item)) {
        item.names.retain(|name| {
            !(plain.contains(name.as_str()) && declared.contains(name)) || item.signature.contains(" from ")
        });
    }
    items.retain(|item| !item.names.is_empty());
    for item in items.iter_mut().filter(|item| item.kind == ItemKind::Module) {
        let before = text.get(..item.bytes.start).unwrap_or_default().trim_end();
        let declared = scope == ExportScope::Declared
            || scope == ExportScope::DeclaredByName
            || before.ends_with("declare")
            // Without any export it would be useless, so it must be in a declaration file.
            || item.children.iter().all(|child| child.visibility == Visibility::Private);
        let inside = match declared {
            false => ExportScope::ByName,
            // With an explicit `export`, not everything is exported any more.
            true if item.children.iter().any(|child| child.signature.starts_with("export")) => {
                ExportScope::DeclaredByName
            }
            true => ExportScope::Declared,
        };
        apply_exports(&mut item.children, Vec::new(), inside, text);
    }
}

fn is_export(item: &Item) -> bool {
    item.kind == ItemKind::Export
}

/// Returns what an `export` without a declaration and without a source exports.
fn pairs_of(signature: &str) -> Vec<Pair> {
    let Some(rest) = signature.strip_prefix("export") else { return Vec::new() };
    let rest = rest.trim_start();
    for (word, name) in [("default ", "default"), ("=", "export=")] {
        if let Some(local) = rest.strip_prefix(word) {
            return vec![(local.trim().to_owned(), name.to_owned())];
        }
    }
    match specifiers(signature) {
        Some((pairs, false)) => pairs,
        _ => Vec::new(),
    }
}

/// Returns the names in the braces of an `export`, and whether they come from another module.
fn specifiers(signature: &str) -> Option<(Vec<Pair>, bool)> {
    let rest = signature.strip_prefix("export")?.trim_start();
    let rest = rest.strip_prefix("type").unwrap_or(rest).trim_start();
    let (list, after) = rest.strip_prefix('{')?.split_once('}')?;
    let pair = |specifier: &str| {
        let specifier = specifier.trim();
        // `type` may be a name itself: `type as kind`.
        let specifier = specifier.strip_prefix("type ").filter(|rest| !rest.starts_with("as ")).unwrap_or(specifier);
        let (local, name) = specifier.split_once(" as ").unwrap_or((specifier, specifier));
        (local.trim().to_owned(), unquoted(name.trim()).to_owned())
    };
    let pairs = list.split(',').map(pair).filter(|(local, _)| !local.is_empty()).collect();
    Some((pairs, after.trim_start().starts_with("from")))
}
