//! Outlines source files: shows what a file offers, without how it works.
//!
//! A language is one folder in `languages`, with its `Spec`, a sample and the sample's outline, and one line in
//! [`LANGUAGES`]. Everything else is shared: one walk over the tree, one way to write a signature, one way to show an
//! outline.
//!
//! Invariants:
//! - The same bytes give the same outline.
//! - The text shown is never longer than the file.
//! - A file with syntax errors still gives the items that parse.

mod docs;
mod languages;
mod macros;
pub mod map;
mod model;
mod outlined;
mod parse;
mod recover;
mod render;
mod signature;
mod spec;
mod walk;
pub mod wire;

pub use languages::{LANGUAGES, Language, language_of};
pub use model::{Item, ItemKind, ItemOrigin, Outline, Visibility};
pub use outlined::{LARGEST, OutlineError, outline};
pub use render::{Level, Shown, show};
