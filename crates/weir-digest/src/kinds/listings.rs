//! Lists of files, and lines found in them.

pub(super) mod find;
mod folders;
pub(super) mod grep;
mod listing;
pub(super) mod ls;
pub(super) mod tree;
