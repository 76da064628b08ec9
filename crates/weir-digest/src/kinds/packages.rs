//! Installers and builders of packages.

pub(super) mod apt;
pub(super) mod cargo_build;
pub(super) mod npm;
mod npm_tree;
