//! JavaScript, with JSX.
//!
//! Known misses: members added to a prototype, exports through `Object.assign` and `Object.defineProperty`, and the
//! members of a class or an object that is assigned to `module.exports`.

pub(in crate::languages) mod declared;
pub(in crate::languages) mod exports;

use super::Language;
use crate::spec::{Docs, Hooks, Spec};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "javascript",
    version: 1,
    extensions: &["js", "mjs", "cjs", "jsx"],
    file_names: &[],
    programs: &["node", "bun", "deno"],
    grammar: weir_grammars::javascript,
    rows: declared::ROWS,
    comments: &["comment", "html_comment", "hash_bang_line"],
    attributes: &["decorator"],
    atoms: &["string", "template_string", "regex"],
    by_lines: &["class_body", "statement_block"],
    docs: DOCS,
    hooks: HOOKS,
});

pub(in crate::languages) const DOCS: Docs = Docs { item: declared::is_doc, file: declared::is_file_doc };

pub(in crate::languages) const HOOKS: Hooks = Hooks {
    row: declared::row,
    names: declared::names,
    values: declared::values,
    visibility: declared::visibility,
    refine: declared::refine,
    finish: exports::finish,
    ..Hooks::NONE
};
