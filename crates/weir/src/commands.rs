//! The command line, and the commands that only a person uses, a file each.

mod bug;
pub(crate) mod call;
pub(crate) mod cli;
mod config_file;
mod editor;
mod handover;
mod invite;
mod live;
mod man;
mod notes;
mod origin;
mod overview;
mod pager;
mod policy;
mod runs;
mod servers;
mod stores;
mod switch;
mod sync;
mod undo;
mod uninstall;
mod upgrade;
