//! The faces: the ways to reach the operations. Each is a projection of [`crate::operations::OPERATIONS`].

pub(crate) mod cli;
mod coerce;
mod embedder;
mod functions;
pub(crate) mod http;
pub(crate) mod mcp;
mod notes;
mod paint;
mod policy;
mod proxy;
mod signal;
mod stores;
mod sync;
mod team;
mod tool_call;
mod ui;
