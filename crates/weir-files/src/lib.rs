//! The files that a session works on: their paths, the rules about them, and how they are read and written.
//!
//! Invariants: no path leads out of the project unless the user's rules allow it, regardless of the links in it; a file
//! is written completely or not at all, and never over content that the writer has not seen.

mod delivery;
pub mod diff;
pub mod edit;
mod file_use;
#[cfg_attr(windows, path = "folder_by_path.rs")]
mod folder;
mod lines;
mod location;
mod lock;
mod outlined;
pub mod outlining;
mod replace;
mod text;

pub use delivery::{Delivery, FileSavings};
pub use file_use::{FileAction, FileUse, keep};
pub use folder::Folder;
pub use lines::{LineSelection, Range};
pub use location::{Access, FileLocation, permit};
pub use lock::lock;
pub use outlined::{changes, outlined, whole_lines};
pub use replace::{Failure, create, replace};
pub use text::{Content, Text};
