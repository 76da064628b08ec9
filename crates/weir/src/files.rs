//! The files that a session works on: their paths, the rules about them, and how they are read and written.
//!
//! Invariants: no path leads out of the project unless the user's rules allow it, regardless of the links in it; a file
//! is written completely or not at all, and never over content that the writer has not seen.

mod delivery;
pub(crate) mod diff;
pub(crate) mod edit;
mod file_use;
#[cfg_attr(windows, path = "files/folder_by_path.rs")]
mod folder;
mod lines;
mod location;
mod lock;
mod outlined;
mod replace;
mod text;

pub(crate) use delivery::{Delivery, FileSavings};
pub(crate) use file_use::{FileAction, FileUse, keep};
pub(crate) use folder::Folder;
pub(crate) use lines::{LineSelection, Range};
pub(crate) use location::{Access, FileLocation, permit};
pub(crate) use lock::lock;
pub(crate) use outlined::{changes, outlined, whole_lines};
pub(crate) use replace::{Failure, create, replace};
pub(crate) use text::{Content, Text};
