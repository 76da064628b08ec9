//! Source files by their interface: what a file offers, without how it does it.
//!
//! A language is one folder in `languages`, with its `Spec`, a sample and what is made of it, and one line
//! in [`LANGUAGES`]. Everything else is shared: one walk over the tree, one way to write a signature, one way to show.
//! Invariants: the same bytes give the same outline; what is shown is never longer than the file; a file that does not
//! parse gives the items that do.

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
pub use model::{Item, Kind, Outline, Place, Visibility};
pub use outlined::{LARGEST, NoOutline, outline};
pub use render::{Level, Shown, show};
