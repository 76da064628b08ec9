//! Outlines source files: shows what a file offers, without how it works.
//!
//! A language is one folder in `languages`, with its `Spec` (a table from node kinds to what they are, and a few small
//! functions), a sample and the sample's outline, and one line in [`LANGUAGES`]. Formats that are not code have a
//! `Reader` instead. Everything else is shared: one walk over the tree, one way to write a signature, one way to show
//! an outline. [`map`] ranks files and symbols by who refers to whom.
//!
//! The crate opens no file. `weir-files` calls it in a confined process, because grammars are C code that reads foreign
//! bytes; the facts of a map are stored by `weir-store`.
//!
//! # Invariants
//!
//! - The same bytes give the same outline, and an outline at one version of its language is valid forever: its key is
//!   the hash and the version.
//! - What is shown has clearly fewer tokens than the file, or is the file.
//! - A file with syntax errors gives the items that parse, and says that it is broken.
//! - Time and stack are bounded for any file. Everything that recurses counts its depth, and a text indented by more
//!   steps than a grammar's scanner can keep is refused before it is parsed.
//! - No grammar runs until a file is outlined, and no tables are built at start-up.
//!
//! # A file, step by step
//!
//! ```text
//! outlined         conflict marks blanked, unsupported syntax rewritten, byte positions kept
//! parse            tree-sitter, with a time limit
//! walk             one forward walk; the language's table says what a node is
//!   docs           the sentence before an item, or inside it
//!   signature      the tokens without body and comments
//!   macros         macro tokens, parsed again as items
//! recover          in a broken file, each part separately if that shows more
//! render           minimal, standard or verbose: the largest that is clearly shorter than the file, else the file
//! ```

mod docs;
mod languages;
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

pub use languages::{Content, LANGUAGES, Language, language_of};
pub use model::{Item, ItemKind, ItemOrigin, Outline, Visibility};
pub use outlined::{LARGEST, OutlineError, outline};
pub use render::{Level, Shown, show};
