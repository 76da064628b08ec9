//! Kilo Code, which uses the format of OpenCode.

use super::opencode::setup::{FORM, local};
use crate::setup::{Base, Basis, EntryContent, Place, Recipe, config, project_part, user_part};

pub(crate) const SETUP: Recipe = Recipe {
    name: "kilo",
    title: "Kilo Code",
    programs: &["kilo"],
    traces: &[config("kilo")],
    parts: &[
        user_part(
            Place { base: Base::Config, path: "kilo/kilo.jsonc", or: Some("kilo/kilo.json") },
            EntryContent::Server(&["mcp"], local),
        ),
        project_part(
            Place { base: Base::Project, path: ".kilo/kilo.jsonc", or: Some(".kilo/kilo.json") },
            EntryContent::Server(&["mcp"], local),
        ),
    ],
    servers: FORM,
    basis: Basis::Documented,
    ..Recipe::BLANK
};
