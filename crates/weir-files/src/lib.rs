//! The files that a session works on: their paths, the rules about them, how they are read and written, and their
//! outlines.
//!
//! A call names a file; [`FileLocation`] finds it and asks the rules, [`Folder`] opens it without following a link,
//! [`Text`] reads it, and [`edit`] and [`replace()`] change it. [`FileUse`] records what the session has done with it,
//! and [`Delivery`] what the session was given.
//!
//! `weir-outline` parses; [`outlining`] here starts it in a confined process, this program again. The operations on
//! files are in `weir-operations`; indexing is in `weir-knowledge`.
//!
//! # Invariants
//!
//! - No path leads out of the project unless the user's rules allow it, regardless of the links in it.
//! - A file is written completely or not at all, and never over content that the writer has not seen.
//! - `weir_outline::outline` is called in the confined process only. Its answer is checked against the text, because
//!   the process may have been compromised.
//! - A file that crashes its parser has no outline, and nothing else is lost.
//! - Text that the conversation already has never counts as saved.

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
