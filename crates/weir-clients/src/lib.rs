//! The supported clients, each in its own file or folder: what their hooks send and what they accept in return.
//!
//! A [`Client`] is constant data and plain functions. [`decode`](Client::decode) turns a client's payload into a
//! [`Hook`], the one form that the rest of the program knows; [`reply`](Client::reply) turns our [`Reply`] into the
//! client's own format. [`capture`] turns a hook into events. [`setup`] says which entries in which settings make a
//! client call Weir. [`transcript`] reads a client's own log of a session.
//!
//! What a client accepts as an answer, how it cuts long outputs and how long it certainly keeps what it has shown are
//! data in its file, and hooks, meter and replay all use them. So no other crate checks for a client by name.
//! `weir-hook` answers hooks, and `weir-setup` writes settings.
//!
//! # Invariants
//!
//! - No wire type leaves this crate.
//! - Nothing here reads a file, the environment or a clock.
//! - Unknown input from a client is not an error. A row of a transcript that cannot be read is counted and skipped.
//! - A text that is too long for memory is known by its place in the payload and not by its content, so nothing that a
//!   tool prints can pass for one. Decoders see its two ends, which is where clients write, and cut off what does not
//!   belong to the text.
//! - Settings that others wrote stay as they are, and adding ours twice is the same as once.

pub mod capture;

mod clients;
mod cut;
mod defers;
mod format;
mod hook;
pub mod json;
mod purpose;
mod requests;
pub mod setup;
mod text;
pub mod transcript;
mod wire;

pub use clients::{RECIPES, all, of_session, recipe};
pub use cut::{CutOutput, OwnCut, Retention};
pub use defers::Defers;
pub use hook::{AcceptedReplies, Done, Hook, Output, Point, Shown, Start, Subagent, Tool, ToolCall};
pub use purpose::{Purpose, may_flood, of_command as purpose_of_command, purpose, question, written};
pub use requests::{PROXY, SeenResult, seen_call, seen_result};
pub use text::{LongString, LongText, Piece, Text};
pub use wire::Wire;

use serde_json::Value;

/// A client, such as Claude Code or Codex.
pub struct Client {
    /// The name used in commands: `claude`.
    pub name: &'static str,
    /// The name shown to people: `Claude Code`.
    pub title: &'static str,
    /// The name it reports as an MCP client. All its sessions are stored under this name, wherever they come from.
    pub session: &'static str,
    /// How it reports that a conversation was compacted.
    pub compaction: Compaction,
    /// How it shortens outputs by itself, as observed with the version that the tests run. The first entry that applies
    /// counts.
    pub cuts: &'static [OwnCut],
    /// Texts of which every output that it has shortened contains one.
    pub cut_marks: &'static [&'static str],
    /// How long a conversation keeps what its model was shown.
    pub retention: Retention,
    /// The tokens that Weir's tools and instructions add to each of its requests.
    pub overhead_tokens: u64,
    /// Whether it sends the descriptions of MCP tools in every request.
    pub defers_tools: Defers,
    /// Another client that also calls the hooks in its settings.
    pub borrower: Option<&'static Borrower>,
    /// The variable that names the folder in which it was started, which is where it starts our server, if the folder
    /// that its hooks report moves with its shell.
    pub folder_variable: Option<&'static str>,
    /// Classifies a tool by the name that the client gives it, and by its input.
    pub tool: fn(&str, &Value) -> Tool,
    /// Decodes a hook call into the form that all clients share, or returns `None` if Weir has no use for it.
    pub decode: fn(&Wire<'_>) -> Option<Hook>,
    /// Encodes a reply, or returns `None` if the client cannot take one of that kind here.
    pub reply: fn(&Wire<'_>, &Hook, &Reply) -> Option<Value>,
}

/// A client that calls the hooks of others in addition to its own.
pub struct Borrower {
    /// The variable that tells that it is the caller.
    pub sets: &'static str,
    /// The variable that tells that a client which it started is the caller.
    pub unless: &'static str,
}

/// How a client reports that a conversation was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compaction {
    /// It starts the session again, and that hook accepts a guide.
    Begins,
    /// It calls a hook before or after compaction that accepts nothing: the guide waits for the next hook that does.
    Waits,
    /// It calls the same hook even when it does not compact: the guide waits until this text is in the transcript.
    WaitsUntil(&'static str),
}

/// What Weir answers to a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Additional context for the model.
    Context(String),
    /// The text that the model sees instead of a tool's output.
    Output(String),
    /// The command to run instead of a shell command.
    Command(String),
    /// What the client's own summary of the conversation must keep.
    Keep(String),
    /// A line for the user, which the model does not see.
    Notice(String),
}

pub fn find(name: &str) -> Option<&'static Client> {
    all().find(|client| client.name == name)
}

#[cfg(test)]
mod long_tests;
