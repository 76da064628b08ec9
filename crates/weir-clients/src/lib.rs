//! The clients, one file each: how they tell us what happens, and how they want to be answered.
//!
//! A [`Client`] is constant data and plain functions. [`decode`](Client::decode) turns what a client sends into a
//! [`Hook`], the one form that the rest of the program knows; [`reply`](Client::reply) turns our [`Reply`] into what
//! the client reads. [`capture`] turns a hook into events. [`transcript`] reads what a client has written down of a session.
//!
//! Invariants: no wire type leaves this crate; nothing here reads a file, the environment or a clock; what a client
//! sends that is not known is no error.

pub mod capture;
mod clients;
mod hook;
mod purpose;
pub mod setup;
pub mod transcript;
mod wire;

pub use clients::CLIENTS;
pub use hook::{Done, Hook, Output, Point, Start, Subagent, Takes, Tool, ToolCall};
pub use purpose::{Purpose, of_command as purpose_of_command, purpose, question, written};
pub use wire::Wire;

use serde_json::Value;

/// One client.
pub struct Client {
    /// What it is called in commands: `claude`.
    pub name: &'static str,
    /// What people call it: `Claude Code`.
    pub title: &'static str,
    /// What it calls itself as an MCP client. Its sessions are kept under this name, whichever way they come.
    pub session: &'static str,
    /// How it says that a conversation was compacted.
    pub compaction: Compaction,
    /// What it shows by itself of a command that printed much, where that is known.
    pub own_cut: Option<OwnCut>,
    /// What it tells us, in the form that all clients share; none for what does not concern us.
    pub decode: fn(&Wire<'_>) -> Option<Hook>,
    /// How it is answered; none where it has no way to take that.
    pub reply: fn(&Wire<'_>, &Hook, &Reply<'_>) -> Option<Value>,
}

/// What a client shows by itself of a command that printed much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCut {
    /// Above how many characters it shows less.
    pub above: usize,
    /// How many characters it shows then.
    pub shows: usize,
}

/// How a client says that a conversation was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compaction {
    /// By beginning the session again, which takes a guide.
    Begins,
    /// By a hook before or after it that takes nothing: the guide waits for the next one that does.
    Waits,
    /// By the same hook, but also when it does not compact: the guide waits until this text is in the transcript.
    WaitsUntil(&'static str),
}

/// What we have to say to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply<'a> {
    /// Something for the model to know.
    Context(&'a str),
    /// What the model gets to see instead of a tool's output.
    Output(&'a str),
    /// What is to be run instead of a shell command.
    Command(&'a str),
    /// What the client's own summary of the conversation must keep.
    Keep(&'a str),
}

/// The client of this name.
pub fn find(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().copied().find(|client| client.name == name)
}
