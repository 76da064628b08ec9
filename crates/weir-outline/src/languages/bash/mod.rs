//! Bash and similar shells.
//!
//! Known misses: functions created by `eval`, and those of a sourced file.

use tree_sitter::Node;

use super::Language;
use super::common::{children, first_of};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "bash",
    version: 1,
    extensions: &["sh", "bash", "bats", "zsh", "ksh", "ebuild", "eclass"],
    file_names: &[".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", "PKGBUILD", "APKBUILD"],
    programs: &["bash", "sh", "dash", "zsh", "ksh", "ash", "bats"],
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    rows: &[
        ("function_definition", item(ItemKind::Function).body("body").row()),
        ("declaration_command", item(ItemKind::Constant).row()),
        ("variable_assignment", item(ItemKind::Constant).value("value").row()),
        ("if_statement", Row::Through),
        ("elif_clause", Row::Through),
        ("else_clause", Row::Through),
        ("case_statement", Row::Through),
        ("case_item", Row::Through),
        ("compound_statement", Row::Through),
        ("list", Row::Through),
        ("variable_assignments", Row::Through),
    ],
    comments: &["comment"],
    attributes: &[],
    atoms: &["string", "raw_string", "ansi_c_string", "heredoc_redirect"],
    by_lines: &[],
    docs: Docs { item: |comment| !is_for_tools(comment), file: |comment| !is_for_tools(comment) },
    hooks: Hooks { names, values, visibility, refine, ..Hooks::NONE },
});

fn is_for_tools(comment: &str) -> bool {
    comment.starts_with("#!")
        || comment.starts_with("# shellcheck")
        || comment.contains("vim:")
        || comment.contains("-*-")
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    if site.node.kind() != "declaration_command" {
        return None;
    }
    let text = |node: Node<'_>| site.text.get(node.byte_range()).unwrap_or_default().to_owned();
    let named = children(site.node).into_iter().filter_map(|node| match node.kind() {
        "variable_assignment" => node.child_by_field_name("name"),
        "variable_name" => Some(node),
        _ => None,
    });
    Some(named.map(text).collect())
}

fn values(node: Node<'_>) -> Vec<Node<'_>> {
    let assigned = children(node).into_iter().filter(|node| node.kind() == "variable_assignment");
    assigned.filter_map(|node| node.child_by_field_name("value")).collect()
}

fn visibility(site: &Site<'_>) -> Visibility {
    match site.node.kind() {
        "function_definition" if site.field("name").is_some_and(|name| name.starts_with('_')) => Visibility::Private,
        "function_definition" => Visibility::Public,
        "declaration_command" if is_exported(site) => Visibility::Public,
        _ => Visibility::Private,
    }
}

/// Returns whether this is `export NAME` or `declare -x NAME`.
fn is_exported(site: &Site<'_>) -> bool {
    let text = site.text_of(site.node);
    let flags = first_of(site.node, &["word"]).map(|node| site.text_of(node)).unwrap_or_default();
    text.starts_with("export") || flags.starts_with('-') && flags.contains('x')
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    match site.node.kind() {
        // Exporting a function again adds nothing.
        "declaration_command" => values(site.node).len() == item.names.len() && !item.names.is_empty(),
        _ => {
            // A multi-line value does not fit on one line.
            if site.text_of(site.node).trim_end().contains('\n') && item.kind == ItemKind::Constant {
                item.signature = format!("{}=…", item.names.join(""));
            }
            true
        }
    }
}
