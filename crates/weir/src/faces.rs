//! The faces: the ways to reach the operations. Each is a projection of [`crate::operations::OPERATIONS`].

pub(crate) mod cli;
mod coerce;
mod config_file;
mod editor;
mod embedder;
mod functions;
pub(crate) mod http;
mod live;
mod man;
pub(crate) mod mcp;
mod notes;
mod origin;
mod outgoing;
mod overview;
mod paint;
mod policy;
mod proxy;
mod settings;
mod signal;
mod stores;
mod sync;
mod team;
mod tool_call;
mod ui;
mod uninstall;
mod upgrade;
