//! C++.
//!
//! Known misses: declarations that a macro generates; the branches of an `#if` that separate the head of a class from
//! its body.

use tree_sitter::Node;

use super::common::children_of;
use super::{Language, c_family, c_macros};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "cpp",
    version: 2,
    extensions: &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl", "h", "cu", "cuh", "ino"],
    file_names: &[],
    programs: &[],
    grammar: weir_grammars::cpp,
    rows: &[
        ("namespace_definition", item(ItemKind::Module).open("body").row()),
        ("function_definition", item(ItemKind::Function).body("body").row()),
        ("declaration", item(ItemKind::Constant).open_by(c_family::members).row()),
        ("type_definition", item(ItemKind::Type).open_by(c_family::members).row()),
        ("alias_declaration", item(ItemKind::Type).row()),
        ("concept_definition", item(ItemKind::Type).row()),
        ("class_specifier", item(ItemKind::Type).open("body").row()),
        ("struct_specifier", item(ItemKind::Type).open("body").row()),
        ("union_specifier", item(ItemKind::Type).open("body").row()),
        ("enum_specifier", item(ItemKind::Type).open("body").row()),
        ("field_declaration", item(ItemKind::Field).open_by(c_family::members).row()),
        ("enumerator", item(ItemKind::Variant).value("value").row()),
        ("preproc_def", item(ItemKind::Constant).row()),
        ("preproc_function_def", item(ItemKind::Macro).body("value").row()),
        // Sets the visibility of what follows; removed when all items have been read.
        ("access_specifier", item(ItemKind::Key).row()),
        ("field_declaration_list", Row::Through),
        ("enumerator_list", Row::Through),
        ("declaration_list", Row::Through),
        ("linkage_specification", Row::Through),
        ("template_declaration", Row::Through),
        ("friend_declaration", Row::Through),
        ("preproc_if", Row::Through),
        ("preproc_ifdef", Row::Through),
        ("preproc_elif", Row::Through),
        ("preproc_elifdef", Row::Through),
        ("preproc_else", Row::Through),
    ],
    comments: &["comment"],
    attributes: &["attribute_declaration"],
    atoms: &["string_literal", "raw_string_literal", "char_literal", "preproc_arg"],
    by_lines: &[],
    docs: Docs { item: |_| true, file: |_| true },
    hooks: Hooks {
        preprocess: c_macros::preprocess,
        names: c_family::names,
        values,
        bodies,
        visibility,
        refine,
        finish,
        ..Hooks::NONE
    },
});

fn values(node: Node<'_>) -> Vec<Node<'_>> {
    let mut values = c_family::values(node);
    if node.kind() == "concept_definition" {
        values.extend(node.named_child(node.named_child_count().saturating_sub(1) as u32));
    }
    values
}

/// Returns the member initialisers of a constructor.
fn bodies(node: Node<'_>) -> Vec<Node<'_>> {
    let mut bodies = children_of(node, "field_initializer_list");
    bodies.extend(children_of(node, "try_statement"));
    bodies
}

fn visibility(site: &Site<'_>) -> Visibility {
    let of = site.inside.filter(|item| item.kind != ItemKind::Module);
    let Some(of) = of else {
        let unnamed = site.node.kind() == "namespace_definition" && site.field("name").is_none();
        let hidden = unnamed || c_family::is_stored(site, "static");
        return if hidden { Visibility::Private } else { Visibility::Public };
    };
    let head = site.text.get(of.bytes.start..).unwrap_or_default();
    if head.starts_with("class ") && site.node.kind() != "enumerator" {
        Visibility::Private
    } else {
        Visibility::Public
    }
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    if site.node.kind() == "access_specifier" {
        item.names = vec![item.signature.trim_end_matches(':').trim().to_owned()];
        return true;
    }
    if !c_family::refine(site, item) {
        return false;
    }
    let mut node = site.node;
    while site.is_through("template_declaration") {
        let Some(around) = node.parent().filter(|node| node.kind() == "template_declaration") else { break };
        let head = site.text.get(around.start_byte()..node.start_byte()).unwrap_or_default();
        item.signature = format!("{} {}", c_family::flat(head), item.signature);
        item.lines.0 = u32::try_from(around.start_position().row + 1).unwrap_or(u32::MAX);
        node = around;
    }
    true
}

fn finish(items: &mut Vec<Item>, _: Node<'_>, text: &str) {
    c_family::without_announcements(items);
    items.iter_mut().for_each(apply_visibility);
    items.retain(has_something);
    if c_family::is_header(text) {
        offer(items);
    }
}

/// Makes public what is `static` or in an unnamed namespace of a header: every file that includes it may use that.
fn offer(items: &mut [Item]) {
    for item in items {
        item.visibility = Visibility::Public;
        if item.kind == ItemKind::Module {
            offer(&mut item.children);
        }
    }
}

/// Returns whether an item has something to show, unlike a namespace that only has forward declarations.
fn has_something(item: &Item) -> bool {
    item.kind != ItemKind::Module || !item.children.is_empty()
}

/// Applies the access specifiers in a class to its members.
fn apply_visibility(item: &mut Item) {
    let mut word = None;
    for mut child in std::mem::take(&mut item.children) {
        if child.kind == ItemKind::Key {
            word = child.names.pop();
            continue;
        }
        match word.as_deref() {
            Some("public") => child.visibility = Visibility::Public,
            Some("protected") => {
                child.visibility = Visibility::Crate;
                child.signature.insert_str(0, "protected: ");
            }
            Some(_) => child.visibility = Visibility::Private,
            None => {}
        }
        apply_visibility(&mut child);
        if has_something(&child) {
            item.children.push(child);
        }
    }
}
