//! The faces: the ways to reach the operations. Each is a projection of [`weir_operations::OPERATIONS`].

pub(crate) mod cli;
mod config_file;
mod editor;
mod live;
mod man;
mod notes;
mod origin;
mod overview;
mod pager;
mod policy;
mod runs;
mod stores;
mod switch;
mod sync;
mod undo;
mod uninstall;
mod upgrade;
