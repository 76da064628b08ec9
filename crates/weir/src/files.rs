//! The files that a session works on: their paths, the rules about them, and how they are read and written.
//!
//! Invariants: no path leads out of the project unless the user's rules allow it, regardless of the links in it; a file
//! is written completely or not at all, and never over content that the writer has not seen.

pub(crate) mod diff;
pub(crate) mod edit;
mod folder;
mod given;
mod lines;
mod lock;
mod outlined;
mod place;
mod replace;
mod seen;
mod text;

pub(crate) use folder::Folder;
pub(crate) use given::{Delivery, FileSavings};
pub(crate) use lines::{LineSelection, Range};
pub(crate) use lock::lock;
pub(crate) use outlined::{changes, outlined};
pub(crate) use place::{Access, FileLocation, permit};
pub(crate) use replace::{Failure, create, replace};
pub(crate) use seen::{FileAction, FileUse, keep};
pub(crate) use text::{Content, Text};
